"""Rows on the terminal, for development."""

from compiler.connectors.spec import Connector, Option

CONNECTOR = Connector(
    name="console",
    sink=(Option("rows", "integer", least=1), Option("truncate", "boolean")),
    shows_changes=True,
    flink=("print",),
)
