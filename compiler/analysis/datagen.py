"""Options of `datagen` that say how a column is filled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from compiler.analysis.certain import moment_problem, text_problem
from compiler.connectors.resolve import Resolved
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic
from compiler.diagnostics.suggest import did_you_mean
from compiler.plan import types as t
from compiler.plan.schema import Field
from compiler.syntax.declarations import SourceDecl

_KINDS = ("sequence", "random")


def datagen_problems(
    source: SourceDecl, resolved: Resolved, columns: Sequence[Field]
) -> Iterator[Diagnostic]:
    """HR201 for columns that are not there, HR104 for values that cannot be, HR232 for what is not made."""
    if resolved.connector.name != "datagen":
        return
    fields = {field.name.lower(): field for field in columns}
    start = resolved.options.get("start")
    problem = moment_problem(str(start)) if start is not None and "${env:" not in str(start) else None
    if problem is not None:
        yield _wrong(resolved, "start", problem)
    given: dict[str, dict[str, tuple[str, str]]] = {}
    names = [column.name.value for column in source.columns if column.expression is None]
    for option, value in resolved.options.items():
        if not option.lower().startswith("fields."):
            continue
        _, name, what = (*option.split(".", 2), "")[:3]
        if name.lower() not in {known.lower() for known in names}:
            yield Diagnostic(
                codes.UNKNOWN_COLUMN,
                f"source `{source.name.value}` has no column `{name}` to fill",
                resolved.places[option],
                cause=f"its columns are {', '.join(names)}",
                fix=did_you_mean(name, names),
            )
        elif "${env:" not in str(value):
            given.setdefault(name.lower(), {})[what] = option, str(value)
    for name, options in given.items():
        if name in fields:
            yield from _field_problems(fields[name], options, resolved)
    for column in source.columns:
        field = fields.get(column.name.value.lower())
        if field is not None and column.metadata is None and not _is_made(field, given):
            yield Diagnostic(
                codes.FORMAT_COLUMNS,
                f"connector `datagen` makes up no {field.type} for column `{field.name}`",
                column.name.span,
                fix="compute it from other columns: pair AS array(a, b)",
            )


def _field_problems(
    field: Field, options: Mapping[str, tuple[str, str]], resolved: Resolved
) -> Iterator[Diagnostic]:
    wrong = False
    for what, (option, value) in options.items():
        problem = _problem(field, what, value)
        if problem is not None:
            wrong = True
            yield _wrong(resolved, option, problem)
    if not wrong and t.is_numeric(field.type) and {"min", "max"} <= options.keys():
        (_, least), (option, most) = options["min"], options["max"]
        if float(least) > float(most):
            yield _wrong(resolved, option, f"max is {most}, and min is {least}")


def _problem(field: Field, what: str, value: str) -> str | None:
    """What is wrong with a value."""
    if what == "kind":
        return None if value in _KINDS else f"`{value}` is no kind: it is one of {', '.join(_KINDS)}"
    if what in ("start", "end"):
        return text_problem(value, t.BIGINT)
    if what == "length":
        problem = text_problem(value, t.INT)
        return problem or (None if int(value) >= 0 else f"a length is at least 0, not {value}")
    if what == "null_rate":
        share = _number(value)
        return None if share is not None and 0 <= share <= 1 else f"`{value}` is no share between 0 and 1"
    if what in ("min", "max"):
        if t.is_integral(field.type):
            return text_problem(value, field.type)
        if t.is_numeric(field.type):
            return None if _number(value) is not None else f"`{value}` is no number"
        return moment_problem(value) if t.is_temporal(field.type) else None
    if what == "values":
        each = (text.strip() for text in value.split(","))
        check = moment_problem if t.is_temporal(field.type) else lambda text: text_problem(text, field.type)
        return next((problem for text in each if (problem := check(text)) is not None), None)
    return None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _is_made(field: Field, given: Mapping[str, Mapping[str, object]]) -> bool:
    if field.type == t.BINARY:
        return "values" in given.get(field.name.lower(), {})
    return t.is_atomic(field.type)


def _wrong(resolved: Resolved, option: str, problem: str) -> Diagnostic:
    return Diagnostic(codes.WRONG_VALUE, problem, resolved.value_places.get(option))
