"""Shows what the sinks hold: `python pipelines/flights/show.py`, after a run.

It reads the files with DuckDB, as any other program would: nothing of headrace or Spark is needed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import duckdb
from rich.console import Console
from rich.table import Table

OUT = Path(__file__).parent / "out"

_SINKS = """
SELECT * FROM (
  SELECT 'all_departures' AS sink, count(*) AS "rows" FROM departures
  UNION ALL SELECT 'cancellations', count(*) FROM cancellations
  UNION ALL SELECT 'airport_delays', count(*) FROM airport_delays
  UNION ALL SELECT 'carrier_punctuality', count(*) FROM carrier_punctuality
)
"""
_AIRPORTS = """
SELECT
  origin,
  sum(flights) AS flights,
  sum(cancelled) AS cancelled,
  round(sum(avg_delay * (flights - cancelled)) / sum(flights - cancelled), 1) AS avg_delay,
  max(max_delay) AS max_delay,
  strftime(arg_max(window_start, avg_delay) FILTER (WHERE flights - cancelled >= 10), '%d %b %H:00')
    AS worst_hour
FROM airport_delays
GROUP BY origin
ORDER BY origin
"""
# A flight is in three windows, hence the division.
_CARRIERS = """
SELECT
  name AS airline,
  sum(flights) // 3 AS flights,
  round(100.0 * sum(on_time) / sum(flights), 1) AS "on time %",
  round(100.0 * sum(cancelled) / sum(flights), 1) AS "cancelled %"
FROM carrier_punctuality
GROUP BY name
ORDER BY "on time %" DESC, name
"""


def read_sinks(out: Path) -> duckdb.DuckDBPyConnection:
    """A database with a view for each sink, times in New York's.

    Args:
        out: the folder of the sinks.
    """
    database = duckdb.connect()
    database.execute("SET TimeZone = 'America/New_York'")
    views = {
        "departures": ("read_parquet", parquet_files(out / "departures")),
        "carrier_punctuality": ("read_parquet", parquet_files(out / "carrier_punctuality")),
        "airport_delays": ("read_parquet", delta_files(out / "airport_delays")),
        "cancellations": ("read_json", sorted(map(str, (out / "cancellations").glob("part-*.json")))),
    }
    for name, (reader, files) in views.items():
        if not files:
            raise SystemExit(f"{out} has no rows of {name} yet: run the pipeline first")
        listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
        rows = f"{reader}([{listed}])"
        columns = database.execute(f"DESCRIBE FROM {rows}").fetchall()
        # Spark's older Parquet times carry no zone, and are in UTC.
        items = [f"timezone('UTC', {c}) AS {c}" if kind == "TIMESTAMP" else c for c, kind, *_ in columns]
        database.execute(f"CREATE VIEW {name} AS SELECT {', '.join(items)} FROM {rows}")
    return database


def parquet_files(folder: Path) -> list[str]:
    """The files of a file sink. A killed epoch's are removed before the next one begins."""
    return sorted(map(str, folder.glob("part-*.parquet")))


def delta_files(table: Path) -> list[str]:
    """The files that are part of the newest version of a Delta table, by its log."""
    live: set[str] = set()
    for version in sorted((table / "_delta_log").glob("*.json")):
        for line in version.read_text(encoding="utf-8").splitlines():
            action = json.loads(line)
            if "add" in action:
                live.add(action["add"]["path"])
            if "remove" in action:
                live.discard(action["remove"]["path"])
    return sorted(str(table / path) for path in live)


def table_of(title: str, result: duckdb.DuckDBPyConnection) -> Table:
    """The rows as a table for people: numbers to the right, thousands told apart."""
    table = Table(title=title, title_justify="left")
    rows = result.fetchall()
    for index, column in enumerate(result.description or []):
        numeric = all(isinstance(row[index], int | float) for row in rows)
        table.add_column(column[0].replace("_", " "), justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int | float) else str(cell) for cell in row))
    return table


def main() -> None:
    """Prints three tables."""
    parser = argparse.ArgumentParser(description="Shows what the sinks of the flights pipeline hold.")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the sinks")
    database = read_sinks(parser.parse_args().out)
    console = Console()
    for title, query in (
        ("Rows in the sinks", _SINKS),
        ("Delays by airport (airport_delays, a Delta table)", _AIRPORTS),
        ("Punctuality by airline (carrier_punctuality, 3 h windows)", _CARRIERS),
    ):
        console.print()
        console.print(table_of(title, database.execute(query)))


if __name__ == "__main__":
    main()
