"""The project's own functions: what CREATE FUNCTION and the files under functions/ make known to queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from types import MappingProxyType

from compiler.diagnostics import codes
from compiler.diagnostics.diagnostic import Diagnostic, Reporter
from compiler.diagnostics.suggest import did_you_mean
from compiler.frozen import frozen
from compiler.functions import FUNCTIONS, functions_of_project
from compiler.functions.kinds import is_ordered
from compiler.functions.spec import Arg, Function, Nulls, TypeProblem
from compiler.jobplan.model import ScalarFunction as JobScalar
from compiler.plan import types as t
from compiler.plan.expr import PYTHON
from compiler.syntax.declarations import FunctionDecl, Project
from compiler.syntax.python_functions import (
    AggregateFunction,
    ProcessClass,
    PythonFunction,
    ValueFunction,
)


@frozen(slots=True)
class GroupFunction:
    """A Python aggregate function: under `sql_name`, Spark calls it with the rows of a group."""

    sql_name: str
    returns: t.DataType


@frozen(slots=True)
class UserFunctions:
    """What a project adds to the language.

    Args:
        bundle: the hash of the files under functions/.
        called: functions of expressions, aggregates among them, by lower-case name.
        aggregates: those that work on groups, by lower-case name.
        processes: process functions, by lower-case name.
        lowered: what the runtime registers.
        broken: lower-case names of what could not be read.
    """

    bundle: str = ""
    called: Mapping[str, Function] = field(default_factory=dict)
    aggregates: Mapping[str, GroupFunction] = field(default_factory=dict)
    processes: Mapping[str, ProcessClass] = field(default_factory=dict)
    lowered: tuple[JobScalar, ...] = ()
    broken: frozenset[str] = frozenset()


_NONE = UserFunctions()
_CURRENT: ContextVar[UserFunctions] = ContextVar("functions of the project", default=_NONE)


@contextmanager
def visible(functions: UserFunctions) -> Iterator[None]:
    """Lets queries call the functions, while a project is bound."""
    token = _CURRENT.set(functions)
    try:
        with functions_of_project(functions.called):
            yield
    finally:
        _CURRENT.reset(token)


def process_function(name: str) -> ProcessClass | None:
    """The process function of that name, without regard to case."""
    return _CURRENT.get().processes.get(name.lower())


def aggregate_function(name: str) -> GroupFunction | None:
    """The Python aggregate function of that name, in lower case."""
    return _CURRENT.get().aggregates.get(name)


def process_names() -> tuple[str, ...]:
    """Names of all process functions, as they are spelt."""
    return tuple(found.name for found in _CURRENT.get().processes.values())


def is_broken(name: str) -> bool:
    """Whether a function of that name is there and could not be read, which has been told."""
    return name.lower() in _CURRENT.get().broken


def current_bundle() -> str:
    """The hash of the files under functions/ of the project that is bound."""
    return _CURRENT.get().bundle


def bind_functions(project: Project, reporter: Reporter) -> UserFunctions:
    """Finds out what names mean: those of the files, and those that CREATE FUNCTION gives them."""
    named: dict[str, PythonFunction] = {f.name.lower(): f for f in project.python.functions}
    broken = set(project.python.broken)
    for declared in project.functions:
        target = _target(declared, project.python.functions, project.python.broken, reporter)
        if target is not None:
            named[declared.name.value.lower()] = target
        else:
            broken.add(declared.name.value.lower())
    for name, function in named.items():
        if name in FUNCTIONS:
            reporter.add(
                Diagnostic(
                    codes.DUPLICATE_NAME,
                    f"`{name}` is a function of Spark SQL",
                    function.span,
                    cause="queries would not say which of the two they mean",
                    fix="rename the Python function",
                )
            )
        if isinstance(function, AggregateFunction) and not _can_be_sorted(function, reporter):
            broken.add(name)
    bundle = project.python.digest if project.python.files else ""
    called = {n: f for n, f in named.items() if isinstance(f, ValueFunction) and n not in broken}
    lowered = {_sql_name(f, bundle): f for f in called.values()}
    return UserFunctions(
        bundle=bundle,
        broken=frozenset(broken),
        called=MappingProxyType({name: _function(name, f, bundle) for name, f in called.items()}),
        aggregates=MappingProxyType(
            {
                name: GroupFunction(_sql_name(f, bundle), f.returns)
                for name, f in called.items()
                if isinstance(f, AggregateFunction)
            }
        ),
        processes=MappingProxyType({n: f for n, f in named.items() if isinstance(f, ProcessClass)}),
        lowered=tuple(
            JobScalar(
                name,
                f.module,
                f.name,
                f.returns.sql,
                f.vectorized and bool(f.parameters),
                f.deterministic,
                isinstance(f, AggregateFunction),
            )
            for name, f in sorted(lowered.items())
        ),
    )


def _target(
    declared: FunctionDecl, known: Sequence[PythonFunction], broken: frozenset[str], reporter: Reporter
) -> PythonFunction | None:
    """The function that CREATE FUNCTION names as `module.name`."""
    text = declared.target.value
    language = (declared.language.value if declared.language is not None else "PYTHON").upper()
    if language != "PYTHON" or declared.jars:
        place = declared.language.span if declared.language is not None else declared.jars[0].span
        reporter.add(
            Diagnostic(
                codes.UNSUPPORTED_SYNTAX,
                "functions are written in Python",
                place,
                fix="put a Python function under functions/ and write LANGUAGE PYTHON",
            )
        )
        return None
    found = next((f for f in known if f"{f.module}.{f.name}" == text), None)
    if found is None and text.rsplit(".", 1)[-1].lower() not in broken:
        names = [f"{f.module}.{f.name}" for f in known]
        reporter.add(
            Diagnostic(
                codes.FUNCTION_TARGET,
                f"there is no function `{text}` under functions/",
                declared.target.span,
                cause=f"there are {', '.join(names)}"
                if names
                else "no file there has a function for queries",
                fix=did_you_mean(text, names)
                or "write module.name of a @headrace.scalar, a @headrace.aggregate or a ProcessFunction",
            )
        )
    return found


# --- functions of expressions --------------------------------------------------


def _can_be_sorted(function: AggregateFunction, reporter: Reporter) -> bool:
    """Whether a group's values have an order, in which every replay hands them over."""
    for parameter in function.parameters:
        if parameter.type is not None and not is_ordered(parameter.type):
            reporter.add(
                Diagnostic(
                    codes.PYTHON_FUNCTION,
                    f"argument `{parameter.name}` of `{function.name}` is {parameter.type}, without an order",
                    function.span,
                    cause="an aggregate function is handed a group's values in order, so that a replay gives "
                    "the same result",
                    fix="take what is needed of it in the query: an element, or a field",
                )
            )
            return False
    return True


