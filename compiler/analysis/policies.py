"""What a source does with records that cannot be used: bad ones, late ones, those without a time.

A bad record is text that cannot be read as the declared columns, or a NULL in a column that is declared
NOT NULL. All declared columns count, whether a query reads them or not, so that every query that reads the
source agrees on which records are bad.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, cast

from compiler.analysis.builder import Builder, identity
from compiler.connectors.resolve import Resolved
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.source import Span
from compiler.frozen import frozen
from compiler.plan import types as t
from compiler.plan.expr import Cast, Column, Expr, Op
from compiler.plan.expr import Literal as Value
from compiler.plan.expr_sql import quote_string
from compiler.plan.node import Node
from compiler.plan.operators.late_rows import LETTERS
from compiler.plan.operators.project import NamedExpr
from compiler.plan.operators.scan import POSITION, RAW
from compiler.plan.schema import Schema
from compiler.syntax import declarations as decl

OnBadRecord = Literal["fail", "drop", "dead_letter"]
OnNullTime = Literal["fail", "drop", "keep"]


@frozen(slots=True)
class Policies:
    """A source's policies.

    Args:
        on_bad_record: what becomes of a record that cannot be read.
        on_null_time: what becomes of a row without an event time; `keep` lets it pass where no operator
            asks for its time.
        late_letters: whether rows that come too late are dead letters.
        max_late_rows: how many late rows a run may drop before it fails; None for any number.
        idle_timeout_ms: after how long without rows the source no longer holds the watermark back, or None.
    """

    on_bad_record: OnBadRecord = "fail"
    on_null_time: OnNullTime = "fail"
    late_letters: bool = False
    max_late_rows: int | None = None
    idle_timeout_ms: int | None = None

    @property
    def tells_bad_records_apart(self) -> bool:
        """Whether the scan marks bad records instead of failing on them."""
        return self.on_bad_record != "fail"


def read_policies(
    source: decl.SourceDecl, resolved: Resolved, trigger_ms: int | None, found: Reporter
) -> Policies:
    """The policies of a source; those that it cannot follow are reported (HR315, HR105)."""
    options, places = resolved.common, resolved.places
    bad = cast("OnBadRecord", options.get("on_bad_record", "fail"))
    if bad != "fail":
        _check_format(source, resolved, found)
    late = str(options.get("on_late", "drop"))
    _check_dead_letter(source, (bad, late), options, places, found)
    _check_late(source, late, resolved, found)
    if source.watermarks == ():
        for option in ("on_null_time", "on_late", "max_late_rows", "idle_timeout"):
            if option in places:
                found.add(_no_effect(option, places[option]))
    idle = options.get("idle_timeout")
    if idle is not None and trigger_ms is None and "idle_timeout" in places:
        found.add(_needs_interval(places["idle_timeout"]))
    null_time = str(options.get("on_null_time", "fail"))
    return Policies(
        on_bad_record=bad,
        on_null_time="keep" if null_time == "keep_without_time" else cast("OnNullTime", null_time),
        late_letters=late == "dead_letter",
        max_late_rows=_integer(options.get("max_late_rows", 0)) if late == "fail" else None,
        idle_timeout_ms=_integer(idle) if idle is not None and trigger_ms is not None else None,
    )


def good_records(scan: Node, columns: Schema, builder: Builder, span: Span) -> Node:
    """The rows of a scan that marks bad records, without these and without the marks."""
    good = builder.filter(scan, Op(t.BOOLEAN, False, "IS NULL", (_RAW,)), span)
    return builder.project(good, identity(columns), span)


def dead_letters(scan: Node, source: str, builder: Builder, span: Span) -> Node:
    """What a dead-letter sink takes of a scan that marks bad records."""
    bad = builder.filter(scan, Op(t.BOOLEAN, False, "IS NOT NULL", (_RAW,)), span)
    nothing = Value(t.NULL, True, "NULL")
    values: dict[str, Expr] = {
        "source": Value(t.STRING, False, quote_string(source)),
        "reason": Value(t.STRING, False, "'bad record'"),
        "raw": _RAW,
        "position": Column(t.STRING, True, POSITION),
        "event_time": Cast(t.TIMESTAMP, True, nothing),
    }
    return builder.project(bad, [NamedExpr(name, values[name]) for name in LETTERS.names], span)


_RAW: Final = Column(t.STRING, True, RAW)


def _check_format(source: decl.SourceDecl, resolved: Resolved, found: Reporter) -> None:
    formats = resolved.connector.text_formats
    given = resolved.options.get("format")
    if formats and (given is None or given in formats):
        return
    what = f"format `{given}`" if formats else f"connector `{resolved.connector.name}`"
    span = resolved.places.get("on_bad_record", source.name.span)
    found.add(
        Diagnostic(
            codes.SOURCE_POLICY,
            f"{what} has no bad records to tell from good ones",
            span,
            cause="only in text can one record be unreadable and the next one be fine",
            fix="remove on_bad_record" + (f"; it works with {' and '.join(formats)}" if formats else ""),
        )
    )


def _check_dead_letter(
    source: decl.SourceDecl,
    policies: tuple[str, str],
    options: Mapping[str, object],
    places: Mapping[str, Span],
    found: Reporter,
) -> None:
    name = options.get("dead_letter")
    if "dead_letter" in policies and name is None:
        asks = "on_bad_record" if policies[0] == "dead_letter" else "on_late"
        found.add(
            Diagnostic(
                codes.MISSING_KEY,
                f"source `{source.name.value}` does not say where its dead letters go",
                places.get(asks, source.name.span),
                fix="add dead_letter = '…' with the name of a sink without a query",
            )
        )
    elif "dead_letter" not in policies and "dead_letter" in places:
        found.add(
            Diagnostic(
                codes.SOURCE_POLICY,
                f"nothing of source `{source.name.value}` becomes a dead letter",
                places["dead_letter"],
                cause=f"on_bad_record is {policies[0]}, and on_late {policies[1]}",
                fix="add on_bad_record = 'dead_letter', or on_late",
            )
        )


def _check_late(source: decl.SourceDecl, late: str, resolved: Resolved, found: Reporter) -> None:
    options, places = resolved.common, resolved.places
    if late == "dead_letter":
        problem = _no_reread(resolved)
        if problem is not None:
            found.add(
                Diagnostic(
                    codes.SOURCE_POLICY,
                    "late rows cannot be dead letters",
                    places.get("on_late", source.name.span),
                    cause=problem,
                    fix="write on_late = 'fail' to stop at the first, or give the watermark a longer delay",
                )
            )
    if "max_late_rows" in options and late != "fail" and "max_late_rows" in places:
        found.add(
            Diagnostic(
                codes.SOURCE_POLICY,
                "max_late_rows has no effect",
                places["max_late_rows"],
                cause="late rows are dropped and counted, however many there are",
                fix="add on_late = 'fail'",
            )
        )


def _no_reread(resolved: Resolved) -> str | None:
    """Why an epoch's rows cannot be read once more, with their places; None if they can."""
    connector, form = resolved.connector, str(resolved.options.get("format"))
    if not connector.rereads:
        return f"what an epoch has read cannot be read once more from connector `{connector.name}`"
    if form in connector.change_formats:
        return f"records of format `{form}` are changes, not rows"
    if form not in connector.text_formats:
        return f"records of format `{form}` have no text of their own that a letter could hold"
    return None


def _no_effect(option: str, span: Span) -> Diagnostic:
    return Diagnostic(
        codes.SOURCE_POLICY,
        f"{option} has no effect",
        span,
        cause="the source has no watermark, so no row is late or without a time",
        fix=f"declare a WATERMARK, or remove {option}",
    )


def _needs_interval(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.SOURCE_POLICY,
        "idle_timeout needs a trigger at an interval",
        span,
        cause="a run that ends once its input is drained does not wait for a source to fall silent",
        fix="give the target a trigger such as `5 seconds`, or remove idle_timeout",
    )


def _integer(value: object) -> int:
    # A reference to the environment is no number yet; policies are fixed at compile time.
    return value if isinstance(value, int) else 0
