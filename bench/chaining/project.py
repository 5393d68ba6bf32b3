"""The workloads as headrace projects."""

from __future__ import annotations

from pathlib import Path

from bench.chaining.workloads import COLUMNS, DELAY_S, Rows, Windows, Workload

_PROJECT = """\
name: chaining
targets:
  dev:
    master: "local[2]"
    parallelism: 2
    spark: {spark.driver.memory: 4g}
"""


def write_project(folder: Path, workload: Workload, data: Path, files: int) -> None:
    """Writes a project that leaves its sinks' rows as Parquet in `folder`/out."""
    folder.mkdir(parents=True)
    (folder / "headrace.yml").write_text(_PROJECT, encoding="utf-8")
    columns = ", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items())
    source = (
        f"CREATE SOURCE parsed ({columns}, ts AS timestamp_millis(ms), "
        f"WATERMARK FOR ts AS ts - INTERVAL '{DELAY_S}' SECONDS) "
        f"WITH (connector = 'filesystem', path = '{data}', format = 'json', max_files_per_epoch = {files})"
    )
    statements = [source]
    statements += [f"CREATE MODEL {model.name} AS {model.sql}" for model in workload.models]
    statements += [
        f"CREATE SINK {sink.name} WITH (connector = 'filesystem', path = 'out/{sink.name}', "
        f"format = 'parquet') AS {_query(sink)}"
        for sink in workload.sinks
    ]
    (folder / "all.sql").write_text("".join(f"{text};\n" for text in statements), encoding="utf-8")


def _query(sink: Windows | Rows) -> str:
    if isinstance(sink, Rows):
        return sink.sql
    keys = ", ".join(sink.keys)
    size = f"INTERVAL '{sink.seconds}' SECONDS"
    window = f"TUMBLE(TABLE {sink.source}, DESCRIPTOR(ts), {size})"
    if sink.slide is not None:
        window = f"HOP(TABLE {sink.source}, DESCRIPTOR(ts), INTERVAL '{sink.slide}' SECONDS, {size})"
    return (
        f"SELECT window_start, {keys}, sum({sink.value}) AS total, count(*) AS n FROM {window} "
        f"GROUP BY window_start, window_end, {keys}"
    )