def _sql_name(function: ValueFunction, bundle: str) -> str:
    """A name that no other version of the function has: one may have to finish an epoch beside another."""
    return f"{PYTHON}{function.module.replace('.', '_')}_{function.name}_{bundle[:8]}".lower()


def _function(name: str, function: ValueFunction, bundle: str) -> Function:
    types = [p.type for p in function.parameters if p.type is not None]
    aggregate = isinstance(function, AggregateFunction)
    return Function(
        # Spark has no aggregate of that name: `group_functions` calls another over the rows of a group.
        name=name if aggregate else _sql_name(function, bundle),
        aggregate=aggregate,
        min_args=sum(not p.optional for p in function.parameters),
        max_args=len(types),
        returns=_returns(function.returns, types),
        nulls=Nulls.ALWAYS,
        deterministic=function.deterministic,
        casts=tuple(types),
        shown=function.name,
    )


def _returns(result: t.DataType, types: Sequence[t.DataType]) -> Callable[[Sequence[Arg]], t.DataType]:
    def returns(args: Sequence[Arg]) -> t.DataType:
        for index, (arg, wanted) in enumerate(zip(args, types, strict=False), 1):
            if not fits(arg.type, wanted):
                raise TypeProblem(f"argument {index} must be {wanted}, not {arg.type}")
        return result

    return returns


def fits(given: t.DataType, wanted: t.DataType) -> bool:
    """Whether a value may be handed to Python as another type: what loses nothing, and numbers to DOUBLE."""
    if given == t.NULL or given.sql == wanted.sql:
        return True
    if t.is_numeric(given) and wanted in (t.DOUBLE, t.Decimal(38, 18)):
        return True
    common = t.common_type(given, wanted)
    return common is not None and common.sql == wanted.sql and given != t.STRING
