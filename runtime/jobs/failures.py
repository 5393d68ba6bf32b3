"""What a dying query says, as diagnostics. Java's stack traces go to the log, never to a person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from compiler.diagnostics.codes import (
    BAD_RECORD,
    MISSING_PATH,
    NOT_WRITABLE,
    NULL_EVENT_TIME,
    QUERY_FAILED,
    UNKNOWN_OPERATION,
    UNSENDABLE_ROW,
)
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.jobplan.model import original
from runtime.jobs.environment import Environment

_NULL_TIME = re.compile(
    r"\[headrace:(?P<what>null_event_time|null_value)\] "
    r"source=(?P<source>\S+) column=(?P<column>[^\n]+?)(?:\s*SQLSTATE|$)",
    re.MULTILINE,
)
_UNKNOWN_OPERATION = re.compile(
    r"\[headrace:unknown_operation\] operator=(?P<operator>\S+) column=(?P<column>[^\n]+?) "
    r"value=(?P<value>[^\n]*?)(?:\s*SQLSTATE|$)",
    re.MULTILINE,
)
_BAD_RECORD_AT = re.compile(
    r"\[headrace:bad_record\] source=(?P<source>\S+) position=(?P<position>\S+) (?P<raw>[^\n]*)"
)
_UNKNOWN_SCHEMA = re.compile(r"\[headrace:unknown_schema\] source=(?P<source>\S+) schema=(?P<schema>-?\d+)")
_PYTHON = re.compile(r"(?:FunctionFailure|MatchFailure): (?P<where>[^:\n]+): (?P<what>[^\n]+)")
_UNSENDABLE = re.compile(r"UnsendableRow: (?P<where>[^:\n]+): (?P<what>[^\n]+)")
_FILE = re.compile(r"reading file (?P<file>\S+?)\.(?:\s|$)")
_FILE_URI = re.compile(r"(?P<file>(?:file|s3a?|hdfs|abfss?|gs):/\S+?)(?=[\s,;'\"]|\.\s|\.?$)", re.MULTILINE)
_SQLSTATE = re.compile(r"\s*SQLSTATE: \w+.*", re.DOTALL)
_MOST = 300

_MALFORMED = ("MALFORMED_RECORD_IN_PARSING", "CANNOT_PARSE_", "PARQUET_COLUMN_DATA_TYPE_MISMATCH")
_MALFORMED_TEXT = (
    "Malformed records are detected",
    "CSV header does not conform to the schema",
    "Number of column in CSV header is not equal to number of fields in the schema",
    "not a Parquet file",
    "Malformed ORC file",
    "SchemaColumnConvertNotSupported",
)
_NO_TOPIC = ("UnknownTopicOrPartition", "This server does not host this topic-partition")
_NO_BROKER = ("waiting for a node assignment", "No resolvable bootstrap urls", "Call: fetchMetadata")
_NO_LOGIN = ("SaslAuthenticationException", "SslAuthenticationException", "AuthorizationException",
             "UnsupportedSaslMechanismException")  # fmt: skip
_LOST = "KAFKA_DATA_LOSS"
_WORKER_GONE = "Python worker exited unexpectedly"
_GONE = ("FILE_NOT_EXIST", "PATH_NOT_FOUND")
# What the system says of a disk, a quota and a limit of the process.
_NO_ROOM = ("No space left on device", "Disk quota exceeded", "File too large")


@dataclass(frozen=True, slots=True)
class _Link:
    """One exception of a chain of causes."""

    kind: str
    condition: str | None
    message: str


def diagnose(query: str, error: BaseException, environment: Environment) -> Diagnostic:
    """The finding that an exception of a running query stands for."""
    if isinstance(error, DiagnosticError):
        return environment.masked(error.diagnostics[0])
    links = list(_chain(error))
    # What quotes a record comes first: its text may have the words of all that follows.
    found = (
        _null_time(links)
        or _operation(links)
        or _bad_message(links)
        or _unknown_schema(links)
        or _unsendable(query, links)
        or _in_python(query, links)
        or _bad_record(query, links)
        or _no_room(query, links)
        or _missing(query, links)
        or _lost(query, links)
        or _broker(query, links)
        or _killed_worker(query, links)
        or _other(query, links)
    )
    return environment.masked(found)


def cause_of(error: BaseException) -> str:
    """Why a job outside of a query failed, in a line."""
    # The first exception says that the job was ended and in which task, the next one why.
    links = list(_chain(error))[:2]
    return _first_line(links[-1].message)


def worker_was_late(error: BaseException) -> bool:
    """Whether a query failed only because a Python worker took too long to come up."""
    return any("Python worker failed to connect back" in link.message for link in _chain(error))


def _null_time(links: list[_Link]) -> Diagnostic | None:
    for link in links:
        match = _NULL_TIME.search(link.message)
        if match:
            source, column = original(match["source"]), match["column"].strip().rstrip(".")
            if match["what"] == "null_value":
                return Diagnostic(
                    BAD_RECORD,
                    f"a row of source {source} has no {column}, which is declared NOT NULL",
                    cause="a promise of the schema is broken, and results would rest on it",
                    fix="correct the data, or declare the column without NOT NULL",
                )
            return Diagnostic(
                NULL_EVENT_TIME,
                f"a row of source {source} has no {column}, its event time",
                cause="a row without an event time belongs to no window and would vanish",
                fix="correct the data, or set on_null_time = 'drop' on the source to leave such rows out",
            )
    return None


def _in_python(query: str, links: list[_Link]) -> Diagnostic | None:
    """What a function or a pattern fails on: the last line of a traceback that a worker sent."""
    for link in links:
        match = _PYTHON.search(link.message)
        if match:
            return Diagnostic(
                QUERY_FAILED,
                f"query {query} failed in {match['where']}",
                cause=match["what"].strip(),
                fix="correct the function or the data; the epoch has not been committed and runs again",
            )
    return None


def _killed_worker(query: str, links: list[_Link]) -> Diagnostic | None:
    """A Python process of Spark's that ended without a word: it was killed, or its interpreter crashed."""
    if not any(_WORKER_GONE in link.message for link in links):
        return None
    return Diagnostic(
        QUERY_FAILED,
        f"query {query} failed: a Python worker of it was killed, or crashed",
        cause="it ended without saying why; most often the system ended it because memory had run out",
        fix="give the machine more memory, or run fewer tasks at once (as many as the target's master says, "
        "local[2]); the epoch has not been committed and runs again",
    )


