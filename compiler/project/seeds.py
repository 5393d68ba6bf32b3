"""Reads the CSV tables under seeds/ and finds or checks the types of their columns."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Final

from compiler.diagnostics.codes import MISSING_PATH, SEED_CONTENT
from compiler.diagnostics.diagnostic import Diagnostic, Label, Reporter
from compiler.diagnostics.source import SourceFile, Span, whole_file
from compiler.diagnostics.suggest import did_you_mean
from compiler.syntax.declarations import ColumnDecl, SeedDecl, Text
from compiler.syntax.parsed import SeedTypesDecl

# More of one kind in one file says nothing new.
_LIMIT: Final = 10

_INT = re.compile(r"[+-]?(?:0|[1-9]\d{0,18})", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_DOUBLE = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIMESTAMP = re.compile(
    r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?", re.ASCII
)


def _is_bigint(cell: str) -> bool:
    return _INT.fullmatch(cell) is not None and -(2**63) <= int(cell) < 2**63


def _is_double(cell: str) -> bool:
    # A number with leading zeros is a code (a postcode, an account), and would not come back as it was.
    if _DOUBLE.fullmatch(cell) is None:
        return False
    digits = cell.lstrip("+-")
    return not (len(digits) > 1 and digits[0] == "0" and digits[1].isdigit())


def _is_boolean(cell: str) -> bool:
    return cell.lower() in ("true", "false")


def _is_date(cell: str) -> bool:
    return _DATE.fullmatch(cell) is not None and _real(cell)


def _is_timestamp(cell: str) -> bool:
    return _TIMESTAMP.fullmatch(cell) is not None and _real(cell[:10]) and _clock(cell[11:])


def _real(day: str) -> bool:
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return True


def _clock(time: str) -> bool:
    second = time[6:8] if time[5:6] == ":" else "0"
    return int(time[:2]) < 24 and int(time[3:5]) < 60 and int(second) < 60


_GUESSES: Final[tuple[tuple[str, Callable[[str], bool]], ...]] = (
    ("BIGINT", _is_bigint),
    ("DOUBLE", _is_double),
    ("BOOLEAN", _is_boolean),
    ("DATE", _is_date),
    ("TIMESTAMP", lambda cell: _is_timestamp(cell) or _is_date(cell)),
)
_CHECKS: Final[dict[str, Callable[[str], bool]]] = {
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT"), lambda c: _INTEGER.fullmatch(c) is not None
    ),
    **dict.fromkeys(
        ("FLOAT", "REAL", "DOUBLE", "DECIMAL", "NUMERIC", "DEC"), lambda c: bool(_DOUBLE.fullmatch(c))
    ),
    "BOOLEAN": _is_boolean,
    "DATE": _is_date,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ"), lambda c: _is_timestamp(c) or _is_date(c)),
}


def guess(cells: Sequence[str]) -> str:
    """The type that all cells of a column have; empty cells are NULL and say nothing."""
    full = [c for c in cells if c]
    if not full:
        return "STRING"
    return next((name for name, fits in _GUESSES if all(map(fits, full))), "STRING")


def read_seeds(
    files: Sequence[tuple[SourceFile, bytes]], declared: Sequence[SeedTypesDecl], reporter: Reporter
) -> tuple[SeedDecl, ...]:
    """The seeds of a project.

    Args:
        files: the CSV files with their bytes.
        declared: what YAML says of their columns.
        reporter: takes what does not fit.
    """
    types: dict[str, SeedTypesDecl] = {}
    for entry in declared:
        key = entry.name.value.lower()
        if key in types:
            reporter.add(
                Diagnostic(
                    SEED_CONTENT,
                    f"seed `{entry.name.value}` is described twice",
                    entry.name.span,
                    related=(Label(types[key].name.span, "first described here"),),
                )
            )
        else:
            types[key] = entry
    seeds = []
    names = []
    for file, content in files:
        name = file.path.rsplit("/", 1)[-1][: -len(".csv")]
        names.append(name)
        seed = _Seed(file, name, types.get(name.lower()), reporter).read(hashlib.sha256(content).hexdigest())
        if seed is not None:
            seeds.append(seed)
    known = {n.lower() for n in names}
    for key, entry in types.items():
        if key not in known:
            reporter.add(
                Diagnostic(
                    MISSING_PATH,
                    f"seed `{entry.name.value}` has no file",
                    entry.name.span,
                    fix=did_you_mean(entry.name.value, names) or f"add seeds/{entry.name.value}.csv",
                )
            )
    return tuple(seeds)


class _Seed:
    def __init__(self, file: SourceFile, name: str, types: SeedTypesDecl | None, reporter: Reporter) -> None:
        self.file = file
        self.name = name
        self.types = types
        self.reporter = reporter
        self.told = 0

    def _report(
        self, message: str, span: Span, fix: str | None = None, related: tuple[Label, ...] = ()
    ) -> None:
        self.told += 1
        if self.told <= _LIMIT:
            self.reporter.add(Diagnostic(SEED_CONTENT, message, span, fix=fix, related=related))

    def _line(self, number: int) -> Span:
        number = max(1, min(number, len(self.file.line_starts)))
        start = self.file.line_starts[number - 1]
        return Span(self.file, start, start + max(1, len(self.file.line(number))))

    def read(self, digest: str) -> SeedDecl | None:
        rows: list[tuple[int, list[str]]] = []
        reader = csv.reader(io.StringIO(self.file.text, newline=""), strict=True)
        line = 1
        try:
            for row in reader:
                if row:
                    rows.append((line, row))
                line = reader.line_num + 1
        except csv.Error as error:
            self._report(f"seed `{self.name}` is not CSV: {error}", self._line(line))
            return None
        if not rows:
            self._report(
                f"seed `{self.name}` has no header", whole_file(self.file), "write the column names first"
            )
            return None
        header = self._header(rows[0][1])
        if header is None:
            return None
        good: list[tuple[int, list[str]]] = []
        for number, row in rows[1:]:
            if len(row) == len(header):
                good.append((number, row))
            else:
                cells = "cell" if len(row) == 1 else "cells"
                self._report(
                    f"row has {len(row)} {cells}, the header {len(header)}",
                    self._line(number),
                    "put a cell with a comma in double quotes" if len(row) > len(header) else None,
                )
        columns = self._columns(header, good)
        if self.told > _LIMIT:
            self.reporter.add(
                Diagnostic(
                    SEED_CONTENT, f"{self.told - _LIMIT} more in seed `{self.name}`", whole_file(self.file)
                )
            )
        name = Text(self.name, whole_file(self.file))
        return SeedDecl(name, self.file.path, digest, columns, whole_file(self.file))

    def _header(self, cells: list[str]) -> list[str] | None:
        names = [c.strip() for c in cells]
        good = True
        for position, name in enumerate(names, 1):
            if not name:
                self._report(f"column {position} of seed `{self.name}` has no name", self._line(1))
                good = False
        lowered = [n.lower() for n in names]
        for name in dict.fromkeys(n for n in lowered if n and lowered.count(n) > 1):
            self._report(f"seed `{self.name}` has two columns `{name}`", self._line(1))
            good = False
        return names if good else None

    def _columns(
        self, header: list[str], rows: Sequence[tuple[int, list[str]]]
    ) -> tuple[tuple[str, str], ...]:
        declared = {c.name.value.lower(): c for c in self.types.columns} if self.types else {}
        columns = []
        for index, name in enumerate(header):
            column = declared.pop(name.lower(), None)
            if column is None or column.type is None:
                columns.append((name, guess([row[index] for _, row in rows])))
            else:
                self._check(column, index, rows)
                columns.append((name, column.type.text))
        for column in declared.values():
            self._report(
                f"seed `{self.name}` has no column `{column.name.value}`",
                column.name.span,
                did_you_mean(column.name.value, header),
                (Label(self._line(1), "its header"),),
            )
        return tuple(columns)

    def _check(self, column: ColumnDecl, index: int, rows: Sequence[tuple[int, list[str]]]) -> None:
        """Reports the first cell that is not of a declared type; what a type is, is judged elsewhere."""
        type_ = column.type.text if column.type is not None else ""
        word = re.split(r"\W", type_.strip(), maxsplit=1)[0].upper()
        fits = _CHECKS.get(word)
        for number, row in rows:
            cell = row[index]
            if not cell and column.not_null:
                self._report(f"column `{column.name.value}` is NOT NULL and empty here", self._line(number))
                return
            if cell and fits is not None and not fits(cell):
                self._report(
                    f"`{cell[:40]}` is no {type_}, the type of column `{column.name.value}`",
                    self._line(number),
                    related=(Label(column.name.span, "typed here"),),
                )
                return
