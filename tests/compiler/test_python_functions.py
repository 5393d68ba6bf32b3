"""Python functions: what is read of their files, how queries call them, and what is said of mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.compile import Compiled, compile_project
from compiler.diagnostics.diagnostic import Reporter
from compiler.diagnostics.render import render_all
from compiler.explain.tree import explain_text
from compiler.jobplan.codec import plan_from_json, to_json
from compiler.project.load import load_project
from runtime.functions.bundle import Bundle

DATA = Path(__file__).parent / "data" / "python"

ORDERS = """CREATE SOURCE orders (
  customer STRING, price DECIMAL(12, 2), qty INT, at TIMESTAMP(3),
  WATERMARK FOR at AS at - INTERVAL '10' SECONDS
) WITH (connector = 'filesystem', path = 'in', format = 'json');
"""
FUNCTIONS = """
from __future__ import annotations

import a_library_that_is_not_there
import headrace
from headrace import scalar


@scalar
def gross(price: float, rate: float = 0.2) -> float:
    return price * (1 + rate)


@headrace.scalar(vectorized=False)
def tags(text: str | None) -> list[str]:
    return (text or "").split()


class Spender(headrace.ProcessFunction):
    input = "price DOUBLE, at TIMESTAMP"
    output = "total DOUBLE, last TIMESTAMP"
    event_time = "last"
    total = headrace.value_state("DOUBLE", ttl="30 d")
    by_day = headrace.map_state("DATE", "DECIMAL(12, 2)")

    def __init__(self, least, currency="EUR"):
        self.least = least

    def process(self, row, ctx):
        yield {"total": 1.0, "last": row.at}
"""


def compile_files(root: Path, files: dict[str, str]) -> Compiled:
    for name, text in {"headrace.yml": "name: shop\nversion: '1'\n", **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    reporter = Reporter()
    project = load_project(root, target=None, variables={}, reporter=reporter)
    assert project is not None, render_all(reporter.all())
    return compile_project(project, reporter)


SQL = (
    ORDERS
    + """
CREATE FUNCTION big_spender AS 'sales.money.Spender' LANGUAGE PYTHON;

CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS
SELECT customer, gross(total) AS gross, tags(customer) AS tags, last
FROM TABLE(big_spender(TABLE orders PARTITION BY customer, least => 2.5));
"""
)
YAML = """
models:
  - name: spenders
    from: orders
    steps:
      - process: {function: Spender, by: [customer], with: {least: 2.5}}
      - select: {customer: customer, gross: gross(total), tags: tags(customer), last: last}
sinks:
  - {name: out, from: spenders, with: {connector: filesystem, path: out, format: json}}
