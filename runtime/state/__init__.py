"""What a pipeline remembers between runs: the state root."""
