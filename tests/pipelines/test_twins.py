"""What the flights pipeline says in one language means the same in the other."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import headrace
from compiler.jobplan.codec import to_json

FLIGHTS = Path(__file__).parents[2] / "pipelines" / "flights"

# A file of the pipeline, and its twin: name and text.
TWINS = {
    "models/carriers_3h.yml": (
        "models/carriers_3h.sql",
        """
        SELECT w.*, airlines.name
        FROM (
          SELECT
            window_start, window_end, carrier,
            count(*) AS flights,
            count(*) FILTER (WHERE cancelled) AS cancelled,
            count(*) FILTER (WHERE dep_delay < 15) AS on_time,
            avg(dep_delay) AS avg_delay
          FROM HOP(TABLE departures, DESCRIPTOR(scheduled_at), INTERVAL '1' HOUR, INTERVAL '3' HOURS)
          GROUP BY window_start, window_end, carrier
        ) AS w
        LEFT JOIN airlines ON w.carrier = airlines.carrier
        """,
    ),
    "models/delays_by_hour.sql": (
        "models/delays_by_hour.yml",
        """
        models:
          - name: delays_by_hour
            from: departures
            steps:
              - window: {tumble: {on: scheduled_at, size: 1 hour}}
              - aggregate:
                  by: [origin]
                  flights: count(*)
                  cancelled: count(*) filter (where cancelled)
                  avg_delay: avg(dep_delay)
                  max_delay: max(dep_delay)
        """,
    ),
    "models/departures.sql": (
        "models/departures.yml",
        """
        models:
          - name: departures
            from: flights
            steps:
              - filter: dest not in ('EWR', 'JFK', 'LGA')
              - select:
                  - scheduled_at
                  - carrier
                  - flight
                  - tailnum
                  - origin
                  - dest
                  - distance
                  - cancelled: dep_time is null
                  - dep_delay
                  - arr_delay
                  - departed_at: scheduled_at + make_dt_interval(0, 0, dep_delay, 0)
        """,
    ),
    "sinks/departures.sql": (
        "sinks/departures.yml",
        """
        sinks:
          - name: all_departures
            from: departures_named
            with: {connector: filesystem, path: "${out}/departures", format: parquet}
          - name: cancellations
            from: departures
            steps:
              - filter: cancelled
              - select: [scheduled_at, carrier, flight, origin, dest]
            with: {connector: filesystem, path: "${out}/cancellations", format: json}
        """,
    ),
}


def plan_of(project: Path) -> str:
    compiled = headrace.compile(project)
    assert compiled.plan is not None, [headrace.render(d) for d in compiled.diagnostics]
    return to_json(compiled.plan)


@pytest.mark.parametrize("original", TWINS)
def test_sql_and_yaml_give_one_plan(tmp_path: Path, original: str) -> None:
    project = tmp_path / "flights"
    shutil.copytree(FLIGHTS, project, ignore=shutil.ignore_patterns("data", "out", "target", ".headrace"))
    before = plan_of(project)
    name, text = TWINS[original]
    (project / original).unlink()
    (project / name).write_text(text, encoding="utf-8")
    assert plan_of(project) == before
