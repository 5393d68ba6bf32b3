"""Options that several commands have, and what they were set to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from pathlib import Path
from typing import Any

import click

from runtime.cli.output import FINDINGS, Output

Function = Callable[..., Any]

ALL_WARNINGS = "all"

_PROJECT: tuple[Function, ...] = (
    click.option(
        "--project-dir",
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="Folder with headrace.yml.  [default: the nearest one, from here upwards]",
    ),
    click.option("--target", metavar="NAME", help="Target of headrace.yml, such as dev or prod."),
    click.option(
        "--vars",
        "variables",
        metavar="YAML",
        help="Variables as YAML or JSON: '{min_price: 10}'. They go before those of headrace.yml.",
    ),
)
_SELECT = click.option(
    "--select",
    "-s",
    multiple=True,
    metavar="NAMES",
    help="Names or globs, or tag:TAG, separated by commas or spaces; `+name` with all it reads, "
    "`name+` with all that reads it. May be repeated.",
)
_FINDINGS: Function = click.option(
    "--output",
    type=click.Choice(FINDINGS),
    default="text",
    show_default=True,
    help="The form of errors and warnings: json, sarif and gitlab are one document on stdout, github is a "
    "line a finding.",
)
_WARN_AS_ERROR: Function = click.option(
    "--warn-as-error",
    is_flag=False,
    flag_value=ALL_WARNINGS,
    metavar="[=CODES]",
    help="Take warnings for errors: all of them, or those of some codes, as in --warn-as-error=HR219,HR310.",
)
_OUTPUT: tuple[Function, ...] = (
    click.option("--no-color", is_flag=True, help="No colours; NO_COLOR in the environment does the same."),
    click.option(
        "--log-format",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="Text for people, or one JSON object a line.",
    ),
)


@dataclass(frozen=True)
class Common:
    """The common options of one call."""

    output: Output
    project_dir: Path | None = None
    target: str | None = None
    variables: str | None = None
    select: tuple[str, ...] = ()
    warn_as_error: str | None = None


def common_options(
    *, project: bool = True, select: bool = False, findings: bool = False
) -> Callable[[Function], Function]:
    """Gives a command the common options; it takes them as one `Common`, its first argument.

    Args:
        project: whether the command reads a project.
        select: whether a part of it may be chosen.
        findings: whether it has `--output` for the form of its findings. A command whose own result has forms
            calls `Output.findings` itself.
    """

    def decorate(function: Function) -> Function:
        def call(
            *args: Any,
            no_color: bool,
            log_format: str,
            project_dir: Path | None = None,
            target: str | None = None,
            variables: str | None = None,
            select: tuple[str, ...] = (),
            warn_as_error: str | None = None,
            output: str = "text",
            **rest: Any,
        ) -> Any:
            told = Output(as_json=log_format == "json", color=not no_color, findings=output)
            try:
                return function(
                    Common(told, project_dir, target, variables, select, warn_as_error), *args, **rest
                )
            except Exception as error:
                if not isinstance(error, click.exceptions.Exit):
                    # What failed otherwise is told as text; half a document would look like a whole one.
                    told.findings = "text"
                raise
            finally:
                told.finish()

        # click keeps the options that were declared below this decorator on the function.
        update_wrapper(call, function)
        wrapped: Function = call
        options = (
            *(_PROJECT if project else ()),
            *((_SELECT, _WARN_AS_ERROR) if select else ()),
            *((_FINDINGS,) if findings else ()),
            *_OUTPUT,
        )
        for option in reversed(options):
            wrapped = option(wrapped)
        return wrapped

    return decorate


def script_argument(function: Function) -> Function:
    """`[SCRIPT]`: one .sql file instead of a project."""
    wrapped: Function = click.argument(
        "script", required=False, metavar="[SCRIPT.sql]", type=click.Path(path_type=Path)
    )(function)
    return wrapped
