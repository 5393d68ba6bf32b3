"""Compiles a project, unless a record says what that would give."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from compiler.diagnostics.diagnostic import Diagnostic, Phase, Reporter
from compiler.diagnostics.policy import Raise
from compiler.jobplan.codec import PlanFormatError, plan_from_json
from compiler.project.files import decode
from runtime.cli.cache.inputs import Inputs, Recording, environment_digest, gather, manifest_digest
from runtime.cli.cache.record import Files, NotKeptError, Record
from runtime.cli.cache.store import load, save
from runtime.cli.pipeline import Pipeline, compile_path, compile_read, no_garbage_collection, read

if TYPE_CHECKING:
    from compiler.incremental import Outline
    from compiler.project.selection import Graph
    from compiler.syntax.declarations import Project


@dataclass(frozen=True)
class Made:
    """What a record keeps of a compile, besides what commands are told."""

    project: Project
    outline: Outline
    reads: Mapping[str, tuple[str, ...]]
    found: tuple[tuple[Phase, Diagnostic], ...]
    graph: Graph
    parted: bool


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
    if inputs is None:
        return compile_path(path, target=target, variables=variables, raises=raises)
    record = load(root / "target", target)
    surroundings = record is not None and _same_surroundings(record, inputs, root)
    if record is not None and surroundings and record.files == inputs.digests():
        recalled = _recall(record, inputs, root, raises)
        if recalled is not None:
            return recalled
    reporter, environment = Reporter(), Recording(os.environ)
    with no_garbage_collection():
        project = read(path, target=target, variables=variables, reporter=reporter, environment=environment)
        made = None
        if project is not None and record is not None and surroundings and _may_be_parted(record, inputs):
            made = _compile_part(record, inputs, project, raises, reporter)
        if made is None:
            made = _compile_whole(path, project, raises, reporter)
    pipeline, earlier = made
    # A file may have been saved while it was compiled.
    if remember and earlier is not None and gather(root, target, variables) == inputs:
        kept = _record(pipeline, earlier, inputs, environment, len(raises))
        if kept is not None:
            save(root / "target", target, kept)
    return pipeline


def _compile_whole(
    path: Path, project: Project | None, raises: tuple[Raise, ...], reporter: Reporter
) -> tuple[Pipeline, Made | None]:
    """The pipeline of a project that was read, and what a record keeps of it."""
    from compiler.incremental import can_be_parted, outline_of

    pipeline = compile_read(path, project, reporter=reporter, raises=raises)
    if pipeline.project is None or pipeline.compiled is None or pipeline.graph is None:
        return pipeline, None
    found = tuple(reporter.by_phase())
    outline = outline_of(pipeline.project)
    reads = pipeline.compiled.logical.references
    parted = pipeline.plan is not None and can_be_parted(pipeline.project, found)
    return pipeline, Made(pipeline.project, outline, reads, found, pipeline.graph, parted)


def _may_be_parted(record: Record, inputs: Inputs) -> bool:
    """Whether a record could tell what has not changed: nothing has run, and no file has come or gone."""
    return record.parted and record.manifest == "" and list(record.files) == list(inputs.contents)


def _compile_part(
    record: Record, inputs: Inputs, project: Project, raises: tuple[Raise, ...], reporter: Reporter
) -> tuple[Pipeline, Made | None] | None:
    """The pipeline with the changed part compiled and the rest recalled; None if that cannot be done."""
    from compiler.incremental import Earlier, Outline, can_be_parted, recompile
    from compiler.project.listing import entries

    files = Files(_texts(inputs))
    try:
        earlier = Earlier(
            Outline(record.digests, record.rest, record.plain),
            record.reads,
            tuple((found.phase, files.told(found)) for found in record.findings),
            plan_from_json(record.plan or ""),
            record.graph,
        )
    except (KeyError, ValueError, PlanFormatError):
        return None
    made = recompile(project, earlier, reporter)
    if made is None:
        return None
    merged = Reporter()
    for phase, found in made.found:
        merged.phase = phase
        merged.add(found)
    policy = structs.replace(project.policy, raises=(*project.policy.raises, *raises))
    found_now = policy.judge(merged.all(), complete=True)
    plan = None if any(d.is_error for d in found_now) else made.plan
    root, listed = Path(project.root), entries(project, made.graph)
    pipeline = Pipeline(root, plan, found_now, policy, listed, made.graph, script=False, project=project)
    phased = merged.by_phase()
    parted = can_be_parted(project, phased)
    return pipeline, Made(project, made.outline, made.reads, phased, made.graph, parted)


def _same_surroundings(record: Record, inputs: Inputs, root: Path) -> bool:
    """Whether all that the recorded compile read besides the project's files is as it was."""
    return (
        record.base == inputs.base
        and record.environment_digest == environment_digest(record.environment, record.salt, os.environ)
        and record.manifest == manifest_digest((root / record.state).absolute())
    )


def _recall(record: Record, inputs: Inputs, root: Path, raises: tuple[Raise, ...]) -> Pipeline | None:
    """The pipeline that a record tells of, None if the record is not what it should be."""
    files = Files(_texts(inputs))
    try:
        policy = files.policy(record)
        policy = structs.replace(policy, raises=(*policy.raises, *raises))
        raw = [files.told(found) for found in record.findings]
        plan = plan_from_json(record.plan) if record.plan is not None else None
    except (KeyError, ValueError, PlanFormatError):
        return None
    complete = not any(d.is_error for d in raw)
    found = policy.judge(raw, complete=complete)
    if any(d.is_error for d in found):
        plan = None
    return Pipeline(
        root, plan, found, policy, record.listed, record.graph, script=False, known_json=record.plan
    )


def _record(
    pipeline: Pipeline, made: Made, inputs: Inputs, environment: Recording, given_raises: int
) -> Record | None:
    """What to keep of a compile; None if it cannot be told from a record."""
    project, found = made.project, made.found
    if pipeline.listed is None:
        return None
    if pipeline.plan is None and given_raises and not any(d.is_error for _, d in found):
        return None  # without --warn-as-error there is a plan, and this compile did not make it
    values = [value for name in environment.names if (value := os.environ.get(name))]
    if any(value in f"{d.message} {d.cause} {d.fix}" for _, d in found for value in values):
        return None  # what the environment holds is written nowhere
    files = Files(_texts(inputs))
    own = pipeline.policy.raises[: len(pipeline.policy.raises) - given_raises]
    names, salt = tuple(sorted(environment.names)), os.urandom(8).hex()
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
            plan=pipeline.plan_json if pipeline.plan is not None else None,
            findings=tuple(files.kept(phase, d) for phase, d in found),
            allows=files.kept_allows(pipeline.policy.allows),
            raises=files.kept_raises(own),
            listed=pipeline.listed,
            graph=made.graph,
            digests=dict(made.outline.digests),
            rest=made.outline.rest,
            plain=made.outline.plain,
            reads=dict(made.reads),
            parted=made.parted,
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
