"""Job plan to JSON and back.

Writing needs no library; reading validates with pydantic, which is imported only then, because it would
double the start-up of a compile.
"""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from typing import Any, TypeVar

from compiler.jobplan.model import JOB_PLAN_VERSION, JobPlan, Manifest

T = TypeVar("T")


class PlanFormatError(ValueError):
    """The text is not a job plan (or manifest) that this version reads."""


def to_json(value: object) -> str:
    """A plan, manifest or part of one as indented JSON, keys in the order of the classes."""
    return json.dumps(_plain(value), indent=2, ensure_ascii=False) + "\n"


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
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return value


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
        result: T = _adapter(kind).validate_python(raw)
    except ValidationError as error:
        raise PlanFormatError(str(error)) from error
    return result


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
