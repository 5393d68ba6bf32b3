"""What a job plan reads from and writes to: one source or sink a file."""
