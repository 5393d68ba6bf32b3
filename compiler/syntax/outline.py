"""What the rest of a project may see of a file."""

from __future__ import annotations

from msgspec import Struct


class FileOutline(Struct, frozen=True):
    """What other files may see of a file that declares sources, models and sinks, and nothing else.

    Args:
        names: of what it declares, in the order of the file, sources before models before sinks.
        used: the variables that it asks for.
        groups: group and name of each `source('group', 'name')`.
    """

    names: tuple[str, ...]
    used: frozenset[str]
    groups: frozenset[tuple[str, str]]
