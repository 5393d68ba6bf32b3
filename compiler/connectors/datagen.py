"""Rows made up from a seed, the same ones every time."""

from compiler.connectors.spec import Connector, Option

CONNECTOR = Connector(
    name="datagen",
    source=(
        Option("rows_per_second", "integer", flink=("rows-per-second",), least=1),
        Option("number_of_rows", "integer", flink=("number-of-rows",), least=0),
        Option("seed", "integer"),
        Option("start"),
        Option("max_rows_per_epoch", "integer", least=1),
    ),
    prefixes=("fields.",),
)
