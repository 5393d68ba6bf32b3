"""Many sinks of one source and chains of models, as several systems run them: see `__main__`."""
