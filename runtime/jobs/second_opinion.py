"""What Spark says of a job plan before a row is read: its analyzer, and its check of streaming queries.

The compiler's own rules come first; this is asked where somebody wants to be sure, and by our tests. Sources
are stood in for by empty streams of the same columns, so neither data nor brokers are needed, and no query
starts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from compiler.diagnostics.codes import REFUSED_BY_SPARK
from compiler.diagnostics.diagnostic import Diagnostic, Label
from compiler.diagnostics.source import Span
from compiler.jobplan.model import Column, JobPlan, Operator, Query, Scan, Seed, original
from compiler.jobplan.operators.lookup_table import LookupTable
from runtime.spark.context import Context, ddl_of
from runtime.spark.operators import lower

_CHECKER = "org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker"
_MODES = {"append": "Append", "update": "Update", "complete": "Complete"}
_CONDITION = re.compile(r"^\[(?P<condition>[A-Z0-9_.]+)\]\s*")
_NOISE = re.compile(r"\s*SQLSTATE: \w+.*|;\s*\n.*|\n'?[A-Z]\w+.*", re.DOTALL)
_NAMED = re.compile(r"`([^`]+)`")
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Places:
    """Where things of the plan were written.

    Args:
        operators: operators, sources and models by uid.
        columns: declared columns by name, in lower case.
    """

    operators: Mapping[str, Span]
    columns: Mapping[str, Span]

    def of(self, uid: str) -> Span | None:
        """The place of an operator, else that of what it belongs to."""
        uid = original(uid)
        return self.operators.get(uid) or self.operators.get(uid.split(".", maxsplit=1)[0])


def second_opinion(
    plan: JobPlan, session: SparkSession, folder: Path, places: Places
) -> tuple[Diagnostic, ...]:
    """Asks Spark about every query of a plan.

    Args:
        plan: the job plan.
        session: an open session.
        folder: an empty folder, for the streams that stand in for sources.
        places: to tell Spark's words at the user's lines.

    Returns:
        A finding (HR609) for each query that Spark refuses: at the first operator that it refuses.
    """
    session.conf.set("spark.sql.session.timeZone", plan.timezone)
    empty = folder / "empty"
    empty.mkdir(parents=True, exist_ok=True)
    asked = (_Question(query, session, empty, places).answer() for query in plan.queries)
    return tuple(found for found in asked if found is not None)


class _Question:
    """One query, built operator by operator, so that what is refused has a name."""

    def __init__(self, query: Query, session: SparkSession, empty: Path, places: Places) -> None:
        self._query = query
        self._session = session
        self._empty = empty
        self._places = places
        self._stream = Context(session, empty, empty, streaming=True, query_folder=empty)
        self._epoch = Context(session, empty, empty, streaming=False)
        self._operators = {op.id: op for op in query.operators}
        self._above = self._needed(self._operators, [query.trunk], ())

    def answer(self) -> Diagnostic | None:
        """The finding, None if Spark has nothing against the query."""
        done: dict[str, DataFrame] = {}
        above = [op for op in self._query.operators if op.id in self._above]
        for op in above:
            found = self._put(op, done, self._stream)
            if found is not None:
                return found
        refused = self._refused(done[self._query.trunk])
        if refused is not None:
            # Spark names no operator: the first whose own plan is refused is the one.
            for op in above:
                refused = self._refused(done[op.id]) or refused
                if self._refused(done[op.id]) is not None:
                    return self._finding(op.uid, refused)
            return self._finding(above[-1].uid, refused)
        # What an epoch begins with: the trunk's rows, and what it has read where that is kept.
        begun = {self._query.trunk, self._query.kept or self._query.trunk}
        empty = {id_: self._session.createDataFrame([], done[id_].schema) for id_ in begun}
        below = self._needed(self._operators, [sink.input for sink in self._query.sinks], begun)
        for op in self._query.operators:
            if op.id in below:
                found = self._put(op, empty, self._epoch)
                if found is not None:
                    return found
        return None

    @staticmethod
    def _needed(operators: Mapping[str, Operator], roots: Iterable[str], stop: Collection[str]) -> set[str]:
        """Operators that rows of the roots come from, down to those of `stop`, which are left out."""
        needed: set[str] = set()
        pending = list(roots)
        while pending:
            current = pending.pop()
            if current not in needed and current not in stop:
                needed.add(current)
                pending.extend(operators[current].inputs)
        return needed

    def _put(self, op: Operator, done: dict[str, DataFrame], context: Context) -> Diagnostic | None:
        """Builds an operator; the finding if Spark's analyzer refuses it."""
        try:
            if isinstance(op, Scan):
                done[op.id] = self._rows(op, streaming=context.streaming)
            elif isinstance(op, (Seed, LookupTable)):
                done[op.id] = self._session.createDataFrame([], ddl_of(op.columns))
            else:
                inputs = [self._input(identity, done, context) for identity in op.inputs]
                done[op.id] = lower(op, inputs, context)
            done[op.id].schema  # noqa: B018  # what is asked for is analysed
        except PySparkException as error:
            return self._finding(op.uid, str(error))
        return None

    def _input(self, identity: str, done: dict[str, DataFrame], context: Context) -> DataFrame:
        """An input; below the trunk, a seed that was read above it is read again."""
        rows = done[identity]
        return (
            rows
            if context.streaming or not rows.isStreaming
            else self._session.createDataFrame([], rows.schema)
        )

    def _rows(self, op: Scan, *, streaming: bool) -> DataFrame:
        """An empty stream of a source's columns."""
        marks = [Column(name, "STRING") for name in op.marks or ()]
        ddl = ddl_of((*op.columns, *marks))
        if not streaming:
            return self._session.createDataFrame([], ddl)
        return self._session.readStream.name(op.read_name).schema(ddl).json(str(self._empty))

    def _refused(self, rows: DataFrame) -> str | None:
        """What Spark's check of streaming queries says against a plan, None if nothing."""
        jvm: Any = self._session._jvm  # the check has no Python of its own
        checker: Any = jvm
        for part in _CHECKER.split("."):
            checker = getattr(checker, part)
        modes: Any = jvm.org.apache.spark.sql.streaming.OutputMode
        mode = getattr(modes, _MODES[self._query.output_mode])()
        try:
            frame: Any = rows._jdf
            checker.checkForStreaming(frame.queryExecution().analyzed(), mode)
        except Exception as error:  # noqa: BLE001  # py4j wraps whatever Spark throws
            origin = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
            return str(origin.getMessage()) if origin is not None else str(error)
        return None

    def _finding(self, uid: str, said: str) -> Diagnostic:
        match = _CONDITION.match(said)
        condition = match["condition"] if match else None
        text = " ".join(_NOISE.sub("", _CONDITION.sub("", said)).split())
        related = tuple(self._columns(said))
        return Diagnostic(
            REFUSED_BY_SPARK,
            f"Spark refuses `{uid}` of query `{self._query.uid}`{f': {condition}' if condition else ''}",
            self._places.of(uid),
            cause=(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…") or None,
            fix="headrace took it for right: report it, and meanwhile write the query in another way",
            related=related,
        )

    def _columns(self, said: str) -> Iterator[Label]:
        """The definitions of columns that Spark names."""
        for name in dict.fromkeys(name.lower() for name in _NAMED.findall(said)):
            if name in self._places.columns:
                yield Label(self._places.columns[name], f"`{name}` is defined here")
