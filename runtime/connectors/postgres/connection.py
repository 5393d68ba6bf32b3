"""Connections: URLs of JDBC and libpq, and which failures may pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeVar
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from compiler.jobplan.model import Options
from runtime.connectors import retries
from runtime.connectors.retries import Passing

_T = TypeVar("_T")
# A worker that hangs in a transaction holds a lock on its part of the epoch for no longer than this.
_SESSION = "-c idle_in_transaction_session_timeout=300000"
_KEEPALIVE = {"keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3"}
_LIBPQ = frozenset("sslmode sslrootcert sslcert sslkey connect_timeout application_name options".split())
_LIBPQ_OF_JDBC = {"user": "user", "password": "password", "ApplicationName": "application_name",
                  "connectTimeout": "connect_timeout"}  # fmt: skip
# They speak to JDBC's driver about how it sends rows, which COPY does not do.
_OF_JDBC_ALONE = frozenset(
    "reWriteBatchedInserts stringtype prepareThreshold defaultRowFetchSize binaryTransfer".split()
)
# What libpq says of a server that is there and says no: waiting does not help.
_FINAL = ("authentication failed", "no password supplied", "does not exist", "permission denied",
          "no pg_hba.conf entry", "does not support SSL", "is not permitted to log in")  # fmt: skip
_TRANSIENT: Final = (
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
    psycopg.errors.LockNotAvailable,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.QueryCanceled,
)


class BadUrl(ValueError):
    """A URL that cannot be understood; the message does not repeat it."""


@dataclass(frozen=True)
class Address:
    """Where a server is and how to log in. Its text shows no password.

    Args:
        conninfo: what libpq is given.
        shown: host and database, for messages.
    """

    conninfo: str = field(repr=False)
    shown: str

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        """A connection that begins transactions by itself.

        Raises:
            psycopg.OperationalError: the server is not there, or says no.
        """
        return psycopg.connect(self.conninfo)


def address(options: Options) -> Address:
    """The address that the options `url`, `username` and `password` give.

    Raises:
        BadUrl: the URL is none of PostgreSQL, or has a parameter that is not understood.
    """
    url = str(options["url"])
    of_jdbc = url.startswith("jdbc:")
    parts = urlsplit(url.removeprefix("jdbc:"))
    if parts.scheme not in ("postgresql", "postgres"):
        raise BadUrl("it does not begin with jdbc:postgresql:// or postgresql://")
    parameters = dict(parse_qsl(parts.query, keep_blank_values=True))
    given = _of_jdbc(parameters) if of_jdbc else parameters
    for option, name in (("username", "user"), ("password", "password")):
        if option in options:
            given[name] = str(options[option])
    server_options = " ".join(filter(None, (given.pop("options", ""), _SESSION)))
    try:
        conninfo = make_conninfo(
            urlunsplit(("postgresql", parts.netloc, parts.path, "", "")),
            **{"application_name": "headrace", "connect_timeout": "10", **_KEEPALIVE, **given},
            options=server_options,
        )
        known = conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError as error:
        raise BadUrl("libpq does not understand it") from error
    return Address(conninfo, f"{known.get('host', 'localhost')}/{known.get('dbname', '')}")


def _of_jdbc(parameters: dict[str, str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in parameters.items():
        if name in _LIBPQ:
            given[name] = value
        elif name in _LIBPQ_OF_JDBC:
            given[_LIBPQ_OF_JDBC[name]] = value
        elif name == "ssl":
            given.setdefault("sslmode", "verify-full" if value.lower() in ("", "true") else "prefer")
        elif name == "currentSchema":
            given["options"] = f"-c search_path={value}"
        elif name not in _OF_JDBC_ALONE:
            raise BadUrl(f"its parameter {name} is not known")
    return given


def may_pass(error: BaseException) -> bool:
    """Whether trying again may help: the server is away, or transactions got into each other's way."""
    if isinstance(error, _TRANSIENT):
        return True
    if not isinstance(error, psycopg.OperationalError):
        return False
    state = error.sqlstate
    if state is None:
        return not any(text in str(error) for text in _FINAL)
    # Connections, resources (too many connections), and an operator's shutdown.
    return state[:2] in ("08", "57") or state == "53300"


def retried(times: int, step: Callable[[], _T]) -> _T:
    """Does a step, again and again while its failure may pass.

    Raises:
        psycopg.Error: it failed for good, or once more than `times`.
    """
    return retries.retried(times, step, _passing)


def _passing(error: Exception) -> Passing | None:
    return Passing(f"database: {one_line(error)}") if may_pass(error) else None


def one_line(error: BaseException) -> str:
    """What the server or libpq says, without its repetitions."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
