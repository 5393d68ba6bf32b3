"""Arrow's compute functions, as values that type checkers accept, and rows as Python's values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute

compute: Any = pyarrow.compute
"""pyarrow makes most of these functions when it is imported, out of sight of type checkers."""


def tuples(rows: pa.Table, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The values of some columns, row by row."""
    if not names:
        return [()] * rows.num_rows
    return list(zip(*(rows.column(name).to_pylist() for name in names), strict=True))
