"""What the operators of a job plan are made of."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

OptionValue = str | int | float | bool
Options = dict[str, OptionValue]

OP_COLUMN: Final = "__headrace_op"
"""The column that rows of an upsert changelog carry besides their own: `+I`, `+U` or `-D`.

It is no part of any schema: an operator that keeps its input's changelog hands it on, a sink takes it off.
"""


SEQUENCE_COLUMN: Final = "__headrace_sequence"
"""The column that says in which order the rows of one epoch arrived: STRUCT, compared as a whole.

A scan adds it if it is asked to (`Scan.sequence`) and knows an order; it is handed on like `OP_COLUMN`.
"""


_COPY: Final = "#"


def copy_uid(uid: str, number: int) -> str:
    """The uid of an operator, or the name of a source, for its use `number` within a query, from 2 on."""
    return f"{uid}{_COPY}{number}"


def original(uid: str) -> str:
    """What a uid or a name of a source is without the number of a further use."""
    name, _, number = uid.rpartition(_COPY)
    return name if number.isdigit() and name else uid


def location(options: Options) -> str:
    """Where a source or sink is, as people are told: its folder, topic or table; empty if it has none."""
    return str(options.get("path") or options.get("topic") or options.get("table") or "")


class Column(Struct, frozen=True):
    """A column of an operator's output: `type` is Spark DDL."""

    name: str
    type: str
    nullable: bool = True


class Item(Struct, frozen=True):
    """A named expression."""

    name: str
    sql: str

    def __str__(self) -> str:
        # Quoted where it must be: `the name` AS the name says nothing.
        quoted = "`" + self.name.replace("`", "``") + "`"
        return self.name if self.sql in (self.name, quoted) else f"{self.sql} AS {self.name}"


class JobOperator(Struct, frozen=True, tag_field="op"):
    """Base of all operators; JSON begins with the tag that tells them apart."""

    @property
    def op(self) -> str:
        """The operator's tag."""
        return str(self.__struct_config__.tag)

    def describe(self) -> str:
        """What it does, on one line, without its name."""
        return ""

    def edge(self, index: int) -> str:
        """How rows come from an input of another chain, for people."""
        return f"input {index + 1}"
