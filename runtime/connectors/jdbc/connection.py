"""Connections of the JVM, and what their failures mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from compiler.jobplan.databases import known_driver
from compiler.jobplan.model import Options
from runtime.connectors import retries
from runtime.connectors.retries import Passing

_T = TypeVar("_T")
_READ_COMMITTED: Final = 2
# Of SQLSTATE: connections, transactions that got into each other's way, resources, an operator's shutdown.
_PASSING: Final = ("08", "40", "53", "57", "HYT")
_PASSING_CLASSES: Final = ("SQLTransientException", "SQLRecoverableException",
                           "SQLNonTransientConnectionException")  # fmt: skip
_VALUE: Final = ("22", "23")


class DatabaseError(Exception):
    """What a driver of JDBC says, one line.

    Attributes:
        may_pass: whether trying again may help.
        of_value: whether the database refuses a row, and not the connection.
        state: the SQLSTATE, empty if there is none.
    """

    def __init__(self, message: str, state: str = "", *, may_pass: bool = False, of_value: bool = False):
        super().__init__(message)
        self.state = state
        self.may_pass = may_pass
        self.of_value = of_value


class NoDriver(Exception):
    """The class path has no such driver; the message is its class, or empty if none was named."""


class Connection:
    """A connection of JDBC. Whatever fails raises `DatabaseError`."""

    def __init__(self, java: Any) -> None:
        self.java = java

    def execute(self, statement: str, *parameters: str | int) -> int:
        """Runs a statement; gives the rows that it changed."""
        with _told():
            prepared = self._prepared(statement, parameters)
            try:
                return int(prepared.executeUpdate())
            finally:
                prepared.close()

    def row(self, query: str, *parameters: str | int) -> tuple[str | None, ...] | None:
        """The first row of a query, each value as text; None if there is no row."""
        with _told():
            prepared = self._prepared(query, parameters)
            try:
                found = prepared.executeQuery()
                if not found.next():
                    return None
                width = found.getMetaData().getColumnCount()
                return tuple(found.getString(n + 1) for n in range(width))
            finally:
                prepared.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is done in it is committed at its end, or rolled back if anything is raised."""
        with _told():
            self.java.setAutoCommit(False)
        try:
            yield
            with _told():
                self.java.commit()
        except BaseException:
            # If the connection is gone, so is the transaction.
            with suppress(Py4JJavaError):
                self.java.rollback()
            raise
        with _told():
            self.java.setAutoCommit(True)

    def _prepared(self, statement: str, parameters: Sequence[str | int]) -> Any:
        prepared = self.java.prepareStatement(statement)
        for n, value in enumerate(parameters, start=1):
            if isinstance(value, int):
                prepared.setLong(n, value)
            else:
                prepared.setString(n, value)
        return prepared


class Database:
    """A database that options name. Its text shows no password.

    Args:
        session: whose JVM connects.
        options: `url`, and as far as needed `driver`, `username` and `password`.
    """

    def __init__(self, session: SparkSession, options: Options) -> None:
        url = str(options["url"])
        known = known_driver(url)
        self._session = session
        self.shown = shown(url)
        self.product = url.removeprefix("jdbc:").partition(":")[0]
        self._properties = {"url": url}
        driver = str(options.get("driver") or (known.name if known else ""))
        self._driver = driver
        if driver:
            self._properties["driver"] = driver
        for option, name in (("username", "user"), ("password", "password")):
            if option in options:
                self._properties[name] = str(options[option])
        jvm: Any = session._jvm
        self.jvm = jvm
        self.dialect: Any = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(url)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A connection that commits each statement, until `transaction`.

        Raises:
            DatabaseError: the server is not there, or says no.
            NoDriver: the driver's class is not on the class path.
        """
        with _told(self._driver):
            options = self.jvm.org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions(
                self.jvm.PythonUtils.toScalaMap({**self._properties, "dbtable": "none"})
            )
            java = self.dialect.createConnectionFactory(options).apply(-1)
        try:
            with _told():
                java.setAutoCommit(True)
                java.setTransactionIsolation(_READ_COMMITTED)
            yield Connection(java)
        finally:
            # Of one that was broken it has been told.
            with suppress(Py4JJavaError):
                java.close()

    def write(self, rows: Any, table: str, connections: int) -> None:
        """Appends rows to a table by Spark's writer, which commits the rows of each task."""
        writer = rows.write.format("jdbc").mode("append").options(**self._properties)
        with _told():
            writer.option("dbtable", table).option("numPartitions", connections).save()

    def quoted(self, *names: str | None) -> str:
        """A name as SQL, with what it is in."""
        return ".".join(str(self.dialect.quoteIdentifier(name)) for name in names if name)


