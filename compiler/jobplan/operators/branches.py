"""UNION ALL of what is made of one input."""

from __future__ import annotations

from msgspec import Struct

from compiler.jobplan.operators.base import JobOperator


class Made(Struct, frozen=True):
    """A row that is made of each of the input for which `condition` holds: its columns in order."""

    condition: str | None
    values: tuple[str, ...]


class Branches(JobOperator, frozen=True, tag="branches"):
    """Makes of each row those of `made`, with columns `names`.

    `event_times` are the columns that are event times, with the delay in milliseconds.
    """

    id: str
    uid: str
    inputs: tuple[str, ...]
    made: tuple[Made, ...]
    names: tuple[str, ...]
    event_times: dict[str, int]

    def describe(self) -> str:
        rows = (
            f"({', '.join(made.values)}){f' where {made.condition}' if made.condition else ''}"
            for made in self.made
        )
        return f"({', '.join(self.names)}) of each row: {', '.join(rows)}"


def rows_sql(op: Branches) -> str:
    """The generator of the rows, whose columns are called `f0`, `f1` and so on."""
    rows = []
    for made in op.made:
        fields = ", ".join(f"'f{place}', {value}" for place, value in enumerate(made.values))
        row = f"named_struct({fields})"
        rows.append(f"CASE WHEN {made.condition} THEN {row} END" if made.condition else row)
    array = f"array({', '.join(rows)})"
    filtered = f"filter({array}, row -> row IS NOT NULL)" if any(m.condition for m in op.made) else array
    return f"inline({filtered})"
