"""From a path to a compiled plan, and from a plan to its run: what commands and `import headrace` share.

Nothing here prints.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from compiler.diagnostics.codes import NOT_WRITABLE, NOTHING_SELECTED, STATE_OF_OTHER_PROJECT
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Reporter
from compiler.diagnostics.policy import Policy, Raise

if TYPE_CHECKING:
    from compiler.compile import Compiled
    from compiler.jobplan.model import JobPlan, Manifest
    from compiler.project.listing import Entry
    from compiler.project.selection import Graph
    from compiler.syntax.declarations import Project


@dataclass(frozen=True)
class Pipeline:
    """A project, or a script, that was read and compiled, now or before.

    Args:
        project_dir: what relative paths are relative to; None if there is no project.
        plan: the job plan, None if there were errors.
        diagnostics: all findings.
        policy: what the project says of its findings.
        listed: what it declares, None if it was too broken to go on.
        graph: what reads what, None with it.
        script: whether it is one .sql file.
        project: what was read; None if nothing was, or if the compile was remembered.
        compiled: what each stage gave; None with it.
        known_json: the plan as JSON, if it is known already.
    """

    project_dir: Path
    plan: JobPlan | None
    diagnostics: tuple[Diagnostic, ...]
    policy: Policy
    listed: tuple[Entry, ...] | None
    graph: Graph | None
    script: bool
    project: Project | None = None
    compiled: Compiled | None = None
    known_json: str | None = None

    @cached_property
    def plan_json(self) -> str:
        """The job plan as JSON."""
        from compiler.jobplan.codec import to_json

        assert self.plan is not None
        return self.known_json if self.known_json is not None else to_json(self.plan)

    @property
    def has_errors(self) -> bool:
        """Whether nothing may run."""
        return any(d.is_error for d in self.diagnostics)

    @property
    def target_dir(self) -> Path:
        """Where what the commands produce goes."""
        return self.project_dir / "target"


def read(
    path: Path,
    *,
    target: str | None = None,
    variables: Mapping[str, object] | None = None,
    reporter: Reporter,
    environment: Mapping[str, str] | None = None,
) -> Project | None:
    """Loads a project's folder, or a script."""
    from compiler.project.load import load_project, load_script

    load = load_script if is_script(path) else load_project
    project = load(path, target=target, variables=variables, reporter=reporter, environment=environment)
    if project is None or not is_script(path):
        return project
    # A state root belongs to one project, and a folder may hold many scripts, or a project besides.
    state = f"{project.config.target.state.rstrip('/')}/scripts/{project.config.name}"
    target_config = structs.replace(project.config.target, state=state)
    return structs.replace(project, config=structs.replace(project.config, target=target_config))


def compile_path(
    path: Path,
    *,
    target: str | None = None,
    variables: Mapping[str, object] | None = None,
    reporter: Reporter | None = None,
    without: Collection[str] = (),
    raises: tuple[Raise, ...] = (),
    environment: Mapping[str, str] | None = None,
    rechain: bool = False,
) -> Pipeline:
    """Loads and compiles a project's folder, or a script, with what its state root remembers.

    Args:
        path: the folder that holds headrace.yml, or a .sql file.
        target: a target of headrace.yml, its default if left out.
        variables: those of `--vars`.
        reporter: holds what was found before, and takes all findings as they are before the project's policy.
        without: names of optimizer rules to leave out.
        raises: warnings that are errors, besides those of headrace.yml.
        environment: the environment's variables, `os.environ` if left out.
        rechain: whether queries are formed as if none had run.
    """
    reporter = reporter or Reporter()
    with no_garbage_collection():
        project = read(
            path, target=target, variables=variables, reporter=reporter, environment=environment or os.environ
        )
        return compile_read(path, project, reporter=reporter, without=without, raises=raises, rechain=rechain)


