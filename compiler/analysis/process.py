"""Process functions: `FROM TABLE(f(TABLE t PARTITION BY k, threshold => 5))`, and the step `process`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from compiler.analysis.builder import Builder, cast_to
from compiler.analysis.table_arguments import TableArgument, bind_column, bind_table, table_argument
from compiler.analysis.user_functions import current_bundle, fits, process_function
from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError
from compiler.diagnostics.source import Span
from compiler.diagnostics.suggest import did_you_mean
from compiler.frozen import frozen
from compiler.jobplan.operators.base import OptionValue
from compiler.jobplan.operators.process import KeptState
from compiler.plan.expr import Column
from compiler.plan.node import Node
from compiler.plan.operators.process import Process
from compiler.plan.operators.project import NamedExpr
from compiler.plan.schema import Field
from compiler.syntax.python_functions import ProcessClass
from compiler.syntax.tokens.functions import MARK

if TYPE_CHECKING:
    from compiler.analysis.select import QueryBinder


@frozen(slots=True)
class Argument:
    """An argument for the constructor, and where it is written."""

    name: str
    value: OptionValue | None
    span: Span


def bind_process_call(binder: QueryBinder, call: exp.Anonymous) -> Node:
    """Binds a process function in FROM.

    Raises:
        DiagnosticError: its input or its arguments do not fit (HR358).
    """
    function = process_function(str(call.this).removeprefix(MARK))
    assert function is not None  # looked up before
    table, rest = _table(binder, function, call)
    node = bind_table(binder, table)
    keys = tuple(bind_column(binder, node, key) for key in table.partition_by)
    arguments = [_argument(binder, function, part) for part in rest]
    return build_process(binder.builder, node, function, keys, arguments, binder.span(call))


def _table(
    binder: QueryBinder, function: ProcessClass, call: exp.Anonymous
) -> tuple[TableArgument, list[exp.Expr]]:
    form = f"{function.name}(TABLE t PARTITION BY k)"
    if not call.expressions:
        raise binder.error(codes.PROCESS_CALL, f"`{function.name}` needs a table", call, fix=f"write {form}")
    first, *rest = call.expressions
    # As in Flink, the table may be named whatever the class calls it.
    return table_argument(first.args["expression"] if isinstance(first, exp.Kwarg) else first), rest


def _argument(binder: QueryBinder, function: ProcessClass, tree: exp.Expr) -> Argument:
    if not isinstance(tree, exp.Kwarg):
        message = f"arguments of `{function.name}` behind its table are named"
        raise binder.error(codes.PROCESS_CALL, message, tree, fix="write threshold => 5")
    value = tree.args["expression"]
    negative = isinstance(value, exp.Neg)
    literal = value.this if negative else value
    found: OptionValue | None
    if isinstance(literal, exp.Literal):
        text = str(literal.this)
        if literal.args.get("is_string"):
            found = text
        else:
            number = float(text) if any(c in text.lower() for c in ".e") else int(text)
            found = -number if negative else number
    elif isinstance(literal, exp.Boolean):
        found = bool(literal.this)
    elif isinstance(literal, exp.Null):
        found = None
    else:
        message = f"an argument of `{function.name}` is a number, a text, TRUE, FALSE or NULL"
        raise binder.error(codes.PROCESS_CALL, message, value, fix="what differs from row to row is a column")
    return Argument(tree.this.name, found, binder.span(tree))


def build_process(
    builder: Builder,
    node: Node,
    function: ProcessClass,
    keys: Sequence[Field],
    arguments: Sequence[Argument],
    span: Span,
) -> Node:
    """The operator over its input, for both front ends.

    Raises:
        DiagnosticError: the input, the keys or the arguments do not fit (HR358).
    """
    if not node.is_stream or not node.changelog.is_append:
        what = "a table that is no stream" if not node.is_stream else "a stream of changes"
        raise _wrong(f"`{function.name}` over {what}", span, "hand it the rows of a source, as they come")
    times = [f.name for f in node.schema if f.is_event_time]
    if function.event_time is not None and not times:
        cause = f"its output has the event time `{function.event_time}`, which moves with that of the input"
        raise _wrong(f"`{function.name}` needs an input with a watermark", span, None, cause)
    given = {key.name.lower() for key in keys} & {c.name.lower() for c in function.output}
    if given:
        cause = "the columns of PARTITION BY come out with every row"
        fix = f"leave `{min(given)}` out of `output`"
        raise _wrong(f"`{function.name}` gives out `{min(given)}` itself", span, fix, cause)
    _check_arguments(function, arguments, span)
    return Process(
        builder.uid("process", span),
        node,
        module=function.module,
        function=function.name,
        keys=tuple(key.name for key in keys),
        reads=_reads(node, function, span),
        output=tuple((column.name, column.type) for column in function.output),
        event_time=function.event_time,
        states=tuple(KeptState(s.name, s.kind, s.type.sql, s.ttl_ms) for s in function.states),
        bundle=current_bundle(),
        arguments=tuple((argument.name, argument.value) for argument in arguments),
    )


def _reads(node: Node, function: ProcessClass, span: Span) -> tuple[NamedExpr, ...]:
    if function.input is None:
        return tuple(NamedExpr(f.name, Column(f.type, f.nullable, f.name)) for f in node.schema)
    found: list[NamedExpr] = []
    for column in function.input:
        field = node.schema.get(column.name)
        if field is None:
            message = f"`{function.name}` reads `{column.name}`, which its input does not have"
            fix = did_you_mean(column.name, node.schema.names)
            raise _wrong(message, span, fix, f"columns here are {', '.join(node.schema.names)}")
        if not fits(field.type, column.type):
            message = f"`{function.name}` reads `{column.name}` as {column.type}, and it is {field.type}"
            fix = f"cast it in a model below: CAST({field.name} AS {column.type})"
            raise _wrong(message, span, fix)
        found.append(
            NamedExpr(column.name, cast_to(Column(field.type, field.nullable, field.name), column.type))
        )
    return tuple(found)


def _check_arguments(function: ProcessClass, arguments: Sequence[Argument], span: Span) -> None:
    known = [parameter.name for parameter in function.parameters]
    seen: set[str] = set()
    for argument in arguments:
        if argument.name not in known or argument.name in seen:
            twice = argument.name in seen
            message = f"`{function.name}` has no argument `{argument.name}`"
            fix = did_you_mean(argument.name, known) or (f"it has {', '.join(known)}" if known else None)
            raise _wrong(f"`{argument.name}` is given twice" if twice else message, argument.span, fix)
        seen.add(argument.name)
    missing = [p.name for p in function.parameters if not p.optional and p.name not in seen]
    if missing:
        raise _wrong(f"`{function.name}` needs its argument `{missing[0]}`", span, f"write {missing[0]} => …")


def _wrong(message: str, span: Span, fix: str | None, cause: str | None = None) -> DiagnosticError:
    return DiagnosticError(Diagnostic(codes.PROCESS_CALL, message, span, cause=cause, fix=fix))
