"""Makes projects of any number of models, mixed as real ones are.

Models come in families of ten over one source: cleaning, joins with seeds, derived columns, a union, windows,
an aggregate joined with a seed once more. Half of the families are written in YAML where that is natural.
The longest way from a source to a sink is nine models, and each family has three sinks.
"""

from __future__ import annotations

from pathlib import Path

MODELS_OF_A_FAMILY = 10
FAMILIES_OF_A_SOURCE = 2
SEEDS = 4

_SOURCE = """\
CREATE SOURCE events_{n} (
  event_id BIGINT NOT NULL,
  customer STRING,
  region STRING,
  product STRING,
  price DECIMAL(12, 2),
  quantity INT,
  discount DOUBLE,
  channel STRING,
  referrer STRING,
  is_test BOOLEAN,
  event_time TIMESTAMP(3),
  loaded_at TIMESTAMP_LTZ(3),
  total AS price * quantity,
  WATERMARK FOR event_time AS event_time - INTERVAL '10' SECOND
) WITH (connector = 'filesystem', path = 'in/events_{n}', format = 'json', max_files_per_epoch = 10);
"""

_CLEAN = """\
-- Events {n} without tests, names trimmed and numbers checked.
SELECT
  event_id,
  lower(trim(customer)) AS customer,
  coalesce(region, 'unknown') AS region,
  product,
  price,
  greatest(quantity, 0) AS quantity,
  CASE
    WHEN discount IS NULL OR discount < 0 THEN 0.0
    WHEN discount > 1 THEN discount / 100
    ELSE discount
  END AS discount,
  upper(channel) AS channel,
  regexp_replace(referrer, '^https?://', '') AS referrer,
  event_time,
  total
FROM events_{source}
WHERE NOT is_test AND price > {least} AND event_id % {families} = {n}
"""

_ENRICHED = """\
SELECT
  e.*,
  s.label AS region_label,
  s.weight,
  e.total * s.weight AS weighted
FROM clean_{n} AS e
LEFT JOIN seed_{seed} AS s ON e.region = s.code
"""

_FLAGGED = """\
WITH ranked AS (
  SELECT
    *,
    CASE WHEN net > 1000 THEN 'large' WHEN net > 100 THEN 'medium' ELSE 'small' END AS size
  FROM scored_{n}
),
known AS (
  SELECT * FROM ranked WHERE region_label IS NOT NULL AND channel IN ('WEB', 'APP', 'SHOP')
)
SELECT event_id, customer, region, region_label, product, channel, size, net, quantity, event_time
FROM known
WHERE length(customer) BETWEEN 1 AND 200
"""

_UNITED = """\
SELECT event_id, customer, region, channel, net, quantity, event_time, 'direct' AS way
FROM flagged_{n} WHERE channel = 'SHOP'
UNION ALL
SELECT event_id, customer, region, channel, net * 0.98 AS net, quantity, event_time, 'online' AS way
FROM flagged_{n} WHERE channel <> 'SHOP'
"""

_BY_REGION = """\
SELECT
  window_start,
  window_end,
  region,
  way,
  count(*) AS events,
  sum(net) AS revenue,
  avg(quantity) AS mean_quantity,
  count(*) FILTER (WHERE net > 100) AS large
FROM TUMBLE(TABLE united_{n}, DESCRIPTOR(event_time), INTERVAL '5' MINUTES)
GROUP BY window_start, window_end, region, way
"""

_NAMED = """\
SELECT r.*, s.label, round(r.revenue / s.weight, 2) AS scaled
FROM by_region_{n} AS r
JOIN seed_{seed} AS s ON r.region = s.code
"""

_REPORT = """\
SELECT
  date_format(window_start, 'yyyy-MM-dd HH:mm') AS starts,
  label,
  way,
  events,
  revenue,
  scaled,
  CASE WHEN events = 0 THEN NULL ELSE revenue / events END AS mean_revenue,
  concat_ws(' / ', label, way) AS title
FROM named_{n}
WHERE events > 0
"""

_SCORED_SQL = """\
SELECT *, total * (1 - discount) AS net, abs(hash(customer)) % 100 AS bucket
FROM enriched_{n}
WHERE quantity > 0
"""

