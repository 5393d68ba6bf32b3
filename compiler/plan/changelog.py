"""What the rows of a stream mean: facts that stay, or changes of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ChangelogKind = Literal["append", "upsert"]


@dataclass(frozen=True, slots=True)
class Changelog:
    """The kind of a stream's rows.

    Args:
        kind: `append`: a row is never taken back. `upsert`: a row replaces the one of its key, or deletes
            it; at run time each row carries its operation (`jobplan.operators.base.OP_COLUMN`).
        key: columns that tell the rows of an upsert changelog apart, as the schema spells them.
    """

    kind: ChangelogKind = "append"
    key: tuple[str, ...] = ()

    @property
    def is_append(self) -> bool:
        """Whether rows only ever come."""
        return self.kind == "append"


APPEND = Changelog()
