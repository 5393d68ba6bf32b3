"""Reading what the sinks wrote, without Spark."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """All rows of JSON part files: what any reader of the folder would see, manifest or not."""
    found = [json.loads(line) for file in folder.rglob("part-*") for line in file.read_text().splitlines()]
    return sorted(found, key=lambda row: json.dumps(row, sort_keys=True))


def tuples_of(folder: Path, *columns: str) -> list[tuple[Any, ...]]:
    """Chosen columns of the rows, sorted."""
    return sorted(tuple(row.get(column) for column in columns) for row in rows_of(folder))


def counted_rows(folder: Path, names: Collection[str]) -> dict[str, Counter[str]]:
    """The rows of each sink under `folder`/out, however often each."""
    return {
        name: Counter(json.dumps(row, sort_keys=True) for row in rows_of(folder / "out" / name))
        for name in names
    }
