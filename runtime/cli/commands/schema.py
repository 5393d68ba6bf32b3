"""`headrace schema`."""

from __future__ import annotations

import click


@click.command("schema", short_help="Print the JSON Schema of the project's YAML files, for editors.")
@click.option(
    "--kind",
    type=click.Choice(["project", "resources"]),
    default="resources",
    show_default=True,
    help="`project` is headrace.yml, `resources` every other YAML file.",
)
def command(kind: str) -> None:
    """Print the JSON Schema of the project's YAML files, so that an editor completes and checks them.

    A file names its schema in its first line: `# yaml-language-server: $schema=../schemas/resources.json`.
    `headrace init` writes both; after an upgrade of headrace print them anew.
    """
    from compiler.project.schema import schema_text

    click.echo(schema_text(kind), nl=False)
