"""How rows of an operator are ordered, and what its state by bucket shares."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

BUCKETS: Final = 32
"""How many buckets the state of a new operator has: the most tasks that can share its work.

It is written in the plan, since state is read with the number that it was written with.
"""


class Sort(Struct, frozen=True):
    """An item of ORDER BY."""

    sql: str
    descending: bool
    nulls_first: bool

    def __str__(self) -> str:
        return self.sql + (" DESC" if self.descending else "")
