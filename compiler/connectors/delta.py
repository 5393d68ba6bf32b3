"""Delta Lake tables."""

from compiler.connectors.spec import Connector, Option

CONNECTOR = Connector(
    name="delta",
    sink=(Option("path", required=True, flink=("table-path",)),),
    exactly_once=True,
    location="path",
    upsert=True,
)
