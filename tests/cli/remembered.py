"""Compiles with and without what was remembered, and all that a command may look at of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from compiler.diagnostics.policy import raises_of
from compiler.diagnostics.render import render_all
from runtime.cli.cache import compile_or_recall
from runtime.cli.pipeline import Pipeline, compile_path

RECORD = Path("target/cache/_default.msgpack")


def compiled(root: Path, target: str | None = None, raises: str = "", **variables: object) -> Pipeline:
    """Compiled as the command does it: with the record, which is written anew."""
    return compile_or_recall(
        root, target=target, variables=variables, raises=raises_of(raises), remember=True
    )


def fresh(root: Path, target: str | None = None, raises: str = "", **variables: object) -> Pipeline:
    """Compiled as if for the first time."""
    return compile_path(root, target=target, variables=variables, raises=raises_of(raises))


def told(pipeline: Pipeline) -> tuple[Any, ...]:
    """All that a command may look at."""
    return (
        pipeline.project_dir,
        pipeline.plan,
        pipeline.plan_json if pipeline.plan is not None else None,
        render_all(pipeline.diagnostics),
        pipeline.diagnostics,
        pipeline.listed,
        pipeline.graph,
        pipeline.policy,
        pipeline.script,
    )


def same(root: Path, **given: Any) -> None:
    """The one cannot be told from the other."""
    assert told(compiled(root, **given)) == told(fresh(root, **given))


def was_recalled(pipeline: Pipeline) -> bool:
    """Whether nothing was compiled."""
    return pipeline.known_json is not None


def was_parted(pipeline: Pipeline) -> bool:
    """Whether a part was compiled, and the rest recalled."""
    return pipeline.project is None and pipeline.known_json is None
