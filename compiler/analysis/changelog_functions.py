"""FROM_CHANGELOG and TO_CHANGELOG in FROM, and what both front ends check of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.table_arguments import (
    Signature,
    bind_arguments,
    bind_column,
    bind_table,
    descriptor,
    function_name,
    table_argument,
    wrong_argument,
)
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import suggest
from compiler.plan.node import Node
from compiler.plan.operators import FromChangelog, ToChangelog
from compiler.plan.operators.from_changelog import OPERATIONS
from compiler.plan.schema import Field
from compiler.plan.types import STRING

if TYPE_CHECKING:
    from compiler.analysis.builder import Builder
    from compiler.analysis.select import QueryBinder

Mapping = Sequence[tuple[str, str, Span]]
"""An `op_mapping`: its pairs, each with its place."""

_ALL = [(kind, kind) for kind in OPERATIONS]
_SKIP = ("fail", "skip")

SIGNATURES: dict[str, Signature] = {
    "from_changelog": Signature(
        ("input", "op", "op_mapping", "invalid_op_handling"),
        frozenset({"op", "op_mapping", "invalid_op_handling"}),
        "FROM_CHANGELOG(input => TABLE t PARTITION BY id, op => DESCRIPTOR(op), "
        "op_mapping => MAP['c', 'INSERT', 'u', 'UPDATE_AFTER', 'd', 'DELETE'])",
    ),
    "to_changelog": Signature(
        ("input", "op", "op_mapping"),
        frozenset({"op", "op_mapping"}),
        "TO_CHANGELOG(input => TABLE t PARTITION BY id, op => DESCRIPTOR(op))",
    ),
}


# --- what both front ends build -----------------------------------------------------------------


def from_changelog(
    builder: Builder,
    node: Node,
    key: Sequence[Field],
    op: Field,
    mapping: Mapping | None,
    skip_unknown: bool,
    span: Span,
) -> Node:
    """Reads appended rows as changes of a table.

    Args:
        builder: of the model.
        node: the rows.
        key: columns of the table's key.
        op: the column that holds the operation's code.
        mapping: kinds of change by code; Flink's names stand for themselves if it is left out.
        skip_unknown: whether rows with other codes are left out, rather than fail the epoch.
        span: where it is written.

    Raises:
        DiagnosticError: no key, an operation that is no text or part of the key, or a mapping that does not
            say which change a code is (HR347).
    """
    if not key:
        raise _wrong(
            "the rows of FROM_CHANGELOG have no key",
            span,
            "a change must say whose row it replaces or deletes",
            "write TABLE t PARTITION BY id, with the columns of the table's key",
        )
    if op.type != STRING:
        raise _wrong(f"the operation `{op.name}` is {op.type}, not STRING", span, "a code is text", None)
    if any(column.name == op.name for column in key):
        raise _wrong(f"`{op.name}` is both the operation and part of the key", span, None, None)
    kinds = _pairs(mapping, kinds_last=True) if mapping is not None else _ALL
    keys = tuple(column.name for column in key)
    uid = builder.uid("from_changelog", span)
    return FromChangelog(uid, node, keys, op.name, tuple(kinds), skip_unknown)


def to_changelog(
    builder: Builder, node: Node, key: Sequence[Field], op: str, mapping: Mapping | None, span: Span
) -> Node:
    """Makes an appended row of every change.

    Args:
        builder: of the model.
        node: the changes.
        key: columns that come first in the output; of changes, those of their key.
        op: name of the new column.
        mapping: codes by kind of change; each kind is its own code if it is left out.
        span: where it is written.

    Raises:
        DiagnosticError: the key is not that of the changes, or a mapping that names no kind of change
            (HR347); the column is there already (HR208).
    """
    changes = node.changelog
    names = tuple(column.name for column in key)
    if not changes.is_append and key and set(names) != set(changes.key):
        raise _wrong(
            f"TO_CHANGELOG partitions by {', '.join(names)}, its input is {changes.phrase}",
            span,
            "the changes of one key must stay together",
            f"write PARTITION BY {', '.join(changes.key)}",
        )
    if node.schema.get(op) is not None:
        message = f"the input of TO_CHANGELOG has a column `{op}` already"
        fix = "name the new one: op => DESCRIPTOR(op_code)"
        raise DiagnosticError(Diagnostic(codes.DUPLICATE_COLUMN, message, span, fix=fix))
    if not changes.is_append and not changes.exact:
        raise _wrong(
            "TO_CHANGELOG cannot tell what became of each row",
            span,
            f"its input is {changes.phrase} that does not say whether a row was there before"
            if changes.kind == "upsert"
            else "each row would have to be taken back by a code, and has no key",
            "put TO_CHANGELOG below the filter or join, or write the changes to a sink with a primary key",
        )
    kinds = _pairs(mapping, kinds_last=False) if mapping is not None else _ALL
    return ToChangelog(builder.uid("to_changelog", span), node, names, op, tuple(kinds))


def _pairs(mapping: Mapping, kinds_last: bool) -> list[tuple[str, str]]:
    """The pairs of a mapping, of which one side names kinds of change; a key may be a list with commas."""
    found: dict[str, str] = {}
    for keys, value, span in mapping:
        for key in (part.strip() for part in keys.split(",")):
            kind = value if kinds_last else key
            if kind not in OPERATIONS:
                near = suggest(kind.upper(), list(OPERATIONS))
                fix = f"did you mean `{near}`?" if near else f"they are {', '.join(OPERATIONS)}"
                raise _wrong(f"`{kind}` is no kind of change", span, None, fix)
            if key in found:
                raise _wrong(f"op_mapping has `{key}` twice", span, None, None)
            found[key] = value
    return list(found.items())


def _wrong(message: str, span: Span, cause: str | None, fix: str | None) -> DiagnosticError:
    return DiagnosticError(Diagnostic(codes.CHANGELOG_FUNCTION, message, span, cause=cause, fix=fix))


# --- SQL ----------------------------------------------------------------------------------------


def bind_changelog_function(binder: QueryBinder, call: exp.Anonymous) -> Node:
    """Binds a call of either function.

    Raises:
        DiagnosticError: wrong arguments, or an input that does not fit.
    """
    name = function_name(call)
    signature = SIGNATURES[name]
    arguments = bind_arguments(binder, call, signature)
    table = table_argument(arguments["input"])
    node = bind_table(binder, table)
    key = [bind_column(binder, node, column) for column in table.partition_by]
    mapping = _mapping(binder, call, signature, arguments.get("op_mapping"))
    op = arguments.get("op")
    op_name = descriptor(binder, call, signature, op, "`op`") if op is not None else None
    span = binder.span(call)
    if name == "to_changelog":
        column = op_name.name if op_name is not None else "op"
        return to_changelog(binder.builder, node, key, column, mapping, span)
    tree = op_name if op_name is not None else exp.column("op")
    if op_name is None and node.schema.get("op") is None:
        problem = "the input has no column `op`, so `op` must say which holds the operation"
        raise wrong_argument(binder, call, signature, problem, call)
    skip = _skips(binder, call, signature, arguments.get("invalid_op_handling"))
    return from_changelog(binder.builder, node, key, bind_column(binder, node, tree), mapping, skip, span)


def _mapping(
    binder: QueryBinder, call: exp.Anonymous, signature: Signature, tree: exp.Expr | None
) -> Mapping | None:
    if tree is None:
        return None
    # sqlglot reads MAP['k', 'v'] as a column with a subscript; map('k', 'v') is Spark's own.
    is_literal = isinstance(tree, exp.Bracket) and tree.this.name.upper() == "MAP"
    is_call = isinstance(tree, exp.Anonymous) and function_name(tree) == "map"
    parts = tree.expressions if is_literal or is_call else []
    if not parts or len(parts) % 2 or not all(isinstance(p, exp.Literal) and p.is_string for p in parts):
        problem = "`op_mapping` is MAP['code', 'KIND', …], all of it text"
        raise wrong_argument(binder, call, signature, problem, tree)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return [(key.this, value.this, binder.span(key).to(binder.span(value))) for key, value in pairs]


def _skips(binder: QueryBinder, call: exp.Anonymous, signature: Signature, tree: exp.Expr | None) -> bool:
    if tree is None:
        return False
    word = tree.this.lower() if isinstance(tree, exp.Literal) and tree.is_string else ""
    if word not in _SKIP:
        problem = "`invalid_op_handling` is 'FAIL' or 'SKIP'"
        raise wrong_argument(binder, call, signature, problem, tree)
    return word == "skip"
