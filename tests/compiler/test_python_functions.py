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
from compiler.jobplan.operators.process import STATE_VERSION
from compiler.project.load import load_project
from runtime.functions.bundle import Bundle
from runtime.functions.operator import ProcessOperator

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


AGGREGATE = "import headrace\n@headrace.aggregate\ndef f(x: int, y: float = 1.0) -> float: ...\n"
WINDOWS = "FROM TUMBLE(TABLE orders, DESCRIPTOR(at), INTERVAL '1' HOUR) GROUP BY window_start, window_end"
GROUPED = f"CREATE MODEL m AS SELECT window_start, {{}} AS v {WINDOWS}"
# The functions, and a model.
AGGREGATE_MISTAKES = {
    "no_annotation": (AGGREGATE.replace("x: int", "x"), GROUPED.format("f(qty)")),
    "no_result": (AGGREGATE.replace(" -> float", ""), GROUPED.format("f(qty)")),
    "no_argument": (AGGREGATE.replace("x: int, y: float = 1.0", ""), GROUPED.format("f()")),
    "no_order": (AGGREGATE.replace("x: int", "x: dict[str, int]"), GROUPED.format("f(map(customer, qty))")),
    "wrong_argument": (AGGREGATE, GROUPED.format("f(customer)")),
    "too_many": (AGGREGATE, GROUPED.format("f(qty, 1.0, 2)")),
    "distinct": (AGGREGATE, GROUPED.format("f(DISTINCT qty)")),
    "within_group": (AGGREGATE, GROUPED.format("f(qty) WITHIN GROUP (ORDER BY at)")),
    "no_groups": (AGGREGATE, "CREATE MODEL m AS SELECT customer FROM orders WHERE f(qty) > 1"),
    "nested": (AGGREGATE, GROUPED.format("sum(f(qty))")),
    "over": (
        AGGREGATE,
        "CREATE MODEL m AS SELECT f(qty) OVER (PARTITION BY customer ORDER BY at) AS v FROM orders",
    ),
    "with_ttl": (
        AGGREGATE,
        "CREATE MODEL m WITH (state_ttl = '1 d') AS SELECT f(qty) AS v FROM orders GROUP BY customer",
    ),
    "for_ever": (AGGREGATE, "CREATE MODEL m AS SELECT customer, f(qty) AS v FROM orders GROUP BY customer"),
}


@pytest.mark.parametrize("name", AGGREGATE_MISTAKES)
def test_mistakes_of_aggregate_functions(
    name: str, tmp_path: Path, golden: Callable[[Path, str], None]
) -> None:
    python, model = AGGREGATE_MISTAKES[name]
    sink = "CREATE SINK out WITH (connector = 'delta', path = 'out') AS SELECT * FROM m;\n"
    files = {"functions/f.py": python, "shop.sql": f"{ORDERS}\n{model};\n{sink}"}
    compiled = compile_files(tmp_path, files)
    assert compiled.plan is None
    golden(DATA / f"aggregate_{name}.txt", render_all(compiled.diagnostics))


AGGREGATES = f"""
CREATE FUNCTION middle AS 'f.f' LANGUAGE PYTHON;

CREATE SINK windows WITH (connector = 'filesystem', path = 'windows', format = 'json') AS
SELECT window_start, round(f(qty), 2) AS a, middle(qty) + 1 AS b, sum(qty) AS total,
  f(qty, price) FILTER (WHERE qty > 1) AS c
{WINDOWS} HAVING f(qty) > 0;

CREATE SINK sessions WITH (connector = 'filesystem', path = 'sessions', format = 'json') AS
SELECT window_start, customer, f(qty) AS v
FROM SESSION(TABLE orders PARTITION BY customer, DESCRIPTOR(at), INTERVAL '1' HOUR)
GROUP BY window_start, window_end, customer;

CREATE MODEL customers WITH (allow_unbounded = true) AS
SELECT customer, f(qty) AS v FROM orders GROUP BY customer;

CREATE SINK customers_out (PRIMARY KEY (customer) NOT ENFORCED)
WITH (connector = 'delta', path = 'customers') AS SELECT * FROM customers;
"""


def test_aggregate_functions_are_called_over_the_rows_of_groups(
    tmp_path: Path, golden: Callable[[Path, str], None]
) -> None:
    compiled = compile_files(tmp_path, {"functions/f.py": AGGREGATE, "shop.sql": f"{ORDERS}\n{AGGREGATES}"})
    assert compiled.plan is not None, render_all(compiled.diagnostics)
    assert plan_from_json(to_json(compiled.plan)) == compiled.plan
    golden(DATA / "aggregates.txt", explain_text(compiled.plan) + "\n" + to_json(compiled.plan.functions))


def test_state_of_an_aggregate_function_outlives_its_text(tmp_path: Path) -> None:
    states = []
    for number, text in enumerate((AGGREGATE, AGGREGATE.replace("...", "return 2.0"))):
        files = {"functions/f.py": text, "shop.sql": f"{ORDERS}\n{AGGREGATES}"}
        plan = compile_files(tmp_path / str(number), files).plan
        assert plan is not None
        states.append([query.state for query in plan.queries])
        assert all(query.state for query in plan.queries)
    assert states[0] == states[1]


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


def test_state_is_of_the_layout_that_the_runtime_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"shop.sql": SQL, "functions/sales/money.py": FUNCTIONS}

    def fingerprint() -> str:
        compiled = compile_files(tmp_path, files)
        assert compiled.plan is not None, compiled.diagnostics
        return next(s.fingerprint for q in compiled.plan.queries for s in q.state if s.kind == "process")

    before = fingerprint()
    monkeypatch.setattr("compiler.plan.operators.process.STATE_VERSION", STATE_VERSION + 1)
    assert fingerprint() != before
    assert ProcessOperator.version == STATE_VERSION
