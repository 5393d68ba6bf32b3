"""A job plan as one PySpark program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from textwrap import wrap

from msgspec.structs import replace

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.emit.apart import apart
from compiler.emit.code import CannotEjectError, Code, Scope
from compiler.emit.operators import emit
from compiler.emit.text import call, identifier, indented, string
from compiler.jobplan import model as job
from compiler.jobplan.formats import file_format, spark_options
from compiler.plan.expr_sql import quote_name as quote

_DELTA_CONF = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def to_pyspark(plan: job.JobPlan, places: Mapping[str, Span]) -> str:
    """A program that reads, computes and writes what the plan does, with pyspark alone.

    Args:
        plan: the job plan, or some of its queries.
        places: of operators, by uid.

    Raises:
        DiagnosticError: HR620 for each operator and sink that has no form as plain PySpark.
    """
    plan = replace(plan, queries=tuple(part for query in plan.queries for part in apart(query)))
    found = _refusals(plan, places)
    if found:
        raise DiagnosticError(*found)
    functions = _names("query", [query.uid for query in plan.queries])
    bodies = [_query(query, plan, functions[query.uid], places) for query in plan.queries]
    helpers = (files("compiler.emit") / "helpers.txt").read_text("utf-8").split("\n\n\n")
    body = "\n\n\n".join(bodies)
    used: list[str] = []
    # A helper may need one that stands before it.
    for helper in reversed(helpers):
        name = helper.partition("def ")[2].partition("(")[0]
        if f"{name}(" in "".join((body, *used)) or f"({name}" in body:
            used.insert(0, helper.strip("\n"))
    main = _main(plan, functions)
    imports = "import os\n" if "os.environ[" in body + main else ""
    parts = [_header(plan, imports), *used, body, main]
    return "\n\n\n".join(parts) + "\n"


def _refusals(plan: job.JobPlan, places: Mapping[str, Span]) -> list[Diagnostic]:
    """What cannot be ejected, and why."""
    found: list[Diagnostic] = []

    def refuse(what: str, uid: str, cause: str) -> None:
        uid = job.original(uid)
        while uid not in places and "." in uid:
            uid = uid.rpartition(".")[0]
        found.append(
            Diagnostic(
                codes.CANNOT_EJECT,
                f"{what} cannot be ejected",
                places.get(uid),
                cause=cause,
                fix="eject other queries with --select, or run this one with headrace",
            )
        )

    if plan.functions is not None:
        refuse("what is under `functions/`", "", "their files are kept and versioned by headrace's runtime")
    for query in plan.queries:
        scope = Scope(plan.timezone, query.parallelism)
        for op in query.operators:
            try:
                emit(op, op.inputs, scope)
            except CannotEjectError as error:
                refuse(f"operator `{op.uid}` ({op.op})", op.uid, str(error))
        for change in query.changes:
            op = next(op for op in query.operators if op.id == change.operator)
            refuse(f"operator `{op.uid}` ({op.op})", op.uid, "it gives changes, not rows that stay")
        for sink in query.sinks:
            if sink.primary_key or sink.upsert:
                refuse(f"sink `{sink.uid}`", sink.uid, "it keeps one row a key")
            elif sink.connector not in ("filesystem", "delta", "console", "blackhole"):
                refuse(f"sink `{sink.uid}`", sink.uid, f"connector {sink.connector}")
    return list(dict.fromkeys(found))


def _header(plan: job.JobPlan, imports: str) -> str:
    delta = any(sink.connector == "delta" for query in plan.queries for sink in query.sinks)
    needs = "pyspark 4.2.0" + (" and delta-spark 4.4.0" if delta else "")
    return f'''"""{plan.project}, target {plan.target}, as a PySpark program.

Ejected by headrace {plan.headrace}; it needs {needs}, and no headrace:

    python THIS_FILE [PROJECT_DIR [STATE_DIR]]