_SCORED_YAML = """\
models:
  - name: scored_{n}
    from: enriched_{n}
    steps:
      - filter: quantity > 0
      - derive:
          net: total * (1 - discount)
          bucket: abs(hash(customer)) % 100
"""

_HOURLY_SQL = """\
SELECT window_start, window_end, customer, count(*) AS orders, sum(net) AS spent, max(net) AS largest
FROM HOP(TABLE flagged_{n}, DESCRIPTOR(event_time), INTERVAL '15' MINUTES, INTERVAL '1' HOUR)
GROUP BY window_start, window_end, customer
"""

_HOURLY_YAML = """\
models:
  - name: hourly_{n}
    from: flagged_{n}
    steps:
      - window: {{hop: {{on: event_time, slide: 15 minutes, size: 1 hour}}}}
      - aggregate: {{by: [customer], orders: count(*), spent: sum(net), largest: max(net)}}
"""

_LARGE_SQL = """\
SELECT window_start, customer, orders, spent FROM hourly_{n} WHERE spent > ${{large}}
"""

_LARGE_YAML = """\
models:
  - name: large_{n}
    from: hourly_{n}
    steps:
      - filter: spent > ${{large}}
      - select: [window_start, customer, orders, spent]
"""

_SINKS = """\
CREATE SINK out_report_{n} WITH (connector = 'delta', path = 'out/report_{n}') AS
SELECT * FROM report_{n};

CREATE SINK out_large_{n} WITH (connector = 'filesystem', path = 'out/large_{n}', format = 'parquet') AS
SELECT * FROM large_{n};

CREATE SINK out_flagged_{n} WITH (connector = 'filesystem', path = 'out/flagged_{n}', format = 'json') AS
SELECT * FROM flagged_{n} WHERE size = 'large';
"""

_PROJECT = """\
name: bench_{models}
vars:
  large: 500
targets:
  dev: {{master: "local[2]"}}
"""


def make_project(folder: Path, models: int) -> None:
    """Writes a project of that many models, a multiple of ten, into the folder."""
    families, rest = divmod(models, MODELS_OF_A_FAMILY)
    if rest:
        message = f"{models} is no multiple of {MODELS_OF_A_FAMILY}"
        raise ValueError(message)
    _write(folder / "headrace.yml", _PROJECT.format(models=models))
    for number in range(-(-families // FAMILIES_OF_A_SOURCE)):
        _write(folder / "sources" / f"events_{number}.sql", _SOURCE.format(n=number))
    for number in range(SEEDS):
        rows = [f"r{row},Region {row} of {number},{row % 7 + 1}.5" for row in range(50)]
        _write(folder / "seeds" / f"seed_{number}.csv", "\n".join(["code,label,weight", *rows]) + "\n")
    for number in range(families):
        _make_family(folder, number, families)


def _make_family(folder: Path, number: int, families: int) -> None:
    values = {
        "n": number,
        "source": number // FAMILIES_OF_A_SOURCE,
        "seed": number % SEEDS,
        "least": number % 5,
        "families": families,
    }
    yaml = number % 2 == 1
    files = {
        f"clean_{number}.sql": _CLEAN,
        f"enriched_{number}.sql": _ENRICHED,
        f"flagged_{number}.sql": _FLAGGED,
        f"united_{number}.sql": _UNITED,
        f"by_region_{number}.sql": _BY_REGION,
        f"named_{number}.sql": _NAMED,
        f"report_{number}.sql": _REPORT,
        f"scored_{number}.{'yml' if yaml else 'sql'}": _SCORED_YAML if yaml else _SCORED_SQL,
        f"hourly_{number}.{'yml' if yaml else 'sql'}": _HOURLY_YAML if yaml else _HOURLY_SQL,
        f"large_{number}.{'yml' if yaml else 'sql'}": _LARGE_YAML if yaml else _LARGE_SQL,
    }
    for name, template in files.items():
        _write(folder / "models" / f"family_{number}" / name, template.format(**values))
    _write(folder / "sinks" / f"family_{number}.sql", _SINKS.format(**values))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
