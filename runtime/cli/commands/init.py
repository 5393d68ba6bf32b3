"""`headrace init`."""

from __future__ import annotations

import re
from pathlib import Path

import click

from runtime.cli.options import Common, common_options


@click.command("init", short_help="Write a small project that runs at once.")
@click.argument("directory", required=False, metavar="[DIR]", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", help="Name of the project.  [default: the folder's]")
@common_options(project=False)
def command(common: Common, directory: Path | None, name: str | None) -> None:
    """Write a small project that runs at once, without any data or server.

    It goes into DIR, or into this folder. Nothing is ever overwritten: a folder that holds a project, or a
    file of the same name, is refused.
    """
    from compiler.diagnostics.codes import FOREIGN_OUTPUT, WRONG_VALUE
    from compiler.diagnostics.diagnostic import Diagnostic
    from compiler.project.files import PROJECT_FILES
    from runtime.cli import loading
    from runtime.cli.pipeline import not_writable
    from runtime.cli.template import files

    folder = (directory or Path()).absolute()
    if name is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", name):
        fix = "begin with a letter, go on with letters, digits, `_` and `-`"
        problem = Diagnostic(WRONG_VALUE, f"`{name}` cannot be a project's name", fix=fix)
        raise loading.refuse(common, problem)
    project = name or _name_of(folder)
    made = files(project)
    # A dangling link counts: writing would go through it.
    there = [n for n in (*PROJECT_FILES, *made) if (folder / n).exists() or (folder / n).is_symlink()]
    if there:
        what = "a project" if set(there) & set(PROJECT_FILES) else f"`{there[0]}`"
        raise loading.refuse(
            common,
            Diagnostic(
                FOREIGN_OUTPUT,
                f"`{folder}` holds {what} already; nothing was written",
                fix="name another folder: `headrace init DIR`",
            ),
        )
    try:
        for path, text in made.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            # Exclusive: a file that has come since the look above is not overwritten either.
            with file.open("x", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
    except OSError as error:
        raise loading.refused_with(common, not_writable(folder, error)) from error
    output = common.output
    output.text(f"{output.paint('good', 'made')} {project} in {directory or folder}")
    for path in made:
        output.text(f"  {path}")
    output.text()
    output.text("next:")
    if directory is not None and folder != Path.cwd():
        output.text(f"  cd {directory}")
    output.text("  headrace run          # a few seconds; rows come to out/best_sellers/")
    output.text("  headrace explain      # how it runs")
    output.text("  headrace list         # what it is made of")
    output.event("made", project=project, directory=str(folder), files=list(made))


def _name_of(folder: Path) -> str:
    """The folder's name as a project's."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", folder.name).strip("_-")
    return name if re.match(r"[A-Za-z_]", name) else f"project_{name}".rstrip("_")
