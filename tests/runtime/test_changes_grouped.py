"""What is computed over changes, through Spark: straight, and with a kill, beside DuckDB."""

from __future__ import annotations

from pathlib import Path

import pytest
from changing import Changing
from pyspark.sql import SparkSession

GROUPED = """
CREATE MODEL by_status WITH (allow_unbounded = true) AS
SELECT status, count(*) AS users, count(credit) AS known, sum(credit) AS credit, avg(credit) AS mean,
  min(score) AS least, max(id) AS newest, count(DISTINCT credit) AS kinds,
  count(*) FILTER (WHERE score > 0) AS positive
FROM a WHERE id <> 3 GROUP BY status;

-- Groups of groups.
CREATE MODEL sizes WITH (state_ttl = '1 d') AS
SELECT users, count(*) AS statuses FROM by_status GROUP BY users;

CREATE SINK statuses (PRIMARY KEY (status) NOT ENFORCED) WITH (connector = 'delta', path = 'out/statuses')
AS SELECT * EXCEPT (mean), round(mean, 4) AS mean FROM by_status;
CREATE SINK sizes_out (PRIMARY KEY (users) NOT ENFORCED) WITH (connector = 'delta', path = 'out/sizes')
AS SELECT * FROM sizes;
"""

GROUPED_ROWS = {
    "statuses": """
        SELECT status, count(*), count(credit), sum(credit)::DECIMAL(22, 2), min(score), max(id),
          count(DISTINCT credit), count(*) FILTER (WHERE score > 0),
          (round(sum(credit)::DECIMAL(38, 10) / count(credit), 4))::DECIMAL(20, 4)
        FROM a WHERE id <> 3 GROUP BY status""",
    "sizes": """
        SELECT users, count(*) FROM (SELECT count(*) AS users FROM a WHERE id <> 3 GROUP BY status)
        GROUP BY users""",
}

UNITED = """
CREATE MODEL united WITH (allow_unbounded = true) AS
SELECT 'a' AS origin, id, status, credit FROM a UNION ALL SELECT 'b', id, status, credit FROM b;

-- Two tables may have the same row, and rows that only come have it for good.
CREATE MODEL mixed WITH (allow_unbounded = true) AS
SELECT status, credit FROM (
  SELECT id, status, credit FROM a WHERE score > 0 UNION ALL SELECT id, status, credit FROM b
  UNION ALL SELECT id, status, credit FROM g)
WHERE credit < 50;
CREATE MODEL totals WITH (allow_unbounded = true) AS
SELECT status, count(*) AS n, sum(credit) AS credit FROM mixed GROUP BY status;

CREATE SINK united_out (PRIMARY KEY (origin, id) NOT ENFORCED) WITH (connector = 'delta', path = 'out/united')
AS SELECT * FROM united WHERE credit > -50;
CREATE SINK totals_out (PRIMARY KEY (status) NOT ENFORCED) WITH (connector = 'delta', path = 'out/totals')
AS SELECT * FROM totals;
"""

UNITED_ROWS = {
    "united": """
        SELECT * FROM (SELECT 'a', id, status, credit FROM a UNION ALL SELECT 'b', id, status, credit FROM b)
        WHERE credit > -50""",
    "totals": """
        SELECT status, count(*), sum(credit)::DECIMAL(22, 2) FROM (
          SELECT * FROM a WHERE score > 0 UNION ALL SELECT * FROM b UNION ALL SELECT * FROM g)
        WHERE credit < 50 GROUP BY status""",
}