def compile_read(
    path: Path,
    project: Project | None,
    *,
    reporter: Reporter,
    without: Collection[str] = (),
    raises: tuple[Raise, ...] = (),
    rechain: bool = False,
) -> Pipeline:
    """Compiles what `read` gave; see `compile_path`."""
    from compiler.compile import compile_project
    from compiler.project.listing import entries
    from compiler.project.selection import graph_of

    if project is None:
        policy = Policy(raises=raises)
        return Pipeline(path, None, policy.judge(reporter.all()), policy, None, None, is_script(path))
    policy = structs.replace(project.policy, raises=(*project.policy.raises, *raises))
    project = structs.replace(project, policy=policy)
    manifest = memory(Path(project.root), project, reporter)
    compiled = compile_project(project, reporter, manifest, without, rechain=rechain)
    graph = graph_of(compiled.logical)
    return Pipeline(
        Path(project.root),
        compiled.plan,
        compiled.diagnostics,
        policy,
        entries(project, graph),
        graph,
        is_script(path),
        project,
        compiled,
    )


def is_script(path: Path) -> bool:
    """Whether a path names a script, and not a project's folder."""
    return path.suffix.lower() == ".sql" and not path.is_dir()


def memory(project_dir: Path, project: Project, reporter: Reporter) -> Manifest | None:
    """The manifest of the project's state root, None if nothing has run there."""
    root = (project_dir / project.config.target.state).absolute()
    if not (root / "manifest.json").exists():
        return None
    from runtime.state.root import read_manifest

    try:
        manifest = read_manifest(root)
    except DiagnosticError as error:
        reporter.add(*error.diagnostics)
        return None
    if manifest is not None and manifest.project != project.config.name:
        reporter.add(
            Diagnostic(
                STATE_OF_OTHER_PROJECT,
                f"state root {root} belongs to project {manifest.project}, not {project.config.name}",
                project.config.target.span or project.config.span,
                fix="set 'state' of the target to a folder of its own",
            )
        )
        return None
    return manifest


@dataclass(frozen=True)
class Chosen:
    """The queries of a selection.

    Args:
        queries: uids of what to run, None for all.
        along: sinks that were not selected and run all the same, as they share a query with one that was.
    """

    queries: frozenset[str] | None
    along: tuple[str, ...] = ()


def choose(pipeline: Pipeline, texts: Collection[str]) -> Chosen:
    """The queries that the values of `--select` choose: whole ones, for a query has one state.

    Raises:
        DiagnosticError: a part of it matches nothing, or no sink takes any of it.
    """
    if not texts:
        return Chosen(None)
    from compiler.project.selection import select

    graph = pipeline.graph
    assert pipeline.plan is not None
    assert graph is not None
    reporter = Reporter()
    chosen = select(graph, texts, reporter)
    if reporter.has_errors:
        raise DiagnosticError(*reporter.all())
    uids = {graph.uids[name] for name in chosen.sinks}
    queries = [q for q in pipeline.plan.queries if any(sink.uid in uids for sink in q.sinks)]
    if not queries:
        names = ", ".join(f"`{name}`" for name in sorted(chosen.names)[:5])
        raise DiagnosticError(
            Diagnostic(
                NOTHING_SELECTED,
                f"no sink takes rows of {names}",
                cause="queries run for their sinks",
                fix="add a sink that reads it, or select a sink",
            )
        )
    along = [s.uid for q in queries for s in q.sinks if not s.removed and s.uid not in uids]
    return Chosen(frozenset(query.uid for query in queries), tuple(along))


def not_writable(path: Path, error: OSError) -> DiagnosticError:
    """The refusal that a failed write turns into."""
    return DiagnosticError(
        Diagnostic(
            NOT_WRITABLE,
            f"`{path}` cannot be written",
            cause=error.strerror or type(error).__name__,
            fix="correct the permissions, or remove what is in the way",
        )
    )


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """A compile makes trees, not garbage: looking for cycles in them is a tenth of its time or more."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
