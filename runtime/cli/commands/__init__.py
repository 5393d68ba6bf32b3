"""The commands, one a file; each offers `command`. Their names and help lines stand in runtime/cli."""