def _unsendable(query: str, links: list[_Link]) -> Diagnostic | None:
    """What a message's type cannot hold."""
    for link in links:
        match = _UNSENDABLE.search(link.message)
        if match:
            return Diagnostic(
                UNSENDABLE_ROW,
                f"query {query} cannot make a message of a row: its {match['where']} does not fit the type",
                cause=match["what"].strip(),
                fix="give it another value, or filter such rows; the epoch was not committed and runs again",
            )
    return None


def _operation(links: list[_Link]) -> Diagnostic | None:
    for link in links:
        match = _UNKNOWN_OPERATION.search(link.message)
        if match:
            value, column = match["value"].strip().rstrip("."), match["column"]
            return Diagnostic(
                UNKNOWN_OPERATION,
                f"`{value}` in column {column} is no operation that {match['operator']} knows",
                cause="it is not among the codes of op_mapping, and a change that is passed over leaves the "
                "table wrong",
                fix="add it to op_mapping, or leave such rows out with invalid_op_handling => 'SKIP'",
            )
    return None


def _no_room(query: str, links: list[_Link]) -> Diagnostic | None:
    for text in _NO_ROOM:
        if any(text in link.message for link in links):
            return Diagnostic(
                NOT_WRITABLE,
                f"query {query} cannot write all of an epoch: there is no room",
                cause=f"the system says: {text}",
                fix="make room where its sinks, its state and Spark's temporary files are; nothing of the "
                "epoch counts yet, and the next run writes it",
            )
    return None


def _missing(query: str, links: list[_Link]) -> Diagnostic | None:
    for link in links:
        if any(word in (link.condition or "") for word in _GONE) or link.kind.endswith(
            "FileNotFoundException"
        ):
            file = _file(links)
            return Diagnostic(
                MISSING_PATH,
                f"query {query} needs {file or 'a file'}, which does not exist",
                cause="a file that was listed, or that an unfinished epoch has to read again, is gone",
                fix="bring the file back; files must stay until the epoch that reads them is done",
            )
    return None


def _broker(query: str, links: list[_Link]) -> Diagnostic | None:
    """What Kafka's client says that stands for a mistake in the options, or for a broker that is away."""
    for link in links:
        text = f"{link.kind} {link.message}"
        said = link.message.splitlines()[0] if link.message else link.kind
        if any(word in text for word in _NO_TOPIC):
            return Diagnostic(
                QUERY_FAILED,
                f"query {query} failed: a Kafka topic of it does not exist",
                cause=f"the broker says: {said}",
                fix="create the topic, or correct the option 'topic'",
            )
        if any(word in text for word in _NO_LOGIN):
            return Diagnostic(
                QUERY_FAILED,
                f"query {query} failed: its Kafka broker refuses the login, or what it wants to read",
                cause=f"Kafka's client says: {said}",
                fix="correct 'properties.sasl.…' and 'properties.ssl.…', or grant the user topic and groups; "
                "the next run goes on where this one ended",
            )
        if any(word in text for word in _NO_BROKER):
            return Diagnostic(
                QUERY_FAILED,
                f"query {query} failed: its Kafka broker does not answer",
                cause=f"Kafka's client says: {said}",
                fix="look whether the broker runs and 'properties.bootstrap.servers' is right; the next run "
                "goes on where this one ended",
            )
    return None


def _lost(query: str, links: list[_Link]) -> Diagnostic | None:
    for link in links:
        if (link.condition or "").startswith(_LOST):
            return Diagnostic(
                QUERY_FAILED,
                f"query {query} failed: records that it has not read yet are gone",
                cause=_first_line(link.message),
                fix="keep records longer than the pipeline may stand still; to go on without these, write "
                "on_data_loss = 'ignore' on the source",
            )
    return None