JOINED = """
-- A row has one of `b`: the key stays.
CREATE MODEL pairs WITH (allow_unbounded = true) AS
SELECT a.id, a.status, b.status AS other, b.credit FROM a LEFT JOIN b ON a.id = b.id;

CREATE MODEL best WITH (allow_unbounded = true) AS
SELECT * FROM (
  SELECT *, row_number() OVER (PARTITION BY status ORDER BY credit DESC NULLS LAST, id) AS place FROM pairs)
WHERE place <= 2;

-- Rows that only come meet rows that come and go; what else must hold is looked at pair by pair.
CREATE MODEL met WITH (allow_unbounded = true) AS
SELECT g.status, a.credit FROM g JOIN a ON g.status = a.status AND g.credit < a.credit;
CREATE MODEL meetings WITH (allow_unbounded = true) AS
SELECT status, count(*) AS n, sum(credit) AS credit FROM met GROUP BY status;

CREATE MODEL either WITH (allow_unbounded = true) AS
SELECT id, status FROM a UNION ALL SELECT id, status FROM b UNION ALL SELECT id, status FROM a;
CREATE MODEL known WITH (allow_unbounded = true) AS SELECT id, count(status) AS n FROM either GROUP BY id;

CREATE MODEL alike WITH (allow_unbounded = true) AS
SELECT x.id AS one, y.id AS other, x.credit FROM a x JOIN a y ON x.status = y.status WHERE x.id <> y.id;

CREATE SINK alike_out (PRIMARY KEY (one, other) NOT ENFORCED) WITH (connector = 'delta', path = 'out/alike')
AS SELECT * FROM alike;
CREATE SINK pairs_out (PRIMARY KEY (id) NOT ENFORCED) WITH (connector = 'delta', path = 'out/pairs')
AS SELECT * FROM pairs WHERE id <> 2;
CREATE SINK best_out (PRIMARY KEY (status, place) NOT ENFORCED) WITH (connector = 'delta', path = 'out/best')
AS SELECT * FROM best;
CREATE SINK meetings_out (PRIMARY KEY (status) NOT ENFORCED) WITH (connector = 'delta', path = 'out/meetings')
AS SELECT * FROM meetings;
CREATE SINK known_out (PRIMARY KEY (id) NOT ENFORCED) WITH (connector = 'delta', path = 'out/known')
AS SELECT * FROM known;
"""
_PAIRS = "SELECT a.id, a.status, b.status AS other, b.credit FROM a LEFT JOIN b ON a.id = b.id"
JOINED_ROWS = {
    "pairs": f"SELECT * FROM ({_PAIRS}) WHERE id <> 2",
    "best": f"""
        SELECT *, (row_number() OVER (PARTITION BY status ORDER BY credit DESC NULLS LAST, id))::INT AS place
        FROM ({_PAIRS}) QUALIFY place <= 2""",
    "meetings": """
        SELECT g.status, count(*), sum(a.credit)::DECIMAL(22, 2) FROM g JOIN a
        ON g.status = a.status AND g.credit < a.credit GROUP BY g.status""",
    "known": """
        SELECT id, count(status) FROM (
          SELECT id, status FROM a UNION ALL SELECT id, status FROM b UNION ALL SELECT id, status FROM a)
        GROUP BY id""",
    "alike": "SELECT x.id, y.id, x.credit FROM a x JOIN a y ON x.status = y.status WHERE x.id <> y.id",
}


@pytest.mark.soak
def test_tables_follow_their_parts(session: SparkSession, tmp_path: Path) -> None:
    """GROUP BY above UNION ALL, and a union with a key, in two epochs."""
    tables = Changing(tmp_path, UNITED, UNITED_ROWS, seed=7, growing=("g",))
    for count in (30, 20):
        tables.put(count)
    tables.run(session)


def test_joins_follow_their_sides(session: SparkSession, tmp_path: Path) -> None:
    """The short one: a left join below a Top-N, a join with rows that only come, groups of a union."""
    tables = Changing(tmp_path, JOINED, JOINED_ROWS, seed=15, growing=("g",), keys=8)
    for count in (25, 15):
        tables.put(count)
    tables.run(session)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("pipeline", "oracles", "growing"),
    [(GROUPED, GROUPED_ROWS, ()), (UNITED, UNITED_ROWS, ("g",)), (JOINED, JOINED_ROWS, ("g",))],
)
def test_tables_survive_a_kill(
    session: SparkSession, tmp_path: Path, pipeline: str, oracles: dict[str, str], growing: tuple[str, ...]
) -> None:
    tables = Changing(tmp_path, pipeline, oracles, seed=11, growing=growing, parallelism=2)
    for count in (30, 20, 10):
        tables.put(count)
    tables.run_killed(session, 3)
