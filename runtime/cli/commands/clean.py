"""`headrace clean`."""

from __future__ import annotations

import shutil

import click

from runtime.cli.options import Common, common_options


@click.command("clean", short_help="Remove target/; state and outputs stay.")
@common_options()
def command(common: Common) -> None:
    """Remove what headrace has written to target/: the job plan and the logs.

    State and outputs are never touched, wherever they lie; `headrace run --full-refresh` starts over.
    """
    from compiler.diagnostics.codes import FOREIGN_OUTPUT, NO_PROJECT
    from compiler.diagnostics.diagnostic import Diagnostic
    from compiler.project.files import find_root
    from runtime.cli import loading, target
    from runtime.cli.pipeline import not_writable

    root = loading.project_path(common, None).absolute()
    if find_root(root) != root:
        problem = Diagnostic(NO_PROJECT, "no project here", cause=f"`{root}` holds no headrace.yml")
        raise loading.refuse(common, problem)
    folder, output = root / "target", common.output
    if not folder.exists() and not folder.is_symlink():
        output.both("nothing to remove: there is no target/", "cleaned", removed=[], kept=[])
        return
    if not target.is_ours(folder):
        cause = "it is a link" if folder.is_symlink() else f"it has no {target.TAG} of headrace's"
        raise loading.refuse(
            common,
            Diagnostic(
                FOREIGN_OUTPUT,
                f"`{folder}` does not look like headrace's; nothing was removed",
                cause=cause,
                fix="look into it, and remove it by hand if it is not needed",
            ),
        )
    ours, rest = target.entries(folder)
    try:
        # The mark goes last, so that a clean that was interrupted can be repeated.
        for entry in sorted(ours, key=lambda e: e.name == target.TAG):
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        if not rest:
            folder.rmdir()
    except OSError as error:
        raise loading.refused_with(common, not_writable(folder, error)) from error
    names = [f"target/{entry.name}" for entry in ours]
    output.text(
        f"removed {', '.join(names)}" if rest else f"removed target/ ({', '.join(e.name for e in ours)})"
    )
    if rest:
        kept = ", ".join(f"target/{entry.name}" for entry in rest)
        output.text(f"kept {kept}, which headrace's commands did not write")
    output.event("cleaned", removed=names, kept=[f"target/{entry.name}" for entry in rest])
