"""The command line: `headrace COMMAND`.

To add a command: write its file in `commands/` and add its line to COMMANDS. Nothing but click is
imported until a command runs, so that `--help` and completion answer at once.

Exit codes: 0 all well (a clean stop by Ctrl-C or SIGTERM too), 1 failed while running, 2 the project or
the environment is wrong and nothing was started, 130 interrupted before an epoch could be finished.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

COMMANDS: tuple[tuple[str, str], ...] = (
    ("init", "Write a small project that runs at once."),
    ("compile", "Check the project and write its job plan to target/."),
    ("run", "Compile the project, or one script, and run its queries."),
    ("list", "List sources, models, sinks and seeds."),
    ("explain", "Show how the project becomes chains, queries and state."),
    ("schema", "Print the JSON Schema of the project's YAML files, for editors."),
    ("format", "Lay out the project's SQL files anew."),
    ("clean", "Remove target/; state and outputs stay."),
)

_INTERRUPTED = 130


class LazyGroup(click.Group):
    """Imports a command's file when the command is used, and never shows a traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the list, which is that of a first day's work."""
        return [name for name, _ in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"runtime.cli.commands.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name; a misspelt one is answered with the nearest."""
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            from compiler.diagnostics.suggest import did_you_mean

            hint = did_you_mean(args[0], self.list_commands(ctx))
            ctx.fail(
                f"No such command '{args[0]}'.{f' Did {hint[4:]}'.replace('`', chr(39)) if hint else ''}"
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with their line from the list, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(COMMANDS)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Runs a command and exits with what it returns."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            error.show()
            code = error.exit_code
        except click.Abort:
            click.echo("interrupted", err=True)
            code = _INTERRUPTED
        except Exception as error:  # noqa: BLE001  # a person is told one line; the log gets all of it
            from runtime.cli.crash import record_crash

            code = record_crash(error)
        sys.exit(code if isinstance(code, int) else 0)


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from compiler.version import VERSION

        click.echo(f"headrace {VERSION}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    name="headrace",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Begin with `headrace init demo`, then `cd demo` and `headrace run`.",
)
@click.option(
    "--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show the version."
)
def group() -> None:
    """Compile SQL and YAML pipelines and run them on Spark Structured Streaming."""


def main() -> None:
    """Entry point of the script `headrace`."""
    # Imports and compiles make trees, not garbage, and the process ends soon; `run` turns it on again.
    gc.disable()
    group.main(prog_name="headrace")
