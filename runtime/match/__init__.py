"""Row pattern matching in plain Python: it knows rows and plans, and nothing of Spark."""
