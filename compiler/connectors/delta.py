"""Delta Lake tables."""

from compiler.connectors.spec import LOOKUP_TTL, Connector, Option

CONNECTOR = Connector(
    name="delta",
    source=(
        Option("path", required=True, flink=("table-path",)),
        Option("max_files_per_epoch", "integer", least=1),
        Option("starting_version", flink=("startingVersion",)),
        Option("starting_timestamp", flink=("startingTimestamp",)),
        Option("on_change", "choice", choices=("fail", "skip")),
        LOOKUP_TTL,
    ),
    sink=(
        Option("path", required=True, flink=("table-path",)),
        Option("schema_evolution", "choice", choices=("fail", "add_columns")),
    ),
    exactly_once=True,
    location="path",
    upsert=True,
    lookup=True,
)
