"""A small project to change and to make mistakes in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from click.testing import Result

Invoke = Callable[..., Result]
Write = Callable[[Mapping[str, str]], Path]

SHOP: dict[str, str] = {
    "headrace.yml": """\
name: shop
vars: {min_price: 5}
targets:
  dev: {parallelism: 2}
  prod: {trigger: 5 seconds}
# Two queries, so that one can be chosen.
optimizer: {read_once: off}
""",
    "sources/orders.sql": """\
CREATE SOURCE orders (
  id BIGINT NOT NULL,
  price DOUBLE,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (connector = 'filesystem', path = 'data', format = 'csv');
""",
    "models/big.sql": "SELECT id, price, ts\nFROM orders\nWHERE price > ${min_price}\n",
    "models/per_minute.yml": """\
models:
  - name: per_minute
    from: big
    steps:
      - window: {tumble: {on: ts, size: 1 minute}}
      - aggregate: {by: [], n: count(*)}
""",
    "sinks/outs.sql": """\
CREATE SINK all_big WITH (connector = 'filesystem', path = 'out/big', format = 'json') AS SELECT * FROM big;
CREATE SINK counts WITH (connector = 'filesystem', path = 'out/counts', format = 'json')
AS SELECT * FROM per_minute;
""",
}
