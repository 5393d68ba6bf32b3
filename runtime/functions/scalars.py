"""Registers the functions that expressions call."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.functions import udf
from pyspark.sql.pandas.functions import arrow_udf, pandas_udf
from pyspark.sql.types import DataType

from compiler.jobplan.model import Functions, ScalarFunction
from runtime.functions.bundle import Bundle


def register_functions(
    session: SparkSession, functions: Functions | None, folder: Path, timezone: str
) -> None:
    """Makes a plan's functions callable under their names, from the copy of the files in a folder.

    Args:
        session: where queries call them.
        functions: those of the plan.
        folder: holds the files.
        timezone: that of the plan, which the session has only once a query starts.
    """
    if functions is None or not functions.scalars:
        return
    bundle = Bundle.read(folder)
    for function in functions.scalars:
        if function.aggregate:
            session.udf.register(function.sql_name, _aggregate(bundle, function, timezone))
            continue
        call = _call(bundle, function)
        vectorized: Any = pandas_udf
        made: Any
        if function.vectorized:
            # Spark tells by the annotations what a function is called with.
            series = import_module("pandas").Series
            call.__annotations__ = {"columns": series, "return": series}
            made = vectorized(call, function.returns)
        else:
            made = udf(call, function.returns)
        session.udf.register(function.sql_name, made if function.deterministic else made.asNondeterministic())


def _aggregate(bundle: Bundle, function: ScalarFunction, timezone: str) -> Any:
    """A function of the rows of a group, as Arrow has them: objects would cost more than the call itself."""
    types, arrow = import_module("pyspark.sql.pandas.types"), import_module("pyarrow")
    returns = types.to_arrow_type(DataType.fromDDL(function.returns), timezone=timezone)
    module, name, vectorized = function.module, function.name, function.vectorized

    def call(groups: Any) -> Any:
        of_groups = import_module("runtime.functions.aggregates").over_groups
        found = bundle.load(module, name)
        return of_groups(found, f"{module}.{name}", groups, returns, vectorized=vectorized)

    call.__name__ = name
    registered: Any = arrow_udf
    call.__annotations__ = {"groups": arrow.Array, "return": arrow.Array}
    made: Any = registered(call, function.returns)
    return made if function.deterministic else made.asNondeterministic()


def _call(bundle: Bundle, function: ScalarFunction) -> Callable[..., Any]:
    module, name = function.module, function.name

    def call(*columns: Any) -> Any:
        # In a worker: the module is imported there, once.
        return bundle.load(module, name)(*columns)

    call.__name__ = name
    return call
