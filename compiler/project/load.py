"""Loads a project, or a script without one, from disk: all files become declarations."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import structs

from compiler.diagnostics.codes import MISSING_PATH, NO_PROJECT, UNUSED_VARIABLE
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.source import SourceFile
from compiler.diagnostics.suggest import did_you_mean, one_of
from compiler.project.assemble import assemble
from compiler.project.config import ConfigReader, default_config
from compiler.project.descriptors import read_descriptors
from compiler.project.files import (
    PROJECT_FILE,
    decode,
    find_files,
    find_functions,
    find_root,
    project_file,
    read_bytes,
)
from compiler.project.given import AnyVariable, cli_variables
from compiler.syntax.declarations import Project, ProjectConfig
from compiler.syntax.fragment import Fragment
from compiler.syntax.parsed import Scope
from compiler.syntax.python_functions import PythonFiles, read_python
from compiler.syntax.statements import read_sql


def load_project(
    root: Path,
    *,
    target: str | None = None,
    variables: Mapping[str, object] | None = None,
    reporter: Reporter,
    environment: Mapping[str, str] | None = None,
) -> Project | None:
    """Reads a project.

    Args:
        root: the folder that holds headrace.yml.
        target: the name of `--target`.
        variables: those of `--vars`, which go before all others.
        reporter: takes whatever is wrong; loading goes on as far as it can.
        environment: where `${env:…}` is looked up if the compiler itself needs the value; `os.environ` if
            left out.

    Returns:
        What was read, or None if there is no project.
    """
    root = root.absolute()
    path = project_file(root)
    if path is None:
        reporter.add(_no_project(root))
        return None
    given = cli_variables(variables or {}, reporter)
    config, known, declared = _config(path, target, given, environment, reporter)
    if config is None:
        return None
    scopes: list[Scope] = []
    seeds: list[tuple[SourceFile, bytes]] = []
    for on_disk, shown in find_files(root):
        content = read_bytes(on_disk, shown, reporter)
        file = decode(content, shown, reporter) if content is not None else None
        if content is None or file is None:
            scopes.append(_unread(shown, reporter))
            continue
        if shown.endswith(".csv"):
            seeds.append((file, content))
        else:
            scopes.append(read_file(file, known, reporter))
    _unused_variables(given, known, declared, scopes, reporter)
    return _with_files(assemble(root, config, scopes, seeds, reporter), reporter)


def load_script(
    path: Path,
    *,
    target: str | None = None,
    variables: Mapping[str, object] | None = None,
    reporter: Reporter,
    environment: Mapping[str, str] | None = None,
) -> Project | None:
    """Reads one .sql file as a project of the file's name.

    A headrace.yml in its folder or above gives its name's place to the file, and its variables, targets and
    time zone apply; relative paths are then against that project's folder, else against the script's.
    """
    path = path.absolute()
    if not path.is_file():
        reporter.add(Diagnostic(MISSING_PATH, f"`{path}` does not exist"))
        return None
    given = cli_variables(variables or {}, reporter)
    root, config_path = path.parent, None
    for folder in (path.parent, *path.parent.parents):
        config_path = project_file(folder)
        if config_path is not None:
            root = folder
            break
    known: Mapping[str, str] = given
    declared: set[str] = set()
    config: ProjectConfig | None = (
        default_config(path.stem, target, given, reporter) if config_path is None else None
    )
    if config_path is not None:
        config, known, declared = _config(config_path, target, given, environment, reporter)
    shown = path.relative_to(root).as_posix()
    content = read_bytes(str(path), shown, reporter)
    file = decode(content, shown, reporter) if content is not None else None
    if file is None or config is None:
        return None
    scope = Scope(file, known, reporter)
    read_sql(Fragment.plain(file, 0, len(file.text)), scope, path.stem)
    _unused_variables(given, known, declared, [scope], reporter)
    named = structs.replace(config, name=path.stem)
    project = assemble(root, named, [scope], [], reporter, zone_is_free=config_path is None)
    return _with_files(project, reporter)


def _with_files(project: Project, reporter: Reporter) -> Project:
    """A project with what else lies in its folder: Python functions, and files that options name."""
    root = Path(project.root)
    options = [option for source in project.sources for option in source.options]
    options += [option for sink in project.sinks for option in sink.options]
    descriptors = read_descriptors(root, (*options, *project.config.source_defaults))
    return structs.replace(project, python=_python(root, reporter), descriptors=descriptors)


def _python(root: Path, reporter: Reporter) -> PythonFiles:
    """The project's Python functions."""
    files: list[SourceFile] = []
    for on_disk, shown in find_functions(root):
        content = read_bytes(on_disk, shown, reporter)
        file = decode(content, shown, reporter) if content is not None else None
        if file is not None:
            files.append(file)
    return read_python(files, reporter) if files else PythonFiles()


