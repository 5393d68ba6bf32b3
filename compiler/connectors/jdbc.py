"""Tables of a database: `jdbc:postgresql://…`, and others through a driver of JDBC."""

from compiler.connectors.spec import LOOKUP_TTL, Connector, Option

_TABLE = (
    Option("url", required=True),
    Option("table", required=True, flink=("table-name",)),
    Option("username", flink=("user",)),
    Option("password"),
)
# PostgreSQL is reached without a driver of JDBC; the last is Flink's, for scripts that have it.
_DRIVER = (Option("driver"), Option("connection.max-retry-timeout", "duration"))

CONNECTOR = Connector(
    name="jdbc",
    source=(
        *_TABLE,
        LOOKUP_TTL,
        Option("max_retries", "integer", flink=("lookup.max-retries",), least=0),
        *_DRIVER,
        # A lookup keeps all of the table, or reads it anew.
        Option("lookup.cache", "choice", choices=("none", "partial", "full")),
        Option("lookup.partial-cache.max-rows", "integer"),
    ),
    sink=(
        *_TABLE,
        Option("create_table", "boolean"),
        Option("atomic_epochs", "boolean"),
        Option("ledger_schema"),
        Option("max_retries", "integer", flink=("sink.max-retries",), least=0),
        Option("sink.parallelism", "integer", least=1),
        *_DRIVER,
        Option("driver.package"),
        Option("driver.jar"),
        # An epoch is written as a whole.
        Option("sink.buffer-flush.max-rows", "integer"),
        Option("sink.buffer-flush.interval", "duration"),
    ),
    exactly_once=True,
    location="table",
    upsert=True,
    lookup=True,
    flink=("postgres", "postgresql"),
)
