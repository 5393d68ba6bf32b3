"""Compiles a project, unless a record says what that would give."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import DecodeError, structs

from compiler.diagnostics.diagnostic import Diagnostic, Phase, Reporter
from compiler.diagnostics.policy import Policy, Raise
from compiler.jobplan.codec import PlanFormatError, plan_from_json
from compiler.kept import Files, KeptProject, NotKeptError
from compiler.project.descriptors import read_descriptor
from compiler.project.files import decode
from runtime.cli.cache.inputs import (
    Inputs,
    Recording,
    descriptor_digests,
    environment_digest,
    gather,
    manifest_digest,
)
from runtime.cli.cache.record import Findings, Record
from runtime.cli.cache.store import load, save
from runtime.cli.pipeline import Pipeline, compile_path, compile_read, no_garbage_collection, read

if TYPE_CHECKING:
    from compiler.syntax.declarations import ProjectConfig


@dataclass(frozen=True)
class Made:
    """What a record keeps of a compile, besides what commands are told.

    Args:
        found: all findings, before the project's policy.
        project: the project's name.
        state: its state root.
        kept: what parts of it are compiled from, None if none can be compiled alone.
        config: what headrace.yml says, None if something else has a say in that.
    """

    found: tuple[tuple[Phase, Diagnostic], ...]
    project: str
    state: str
    kept: KeptProject | None
    config: bytes | None


@dataclass(frozen=True)
class _Given:
    """What a compile is given, besides the files."""

    path: Path
    target: str | None
    variables: Mapping[str, object]
    raises: tuple[Raise, ...]
    environment: Recording


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
    files, digests = Files(_texts(inputs)), inputs.digests()
    record = load(root / "target", target)
    if record is not None and not _same_surroundings(record, inputs, root):
        record = None
    if record is not None and record.files == digests:
        recalled = _recall(record, files, root, raises)
        if recalled is not None:
            return recalled
    given = _Given(path, target, variables, raises, Recording(os.environ))
    with no_garbage_collection():
        part = _compile_part(record, digests, files, given) if record is not None else None
        pipeline, made = part or _compile_whole(files, given)
    # A file may have been saved while it was compiled.
    if remember and made is not None and gather(root, target, variables) == inputs:
        kept = _record(pipeline, made, inputs, files, given)
        if kept is not None:
            save(root / "target", target, kept)
    return pipeline


def _compile_whole(files: Files, given: _Given) -> tuple[Pipeline, Made | None]:
    """The pipeline of a project that is read, and what a record keeps of it."""
    from compiler.incremental import keep_config, keep_project

    reporter, environment = Reporter(), given.environment
    project = read(
        given.path,
        target=given.target,
        variables=given.variables,
        reporter=reporter,
        environment=environment,
    )
    pipeline = compile_read(given.path, project, reporter=reporter, raises=given.raises)
    if pipeline.project is None or pipeline.compiled is None or pipeline.graph is None:
        return pipeline, None
    project, config = pipeline.project, pipeline.project.config
    found, kept = reporter.by_phase(), None
    if pipeline.plan is not None:
        kept = keep_project(project, pipeline.compiled.logical.references, found, pipeline.graph, files)
    # The environment and `--vars` may hold secrets that nothing uses: what says all of them is read anew.
    alone = kept is not None and not environment.names and not given.variables
    return pipeline, Made(
        found, config.name, config.target.state, kept, keep_config(config, files) if alone else None
    )


def _compile_part(
    record: Record, digests: Mapping[str, str], files: Files, given: _Given
) -> tuple[Pipeline, Made] | None:
    """The pipeline with the changed part compiled and the rest recalled; None if that cannot be done.

    That takes a project of which nothing has run, and no file has come or gone.
    """
    kept = record.kept
    if kept is None or record.plan is None or record.manifest != "" or list(record.files) != list(digests):
        return None
    changed = [name for name, digest in record.files.items() if digests[name] != digest]
    if any(name not in kept.outlines for name in changed):
        return None
    from compiler.incremental import Earlier, recompile

    findings = Findings(files)
    try:
        policy = findings.policy(record)
        found: tuple[tuple[Phase, Diagnostic], ...] = tuple(
            (before.phase, findings.told(before)) for before in record.findings
        )
        plan = plan_from_json(record.plan)
        earlier = Earlier(kept, found, policy.allows, plan, record.graph, record.listed)
        made = recompile(earlier, changed, files, lambda: _config(record, files, given))
    except (KeyError, DecodeError, PlanFormatError, NotKeptError):
        return None
    if made is None:
        return None
    merged = Reporter()
    for phase, diagnostic in made.found:
        merged.phase = phase
        merged.add(diagnostic)
    policy = Policy(made.allows, (*policy.raises, *given.raises))
    told = policy.judge(merged.all(), complete=True)
    root, failed = given.path.absolute(), any(d.is_error for d in told)
    plan_now = None if failed else made.plan
    pipeline = Pipeline(root, plan_now, told, policy, made.listed, made.graph, script=False)
    return pipeline, Made(merged.by_phase(), record.project, record.state, made.kept, record.config)


def _config(record: Record, files: Files, given: _Given) -> ProjectConfig | None:
    """What headrace.yml says, which was without mistakes."""
    if record.config is not None:
        from compiler.incremental import told_config

        return told_config(record.config, files)
    from compiler.project.load import read_config

    reporter = Reporter()
    config = read_config(
        given.path.absolute(),
        target=given.target,
        variables=given.variables,
        reporter=reporter,
        environment=given.environment,
    )
    return None if reporter.has_errors else config


def _same_surroundings(record: Record, inputs: Inputs, root: Path) -> bool:
    """Whether all that the recorded compile read besides the project's files is as it was."""
    return (
        record.base == inputs.base
        and record.environment_digest == environment_digest(record.environment, record.salt, os.environ)
        and record.manifest == manifest_digest((root / record.state).absolute())
        and record.descriptors
        == descriptor_digests({path: read_descriptor(root, path) for path in record.descriptors})
    )


