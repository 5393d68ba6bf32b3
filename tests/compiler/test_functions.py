"""The catalogue by itself: no Spark."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from function_calls import COLUMNS, EXAMPLES, NOT_NULL, REJECTED, call_name, evaluate

from compiler.functions import FUNCTIONS, lookup
from compiler.functions.lambdas import lambda_parameters
from compiler.functions.spec import Arg, Function, Nulls, TypeProblem
from compiler.plan import types as t

ALL = list(FUNCTIONS.values())


@pytest.mark.parametrize("function", ALL, ids=lambda function: function.name)
def test_entry_is_sound(function: Function) -> None:
    assert FUNCTIONS[function.name] is function
    assert function.name == function.name.lower()
    assert function.name.isidentifier()
    assert function.min_args >= 0
    assert function.max_args is None or function.min_args <= function.max_args
    assert function.aggregate + function.generator + function.window_only <= 1
    assert not function.window_only or function.deterministic
    assert not function.generator or function.nulls is Nulls.ALWAYS


def test_no_name_is_given_twice() -> None:
    from compiler.functions import _TABLES

    names = [function.name for table in _TABLES for row in table for function in row]
    assert len(names) == len(set(names))


def test_names_are_found_in_any_case() -> None:
    assert lookup("Coalesce") is FUNCTIONS["coalesce"]
    assert lookup("nothing_like_it") is None


def test_every_function_has_an_example() -> None:
    assert {call_name(example) for example in EXAMPLES} == set(FUNCTIONS)


def test_every_refused_function_exists() -> None:
    assert {call_name(example) for example in REJECTED} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", sorted(f.name for f in ALL if not f.deterministic))
def test_replay_may_differ(name: str) -> None:
    assert name in {
        "aes_encrypt", "input_file_block_length", "input_file_block_start", "input_file_name", "java_method",
        "monotonically_increasing_id", "rand", "randn", "random", "randstr", "reflect", "shuffle",
        "spark_partition_id", "try_reflect", "uniform", "uuid",
    }  # fmt: skip


def test_the_epochs_time_is_no_surprise_at_a_replay() -> None:
    assert all(
        FUNCTIONS[name].deterministic for name in ("current_timestamp", "current_date", "now", "curdate")
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("upper(ai)", "argument 1 must be a STRING, not ARRAY<INT>"),
        ("date_add(dt, big)", "argument 2 must be an INT, not BIGINT"),
        ("round(d10_2, i)", "argument 2 must be a constant"),
        ("coalesce(dt, i)", "DATE and INT have no common type"),
        ("greatest(s, i)", "STRING and INT have no common type here: cast one of them"),
        ("from_json(s, 'a NOTHING')", "the schema cannot be read"),
        ("array_contains(as_, i)", "argument 2 must be an element of ARRAY<STRING>, not INT"),
        ("reduce(ai, 0, (a, x) -> 1L)", "the merge gives BIGINT, but the start is INT: cast the start"),
    ],
)
def test_problems_say_what_is_wanted(call: str, message: str) -> None:
    with pytest.raises(TypeProblem, match=message.replace("(", r"\(")):
        evaluate(call, COLUMNS)


@pytest.mark.parametrize(
    ("call", "nullable"),
    [
        ("upper(s)", False),
        ("coalesce(s, 'x')", False),
        ("count(s)", False),
        ("sum(i)", True),
        ("upper(v)", True),  # the VARIANT may hold JSON's null
        ("try_divide(i, i)", True),
        ("element_at(ai, 1)", True),
    ],
)
def test_null_of_columns_without_null(call: str, nullable: bool) -> None:
    assert evaluate(call, NOT_NULL).nullable is nullable


def test_coalesce_needs_one_that_is_never_null() -> None:
    assert evaluate("coalesce(s, s)", COLUMNS).nullable
    assert not evaluate("coalesce(s, 'x')", COLUMNS).nullable


def test_lambda_parameters_come_from_the_left() -> None:
    array = Arg(t.Array(t.STRING, False), True)
    assert lambda_parameters("transform", [array]) == (Arg(t.STRING, False), Arg(t.INT, False))
    assert lambda_parameters("upper", [array]) == ()
    with pytest.raises(TypeProblem):
        lambda_parameters("transform", [Arg(t.INT, True)])


def test_struct_takes_the_names_of_columns() -> None:
    found = evaluate("struct(i, upper(s))", COLUMNS).type
    assert str(found) == "STRUCT<i: INT, col2: STRING>"


IMPORT = """
import time, dataclasses, enum, inspect, typing
def timed(work):
    start = time.process_time()
    work()
    return time.process_time() - start
def load():
    import compiler.functions
def count():
    total = 0
    for number in range(1_000_000):
        total += number
print(timed(load) / timed(count))
"""


def test_import_is_cheap() -> None:
    """Less than a loop of a million additions, a measure that a busy machine slows down alike."""
    # Files that are compiled anew each time are not what users have.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", IMPORT]
    runs = [subprocess.run(command, capture_output=True, check=True, env=env) for _ in range(3)]
    assert min(float(run.stdout) for run in runs) < 1