def is_mariadb_by_another(metadata: Any) -> bool:
    """Whether MySQL's driver speaks to a server of MariaDB, of which it believes that it has no fractions.

    Args:
        metadata: a `java.sql.DatabaseMetaData`.
    """
    server = f"{metadata.getDatabaseProductName()} {metadata.getDatabaseProductVersion()}"
    return "MariaDB" in server and "MariaDB" not in str(metadata.getDriverName())


def shown(url: str) -> str:
    """Where a URL leads, without what may be secret in it: parameters, user and password."""
    kind, _, place = url.removeprefix("jdbc:").partition(":")
    if kind == "sqlserver":
        found = re.search(r";\s*database(?:Name)?=([^;]*)", place, re.IGNORECASE)
        return f"{kind}:{place.partition(';')[0]}" + (f"/{found[1]}" if found else "")
    return f"{kind}:{re.split('[?;]', place)[0].rpartition('@')[2]}"


def retried(times: int, step: Callable[[], _T]) -> _T:
    """Does a step, again and again while its failure may pass.

    Raises:
        DatabaseError: it failed for good, or once more than `times`.
    """
    return retries.retried(times, step, _passing)


def _passing(error: Exception) -> Passing | None:
    return Passing(f"database: {error}") if isinstance(error, DatabaseError) and error.may_pass else None


@contextmanager
def _told(driver: str = "") -> Iterator[None]:
    """Makes a `DatabaseError` of an exception of JDBC; others pass as they are."""
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        origin = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
        links = list(_links(origin))
        if any(link.getClass().getName().endswith("ClassNotFoundException") for link in links):
            raise NoDriver(driver) from error
        of_jdbc = [link for link in links if _is_of_jdbc(link)]
        if not of_jdbc:
            raise
        raise _database_error(of_jdbc) from error


def _links(origin: Any) -> Iterator[Any]:
    seen = 0
    while origin is not None and seen < 20:
        yield origin
        origin = origin.getCause()
        seen += 1


def _is_of_jdbc(error: Any) -> bool:
    return any(name == "java.sql.SQLException" for name in _classes(error))


def _classes(error: Any) -> Iterator[str]:
    kind = error.getClass()
    while kind is not None:
        yield str(kind.getName())
        kind = kind.getSuperclass()


def _database_error(errors: Sequence[Any]) -> DatabaseError:
    states = [str(error.getSQLState() or "") for error in errors]
    classes = {name.rpartition(".")[2] for error in errors for name in _classes(error)}
    message = str(errors[0].getMessage() or errors[0].getClass().getName())
    if "No suitable driver" in message:
        raise NoDriver("")
    # Drivers repeat the statement behind what went wrong.
    line = re.split(r"; SQL statement:|\n", message)[0].strip()
    return DatabaseError(
        line,
        next(filter(None, states), ""),
        may_pass=any(state.startswith(_PASSING) for state in states)
        or not classes.isdisjoint(_PASSING_CLASSES),
        of_value=any(state.startswith(_VALUE) for state in states)
        or not classes.isdisjoint(("SQLDataException", "SQLIntegrityConstraintViolationException")),
    )
