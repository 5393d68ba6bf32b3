"""Compiles a project, unless a record says what that would give."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.policy import Raise
from compiler.jobplan.codec import PlanFormatError, plan_from_json, to_json
from compiler.project.files import decode
from runtime.cli.cache.inputs import Inputs, Recording, environment_digest, gather, manifest_digest
from runtime.cli.cache.record import Files, NotKeptError, Record
from runtime.cli.cache.store import load, save
from runtime.cli.pipeline import Pipeline, compile_path


def compile_or_recall(
    path: Path,
    *,
    target: str | None,
    variables: Mapping[str, object],
    raises: tuple[Raise, ...],
    remember: bool,
) -> Pipeline:
    """The pipeline of a project's folder; from the record if nothing that it was made of has changed.

    Args:
        path: the project's folder.
        target: a target of headrace.yml, its default if left out.
        variables: those of `--vars`.
        raises: warnings that are errors, besides those of headrace.yml.
        remember: whether what is compiled is written down.
    """
    root = path.absolute()
    inputs = gather(root, target, variables)
    record = load(root / "target", target) if inputs is not None else None
    if inputs is not None and record is not None and _holds(record, inputs, root):
        recalled = _recall(record, inputs, root, raises)
        if recalled is not None:
            return recalled
    reporter, environment = Reporter(), Recording(os.environ)
    pipeline = compile_path(
        path, target=target, variables=variables, reporter=reporter, raises=raises, environment=environment
    )
    # A file may have been saved while it was compiled.
    if inputs is not None and remember and gather(root, target, variables) == inputs:
        made = _record(pipeline, inputs, reporter.all(), environment, len(raises))
        if made is not None:
            save(root / "target", target, made)
    return pipeline


def _holds(record: Record, inputs: Inputs, root: Path) -> bool:
    """Whether all that the recorded compile read is as it was."""
    return (
        record.base == inputs.base
        and record.files == inputs.digests()
        and record.environment_digest == environment_digest(record.environment, record.salt, os.environ)
        and record.manifest == manifest_digest((root / record.state).absolute())
    )


def _recall(record: Record, inputs: Inputs, root: Path, raises: tuple[Raise, ...]) -> Pipeline | None:
    """The pipeline that a record tells of, None if the record is not what it should be."""
    files = Files(_texts(inputs))
    try:
        policy = files.policy(record)
        policy = replace(policy, raises=(*policy.raises, *raises))
        raw = [files.told(found) for found in record.findings]
        plan = plan_from_json(record.plan) if record.plan is not None else None
    except (KeyError, ValueError, PlanFormatError):
        return None
    complete = not any(d.is_error for d in raw)
    found = policy.judge(raw, complete=complete)
    if any(d.is_error for d in found):
        plan = None
    return Pipeline(root, plan, found, policy, record.listed, record.graph, script=False)


def _record(
    pipeline: Pipeline,
    inputs: Inputs,
    found: tuple[Diagnostic, ...],
    environment: Recording,
    given_raises: int,
) -> Record | None:
    """What to keep of a compile; None if it cannot be told from a record."""
    project = pipeline.project
    if project is None or pipeline.listed is None or pipeline.graph is None:
        return None
    if pipeline.plan is None and given_raises and not any(d.is_error for d in found):
        return None  # without --warn-as-error there is a plan, and this compile did not make it
    values = [value for name in environment.names if (value := os.environ.get(name))]
    if any(value in f"{d.message} {d.cause} {d.fix}" for d in found for value in values):
        return None  # what the environment holds is written nowhere
    files = Files(_texts(inputs))
    own = pipeline.policy.raises[: len(pipeline.policy.raises) - given_raises]
    names, salt = tuple(sorted(environment.names)), secrets.token_hex(8)
    try:
        return Record(
            base=inputs.base,
            files=inputs.digests(),
            environment=names,
            salt=salt,
            environment_digest=environment_digest(names, salt, os.environ),
            state=project.config.target.state,
            manifest=manifest_digest((pipeline.project_dir / project.config.target.state).absolute()),
            project=project.config.name,
            plan=to_json(pipeline.plan) if pipeline.plan is not None else None,
            findings=tuple(files.kept(d) for d in found),
            allows=files.kept_allows(pipeline.policy.allows),
            raises=files.kept_raises(own),
            listed=pipeline.listed,
            graph=pipeline.graph,
        )
    except NotKeptError:
        return None


def _texts(inputs: Inputs) -> dict[str, str]:
    """The texts of the files, as findings see them."""
    found = {}
    for name, content in inputs.contents.items():
        file = decode(content, name, Reporter())
        if file is not None:
            found[name] = file.text
    return found
