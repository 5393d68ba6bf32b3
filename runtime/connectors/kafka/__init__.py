"""Topics as sinks: rows as messages, and messages sent exactly once."""
