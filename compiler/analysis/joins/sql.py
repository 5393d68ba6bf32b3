"""JOIN in a SELECT."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.joins.dispatch import join as put_join
from compiler.analysis.joins.request import AsOf, JoinRequest
from compiler.analysis.places import tree_offsets
from compiler.analysis.relations import Bound
from compiler.analysis.scope import Scope
from compiler.analysis.where import Where
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import DiagnosticError
from compiler.plan.expr import Expr

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder

_ON = re.compile(r"\s*\)?\s*ON\b", re.IGNORECASE)
_FROM_THE_OTHER_SIDE = {"left": "right", "right": "left"}


def bind_join(binder: QueryBinder, left: Bound, join: exp.Join, where: Where) -> Bound:
    """Joins what FROM has so far with one more relation.

    Raises:
        DiagnosticError: a join that has no streaming form, or a mistake in ON.
    """
    kind = _kind(binder, join)
    right = binder.bind_relation(join.this)
    as_of = _as_of(binder, join)
    _check_alias(binder, left.scope, right.scope.parts[0].alias, join)

    def condition(scope: Scope) -> Expr | None:
        on = join.args.get("on")
        # sqlglot gives JOIN without a condition ON TRUE.
        if isinstance(on, exp.Boolean) and not _says_on(binder, join):
            return None
        return binder.expressions(scope, "ON").condition(on, "ON") if on is not None else None

    name = right.scope.parts[0].alias or "right"
    if not left.node.is_stream and right.node.is_stream:
        left, right = right, left
        kind = _FROM_THE_OTHER_SIDE.get(kind, kind)
        name = right.scope.parts[0].alias or "left"
    request = JoinRequest(
        left=left.node,
        scope=left.scope,
        right=right.node,
        name=name,
        kind=kind,
        condition=condition,
        span=binder.span(join),
        using=tuple(identifier.name for identifier in join.args.get("using") or ()),
        as_of=as_of,
        more=where.of(join),
    )
    return Bound(*put_join(binder.builder, request))


def _as_of(binder: QueryBinder, join: exp.Join) -> AsOf | None:
    version = join.this.args.get("version")
    if version is None:
        return None
    time = version.args["expression"]
    clause = "FOR SYSTEM_TIME AS OF"
    return AsOf(lambda scope: binder.expressions(scope, clause).bind(time), binder.span(time))


def _check_alias(binder: QueryBinder, left: Scope, alias: str | None, join: exp.Join) -> None:
    if alias is not None and left.part(alias) is not None:
        raise binder.error(
            codes.DUPLICATE_NAME,
            f"FROM has `{alias}` twice",
            join.this,
            cause="a column of it could be that of either",
            fix="give each an alias of its own: … AS a JOIN … AS b",
        )


def _says_on(binder: QueryBinder, join: exp.Join) -> bool:
    found = tree_offsets(join.this)
    return found is None or _ON.match(binder.fragment.text, found[1]) is not None


def _kind(binder: QueryBinder, join: exp.Join) -> str:
    side = (join.side or "").lower()
    kind = (join.kind or "").lower()
    if (join.args.get("method") or "").upper() == "NATURAL":
        raise binder.error(
            codes.UNSUPPORTED_SYNTAX, "NATURAL JOIN is not supported", join, fix="name the columns: USING (…)"
        )
    if kind in ("semi", "anti"):
        return kind
    if side in ("left", "right", "full"):
        return side
    if kind in ("", "inner"):
        has_condition = join.args.get("on") is not None or join.args.get("using")
        return "inner" if has_condition or kind == "inner" else "cross"
    if kind == "cross":
        return "cross"
    raise _other(binder, join, kind)


def _other(binder: QueryBinder, join: exp.Join, kind: str) -> DiagnosticError:
    return binder.error(codes.UNSUPPORTED_SYNTAX, f"{kind.upper()} JOIN is not supported", join)
