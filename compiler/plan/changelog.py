"""What the rows of a stream mean: facts that stay, or changes of a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from compiler.frozen import frozen

ChangelogKind = Literal["append", "upsert", "retract"]


@frozen(slots=True)
class Changelog:
    """The kind of a stream's rows.

    Args:
        kind: `append`: a row is never taken back. `upsert`: a row replaces the one of its key, or deletes
            it; at run time each row carries its operation (`jobplan.operators.base.OP_COLUMN`). `retract`: no
            key tells the rows apart, so one is taken back by naming all of it.
        key: columns that tell the rows of an upsert changelog apart, as the schema spells them; none if the
            table never has more than one row.
        exact: of an upsert changelog, whether each change tells the truth: `+I` only of a key that is not
            there, `+U` and `-D` only of one that is, and `-D` with the row as it was. Otherwise `+U` may be
            the first row of its key, and `-D` may name a key that never was and has nothing but the key.
        before: whether rows that go are named as they were: each `+U` has a `-U` in its epoch, and each `-D`
            is the row that goes. An epoch then has at most one row of a key that goes and one that comes.
    """

    kind: ChangelogKind = "append"
    key: tuple[str, ...] = ()
    exact: bool = False
    before: bool = False

    @property
    def is_append(self) -> bool:
        """Whether rows only ever come."""
        return self.kind == "append"

    @property
    def inexact(self) -> Changelog:
        """The changelog after an operator that lets rows come and go without knowing what was there.

        Rows that are named as they were come and go each by itself, and go on to be so.
        """
        return replace(self, exact=False)

    @property
    def phrase(self) -> str:
        """What its rows are, in a sentence."""
        return "rows that come and go without a key" if self.kind == "retract" else f"an {self}"

    def __str__(self) -> str:
        if self.is_append:
            return "append"
        if self.kind == "retract":
            return "retract"
        return f"upsert by {', '.join(self.key)}" if self.key else "upsert of one row"


APPEND = Changelog()
RETRACT = Changelog("retract", before=True)
