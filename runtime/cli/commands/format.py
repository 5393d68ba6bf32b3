"""`headrace format`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from runtime.cli.options import Common, common_options


@click.command("format", short_help="Lay out the project's SQL files anew.")
@click.argument("paths", nargs=-1, metavar="[PATHS]...", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@common_options()
def command(common: Common, paths: tuple[Path, ...], check: bool, diff: bool) -> int:
    """Lay out the SQL files of the project, or those of PATHS: files, or folders with all below them.

    Only white space and the case of keywords change, and comments stay where they are. A statement that
    cannot be read stays as it is.
    """
    from compiler.diagnostics.diagnostic import DiagnosticError
    from compiler.format import format_sql
    from runtime.cli import loading
    from runtime.cli.output import counted

    output = common.output
    changed: list[str] = []
    files = list(_files(common, paths))
    for path in files:
        try:
            text = _read(path)
        except DiagnosticError as error:
            raise loading.refused_with(common, error) from error
        laid_out = format_sql(text)
        if laid_out == text:
            continue
        changed.append(str(path))
        if diff:
            output.text(_diff(str(path), text, laid_out).rstrip("\n"))
        if not check and not diff:
            _write(common, path, laid_out)
        output.event("formatted", file=str(path), written=not check and not diff)
    stays = counted(len(files) - len(changed), "file")
    if check or diff:
        for name in () if diff else changed:
            output.text(f"would change {name}")
        output.text(f"{counted(len(changed), 'file')} would change, {stays} would stay")
    else:
        output.text(f"{counted(len(changed), 'file')} changed, {stays} stayed")
    return loading.FAILED if check and changed else 0


def _files(common: Common, paths: Sequence[Path]) -> Iterator[Path]:
    """The files to look at; those of the project if none are named."""
    from compiler.diagnostics.codes import MISSING_PATH
    from compiler.diagnostics.diagnostic import Diagnostic
    from compiler.project.files import find_files
    from runtime.cli import loading

    for path in paths or (loading.project_path(common, None),):
        if path.is_file():
            yield path
        elif path.is_dir():
            for found, _ in find_files(path):
                if found.endswith(".sql"):
                    yield Path(found)
        else:
            raise loading.refuse(common, Diagnostic(MISSING_PATH, f"`{path}` does not exist"))


def _read(path: Path) -> str:
    """The text of a file as it stands, line ends and all.

    Raises:
        DiagnosticError: it cannot be read, or is no text.
    """
    from compiler.diagnostics.diagnostic import DiagnosticError, Reporter
    from compiler.project.files import decode, read_bytes

    reporter = Reporter()
    content = read_bytes(str(path), str(path), reporter)
    if content is None or decode(content, str(path), reporter) is None:
        raise DiagnosticError(*reporter.all())
    return content.decode("utf-8")


def _write(common: Common, path: Path, text: str) -> None:
    from runtime.cli import loading
    from runtime.cli.pipeline import not_writable
    from runtime.files import write_atomically

    mode = path.stat().st_mode
    try:
        # A link stays a link.
        write_atomically(path.resolve(), text.encode("utf-8"))
        path.chmod(mode)
    except OSError as error:
        raise loading.refused_with(common, not_writable(path, error)) from error


def _diff(name: str, old: str, new: str) -> str:
    from difflib import unified_diff

    lines = unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), name, name)
    # The last line of a file may have no end.
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
