"""Rows thrown away, for development and benchmarks."""

from compiler.connectors.spec import Connector

CONNECTOR = Connector(name="blackhole", sink=(), shows_changes=True)