def _no_project(root: Path) -> Diagnostic:
    above = find_root(root.parent) if root.parent != root else None
    cause = f"`{root}` holds no {PROJECT_FILE}" if root.is_dir() else f"`{root}` is no folder"
    fix = "`headrace init` makes one"
    if above is not None:
        fix = f"the nearest project is `{above}`; {fix} here"
    return Diagnostic(NO_PROJECT, "no project here", cause=cause, fix=fix)


def read_config(
    root: Path,
    *,
    target: str | None,
    variables: Mapping[str, object],
    reporter: Reporter,
    environment: Mapping[str, str],
) -> ProjectConfig | None:
    """What the headrace.yml of a folder says; see `load_project`."""
    path = project_file(root)
    if path is None:
        return None
    return _config(path, target, cli_variables(variables, reporter), environment, reporter)[0]


def _config(
    path: Path,
    target: str | None,
    given: Mapping[str, str],
    environment: Mapping[str, str] | None,
    reporter: Reporter,
) -> tuple[ProjectConfig | None, Mapping[str, str], set[str]]:
    """The configuration, the variables (open if the file could not be read), and the names it knows of."""
    content = read_bytes(str(path), path.name, reporter)
    file = decode(content, path.name, reporter) if content is not None else None
    if file is None:
        return default_config(path.parent.name, None, given, reporter), AnyVariable(), set()
    reader = ConfigReader(
        file,
        reporter,
        target=target,
        given=given,
        environment=os.environ if environment is None else environment,
    )
    config = reader.read(path.parent.name)
    return config, reader.scope.variables, reader.declared() | reader.scope.used


def _unused_variables(
    given: Mapping[str, str],
    known: Mapping[str, str],
    declared: set[str],
    scopes: Sequence[Scope],
    reporter: Reporter,
) -> None:
    """HR111 for what `--vars` sets and nothing asks for: most likely a name that was mistyped."""
    if isinstance(known, AnyVariable):
        return
    wanted = declared.union(*(scope.used for scope in scopes))
    for name in given:
        if name not in wanted:
            reporter.add(
                Diagnostic(
                    UNUSED_VARIABLE,
                    f"variable `{name}` of --vars is used by nothing",
                    cause=f"variables here are {one_of(sorted(wanted))}"
                    if wanted
                    else "there are no variables",
                    fix=did_you_mean(name, wanted) or "leave it out",
                )
            )


def _unread(shown: str, reporter: Reporter) -> Scope:
    """The scope of a file that could not be read: whatever it defines, its own name is likely to be one."""
    scope = Scope(SourceFile(shown, ""), {}, reporter)
    scope.broken.add(shown.rsplit("/", 1)[-1].rsplit(".", 1)[0].lower())
    return scope


def read_file(file: SourceFile, variables: Mapping[str, str], reporter: Reporter) -> Scope:
    """What one file gives, variables being known."""
    scope = Scope(file, variables, reporter)
    if file.path.endswith(".sql"):
        stem = file.path.rsplit("/", 1)[-1][: -len(".sql")]
        read_sql(Fragment.plain(file, 0, len(file.text)), scope, stem)
    else:
        from compiler.syntax.yaml_models import read_yaml

        read_yaml(scope)
    return scope
