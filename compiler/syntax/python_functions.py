"""Reads what a project's Python files under functions/ declare, from their text.

The files are parsed and not run: compiling needs none of the libraries that they import, has no effects, and
points at the line where something is missing. So types are annotations, and what `headrace.ProcessFunction`
declares is made of literals.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, DiagnosticError, Label, Reporter
from compiler.diagnostics.source import SourceFile, Span
from compiler.frozen import frozen
from compiler.plan import types as t
from compiler.syntax.data_types import parse_type
from compiler.syntax.durations import parse_duration_ms
from compiler.syntax.fragment import Fragment

_STATES: Final = {"value_state": "value", "list_state": "list", "map_state": "map"}
# Annotations that mean a SQL type; a text in their place is one.
_ANNOTATIONS: Final[dict[str, t.DataType]] = {
    "int": t.BIGINT,
    "float": t.DOUBLE,
    "str": t.STRING,
    "bool": t.BOOLEAN,
    "bytes": t.BINARY,
    "Decimal": t.Decimal(38, 18),
    "datetime": t.TIMESTAMP,
    "date": t.DATE,
    "timedelta": t.DAY_TIME,
}


@frozen(slots=True)
class Parameter:
    """An argument: its type, if one is given, and whether it may be left out."""

    name: str
    type: t.DataType | None
    optional: bool


@frozen(slots=True)
class ValueFunction:
    """A function that gives one value.

    Args:
        module: of the file, as it is imported.
        vectorized: whether it takes pandas Series.
    """

    name: str
    module: str
    parameters: tuple[Parameter, ...]
    returns: t.DataType
    vectorized: bool
    deterministic: bool
    span: Span


@frozen(slots=True)
class ScalarFunction(ValueFunction):
    """A function under `@headrace.scalar`: one value a row."""


@frozen(slots=True)
class AggregateFunction(ValueFunction):
    """A function under `@headrace.aggregate`: one value a group."""


@frozen(slots=True)
class PythonState:
    """A state that a process function declares."""

    name: str
    kind: str
    type: t.DataType
    ttl_ms: int | None


@frozen(slots=True)
class PythonColumn:
    """A column of a process function's input or output."""

    name: str
    type: t.DataType


@frozen(slots=True)
class ProcessClass:
    """A subclass of `headrace.ProcessFunction`.

    Args:
        input: the columns that it reads, or None for all.
        parameters: of `__init__`.
    """

    name: str
    module: str
    input: tuple[PythonColumn, ...] | None
    output: tuple[PythonColumn, ...]
    event_time: str | None
    states: tuple[PythonState, ...]
    parameters: tuple[Parameter, ...]
    span: Span


PythonFunction = ScalarFunction | AggregateFunction | ProcessClass

_DECORATORS: Final[dict[str, type[ScalarFunction | AggregateFunction]]] = {
    "scalar": ScalarFunction,
    "aggregate": AggregateFunction,
}


@frozen(slots=True)
class PythonFiles:
    """The files under functions/, and what they declare.

    Args:
        files: by path relative to functions/.
        broken: names of what could not be read, in lower case; that has been reported.
    """

    files: tuple[SourceFile, ...] = ()
    functions: tuple[PythonFunction, ...] = ()
    broken: frozenset[str] = frozenset()

    @property
    def digest(self) -> str:
        """What tells these files from others."""
        texts = tuple(sorted((file.path.removeprefix("functions/"), file.text) for file in self.files))
        return hashlib.sha256(repr(texts).encode()).hexdigest()[:16]


def read_python(files: Sequence[SourceFile], reporter: Reporter) -> PythonFiles:
    """Reads all files; what is wrong in one is reported (HR357) and the others are read on."""
    found: dict[str, PythonFunction] = {}
    broken: set[str] = set()
    for file in files:
        reader = _Reader(file, reporter)
        for function in reader.functions():
            other = found.setdefault(function.name.lower(), function)
            if other is not function:
                reporter.add(
                    Diagnostic(
                        codes.DUPLICATE_NAME,
                        f"`{function.name}` is defined twice under functions/",
                        function.span,
                        fix="rename one of the two",
                        related=(Label(other.span, "the first is here"),),
                    )
                )
        broken |= reader.broken
    return PythonFiles(tuple(files), tuple(found.values()), frozenset(broken))


