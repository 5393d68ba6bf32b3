"""Flink SQL, one STATEMENT SET a workload; runs in an environment with apache-flink.

    python -m bench.chaining.flink JARS WORKLOAD DATA OUT FILES_AN_EPOCH

JARS is a folder with flink-sql-parquet and the two hadoop-client jars. A bounded input closes its windows by
itself, so the closing row's file is left out; and Flink's files have no watermark of their own and come in no
order, so the watermark lags behind by more than the data is long: with less, rows are dropped as late.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from bench.chaining.workloads import COLUMNS, WORKLOADS, Rows, Windows

# In minutes: an interval of four digits of seconds is refused by the planner.
_DELAY = "INTERVAL '60' MINUTE"
_TYPES = {"amount": "DOUBLE", "amount_usd": "DOUBLE", "total": "DOUBLE", "id": "BIGINT", "n": "BIGINT"}


def main() -> None:
    """Runs one workload to its end."""
    jars, name, data, out, _ = sys.argv[1:]
    workload = WORKLOADS[name]
    tables = _environment(jars, out)
    columns = ", ".join(f"{column} {type_}" for column, type_ in COLUMNS.items())
    tables.execute_sql(
        f"CREATE TABLE parsed ({columns}, ts AS TO_TIMESTAMP_LTZ(ms, 3), "
        f"WATERMARK FOR ts AS ts - {_DELAY}) WITH ('connector' = 'filesystem', "
        f"'path' = 'file://{data}', 'source.path.regex-pattern' = '.*/part-0.*', 'format' = 'json')"
    )
    for model in workload.models:
        tables.execute_sql(f"CREATE VIEW {model.name} AS {model.sql}")
    statements = tables.create_statement_set()
    for sink in workload.sinks:
        types = ", ".join(f"{column} {_type(column)}" for column in sink.columns)
        tables.execute_sql(
            f"CREATE TABLE {sink.name} ({types}) WITH ('connector' = 'filesystem', 'format' = 'parquet', "
            f"'path' = 'file://{out}/_raw/{sink.name}', 'parquet.utc-timezone' = 'true')"
        )
        statements.add_insert_sql(f"INSERT INTO {sink.name} {_query(sink)}")
    statements.execute().wait()
    for sink in workload.sinks:
        # Flink's files have no ending.
        for number, file in enumerate(sorted((Path(out) / "_raw" / sink.name).glob("part-*"))):
            target = Path(out) / sink.name / f"{number}.parquet"
            target.parent.mkdir(exist_ok=True)
            target.symlink_to(file)


def _environment(jars: str, out: str) -> Any:
    from pyflink.common import Configuration
    from pyflink.table import EnvironmentSettings, TableEnvironment

    settings = Configuration()
    for key, value in {
        "parallelism.default": "2",
        "execution.runtime-mode": "STREAMING",
        "execution.checkpointing.interval": "10 s",
        "execution.checkpointing.mode": "EXACTLY_ONCE",
        "execution.checkpointing.dir": f"file://{out}/_checkpoints",
        "state.backend.type": "hashmap",
        "taskmanager.memory.managed.size": "512m",
        "taskmanager.numberOfTaskSlots": "2",
        "table.local-time-zone": "UTC",
        "pipeline.jars": ";".join(f"file://{jar.absolute()}" for jar in sorted(Path(jars).glob("*.jar"))),
    }.items():
        settings.set_string(key, value)
    streaming = EnvironmentSettings.new_instance().in_streaming_mode()
    return TableEnvironment.create(streaming.with_configuration(settings).build())


def _type(column: str) -> str:
    times = {"window_start": "TIMESTAMP(3)", "ts": "TIMESTAMP_LTZ(3)"}
    return times.get(column) or _TYPES.get(column, "STRING")


def _query(sink: Windows | Rows) -> str:
    if isinstance(sink, Rows):
        return sink.sql
    keys = ", ".join(sink.keys)
    size = f"INTERVAL '{sink.seconds}' SECOND(3)"
    window = f"TUMBLE(TABLE {sink.source}, DESCRIPTOR(ts), {size})"
    if sink.slide is not None:
        window = f"HOP(TABLE {sink.source}, DESCRIPTOR(ts), INTERVAL '{sink.slide}' SECOND(3), {size})"
    return (
        f"SELECT window_start, {keys}, SUM({sink.value}), COUNT(*) FROM TABLE({window}) "
        f"GROUP BY window_start, window_end, {keys}"
    )


if __name__ == "__main__":
    main()
