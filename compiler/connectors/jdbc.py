"""Tables of a database: `jdbc:postgresql://…`."""

from compiler.connectors.spec import Connector, Option

CONNECTOR = Connector(
    name="jdbc",
    sink=(
        Option("url", required=True),
        Option("table", required=True, flink=("table-name",)),
        Option("username", flink=("user",)),
        Option("password"),
        Option("create_table", "boolean"),
        Option("atomic_epochs", "boolean"),
        Option("ledger_schema"),
        Option("max_retries", "integer", flink=("sink.max-retries",), least=0),
        Option("sink.parallelism", "integer", least=1),
        # Flink's, for scripts that have them: an epoch is written as a whole, by no driver of JDBC.
        Option("driver"),
        Option("connection.max-retry-timeout", "duration"),
        Option("sink.buffer-flush.max-rows", "integer"),
        Option("sink.buffer-flush.interval", "duration"),
    ),
    exactly_once=True,
    location="table",
    upsert=True,
    flink=("postgres", "postgresql"),
)
