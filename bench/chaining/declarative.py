"""Spark Declarative Pipelines: each model a streaming table, or a temporary view.

    python -m bench.chaining.declarative {tables|views} WORKLOAD DATA OUT FILES_AN_EPOCH

A window over another dataset is SQL here: `withWatermark()` on one is analysed when the model is registered,
and fails (Spark 4.2: TABLE_OR_VIEW_NOT_FOUND).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.chaining.workloads import COLUMNS, DELAY_S, ROCKSDB, WORKLOADS, Rows, Windows

_HEAD = """\
from pyspark import pipelines as dp
from pyspark.sql import SparkSession, functions as F
spark = SparkSession.active()

@{deco}
def parsed():
    rows = spark.readStream.schema("{schema}").option("maxFilesPerTrigger", {files}).format("json")
    return rows.load("{data}").withColumn("ts", F.timestamp_millis("ms"))

"""
_PIPELINE = f"""\
name: bench
storage: file://{{out}}/_storage
libraries:
  - glob:
      include: transformations/**
configuration:
  spark.sql.shuffle.partitions: "2"
  spark.sql.session.timeZone: "UTC"
  spark.sql.streaming.stateStore.providerClass: "{ROCKSDB}"
"""


def main() -> int:
    """Writes the pipeline and runs it; the tables are linked to where the bench looks for them."""
    mode, name, data, out, files = sys.argv[1:]
    workload = WORKLOADS[name]
    middle = "dp.table" if mode == "tables" else "dp.temporary_view"
    schema = ", ".join(f"{column} {type_}" for column, type_ in COLUMNS.items())
    text = _HEAD.format(deco=middle, schema=schema, files=files, data=data)
    for model in workload.models:
        text += _dataset(middle, model)
    for sink in workload.sinks:
        text += _dataset("dp.table", sink)
    project = Path(out) / "_project"
    (project / "transformations").mkdir(parents=True)
    (project / "transformations" / "models.py").write_text(text, encoding="utf-8")
    spec = project / "spark-pipeline.yml"
    spec.write_text(_PIPELINE.format(out=out), encoding="utf-8")
    program = Path(sys.executable).with_name("spark-pipelines")
    settings = {
        "spark.driver.memory": "4g",
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": f"{out}/_warehouse",
        "spark.sql.session.timeZone": "UTC",
    }
    # A Connect client: --master is refused.
    command = [str(program), "--remote", "local[2]"]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    code = subprocess.run(
        [*command, "run", "--spec", str(spec)], cwd=project, env=environment, check=False
    ).returncode
    for sink in workload.sinks:
        (Path(out) / sink.name).symlink_to(Path(out) / "_warehouse" / sink.name)
    return code


def _dataset(decorator: str, query: Windows | Rows) -> str:
    if isinstance(query, Rows):
        where = f".where({query.condition!r})" if query.condition else ""
        items = ", ".join(map(repr, query.items))
        body = f"spark.readStream.table({query.source!r}){where}.selectExpr({items})"
    else:
        keys = ", ".join(query.keys)
        slide = query.slide or query.seconds
        body = (
            f'spark.sql("""SELECT window.start AS window_start, {keys}, sum({query.value}) AS total, '
            f"count(*) AS n FROM STREAM({query.source}) WATERMARK ts DELAY OF INTERVAL {DELAY_S} SECONDS "
            f"GROUP BY window(ts, '{query.seconds} seconds', '{slide} seconds'), {keys}\"\"\")"
        )
    return f"@{decorator}\ndef {query.name}():\n    return {body}\n\n"


if __name__ == "__main__":
    sys.exit(main())
