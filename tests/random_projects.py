"""Random small projects: filters, derived columns, unions, windows, joins with seeds, and sinks of them."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from compiling import plan_at
from hypothesis import strategies as st

from compiler.jobplan.model import JobPlan
from compiler.optimize import NAMES

SOURCE = """
CREATE SOURCE orders (id INT, customer STRING, amount INT, note STRING, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (connector = 'filesystem', path = 'in', format = 'json');
"""
COLUMNS = ("id", "customer", "amount", "note", "ts")
"""What every model has."""
SEED = "code,label,weight\na,first,1\nb,second,2\nz,last,26\n"


@dataclass(frozen=True)
class RandomProject:
    """A project's statements, and a set of rules to leave out."""

    sql: str
    without: frozenset[str]


_PREDICATES = st.sampled_from(
    [
        "amount > 20",
        "amount <= 30 AND customer <> 'c'",
        "customer = 'a'",
        "id % 3 = 1",
        "note IS NOT NULL",
        "amount > 5 OR note IS NULL",
        "amount + id > 40",
        "upper(customer) IN ('A', 'C')",
    ]
)
_WINDOWS = st.sampled_from(
    [
        "TUMBLE(TABLE {0}, DESCRIPTOR(ts), INTERVAL '10' SECONDS)",
        "TUMBLE(TABLE {0}, DESCRIPTOR(ts), INTERVAL '15' SECONDS, INTERVAL '4' SECONDS)",
        "HOP(TABLE {0}, DESCRIPTOR(ts), INTERVAL '5' SECONDS, INTERVAL '20' SECONDS)",
        "CUMULATE(TABLE {0}, DESCRIPTOR(ts), INTERVAL '4' SECONDS, INTERVAL '20' SECONDS)",
        "CUMULATE(TABLE {0}, DESCRIPTOR(ts), INTERVAL '2' SECONDS, INTERVAL '1' MINUTE)",
        # So many windows a row that panes pay, of other lengths.
        "HOP(TABLE {0}, DESCRIPTOR(ts), INTERVAL '2' SECONDS, INTERVAL '20' SECONDS)",
        "HOP(TABLE {0}, DESCRIPTOR(ts), INTERVAL '3' SECONDS, INTERVAL '30' SECONDS, INTERVAL '1' SECOND)",
    ]
)


@st.composite
def _model(draw: st.DrawFn, names: list[str], bodies: list[str]) -> str:
    """The query of a model over one or two that are there already."""
    source, other = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    where = f" WHERE {draw(_PREDICATES)}" if draw(st.booleans()) else ""
    columns = ", ".join(COLUMNS)
    window = draw(_WINDOWS).format(source)
    derived = "id, upper(customer) AS customer, amount * 2 AS amount, note, ts"
    labelled = "id, customer, amount + weight AS amount, label AS note, ts"
    left = f"SELECT {columns} FROM {source} LEFT JOIN kinds ON customer = code{where}"
    return draw(
        st.sampled_from(
            [
                f"SELECT * FROM {source}{where}",
                f"SELECT {derived} FROM {source}{where}",
                f"SELECT id + 1 AS id, customer, amount, customer AS note, ts FROM {source}{where}",
                f"SELECT {columns} FROM {source}{where} UNION ALL SELECT {columns} FROM {other}",
                f"SELECT {columns} FROM (SELECT * FROM {source} UNION ALL SELECT * FROM {other}){where}",
                f"SELECT {labelled} FROM {source} JOIN kinds ON customer = code{where}",
                left,
                f"SELECT {columns} FROM {window}{where}",
                *bodies,
            ]
        )
    )


@st.composite
def _sink(draw: st.DrawFn, names: list[str]) -> str:
    """The query of a sink: some columns, or an aggregate by window."""
    source = draw(st.sampled_from(names))
    where = f" WHERE {draw(_PREDICATES)}" if draw(st.booleans()) else ""
    if draw(st.booleans()):
        columns = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, unique=True))
        return f"SELECT {', '.join(columns)} FROM {source}{where}"
    keys = ", ".join(draw(st.lists(st.sampled_from(["customer", "note"]), min_size=1, unique=True)))
    values = ", ".join(
        draw(
            st.lists(
                st.sampled_from(
                    [
                        "sum(amount) AS total",
                        "count(*) AS n",
                        "max(id) AS newest",
                        "count(*) FILTER (WHERE amount > 10) AS large",
                        "min(note) AS first_note",
                        "avg(amount) AS mean",
                        "sum(amount) - count(id) AS rest",
                        "bool_or(amount > 40) AS any_large",
                    ]
                ),
                min_size=1,
                unique=True,
            )
        )
    )
    return (
        f"SELECT window_start, window_end, {keys}, {values} FROM {draw(_WINDOWS).format(source)}{where} "
        f"GROUP BY window_start, window_end, {keys}"
    )


@st.composite
def random_projects(draw: st.DrawFn) -> RandomProject:
    """A project of up to six models and five sinks, and a set of rules that are left out."""
    statements: list[str] = []
    names, bodies = ["orders"], list[str]()
    for number in range(draw(st.integers(0, 6))):
        # Now and then two models say the same.
        body = draw(_model(names, bodies))
        bodies.append(body)
        names.append(f"m{number}")
        statements.append(f"CREATE MODEL m{number} AS {body};\n")
    for number in range(draw(st.integers(1, 5))):
        options = f"connector = 'filesystem', path = 'out/s{number}', format = 'json'"
        statements.append(f"CREATE SINK s{number} WITH ({options}) AS {draw(_sink(names))};\n")
    return RandomProject("".join(statements), draw(st.frozensets(st.sampled_from(NAMES))))


def compiled(root: Path, project: RandomProject, without: Collection[str]) -> JobPlan:
    """The job plan of a project, made in a folder that is emptied before."""
    shutil.rmtree(root, ignore_errors=True)
    (root / "seeds").mkdir(parents=True)
    (root / "seeds" / "kinds.csv").write_text(SEED, encoding="utf-8")
    (root / "headrace.yml").write_text("name: made\nversion: '1'\n", encoding="utf-8")
    (root / "all.sql").write_text(SOURCE + project.sql, encoding="utf-8")
    return plan_at(root, without=without)
