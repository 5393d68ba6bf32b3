"""`steps:` of a YAML model: one file a step, with its declaration and its reader.

To add a step: write its file and add its line to `READERS`; what it becomes is said by the file of the same
name under `compiler.analysis.steps`.
"""

from __future__ import annotations

from typing import Final

from compiler.syntax.steps.aggregate import read_aggregate
from compiler.syntax.steps.changelog import read_changelog
from compiler.syntax.steps.dedup import read_dedup
from compiler.syntax.steps.derive import read_derive
from compiler.syntax.steps.distinct import read_distinct
from compiler.syntax.steps.filter import read_filter
from compiler.syntax.steps.join import read_join
from compiler.syntax.steps.match import read_match
from compiler.syntax.steps.over import read_over
from compiler.syntax.steps.process import read_process
from compiler.syntax.steps.reader import ReadStep, StepReader
from compiler.syntax.steps.select import read_select
from compiler.syntax.steps.top import read_top
from compiler.syntax.steps.union import read_union
from compiler.syntax.steps.unnest import read_unnest
from compiler.syntax.steps.window import read_window
from compiler.syntax.yaml_nodes import YamlReader

READERS: Final[dict[str, ReadStep]] = {
    "filter": read_filter,
    "select": read_select,
    "derive": read_derive,
    "window": read_window,
    "aggregate": read_aggregate,
    "dedup": read_dedup,
    "top": read_top,
    "over": read_over,
    "join": read_join,
    "match": read_match,
    "process": read_process,
    "union": read_union,
    "unnest": read_unnest,
    "distinct": read_distinct,
    "from_changelog": read_changelog,
    "to_changelog": read_changelog,
}


def step_reader(yaml: YamlReader) -> StepReader:
    """A reader of the steps of one file's models."""
    return StepReader(yaml, READERS)
