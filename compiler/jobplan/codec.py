"""Job plan to JSON and back, both by msgspec: a compile reads the state root's manifest each time."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from compiler.jobplan.model import JOB_PLAN_VERSION, MANIFEST_VERSION, JobPlan, Manifest

T = TypeVar("T")

# From this depth on a value stays on one line: in a job plan that is an operator, a sink, a chain.
_LINE_DEPTH = 4


class PlanFormatError(ValueError):
    """The text is not a job plan (or manifest) that this version reads."""


class _Versioned(msgspec.Struct):
    """What every format has; read first, since another version may have other fields."""

    version: int


def to_json(value: object) -> str:
    """A plan, manifest or part of one as JSON, keys in the order of the classes, an operator a line."""
    return _pretty(msgspec.to_builtins(value), 0) + "\n"


def _pretty(value: Any, depth: int) -> str:
    if depth >= _LINE_DEPTH or not value or not isinstance(value, (dict, list, tuple)):
        return _line(value)
    margin = "  " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{margin}{_line(key)}: {_pretty(part, depth + 1)}" for key, part in value.items()]
    else:
        parts = [f"{margin}{_pretty(part, depth + 1)}" for part in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + "\n" + ",\n".join(parts) + "\n" + "  " * depth + closing


def _line(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()


def plan_from_json(text: str) -> JobPlan:
    """Reads a job plan.

    Raises:
        PlanFormatError: another version, or not a plan at all.
    """
    return _read(JobPlan, text, JOB_PLAN_VERSION)


def manifest_from_json(text: str) -> Manifest:
    """Reads the manifest of a state root.

    Raises:
        PlanFormatError: another version, or not a manifest at all.
    """
    return _read(Manifest, text, MANIFEST_VERSION)


def _read(kind: type[T], text: str, version: int) -> T:
    try:
        found = msgspec.json.decode(text, type=_Versioned).version
        if found != version:
            raise PlanFormatError(f"version {found} where this headrace reads version {version}")
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as error:
        raise PlanFormatError(str(error)) from error
