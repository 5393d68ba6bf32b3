"""The three graphs of a project as values: stream graph, job graph, execution plan."""
