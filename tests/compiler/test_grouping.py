"""Which sinks share a query, and what a state root's manifest changes about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from compiling import compile_at, plan_at

from compiler.chain.rechain import changes
from compiler.compile import Compiled
from compiler.diagnostics.render import render_all
from compiler.jobplan.model import GroupMemory, Manifest, Rebalance
from compiler.plan.operators.scan import read_name

SOURCE = """
CREATE SOURCE orders (id BIGINT, customer STRING, at TIMESTAMP(3),
  WATERMARK FOR at AS at - INTERVAL '1' SECOND
) WITH (connector = 'filesystem', path = 'in', format = 'json');
"""
A = "CREATE SINK a WITH (connector = 'delta', path = 'out/a') AS SELECT id FROM orders;\n"
B = "CREATE SINK b WITH (connector = 'delta', path = 'out/b') AS SELECT customer FROM orders;\n"
COUNTED = """
CREATE MODEL counted AS SELECT window_start, window_end, count(*) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(at), INTERVAL '1' MINUTE) GROUP BY window_start, window_end;
"""
C = "CREATE SINK c WITH (connector = 'delta', path = 'out/c') AS SELECT * FROM counted;\n"
D = "CREATE SINK d WITH (connector = 'delta', path = 'out/d') AS SELECT n FROM counted WHERE n > 1;\n"
A_COUNTED = "CREATE SINK a WITH (connector = 'delta', path = 'out/a') AS SELECT n FROM counted;\n"


def compiled(
    tmp_path: Path,
    text: str,
    manifest: Manifest | None = None,
    config: str = "",
    *,
    rechain: bool = False,
    source: str = SOURCE,
) -> Compiled:
    (tmp_path / "headrace.yml").write_text(f"name: shop\nversion: '1'\n{config}", encoding="utf-8")
    (tmp_path / "all.sql").write_text(source + text, encoding="utf-8")
    return compile_at(tmp_path, manifest, rechain=rechain)


def groups(result: Compiled) -> dict[str, list[str]]:
    assert result.plan is not None, render_all(result.diagnostics)
    return {query.uid: [sink.uid for sink in query.sinks] for query in result.plan.queries}


def memory(uid: str, *sinks: str, beside: tuple[str, ...] = ()) -> GroupMemory:
    return GroupMemory(uid, sinks, ("orders",), (), 2, beside)


def test_sinks_of_one_read_share_a_query_and_those_without_state_stand_beside_it(tmp_path: Path) -> None:
    result = compiled(tmp_path, COUNTED + A + B + C)
    assert groups(result) == {"c": ["c", "a", "b"]}
    assert result.plan is not None
    (query,) = result.plan.queries
    assert query.beside == {"a", "b"}
    assert [op.uid for op in query.operators if op.id == query.kept] == ["orders"]


@pytest.mark.parametrize(
    "apart",
    [
        SOURCE.replace("'json'", "'parquet'"),
        SOURCE.replace("connector = 'filesystem', path = 'in', format = 'json'", "connector = 'datagen'"),
    ],
)
def test_what_is_not_kept_is_read_by_each_query(tmp_path: Path, apart: str) -> None:
    """A file by column costs less to read twice, and rows that are made up cannot be read again."""
    result = compiled(tmp_path, COUNTED + A + C, source=apart)
    assert groups(result) == {"a": ["a"], "c": ["c"]}
    assert result.plan is not None
    assert "what is read of this source is not kept for both" in result.plan.queries[0].reason


def test_a_python_function_is_called_once_for_all(tmp_path: Path) -> None:
    """Beside a state each sink computes its rows of what was read; a query of their own does so once."""
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions/own.py").write_text(
        "from headrace import scalar\n\n\n@scalar\ndef shout(word: str) -> str:\n    return word.upper()\n"
    )
    loud = "CREATE MODEL loud AS SELECT id, shout(customer) AS customer FROM orders;\n"
    one, other = (sink.replace("FROM orders", "FROM loud") for sink in (A.replace("id", "id, customer"), B))
    assert groups(compiled(tmp_path, COUNTED + loud + one + C)) == {"c": ["c", "a"]}
    assert groups(compiled(tmp_path, COUNTED + loud + one + other + C)) == {"a": ["a", "b"], "c": ["c"]}


@pytest.mark.parametrize(("beside", "text"), [(("a",), A_COUNTED + B + C), ((), A + C)])
def test_sinks_of_a_running_query_cannot_go_to_the_other_side_of_its_state(
    tmp_path: Path, beside: tuple[str, ...], text: str
) -> None:
    manifest = Manifest(1, "shop", (memory("c", "c", "a", "b", beside=beside),))
    result = compiled(tmp_path, COUNTED + text, manifest)
    assert result.plan is None
    assert [d.code.name for d in result.diagnostics if d.is_error] == ["HR501"]


def test_sinks_of_one_state_share_it(tmp_path: Path) -> None:
    result = compiled(tmp_path, COUNTED + C + D)
    assert groups(result) == {"c": ["c", "d"]}
    assert result.plan is not None
    (query,) = result.plan.queries
    assert len(query.state) == 1
    assert query.trunk == query.sinks[0].input


def test_a_sink_added_later_leaves_the_running_query_alone(tmp_path: Path) -> None:
    manifest = Manifest(1, "shop", (memory("a", "a"),))
    result = compiled(tmp_path, A + B, manifest)
    assert groups(result) == {"a": ["a"], "b": ["b"]}
    assert result.plan is not None
    assert [query.provisional for query in result.plan.queries] == [False, True]


def test_a_uid_is_never_minted_twice(tmp_path: Path) -> None:
    manifest = Manifest(1, "shop", (memory("b", "a"),), retired=("b-2",))
    assert groups(compiled(tmp_path, A + B, manifest)) == {"b": ["a"], "b-3": ["b"]}


def test_a_removed_sink_leaves_its_query_to_the_others(tmp_path: Path) -> None:
    manifest = Manifest(1, "shop", (memory("a", "a", "b"),))
    assert groups(compiled(tmp_path, B, manifest)) == {"a": ["b"]}


def test_sinks_that_can_no_longer_share_are_refused(tmp_path: Path) -> None:
    manifest = Manifest(1, "shop", (memory("a", "a", "b"),))
    result = compiled(tmp_path, COUNTED + A_COUNTED + B, manifest)
    assert result.plan is None
    assert [d.code.name for d in result.diagnostics if d.is_error] == ["HR501"]


@pytest.mark.parametrize(
    ("source", "name"), [("orders", "orders"), ("web-clicks", "web_x2d_clicks"), ("käufe", "k_xe4_ufe")]
)
def test_read_names(source: str, name: str) -> None:
    assert read_name(source) == name


def test_other_triggers_make_other_queries(tmp_path: Path) -> None:
    often = B.replace("path = 'out/b'", "path = 'out/b', trigger = '5 seconds'")
    result = compiled(tmp_path, A + often)
    assert groups(result) == {"a": ["a"], "b": ["b"]}
    assert result.plan is not None
    first, second = result.plan.queries
    assert (first.trigger_ms, second.trigger_ms) == (None, 5000)
    assert second.reason.endswith("kept apart from `a`: different trigger (every 5 s, not available now)")


def test_a_trigger_that_says_what_the_target_says_keeps_nothing_apart(tmp_path: Path) -> None:
    same = B.replace("path = 'out/b'", "path = 'out/b', trigger = 'available_now'")
    assert groups(compiled(tmp_path, A + same)) == {"a": ["a", "b"]}


def test_sinks_of_a_running_query_cannot_part_by_trigger(tmp_path: Path) -> None:
    often = B.replace("path = 'out/b'", "path = 'out/b', trigger = '5 seconds'")
    result = compiled(tmp_path, A + often, Manifest(1, "shop", (memory("a", "a", "b"),)))
    (found,) = [d for d in result.diagnostics if d.is_error]
    assert found.code.name == "HR226"
    assert found.cause is not None
    assert "`a` available now, `b` every 5 s" in found.cause


def test_parallelism_of_a_model_is_that_of_its_query(tmp_path: Path) -> None:
    asked = COUNTED.replace("CREATE MODEL counted AS", "CREATE MODEL counted WITH (parallelism = 9) AS")
    often = A.replace("path = 'out/a'", "path = 'out/a', trigger = '5 seconds'")
    result = compiled(tmp_path, asked + often + C)
    assert result.plan is not None
    assert {query.uid: query.parallelism for query in result.plan.queries} == {"a": 2, "c": 9}
    own = C.replace("path = 'out/c'", "path = 'out/c', parallelism = 3")
    result = compiled(tmp_path, asked + own)
    assert result.plan is not None
    assert [query.parallelism for query in result.plan.queries] == [3]


def test_a_uid_goes_on_where_another_name_was(tmp_path: Path) -> None:
    before = compiled(tmp_path, COUNTED + C).plan
    renamed = COUNTED.replace("CREATE MODEL counted AS", "CREATE MODEL sums WITH (uid = 'counted') AS")
    sink = C.replace("SINK c WITH (", "SINK sums_out WITH (uid = 'c', ").replace("FROM counted", "FROM sums")
    after = compiled(tmp_path, renamed + sink, Manifest(1, "shop", (memory("c", "c"),))).plan
    assert before is not None
    assert after is not None
    assert after.queries[0].state == before.queries[0].state
    assert after.queries[0].sinks == before.queries[0].sinks
    assert not after.queries[0].provisional


def test_sources_keep_their_place_by_uid(tmp_path: Path) -> None:
    result = compiled(tmp_path, A)
    text = SOURCE.replace("SOURCE orders", "SOURCE bestellungen").replace(
        "connector", "uid = 'orders', connector"
    )
    (tmp_path / "all.sql").write_text(text + A.replace("FROM orders", "FROM bestellungen"), encoding="utf-8")
    assert result.plan is not None
    assert plan_at(tmp_path).queries == result.plan.queries


def test_isolation_makes_queries_of_its_own(tmp_path: Path) -> None:
    own = B.replace("path = 'out/b'", "path = 'out/b', isolation = 'own'")
    result = compiled(tmp_path, A + own)
    assert groups(result) == {"a": ["a"], "b": ["b"]}
    assert result.plan is not None
    assert result.plan.queries[0].reason.endswith("kept apart from `b`: isolation of `b`")


def test_sinks_of_an_isolated_model_share_a_query(tmp_path: Path) -> None:
    model = "CREATE MODEL apart WITH (isolation = 'own') AS SELECT id, customer FROM orders;\n"
    sinks = "".join(
        f"CREATE SINK {name} WITH (connector = 'delta', path = 'out/{name}') AS SELECT id FROM apart;\n"
        for name in ("x", "y")
    )
    assert groups(compiled(tmp_path, model + A + sinks)) == {"a": ["a"], "x": ["x", "y"]}


@pytest.mark.parametrize(
    ("chain", "moves"),
    [("always", []), ("head", ["named.chain_1"]), ("never", ["named.chain_1", "named.chain"])],
)
def test_a_model_ends_a_chain_where_it_asks_to(tmp_path: Path, chain: str, moves: list[str]) -> None:
    model = (
        f"CREATE MODEL named WITH (chain = '{chain}', parallelism = 7) AS "
        "SELECT id, upper(customer) AS name FROM orders;\n"
        "CREATE SINK out WITH (connector = 'delta', path = 'out/x') AS SELECT name FROM named WHERE id > 1;\n"
    )
    plan = compiled(tmp_path, model).plan
    assert plan is not None
    (query,) = plan.queries
    found = [op for op in query.operators if isinstance(op, Rebalance)]
    assert [op.uid for op in found] == moves
    assert all(op.partitions == 7 for op in found)
    assert len(query.chains) == 1 + len(moves)
    assert [exchange.kind for exchange in query.exchanges] == ["rebalance"] * len(moves)


def test_chaining_can_be_off_everywhere(tmp_path: Path) -> None:
    models = (
        "CREATE MODEL one AS SELECT id FROM orders;\nCREATE MODEL two AS SELECT id + 1 AS id FROM one;\n"
        "CREATE SINK out WITH (connector = 'delta', path = 'out/x') AS SELECT id FROM two;\n"
    )
    on = compiled(tmp_path, models).plan
    off = compiled(tmp_path, models, config="optimizer: {fuse_models: off}\n").plan
    assert on is not None
    assert off is not None
    assert [len(query.chains) for query in (*on.queries, *off.queries)] == [1, 3]


def test_too_many_windows_are_not_merged(tmp_path: Path) -> None:
    sinks = "".join(
        f"CREATE SINK {name} WITH (connector = 'delta', path = 'out/{name}') AS SELECT window_start, {name}, "
        f"{value} FROM HOP(TABLE orders, DESCRIPTOR(at), INTERVAL '1' MINUTE, INTERVAL '20' MINUTES) "
        f"GROUP BY window_start, window_end, {name};\n"
        for name, value in (("id", "count(*) AS n"), ("customer", "stddev(id) AS s"))
    )
    result = compiled(tmp_path, sinks)
    assert groups(result) == {"id": ["id"], "customer": ["customer"]}
    assert result.plan is not None
    assert "each row would be copied to 40 windows" in result.plan.queries[0].reason


def test_a_query_that_runs_says_why_a_new_sink_is_apart(tmp_path: Path) -> None:
    result = compiled(tmp_path, A + B, Manifest(1, "shop", (memory("a", "a"),)))
    assert result.plan is not None
    assert result.plan.queries[1].reason.endswith("`a`: its query has run already, and stays as it is")


def test_rechain_forms_queries_anew_and_tells_what_it_costs(tmp_path: Path) -> None:
    manifest = Manifest(1, "shop", (memory("a", "a"), memory("b", "b"), memory("counts", "c")))
    kept = compiled(tmp_path, COUNTED + A + B + C, manifest)
    assert groups(kept) == {"a": ["a"], "b": ["b"], "counts": ["c"]}
    anew = compiled(tmp_path, COUNTED + A + B + C, manifest, rechain=True)
    # Its uid is minted anew: the old ones have a state.
    assert groups(anew) == {"c": ["c", "a", "b"]}
    assert anew.plan is not None
    assert changes(anew.plan, manifest) == (
        "rechain: 1 query instead of 3",
        "  query a of a ends",
        "  query b of b ends",
        "  query counts of c ends",
        "  query c begins: c, a, b read orders from the start, and are emptied before (--full-refresh)",
    )


def test_rechain_leaves_alone_what_would_be_formed_so(tmp_path: Path) -> None:
    manifest = Manifest(1, "shop", (memory("c", "c", "a", "b", beside=("a", "b")),))
    anew = compiled(tmp_path, COUNTED + A + B + C, manifest, rechain=True)
    assert groups(anew) == {"c": ["c", "a", "b"]}
    assert anew.plan is not None
    (line,) = changes(anew.plan, manifest)
    assert line.endswith("nothing begins anew")


def test_a_model_has_tasks_and_its_query_has_state_partitions(tmp_path: Path) -> None:
    models = (
        "CREATE MODEL spread WITH (chain = 'head', parallelism = 8) AS "
        "SELECT customer, at FROM orders WHERE id > 0;\n"
        + COUNTED.replace("MODEL counted AS", "MODEL counted WITH (parallelism = 3) AS").replace(
            "TABLE orders", "TABLE spread"
        )
    )
    plan = compiled(tmp_path, models + C).plan
    assert plan is not None
    (query,) = plan.queries
    assert query.parallelism == 3
    assert [op.partitions for op in query.operators if isinstance(op, Rebalance)] == [8]


def test_a_number_of_a_model_with_state_is_its_query_s_too(tmp_path: Path) -> None:
    models = COUNTED.replace("MODEL counted AS", "MODEL counted WITH (chain = 'head', parallelism = 3) AS")
    own = D.replace("path = 'out/d'", "path = 'out/d', parallelism = 4")
    result = compiled(tmp_path, models + C + own)
    assert result.plan is None
    (found,) = [d for d in result.diagnostics if d.is_error]
    assert (found.code.name, found.message) == ("HR226", "query `c` cannot have 3 and 4 state partitions")
