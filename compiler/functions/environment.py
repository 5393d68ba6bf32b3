"""Where and by whom a query runs: Spark 4.2, `misc.scala`, `inputFileBlock.scala`, `CallMethodViaReflection`.

What depends on how rows lie in partitions, or on the machine, is not deterministic: a replay may differ.
"""

from __future__ import annotations

from compiler.functions import kinds as k
from compiler.functions.build import Row, row
from compiler.functions.spec import Nulls
from compiler.plan.types import BIGINT, INT, STRING, is_atomic

_NEVER = Nulls.NEVER
_NAME = k.given(k.TEXT)
_PASSED = k.where("a number, BOOLEAN or STRING", is_atomic, STRING)

TABLE: tuple[Row, ...] = (
    row(
        "current_catalog current_database current_path current_schema current_timezone",
        to=STRING,
        nulls=_NEVER,
    ),
    row("current_user session_user user version", to=STRING, nulls=_NEVER),
    row("input_file_block_length input_file_block_start", to=BIGINT, nulls=_NEVER, deterministic=False),
    row("input_file_name", to=STRING, nulls=_NEVER, deterministic=False),
    row(
        "java_method reflect try_reflect",
        _NAME,
        _NAME,
        to=STRING,
        rest=_PASSED,
        nulls=Nulls.ALWAYS,
        deterministic=False,
    ),
    row("monotonically_increasing_id", to=BIGINT, nulls=_NEVER, deterministic=False),
    row("spark_partition_id", to=INT, nulls=_NEVER, deterministic=False),
)