def _recall(record: Record, files: Files, root: Path, raises: tuple[Raise, ...]) -> Pipeline | None:
    """The pipeline that a record tells of, None if the record is not what it should be."""
    findings = Findings(files)
    try:
        policy = findings.policy(record)
        policy = structs.replace(policy, raises=(*policy.raises, *raises))
        raw = [findings.told(found) for found in record.findings]
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


def _record(pipeline: Pipeline, made: Made, inputs: Inputs, files: Files, given: _Given) -> Record | None:
    """What to keep of a compile; None if it cannot be told from a record."""
    if pipeline.listed is None or pipeline.graph is None:
        return None
    if pipeline.plan is None and given.raises and not any(d.is_error for _, d in made.found):
        return None  # without --warn-as-error there is a plan, and this compile did not make it
    # What the environment holds is written nowhere.
    values = [value for name in given.environment.names if (value := os.environ.get(name))]
    if any(value in f"{d.message} {d.cause} {d.fix}" for _, d in made.found for value in values):
        return None
    parted = made.kept is not None and not any(made.kept.holds(value) for value in values)
    findings, own = Findings(files), len(pipeline.policy.raises) - len(given.raises)
    names, salt = tuple(sorted(given.environment.names)), os.urandom(8).hex()
    try:
        return Record(
            base=inputs.base,
            files=inputs.digests(),
            environment=names,
            salt=salt,
            environment_digest=environment_digest(names, salt, os.environ),
            state=made.state,
            manifest=manifest_digest((pipeline.project_dir / made.state).absolute()),
            # Where only a part was compiled there are none.
            descriptors=descriptor_digests(pipeline.project.descriptors if pipeline.project else {}),
            project=made.project,
            plan=pipeline.plan_json if pipeline.plan is not None else None,
            findings=tuple(findings.kept(phase, d) for phase, d in made.found),
            allows=findings.kept_allows(pipeline.policy.allows),
            raises=findings.kept_raises(pipeline.policy.raises[:own]),
            listed=pipeline.listed,
            graph=pipeline.graph,
            kept=made.kept if parted else None,
            config=made.config if parted else None,
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
