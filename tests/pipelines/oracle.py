"""What the sinks of the flights pipeline must hold, computed by DuckDB from the same files; and what they do.

Both are lists of rows in one form: times as microseconds since 1970, rows sorted.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import duckdb

from pipelines.flights.show import delta_files, parquet_files

Rows = list[tuple[Any, ...]]

SINKS = ("departures", "cancellations", "airport_delays", "carrier_punctuality")

# Every second of a year is past this, and so is every window.
_NEVER_MICROS = 2**62
_HOUR = 3_600_000_000

_FLIGHTS = """
CREATE VIEW flights AS
SELECT
  *,
  epoch_us(timezone('America/New_York', make_timestamp(year, month, day, hour, minute, 0))) AS due
FROM read_csv([{files}], header = true, nullstr = 'NA', types = {{'tailnum': 'VARCHAR'}})
"""
_DEPARTURES = "CREATE VIEW departures AS SELECT * FROM flights WHERE dest NOT IN ('EWR', 'JFK', 'LGA')"

_EXPECTED = {
    "departures": """
        SELECT due, due + dep_delay::BIGINT * 60000000, carrier, name, flight, tailnum, origin, dest,
          dep_delay, arr_delay, dep_time IS NULL
        FROM departures LEFT JOIN airlines USING (carrier)""",
    "cancellations": """
        SELECT due, carrier, flight, origin, dest FROM departures WHERE dep_time IS NULL""",
    "airport_delays": f"""
        SELECT due // {_HOUR} * {_HOUR} AS starts, starts + {_HOUR} AS ends, origin, count(*),
          count(*) - count(dep_time), sum(dep_delay)::DOUBLE / count(dep_delay), max(dep_delay)
        FROM departures GROUP BY ALL HAVING ends <= $watermark""",
    "carrier_punctuality": f"""
        SELECT (due // {_HOUR} - back) * {_HOUR} AS starts, starts + 3 * {_HOUR} AS ends, carrier, name,
          count(*), count(*) - count(dep_time), count(*) FILTER (dep_delay < 15),
          sum(dep_delay)::DOUBLE / count(dep_delay)
        FROM departures LEFT JOIN airlines USING (carrier), range(3) AS windows(back)
        GROUP BY ALL HAVING ends <= $watermark""",
}
_PRESENT = {
    "departures": """
        SELECT epoch_us(scheduled_at), epoch_us(departed_at), carrier, airline, flight, tailnum, origin,
          dest, dep_delay, arr_delay, cancelled FROM {rows}""",
    "cancellations": "SELECT epoch_us(scheduled_at), carrier, flight, origin, dest FROM {rows}",
    "airport_delays": """
        SELECT epoch_us(window_start), epoch_us(window_end), origin, flights, cancelled, avg_delay,
          max_delay FROM {rows}""",
    "carrier_punctuality": """
        SELECT epoch_us(window_start), epoch_us(window_end), carrier, name, flights, cancelled, on_time,
          avg_delay FROM {rows}""",
}


def expected(project: Path, days: list[date], *, closed: bool = False) -> dict[str, Rows]:
    """The rows of every sink after the files of those days.

    Args:
        project: where the pipeline and its data are.
        days: the days whose files have been read.
        closed: whether the windows that the watermark has not reached count too.
    """
    database = _flights(project, days)
    (watermark,) = database.execute(f"SELECT max(due) - {_HOUR} FROM flights").fetchall()[0]
    values = {"watermark": _NEVER_MICROS if closed else watermark}
    found: dict[str, Rows] = {}
    for sink, query in _EXPECTED.items():
        given = values if "$watermark" in query else {}
        found[sink] = _sorted(database.execute(query, given).fetchall())
    return found


def present(project: Path) -> dict[str, Rows]:
    """The rows that are in the sinks."""
    out = project / "out"
    readers = {
        "departures": ("read_parquet", parquet_files(out / "departures")),
        "cancellations": ("read_json", [str(file) for file in (out / "cancellations").glob("part-*.json")]),
        "airport_delays": ("read_parquet", delta_files(out / "airport_delays")),
        "carrier_punctuality": ("read_parquet", parquet_files(out / "carrier_punctuality")),
    }
    database = duckdb.connect()
    found: dict[str, Rows] = {}
    for sink, (reader, files) in readers.items():
        rows = f"{reader}({json.dumps(files)})".replace('"', "'")
        found[sink] = _sorted(database.execute(_PRESENT[sink].format(rows=rows)).fetchall()) if files else []
    return found


def hours_that_disagree(project: Path, days: list[date]) -> int:
    """Rows whose scheduled hour in UTC, as the data has it, is not that of the computed event time."""
    query = f"SELECT count(*) FROM flights WHERE due // {_HOUR} <> epoch_us(time_hour) // {_HOUR}"
    (count,) = _flights(project, days).execute(query).fetchall()[0]
    return int(count)


def _flights(project: Path, days: list[date]) -> duckdb.DuckDBPyConnection:
    database = duckdb.connect()
    files = ", ".join(f"'{project}/data/flights/{day}.csv'" for day in days)
    database.execute(_FLIGHTS.format(files=files))
    database.execute(_DEPARTURES)
    database.execute(f"CREATE VIEW airlines AS FROM read_csv('{project}/seeds/airlines.csv', header = true)")
    return database


def _sorted(rows: Rows) -> Rows:
    # NULL has no order; it comes first, as a text does before the numbers' digits.
    return sorted(rows, key=lambda row: [(cell is not None, cell if cell is not None else 0) for cell in row])
