"""Job plan to JSON and back.

Writing needs no library; reading validates with pydantic, which is imported only then, because it would
double the start-up of a compile.
"""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from typing import Any, TypeVar, cast

from compiler.jobplan.model import JOB_PLAN_VERSION, JobPlan, Manifest

T = TypeVar("T")


class PlanFormatError(ValueError):
    """The text is not a job plan (or manifest) that this version reads."""


def to_json(value: object) -> str:
    """A plan, manifest or part of one as JSON, keys in the order of the classes, an operator a line."""
    return _pretty(_plain(value), 0) + "\n"


# From this depth on a value stays on one line: in a job plan that is an operator, a sink, a chain.
_LINE_DEPTH = 4


def _pretty(value: Any, depth: int) -> str:
    if depth >= _LINE_DEPTH or not value or not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    margin = "  " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{margin}{json.dumps(key)}: {_pretty(part, depth + 1)}" for key, part in value.items()]
    else:
        parts = [f"{margin}{_pretty(part, depth + 1)}" for part in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + "\n" + ",\n".join(parts) + "\n" + "  " * depth + closing


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
    return _read(Manifest, text, 1)


def _plain(value: object) -> Any:
    kind: Any = type(value)
    names = _field_names(kind)
    if names:
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return value


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ()


def _read(kind: type[T], text: str, version: int) -> T:
    from pydantic import ValidationError

    try:
        raw = json.loads(text)
    except ValueError as error:
        raise PlanFormatError(f"not JSON: {error}") from error
    found = raw.get("version") if isinstance(raw, dict) else None
    if found != version:
        raise PlanFormatError(f"version {found!r} where this headrace reads version {version}")
    try:
        result: T = _adapter(cast(Any, kind)).validate_python(raw)
    except ValidationError as error:
        raise PlanFormatError(str(error)) from error
    return result


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
