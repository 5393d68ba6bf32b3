"""Runs job plans on Spark: the JVM, the session, and the queries."""
