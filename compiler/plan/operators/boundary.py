"""Where a model ends."""

from __future__ import annotations

from typing import ClassVar

from compiler.frozen import frozen
from compiler.plan.changelog import Changelog
from compiler.plan.operators._one_input import OneInput
from compiler.plan.schema import Schema


@frozen
class Boundary(OneInput):
    """The output of a model under its name.

    It keeps the stream graph readable and tells passes which model an operator belongs to. Forward
    fusion takes it out: a model that only others read is never materialised.
    """

    kind: ClassVar[str] = "model"

    def _derive_schema(self) -> Schema:
        return self.input.schema

    def takes_changes(self, index: int) -> bool:
        return True

    def _derive_changelog(self) -> Changelog:
        return self.input.changelog

    def describe(self) -> str:
        return self.uid
