"""What each command does first: find the project, read `--vars`, load, compile, tell what is wrong."""

from __future__ import annotations

from pathlib import Path

import click

from compiler.diagnostics.codes import NO_PROJECT, WRONG_VALUE
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Reporter
from compiler.diagnostics.policy import raises_of
from compiler.diagnostics.source import SourceFile, whole_file
from compiler.project.files import PROJECT_FILE, find_root
from runtime.cli.crash import use_folder
from runtime.cli.options import Common
from runtime.cli.pipeline import Chosen, Pipeline, choose, compile_path, is_script

FAILED = 1
WRONG = 2


class Refused(click.exceptions.Exit):
    """Ends a command: the project or the environment is wrong, and that has been told."""

    def __init__(self) -> None:
        super().__init__(WRONG)


def refuse(common: Common, *found: Diagnostic) -> Refused:
    """Tells findings, and gives what to raise."""
    common.output.diagnostics(found)
    return Refused()


def project_path(common: Common, script: Path | None) -> Path:
    """The project's folder, or the script.

    Raises:
        Refused: there is none.
    """
    if script is not None:
        if is_script(script):
            return script
        what = "it is a folder" if script.is_dir() else "a script ends in .sql"
        fix = f"run with --project-dir {script}" if script.is_dir() else None
        raise refuse(common, Diagnostic(WRONG_VALUE, f"`{script}` is no script", cause=what, fix=fix))
    if common.project_dir is not None:
        return common.project_dir
    root = find_root(Path.cwd())
    if root is None:
        cause = f"neither `{Path.cwd()}` nor a folder above it holds a {PROJECT_FILE}"
        fix = "`headrace init` makes a project; `--project-dir PATH` names one"
        raise refuse(common, Diagnostic(NO_PROJECT, "no project here", cause=cause, fix=fix))
    return root


def given_variables(common: Common, reporter: Reporter) -> dict[str, object]:
    """The variables of `--vars`; what is wrong with them is reported with its place in the text."""
    if common.variables is None:
        return {}
    from compiler.syntax.parsed import Scope
    from compiler.syntax.yaml_nodes import YamlReader

    scope = Scope(SourceFile("--vars", common.variables), {}, reporter)
    yaml = YamlReader(scope)
    root = yaml.compose() if common.variables.strip() else None
    if root is None:
        if not reporter.has_errors:
            place = whole_file(scope.file) if common.variables else None
            reporter.add(Diagnostic(WRONG_VALUE, "--vars is empty", place, fix="write '{name: value}'"))
        return {}
    if root.id != "mapping":
        yaml.wrong(root, "--vars", "a mapping", fix="write '{name: value}', with a space after the colon")
        return {}
    found: dict[str, object] = {}
    for entry in yaml.entries(root, "--vars"):
        if entry.node.id != "scalar" or yaml.is_null(entry.node):
            yaml.wrong(entry.node, f"variable `{entry.key.value}`", "a text, a number or a boolean")
        else:
            # The text as it was written: 007 and 1e3 must come out as they went in.
            found[entry.key.value] = entry.node.value
    return found


def load(
    common: Common,
    script: Path | None = None,
    *,
    remember: bool = False,
    whole: bool = False,
    rechain: bool = False,
) -> Pipeline:
    """Loads and compiles what the options name, and tells what it found.

    Args:
        common: the options.
        script: the script, if one was given.
        remember: whether the compile is kept in target/ for the next command; it is used in any case.
        whole: whether what each stage gave is wanted, which no earlier compile can tell.
        rechain: whether queries are formed as if none had run.

    Raises:
        Refused: it has errors.
    """
    pipeline = compiled(common, script, remember=remember, whole=whole, rechain=rechain)
    common.output.diagnostics(pipeline.diagnostics)
    if pipeline.has_errors or pipeline.plan is None:
        raise Refused
    return pipeline


def compiled(
    common: Common,
    script: Path | None = None,
    *,
    remember: bool = False,
    whole: bool = False,
    rechain: bool = False,
) -> Pipeline:
    """What the options name, compiled now or before; nothing is told.

    Raises:
        Refused: there is no project.
    """
    from runtime.cli.cache import compile_or_recall

    path = project_path(common, script)
    reporter = Reporter()
    variables = given_variables(common, reporter)
    folder = path.absolute()
    if is_script(path):
        folder = find_root(folder.parent) or folder.parent
    if folder.is_dir():
        use_folder(folder / "target" / "logs")
    raises = raises_of(common.warn_as_error or "")
    # The document tells what stood for each variable, which no record keeps.
    recall = (
        not whole
        and not rechain
        and not is_script(path)
        and common.output.findings != "json"
        and not reporter.all()
    )
    if recall:
        pipeline = compile_or_recall(
            path, target=common.target, variables=variables, raises=raises, remember=remember
        )
    else:
        pipeline = compile_path(
            path,
            target=common.target,
            variables=variables,
            reporter=reporter,
            raises=raises,
            rechain=rechain,
        )
    known = dict(pipeline.project.config.variables) if pipeline.project is not None else {}
    common.output.of_project(str(pipeline.project_dir), known)
    return pipeline


def selected(common: Common, pipeline: Pipeline) -> Chosen:
    """What `--select` chooses.

    Raises:
        Refused: a part of it matches nothing, or no sink takes any of it.
    """
    try:
        return choose(pipeline, common.select)
    except DiagnosticError as error:
        raise refused_with(common, error) from error


def refused_with(common: Common, error: DiagnosticError) -> Refused:
    """Tells what an error carries, and gives what to raise."""
    return refuse(common, *error.diagnostics)