"""


def test_functions_are_called_from_both_front_ends(
    tmp_path: Path, golden: Callable[[Path, str], None]
) -> None:
    python = {"functions/sales/money.py": FUNCTIONS}
    sql = compile_files(tmp_path / "sql", {**python, "shop.sql": SQL})
    assert sql.plan is not None, render_all(sql.diagnostics)
    assert plan_from_json(to_json(sql.plan)) == sql.plan
    golden(DATA / "calls.txt", explain_text(sql.plan) + "\n" + to_json(sql.plan.functions))
    yml = compile_files(tmp_path / "yml", {**python, "orders.sql": ORDERS, "shop.yml": YAML})
    assert yml.plan is not None, render_all(yml.diagnostics)
    operators = [to_json(plan.queries[0].operators) for plan in (sql.plan, yml.plan)]
    # The owner of an operator is the sink in one and the model in the other.
    assert operators[0].replace("out.", "spenders.") == operators[1]


def test_the_runtime_finds_the_same_files(tmp_path: Path) -> None:
    files = {"functions/b.py": "x = 1\r\n", "functions/a/c.py": "\ufeffy = 'ä'\n", "functions/a-b.py": ""}
    compiled = compile_files(tmp_path, {**files, "shop.sql": SQL.replace("big_spender(TABLE", "(TABLE")})
    assert compiled.plan is None
    reporter = Reporter()
    project = load_project(tmp_path, target=None, variables={}, reporter=reporter)
    assert project is not None
    assert project.python.digest == Bundle.read(tmp_path / "functions").digest


MISTAKES = {
    "not_python": ("def f(:\n", "f(price)"),
    "no_annotation": ("import headrace\n@headrace.scalar\ndef f(x) -> int: return x\n", "f(price)"),
    "no_result": ("import headrace\n@headrace.scalar\ndef f(x: int): return x\n", "f(price)"),
    "unknown_type": ("import headrace\n@headrace.scalar\ndef f(x: complex) -> int: ...\n", "f(price)"),
    "wrong_sql_type": ('import headrace\n@headrace.scalar\ndef f(x: "DECIMALS") -> int: ...\n', "f(price)"),
    "any_number": ("import headrace\n@headrace.scalar\ndef f(*x: int) -> int: ...\n", "f(price)"),
    "spark_has_it": ("import headrace\n@headrace.scalar\ndef upper(x: str) -> str: ...\n", "upper(customer)"),
    "wrong_argument": ("import headrace\n@headrace.scalar\ndef f(x: int) -> int: ...\n", "f(customer)"),
    "too_many": ("import headrace\n@headrace.scalar\ndef f(x: int) -> int: ...\n", "f(qty, qty)"),
    "unknown_name": ("import headrace\n@headrace.scalar\ndef gross(x: int) -> int: ...\n", "grosss(qty)"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_of_functions(name: str, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    python, call = MISTAKES[name]
    sink = "CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS\n"
    sql = f"{ORDERS}\n{sink}SELECT {call} AS v FROM orders;\n"
    compiled = compile_files(tmp_path, {"functions/f.py": python, "shop.sql": sql})
    assert compiled.plan is None
    golden(DATA / f"{name}.txt", render_all(compiled.diagnostics))


CLASS = FUNCTIONS[FUNCTIONS.index("class Spender") :]
PROCESS_MISTAKES: dict[str, tuple[str, str]] = {
    "no_output": (CLASS.replace("    output =", "    given ="), "Spender(TABLE orders, least => 1)"),
    "no_process": (CLASS.replace("def process", "def work"), "Spender(TABLE orders, least => 1)"),
    "computed": (CLASS.replace('output = "', 'output = "x INT" + "'), "Spender(TABLE orders, least => 1)"),
    "no_time": (CLASS.replace('event_time = "last"', 'event_time = "total"'), "Spender(TABLE orders)"),
    "wrong_ttl": (CLASS.replace('"30 d"', '"soon"'), "Spender(TABLE orders, least => 1)"),
    "no_column": (CLASS.replace('"price DOUBLE', '"prise DOUBLE'), "Spender(TABLE orders, least => 1)"),
    "other_type": (CLASS.replace('"price DOUBLE', '"customer BIGINT'), "Spender(TABLE orders, least => 1)"),
    "missing_argument": (CLASS, "Spender(TABLE orders PARTITION BY customer)"),
    "unknown_argument": (CLASS, "Spender(TABLE orders, lest => 1)"),
    "unnamed_argument": (CLASS, "Spender(TABLE orders, 5)"),
    "key_given_out": (
        CLASS.replace("total DOUBLE", "customer STRING"),
        "Spender(TABLE orders PARTITION BY customer, least => 1)",
    ),
    "unknown_function": (CLASS, "Spenders(TABLE orders, least => 1)"),
}


@pytest.mark.parametrize("name", PROCESS_MISTAKES)
def test_mistakes_of_process_functions(
    name: str, tmp_path: Path, golden: Callable[[Path, str], None]
) -> None:
    python, call = PROCESS_MISTAKES[name]
    sink = "CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS\n"
    sql = f"{ORDERS}\n{sink}SELECT * FROM TABLE({call});\n"
    compiled = compile_files(tmp_path, {"functions/f.py": f"import headrace\n\n\n{python}", "shop.sql": sql})
    assert compiled.plan is None
    golden(DATA / f"process_{name}.txt", render_all(compiled.diagnostics))


def test_create_function_names_what_is_there(tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    sql = (
        "CREATE FUNCTION a AS 'sales.money.grosss' LANGUAGE PYTHON;\n"
        "CREATE FUNCTION b AS 'org.shop.Gross' LANGUAGE JAVA;\n"
        "CREATE FUNCTION c AS 'sales.money.gross';\n"
    )
    compiled = compile_files(
        tmp_path, {"functions/sales/money.py": FUNCTIONS, "shop.sql": f"{ORDERS}\n{sql}"}
    )
    golden(DATA / "create.txt", render_all([d for d in compiled.diagnostics if d.is_error]))
