"""Databases that the connector `jdbc` reaches through a driver of JDBC, by their URLs."""

from __future__ import annotations

from typing import Final, NamedTuple

from compiler.jobplan.model import Options


class Driver(NamedTuple):
    """A driver of JDBC: its class, and the Maven coordinate of its jar."""

    name: str
    package: str


POSTGRESQL: Final = ("jdbc:postgresql:", "postgresql:", "postgres:")
"""How URLs of PostgreSQL begin, which is reached through its own client."""

DRIVERS: Final[dict[str, Driver]] = {
    "jdbc:h2:": Driver("org.h2.Driver", "com.h2database:h2:2.4.240"),
    "jdbc:mysql:": Driver("com.mysql.cj.jdbc.Driver", "com.mysql:mysql-connector-j:9.5.0"),
    "jdbc:oracle:": Driver("oracle.jdbc.OracleDriver", "com.oracle.database.jdbc:ojdbc17:23.26.0.0.0"),
    "jdbc:sqlserver:": Driver(
        "com.microsoft.sqlserver.jdbc.SQLServerDriver", "com.microsoft.sqlserver:mssql-jdbc:13.2.1.jre11"
    ),
}
"""Drivers of the databases that are known, by how their URLs begin."""

MARIADB: Final = Driver("org.mariadb.jdbc.Driver", "org.mariadb.jdbc:mariadb-java-client:3.5.6")
"""MariaDB's driver. Only for `jdbc:mysql:` Spark quotes names as its servers do, so a parameter tells it."""

_OF_MARIADB: Final = "permitMysqlScheme"


def is_of_jdbc(options: Options) -> bool:
    """Whether a table with these options is reached by a driver of JDBC, and not by PostgreSQL's client."""
    url = str(options.get("url", ""))
    return url.startswith("jdbc:") and not url.startswith(POSTGRESQL)


def known_driver(url: str) -> Driver | None:
    """The driver of a URL's database, None if it is none that is known."""
    if url.startswith("jdbc:mysql:") and _OF_MARIADB in url:
        return MARIADB
    return next((driver for prefix, driver in DRIVERS.items() if url.startswith(prefix)), None)


def driver_package(options: Options) -> str | None:
    """The Maven coordinate of the driver that a sink with these options needs on the class path.

    None where its jar comes by a path (`driver.jar`), the database needs none, or none is known.
    """
    if not is_of_jdbc(options) or "driver.jar" in options:
        return None
    if "driver.package" in options:
        return str(options["driver.package"])
    known = known_driver(str(options.get("url", "")))
    given = options.get("driver")
    return known.package if known and given in (None, known.name) else None