class _Reader:
    """Reads one file."""

    def __init__(self, file: SourceFile, reporter: Reporter) -> None:
        self._file = file
        self._reporter = reporter
        self._lines = file.text.splitlines(keepends=True)
        self.broken: set[str] = set()

    @property
    def _module(self) -> str:
        path = self._file.path.removeprefix("functions/").removesuffix(".py").removesuffix("/__init__")
        return path.replace("/", ".")

    def functions(self) -> Iterable[PythonFunction]:
        try:
            tree = ast.parse(self._file.text)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1
            start = sum(len(text) for text in self._lines[: line - 1])
            span = Span(
                self._file, start, start + len(self._lines[line - 1].rstrip()) if self._lines else start
            )
            message = f"this is not Python: {getattr(error, 'msg', error)}"
            self._reporter.add(Diagnostic(codes.PYTHON_FUNCTION, message, span))
            return
        for node in tree.body:
            try:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    mark = next((d for d in node.decorator_list if _name(d) in _DECORATORS), None)
                    if mark is not None:
                        yield self._value(node, mark)
                elif isinstance(node, ast.ClassDef) and any(
                    _name(base) == "ProcessFunction" for base in node.bases
                ):
                    yield self._process(node)
            except DiagnosticError as error:
                assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
                self.broken.add(node.name.lower())
                self._reporter.add(*error.diagnostics)

    # --- functions in expressions ---------------------------------------------

    def _value(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, mark: ast.expr
    ) -> ScalarFunction | AggregateFunction:
        kind = _DECORATORS[_name(mark)]
        options = {k.arg: k.value for k in mark.keywords} if isinstance(mark, ast.Call) else {}
        if (
            isinstance(node, ast.AsyncFunctionDef)
            or node.args.vararg
            or node.args.kwarg
            or node.args.kwonlyargs
        ):
            message = f"`{node.name}` has to take a fixed number of arguments, one value each"
            raise self._error(message, node, "write def f(a: int, b: str) -> str")
        if node.returns is None:
            message = f"`{node.name}` does not say what type it returns"
            raise self._error(message, node, f"write def {node.name}(…) -> float")
        if kind is AggregateFunction and not [*node.args.posonlyargs, *node.args.args]:
            message = f"`{node.name}` takes no argument, so it knows nothing of a group's rows"
            raise self._error(message, node, f"write def {node.name}(price: float) -> float")
        return kind(
            node.name,
            self._module,
            self._parameters(node, typed=True),
            self._type(node.returns),
            self._flag(options, "vectorized"),
            self._flag(options, "deterministic"),
            self._span(node),
        )

    def _parameters(self, node: ast.FunctionDef | ast.AsyncFunctionDef, typed: bool) -> tuple[Parameter, ...]:
        args = [*node.args.posonlyargs, *node.args.args]
        required = len(args) - len(node.args.defaults)
        found: list[Parameter] = []
        for index, arg in enumerate(args):
            if arg.annotation is None and typed:
                message = f"argument `{arg.arg}` of `{node.name}` has no type"
                raise self._error(message, arg, f"write {arg.arg}: int, or another type")
            type_ = self._type(arg.annotation) if arg.annotation is not None and typed else None
            found.append(Parameter(arg.arg, type_, index >= required))
        defaults = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        found += [Parameter(arg.arg, None, default is not None) for arg, default in defaults]
        return tuple(found)

    def _flag(self, options: dict[str | None, ast.expr], name: str) -> bool:
        value = options.get(name)
        if value is None:
            return True
        if not isinstance(value, ast.Constant) or not isinstance(value.value, bool):
            raise self._error(f"`{name}` has to be True or False", value)
        return value.value

    def _type(self, node: ast.expr) -> t.DataType:
        """The SQL type of an annotation."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            known = _ANNOTATIONS.get(node.value)
            return known or self._sql_type(node, node.value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            sides = [side for side in (node.left, node.right) if not _is_none(side)]
            if len(sides) == 1:
                return self._type(sides[0])
        if isinstance(node, ast.Subscript):
            name, inner = _name(node.value), node.slice
            if name == "Optional":
                return self._type(inner)
            if name in ("list", "List"):
                return t.Array(self._type(inner))
            if name in ("dict", "Dict") and isinstance(inner, ast.Tuple) and len(inner.elts) == 2:
                return t.Map(self._type(inner.elts[0]), self._type(inner.elts[1]))
        known = _ANNOTATIONS.get(_name(node))
        if known is None:
            message = f"`{ast.unparse(node)}` is no type that a column can have"
            fix = f"write {', '.join(_ANNOTATIONS)}, list[…], dict[…, …], or a SQL type in quotes"
            raise self._error(message, node, fix)
        return known

    def _sql_type(self, node: ast.expr, text: str) -> t.DataType:
        file = SourceFile(self._file.path, text)
        try:
            return parse_type(Fragment.plain(file, 0, len(text)))
        except DiagnosticError as error:
            found = error.diagnostics[0]
            raise self._error(found.message, node, found.fix) from error

    # --- process functions ----------------------------------------------------

    def _process(self, node: ast.ClassDef) -> ProcessClass:
        values = _assigned(node)
        if "output" not in values:
            message = f"`{node.name}` does not say what it gives out"
            raise self._error(message, node, 'write output = "name TYPE, …" in the class')
        if not any(isinstance(part, ast.FunctionDef) and part.name == "process" for part in node.body):
            message = f"`{node.name}` has no method `process`"
            raise self._error(message, node, "write def process(self, row, ctx): …")
        output = self._columns(values["output"])
        given = values.get("input")
        time = self._text(values["event_time"]) if "event_time" in values else None
        if time is not None and not any(c.name == time and isinstance(c.type, t.Timestamp) for c in output):
            message = f"`event_time` names `{time}`, which is no TIMESTAMP column of `output`"
            raise self._error(message, values["event_time"])
        init = next((p for p in node.body if isinstance(p, ast.FunctionDef) and p.name == "__init__"), None)
        return ProcessClass(
            node.name,
            self._module,
            self._columns(given) if given is not None and not _is_none(given) else None,
            output,
            time,
            tuple(self._states(values)),
            self._parameters(init, typed=False)[1:] if init is not None else (),
            self._span(node),
        )

    def _columns(self, node: ast.expr) -> tuple[PythonColumn, ...]:
        """The columns of `"name TYPE, …"`, by way of a STRUCT with the same fields."""
        text = self._text(node)
        found = self._sql_type(node, f"STRUCT<{text}>")
        if not isinstance(found, t.Struct) or not found.fields:
            raise self._error("there is no column in it", node, 'write "name TYPE, …"')
        return tuple(PythonColumn(f.name, f.type) for f in found.fields)

    def _states(self, values: dict[str, ast.expr]) -> Iterable[PythonState]:
        for name, value in values.items():
            if not isinstance(value, ast.Call) or _name(value.func) not in _STATES:
                continue
            kind = _STATES[_name(value.func)]
            types = [self._sql_type(arg, self._text(arg)) for arg in value.args]
            if len(types) != (2 if kind == "map" else 1):
                raise self._error(
                    f"{_name(value.func)} takes its SQL type", value, 'write value_state("BIGINT")'
                )
            ttl = next((k.value for k in value.keywords if k.arg == "ttl" and not _is_none(k.value)), None)
            milliseconds = parse_duration_ms(self._text(ttl)) if ttl is not None else None
            if ttl is not None and not milliseconds:
                raise self._error(f"`{self._text(ttl)}` is not a duration", ttl, 'write ttl="1 d"')
            yield PythonState(
                name, kind, types[0] if kind != "map" else t.Map(types[0], types[1]), milliseconds
            )

    def _text(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        message = "this has to be a text that is written out: the file is read and not run"
        raise self._error(message, node)

    # --- places ---------------------------------------------------------------

    def _span(self, node: ast.stmt | ast.expr | ast.arg) -> Span:
        """The place of a node; of a function or class that of its first line."""
        begin = self._offset(node.lineno, node.col_offset)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return Span(
                self._file, begin, self._offset(node.lineno, 0) + len(self._lines[node.lineno - 1].rstrip())
            )
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return Span(self._file, begin, self._offset(node.end_lineno, node.end_col_offset))

    def _offset(self, line: int, column: int) -> int:
        # Columns count bytes of UTF-8.
        before = self._lines[line - 1].encode()[:column].decode(errors="ignore")
        return sum(len(text) for text in self._lines[: line - 1]) + len(before)

    def _error(
        self, message: str, node: ast.stmt | ast.expr | ast.arg, fix: str | None = None
    ) -> DiagnosticError:
        return DiagnosticError(Diagnostic(codes.PYTHON_FUNCTION, message, self._span(node), fix=fix))


def _name(node: ast.expr) -> str:
    """The last part of a dotted name, of a call that of the function."""
    if isinstance(node, ast.Call):
        return _name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _assigned(node: ast.ClassDef) -> dict[str, ast.expr]:
    """What a class gives names to, directly in its body."""
    found: dict[str, ast.expr] = {}
    for part in node.body:
        if isinstance(part, ast.Assign):
            found.update({target.id: part.value for target in part.targets if isinstance(target, ast.Name)})
        elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.value is not None:
            found[part.target.id] = part.value
    return found
