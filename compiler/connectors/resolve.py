"""From WITH ( ) to a connector and its checked, canonical options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from compiler.connectors import CONNECTORS, Connector, Option
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Reporter
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import suggest
from compiler.frozen import frozen
from compiler.jobplan.model import OptionValue
from compiler.syntax.declarations import OptionDecl, Text
from compiler.syntax.durations import parse_duration_ms

Role = Literal["source", "sink"]

# Options that every source or sink has, whatever its connector.
COMMON: dict[Role, tuple[Option, ...]] = {
    "source": (
        Option("on_null_time", "choice", choices=("fail", "drop", "keep_without_time")),
        Option("on_bad_record", "choice", choices=("fail", "drop", "dead_letter")),
        Option("dead_letter"),
        Option("on_late", "choice", choices=("drop", "fail", "dead_letter")),
        Option("max_late_rows", "integer", least=0),
        Option("idle_timeout", "duration", least=1, flink=("scan.watermark.idle-timeout",)),
    ),
    "sink": (
        Option(
            "delivery",
            "choice",
            choices=("exactly_once", "at_least_once"),
            flink=("sink.delivery-guarantee",),
        ),
    ),
}


# Flink's connectors that this version has not.
_LATER = ("kinesis", "elasticsearch", "hive", "iceberg")


@frozen
class Resolved:
    """A connector with its options.

    Args:
        connector: which.
        options: canonical name to value, in the order of the connector's list; free ones last.
        common: the options that every connector has.
        places: where each option was written, by canonical name.
        value_places: where its value was.
    """

    connector: Connector
    options: dict[str, OptionValue]
    common: dict[str, OptionValue]
    places: dict[str, Span]
    value_places: dict[str, Span]


def resolve(
    owner: Text,
    role: Role,
    declared: Sequence[OptionDecl],
    defaults: Sequence[OptionDecl],
    reporter: Reporter,
) -> Resolved:
    """Checks the options of a source or sink.

    Args:
        owner: its name, where a missing option is reported.
        role: source or sink.
        declared: its own options.
        defaults: options for all of that role, used where the connector has them and none is set.
        reporter: takes every mistake.

    Raises:
        DiagnosticError: without a connector nothing more can be said.
    """
    connector = _connector(owner, role, declared)
    own = connector.source if role == "source" else connector.sink
    assert own is not None
    known = _by_spelling((*own, *COMMON[role]))
    values: dict[str, OptionValue] = {}
    places: dict[str, Span] = {}
    value_places: dict[str, Span] = {}
    # Options that were probably meant by misspelt ones: those are not missing as well.
    meant: set[str | None] = set()
    for option in declared:
        if option.key.value.lower() == "connector":
            continue
        found = known.get(_spelling(option.key.value))
        name = found.name if found else option.key.value
        if name in places:
            _report(reporter, codes.UNKNOWN_OPTION, f"option `{name}` is set twice", option.key.span)
        elif found is not None:
            values[name] = _value(found, option.value, reporter)
            places[name], value_places[name] = option.key.span, option.value.span
        elif option.key.value.lower().startswith(connector.prefixes) and connector.prefixes:
            values[name] = option.value.value
            places[name], value_places[name] = option.key.span, option.value.span
        elif not option.inherited:
            # A SET speaks to all statements after it; what does not concern this one is not its mistake.
            meant.add(_unknown_option(option, connector, known, reporter))
    for option in defaults:
        found = known.get(_spelling(option.key.value))
        if found is not None and found.name not in values:
            values[found.name] = _value(found, option.value, reporter)
    for needed in own:
        if needed.required and needed.name not in values and needed.name not in meant:
            reporter.add(
                Diagnostic(
                    codes.MISSING_KEY,
                    f"{role} `{owner.value}` has no option `{needed.name}`",
                    owner.span,
                    cause=f"the connector `{connector.name}` needs it",
                    fix=_add(owner, needed.name, needed.choices[0] if needed.choices else "…"),
                )
            )
    if connector.problems is not None:
        for name, problem, fix in connector.problems(values):
            _report(reporter, codes.WRONG_VALUE, problem, value_places.get(name, owner.span), fix)
    common = {option.name for option in COMMON[role]}
    ordered = [o.name for o in own if o.name in values] + [
        n for n in values if n not in {o.name for o in own}
    ]
    return Resolved(
        connector,
        {name: values[name] for name in ordered if name not in common},
        {name: values[name] for name in values if name in common},
        places,
        value_places,
    )


def _connector(owner: Text, role: Role, declared: Sequence[OptionDecl]) -> Connector:
    option = next((o for o in declared if o.key.value.lower() == "connector"), None)
    usable = [c for c in CONNECTORS if (c.source if role == "source" else c.sink) is not None]
    names = ", ".join(c.name for c in usable)
    if option is None:
        raise DiagnosticError(
            Diagnostic(
                codes.MISSING_KEY,
                f"{role} `{owner.value}` has no connector",
                owner.span,
                fix=f"{_add(owner, 'connector', '…')}; connectors of a {role} are {names}",
            )
        )
    wanted = option.value.value.lower()
    found = next((c for c in CONNECTORS if wanted in (c.name, *c.flink)), None)
    if found in usable and found is not None:
        return found
    if found is not None:
        message = f"connector `{found.name}` cannot be a {role}"
        fix = f"connectors of a {role} are {names}"
    elif wanted in _LATER:
        message = f"connector `{wanted}` is not supported yet"
        fix = f"connectors of a {role} are {names}"
    else:
        near = suggest(wanted, [c.name for c in usable])
        message = f"unknown connector `{option.value.value}`"
        fix = f"did you mean `{near}`?" if near else f"connectors of a {role} are {names}"
    raise DiagnosticError(Diagnostic(codes.UNKNOWN_CONNECTOR, message, option.value.span, fix=fix))


def _add(owner: Text, name: str, value: str) -> str:
    """How to give an option, in the language of the owner's file."""
    if owner.span.file.path.endswith((".yml", ".yaml")):
        return f"add `{name}: {value}` under `with:`"
    return f"add {name} = '{value}' to WITH (…)"