def _bad_message(links: list[_Link]) -> Diagnostic | None:
    for link in links:
        match = _BAD_RECORD_AT.search(link.message)
        if match:
            return Diagnostic(
                BAD_RECORD,
                f"source {original(match['source'])} cannot read the record at {match['position']}",
                cause=f"it is {_SQLSTATE.sub('', match['raw'])[:_MOST]}",
                fix="correct the declared columns, or say with on_bad_record what becomes of such records",
            )
    return None


def _unknown_schema(links: list[_Link]) -> Diagnostic | None:
    for link in links:
        match = _UNKNOWN_SCHEMA.search(link.message)
        if match:
            return Diagnostic(
                BAD_RECORD,
                f"source {original(match['source'])} has a record of unknown schema {match['schema']}",
                cause="the registry's subject did not have that schema when the query began",
                fix="run it again: nothing of the epoch is committed, and a run begins by asking for schemas",
            )
    return None


def _bad_record(query: str, links: list[_Link]) -> Diagnostic | None:
    for link in reversed(links):
        if any(word in (link.condition or "") for word in _MALFORMED) or any(
            text in link.message or text in link.kind for text in _MALFORMED_TEXT
        ):
            file = _file(links)
            return Diagnostic(
                BAD_RECORD,
                f"a record{f' of {file}' if file else ''} cannot be read by query {query}",
                cause=_header(link.message) or _first_line(link.message),
                fix="correct the file or the declared columns; the epoch has not been written and runs again",
            )
    return None


def _other(query: str, links: list[_Link]) -> Diagnostic:
    # The innermost with a condition says most; without any, the innermost at all.
    told = next((link for link in reversed(links) if link.condition), links[-1])
    name = told.condition or told.kind.rsplit(".", 1)[-1]
    if name.startswith("FAILED_READ_FILE") and told is not links[-1]:
        return Diagnostic(
            QUERY_FAILED,
            f"query {query} cannot read {_file(links) or 'a file'}",
            cause=_first_line(links[-1].message) or links[-1].kind.rsplit(".", 1)[-1],
            fix="mend or replace the file; the epoch has not been committed and runs again",
        )
    return Diagnostic(
        QUERY_FAILED,
        f"query {query} failed: {name}",
        cause=_told_and_root(told, links[-1]),
        fix="the log has the whole story; the epoch has not been committed and runs again",
    )


def _told_and_root(told: _Link, root: _Link) -> str:
    """What Spark says, and what is at the bottom of it where that is something else ("No space left …")."""
    line, below = _first_line(told.message), _first_line(root.message)
    return line if root is told or not below or below in line else f"{line} ({below})"


def _file(links: list[_Link]) -> str | None:
    for pattern in (_FILE, _FILE_URI):
        for link in links:
            match = pattern.search(link.message)
            if match:
                return re.sub(r"^file:/+", "/", match["file"])
    return None


def _header(message: str) -> str | None:
    """What a CSV header has and should have, which Spark says in lines; the last names the file."""
    lines = [line.strip() for line in _SQLSTATE.sub("", message).splitlines()]
    if not any("CSV header" in line for line in lines):
        return None
    told = (line for line in lines if line and not line.startswith("CSV file:"))
    return _first_line(" ".join(line if line[-1] in ".:" else f"{line}." for line in told))


def _first_line(message: str) -> str:
    line = _raised_in_python(message) or _SQLSTATE.sub("", message).strip().split("\n", 1)[0].strip()
    line = re.sub(r"^(?:[a-z]+\.)+[A-Za-z]+(?:Exception|Error): ", "", line)
    line = re.sub(r"^\[[A-Z0-9_.]+\] ", "", line)
    return line if len(line) <= _MOST else line[: _MOST - 1] + "…"


def _raised_in_python(message: str) -> str | None:
    """The end of a worker's traceback, which is the first line behind its head that is not set in."""
    _, head, lines = message.partition("Traceback (most recent call last):\n")
    return (
        next((line for line in lines.splitlines() if line and not line[0].isspace()), None) if head else None
    )


def _chain(error: BaseException) -> Iterator[_Link]:
    origin = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if origin is None:
        yield _Link(type(error).__name__, None, _without_plan(str(error)))
        return
    seen = 0
    while origin is not None and seen < 20:
        message = _without_plan(origin.getMessage() or "")
        yield _Link(origin.getClass().getName(), _condition(origin), message)
        origin = origin.getCause()
        seen += 1


def _without_plan(message: str) -> str:
    """The message without the query's plan, which Spark repeats and which has the text of every check."""
    return message.split("=== Streaming Query ===", 1)[0]


def _condition(throwable: Any) -> str | None:
    try:
        name = throwable.getCondition()
        return None if name is None else str(name)
    except Exception:  # noqa: BLE001  # py4j raises its own kind for a throwable without the method
        return None