Paths are relative to PROJECT_DIR, the working directory if it is left out. Checkpoints are kept in STATE_DIR,
PROJECT_DIR/checkpoints if left out. They are not those of headrace: the program begins anew, with outputs of
its own. Each epoch is written once, as long as a checkpoint and the outputs that it counts stay together.
What headrace checks besides (owners of outputs, changed files, state of other plans) is not checked here.
"""

from __future__ import annotations

{imports}import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery
from pyspark.sql.types import StructType

PROJECT = Path(sys.argv[1] if len(sys.argv) > 1 else ".").absolute()
STATE = Path(sys.argv[2] if len(sys.argv) > 2 else PROJECT / "checkpoints").absolute()

# Marks a column as an event time, with the delay of its watermark in milliseconds. Spark closes groups and
# drops late rows by the first grouping column that carries it, so it is set and taken away on purpose.
DELAY = "spark.watermarkDelayMs"'''


def _main(plan: job.JobPlan, functions: Mapping[str, str]) -> str:
    conf = {
        "spark.sql.session.timeZone": plan.timezone,
        "spark.sql.streaming.stateStore.providerClass": _STORE,
        # A checkpoint knows its sources by name, so that one can be added.
        "spark.sql.streaming.queryEvolution.enableSourceEvolution": "true",
        # A pushed filter would hide a bad record.
        "spark.sql.csv.filterPushdown.enabled": "false",
        "spark.sql.json.filterPushdown.enabled": "false",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        # An epoch is kept only while it is written, which is too short for packing it to pay.
        "spark.sql.inMemoryColumnarStorage.compressed": "false",
    }
    if any(sink.connector == "delta" for query in plan.queries for sink in query.sinks):
        conf |= {"spark.jars.packages": "io.delta:delta-spark_4.2_2.13:4.4.0", **_DELTA_CONF}
    conf |= plan.settings.spark
    settings = indented("\n".join(call(".config", [string(k), string(v)]) for k, v in conf.items()), 8)
    queries = "\n".join(f"        {functions[query.uid]}(spark)," for query in plan.queries)
    return f'''def main() -> None:
    """Starts all queries, and waits until each has ended."""
    spark = (
        SparkSession.builder.appName({string(plan.project)})
        .master({string(plan.settings.master)})
{settings}
        .getOrCreate()
    )
    queries = [
{queries}
    ]
    for query in queries:
        query.awaitTermination()


if __name__ == "__main__":
    main()'''


def _names(prefix: str, uids: Iterable[str]) -> dict[str, str]:
    """A variable for each uid, all different."""
    found: dict[str, str] = {}
    used: Counter[str] = Counter()
    for uid in uids:
        name = identifier(f"{prefix}_{uid}")
        used[name] += 1
        found[uid] = name if used[name] == 1 else f"{name}_{used[name]}"
    return found


@dataclass(eq=False)
class _Rows:
    """A variable and the operators that it is made by, one after the other."""

    variable: str
    part: str
    base: str
    calls: list[tuple[str, str]] = field(default_factory=list)  # place, call

    def statement(self) -> str:
        if not self.calls:
            return f"{self.variable} = {self.base}"
        lines = [self.base]
        last = ""
        for place, text in self.calls:
            if place and place != last:
                lines.append(f"# {place}")
            last = place
            lines.append(text)
        body = indented("\n".join(lines))
        return f"{self.variable} = (\n{body}\n)"


@dataclass
class _Block:
    """Statements of one function body."""

    scope: Scope
    places: Mapping[str, Span]
    taken: set[str]
    rows: dict[str, _Rows] = field(default_factory=dict)

    def variable(self, part: str) -> str:
        name = base = identifier(part)
        number = 1
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name

    def lay_out(self, operators: Sequence[job.Operator], uses: Counter[str]) -> list[str]:
        """Assignments for operators, inputs first; what goes on in one part is one expression."""
        done: list[_Rows] = []
        for op in operators:
            code: Code = emit(op, [self.rows[id_].variable for id_ in op.inputs], self.scope)
            uid = job.original(op.uid)
            part, place = uid.partition(".")[0], self._place(uid)
            above = self.rows[op.inputs[0]] if op.inputs else None
            if code.base is None and above is not None and uses[op.inputs[0]] == 1 and above.part == part:
                made = above
                done.remove(made)
            else:
                made = _Rows(self.variable(part), part, code.base or (above.variable if above else ""))
            made.calls += [(place, text) for text in code.calls]
            done.append(made)
            self.rows[op.id] = made
        return [rows.statement() for rows in done]

    def _place(self, uid: str) -> str:
        while uid not in self.places and "." in uid:
            uid = uid.rpartition(".")[0]
        return self.places[uid].place().rpartition(":")[0] if uid in self.places else ""


def _query(query: job.Query, plan: job.JobPlan, function: str, places: Mapping[str, Span]) -> str:
    by_id = {op.id: op for op in query.operators}
    live = [sink for sink in query.sinks if not sink.removed]
    stream = _above([query.trunk], by_id, stop=None)
    epoch = _above([sink.input for sink in live], by_id, stop=query.trunk)
    scope = Scope(plan.timezone, query.parallelism)
    block = _Block(scope, places, set())
    trunk = query.trunk
    body = block.lay_out(stream, _uses(stream, [trunk]))
    inner = _Block(scope, places, {*block.taken})
    inner.rows = {trunk: _Rows("batch", "", "")}
    below = [op for op in epoch if op.id != trunk]
    lines = inner.lay_out(below, _uses(below, [sink.input for sink in live]))
    uses = sum(op.inputs.count(trunk) for op in below) + sum(sink.input == trunk for sink in live)
    writes = [line for sink in live for line in _write(sink, inner.rows[sink.input].variable, plan.project)]
    keeps = uses > 1 or bool(query.state)
    if query.state:
        writes += [
            "# State is committed with rows that were computed to their end, whatever was written before.",
            'batch.write.format("noop").mode("append").save()',
        ]
    steps = [*lines, *writes]
    if keeps:
        inside = indented("\n".join(steps))
        steps = ["batch.persist()", "try:", *inside.split("\n"), "finally:", "    batch.unpersist()"]
    written = indented("\n".join(steps), 8)
    trigger = f'processingTime="{query.trigger_ms} milliseconds"' if query.trigger_ms else "availableNow=True"
    return f'''def {function}(spark: SparkSession) -> StreamingQuery:
    """{_docstring(f"Query {query.uid}: {query.reason}.")}"""
    spark.conf.set("spark.sql.shuffle.partitions", "{query.parallelism}")
{indented(chr(10).join(body))}

    def write(batch: DataFrame, epoch: int) -> None:
{written}

    return (
        {block.rows[trunk].variable}.writeStream.queryName({string(query.uid)})
        .outputMode({string(query.output_mode)})
        .option("checkpointLocation", str(STATE / {string(query.uid)}))
        .trigger({trigger})
        .foreachBatch(write)
        .start()
    )'''


def _docstring(text: str) -> str:
    return "\n    ".join(wrap(text.replace("\\", "/").replace('"', "'"), 100))


def _above(roots: Iterable[str], by_id: Mapping[str, job.Operator], stop: str | None) -> list[job.Operator]:
    """All operators that rows of the roots come from, in the plan's order; none above `stop`."""
    wanted: set[str] = set()
    stack = list(roots)
    while stack:
        id_ = stack.pop()
        if id_ not in wanted:
            wanted.add(id_)
            if id_ != stop:
                stack.extend(by_id[id_].inputs)
    return [op for op in by_id.values() if op.id in wanted]


def _uses(operators: Iterable[job.Operator], ends: Iterable[str]) -> Counter[str]:
    return Counter([*(id_ for op in operators for id_ in op.inputs), *ends])


def _write(sink: job.Sink, rows: str, project: str) -> list[str]:
    columns = ", ".join(f"{quote(column.name)} {column.type}" for column in sink.columns)
    given = f"as_columns({rows}, {string(columns)})"
    if sink.connector == "blackhole":
        return [f'{given}.write.format("noop").mode("append").save()']
    if sink.connector == "console":
        return [f"{given}.show(truncate=False)"]
    path = string(str(sink.options["path"]))
    partitions = [f"({', '.join(map(string, sink.partition_by))},)"] if sink.partition_by else []
    if sink.connector == "delta":
        return [call("write_delta", [given, "epoch", path, string(f"{project}/{sink.uid}"), *partitions])]
    options = spark_options(sink.options)
    more = partitions or ["[]"] if options else partitions
    pairs = (
        ["{" + ", ".join(f"{string(k)}: {string(v)}" for k, v in options.items()) + "}"] if options else []
    )
    return [call("write_files", [given, "epoch", path, string(file_format(sink.options)), *more, *pairs])]