def _spelling(name: str) -> str:
    return name.lower().replace("-", "_")


def _by_spelling(options: Iterable[Option]) -> dict[str, Option]:
    return {_spelling(name): option for option in options for name in (option.name, *option.flink)}


def _unknown_option(
    option: OptionDecl, connector: Connector, known: dict[str, Option], reporter: Reporter
) -> str | None:
    """Reports an unknown option, and returns the one that was probably meant."""
    names = sorted({o.name for o in known.values()})
    near = suggest(option.key.value, names)
    listed = f"its options are {', '.join(names)}"
    reporter.add(
        Diagnostic(
            codes.UNKNOWN_OPTION,
            f"connector `{connector.name}` has no option `{option.key.value}`",
            option.key.span,
            fix=f"did you mean `{near}`?" if near else listed,
        )
    )
    return near


def _report(reporter: Reporter, code: codes.Code, message: str, span: Span, fix: str | None = None) -> None:
    reporter.add(Diagnostic(code, message, span, fix=fix))


def _value(option: Option, text: Text, reporter: Reporter) -> OptionValue:
    """The option's text as its kind; a wrong one is reported and kept as text."""
    raw = text.value
    # A reference to the environment is resolved only when the plan runs: its kind is not known before.
    if "${env:" in raw:
        return raw
    if option.required and option.kind == "string" and not raw.strip():
        _report(reporter, codes.WRONG_VALUE, f"`{option.name}` is empty", text.span)
        return raw
    wrong = option.problem(raw) if option.problem is not None else None
    if wrong is not None:
        _report(reporter, codes.WRONG_VALUE, wrong[0], text.span, wrong[1])
    if option.kind == "boolean":
        return _boolean(option, text, reporter)
    if option.kind in ("integer", "number"):
        return _number(option, text, reporter)
    if option.kind == "duration":
        milliseconds = parse_duration_ms(raw)
        if milliseconds is None:
            message = f"`{option.name}` must be a duration, not `{raw}`"
            _report(reporter, codes.WRONG_VALUE, message, text.span, "write for example '30 s'")
        return milliseconds or 0
    spelt = raw.lower()
    if option.kind == "choice" and spelt not in option.choices:
        # Flink's `exactly-once` is `exactly_once`, as in names of options.
        spelt = spelt.replace("-", "_")
    if option.kind == "choice" and spelt not in option.choices:
        near = suggest(raw.lower(), option.choices)
        choices = ", ".join(option.choices)
        fix = f"did you mean `{near}`?" if near else f"it is one of {choices}"
        _report(reporter, codes.WRONG_VALUE, f"`{option.name}` cannot be `{raw}`", text.span, fix)
    return spelt if option.kind == "choice" else raw


def _boolean(option: Option, text: Text, reporter: Reporter) -> bool:
    if text.value.lower() not in ("true", "false"):
        message = f"`{option.name}` must be true or false, not `{text.value}`"
        _report(reporter, codes.WRONG_VALUE, message, text.span)
    return text.value.lower() == "true"


def _number(option: Option, text: Text, reporter: Reporter) -> int | float:
    try:
        value: int | float = int(text.value) if option.kind == "integer" else float(text.value)
    except ValueError:
        message = f"`{option.name}` must be a number, not `{text.value}`"
        _report(reporter, codes.WRONG_VALUE, message, text.span)
        return option.least or 0
    if option.least is not None and value < option.least:
        message = f"`{option.name}` must be at least {option.least}"
        _report(reporter, codes.WRONG_VALUE, message, text.span)
    return value
