"""The project that `headrace init` writes: small, and whole enough to change."""

from __future__ import annotations

NAME = "@name@"
"""Stands for the project's name in the files."""

FILES: dict[str, str] = {
    "headrace.yml": """\
# yaml-language-server: $schema=schemas/project.json
# The project. Files under sources/, models/ and sinks/ may be .sql or .yml; the folders are only a habit.
name: @name@
version: "1.0"
timezone: UTC

vars:
  min_total: 100        # ${min_total} in any file; `headrace run --vars '{min_total: 500}'` goes first

default_target: dev
targets:
  dev:
    master: local[2]
    trigger: available_now      # read what there is, then end; `5 seconds` keeps running
    parallelism: 2              # state partitions; the first run fixes them
""",
    "sources/orders.sql": """\
-- Orders that are made up: 3,000 rows, ten a second of event time, the same ones on every machine.
-- Swap the connector for files (connector = 'filesystem', path = 'data/orders', format = 'json') when you
-- have some.
CREATE SOURCE orders (
  order_id   BIGINT NOT NULL,
  product_id BIGINT,
  quantity   INT,
  price      DECIMAL(10, 2),
  order_time TIMESTAMP(3),
  total AS price * quantity,                                  -- computed when a row is read
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND    -- how late a row may come
) WITH (
  connector = 'datagen',
  number_of_rows = 3000,
  rows_per_second = 10,
  seed = 7,
  'fields.order_id.kind' = 'sequence',
  'fields.product_id.min' = 1,
  'fields.product_id.max' = 4,
  'fields.quantity.min' = 1,
  'fields.quantity.max' = 5,
  'fields.price.min' = 1,
  'fields.price.max' = 20
);
""",
    "seeds/products.csv": """\
product_id,product,category
1,espresso,coffee
2,filter,coffee
3,sencha,tea
4,mug,things
""",
    "models/sales_by_minute.sql": """\
-- A model in SQL: the file's name is the model's. A window is written when the watermark passes its end.
SELECT
  window_start,
  window_end,
  product_id,
  COUNT(*)   AS orders,
  SUM(total) AS revenue
FROM TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end, product_id
""",
    "models/best_sellers.yml": """\
# yaml-language-server: $schema=../schemas/resources.json
# A model in YAML: the same power, in steps.
models:
  - name: best_sellers
    description: Products with at least ${min_total} of revenue in a minute, by their names.
    from: sales_by_minute
    steps:
      - filter: revenue >= ${min_total}
      - join: {seed: products, using: [product_id]}
      - select: [window_start, window_end, product, category, orders, revenue]
""",
    "sinks/best_sellers_out.yml": """\
# yaml-language-server: $schema=../schemas/resources.json
# Where rows go. Files are written exactly once: a run that dies is finished by the next.
sinks:
  - name: best_sellers_out
    from: best_sellers
    with: {connector: filesystem, path: out/best_sellers, format: json}
""",
    ".gitignore": """\
# What headrace makes. .headrace/ is the state that goes with out/; `headrace run --full-refresh` starts over.
target/
.headrace/
out/
""",
}


def files(project: str) -> dict[str, str]:
    """The files of a new project by path; with the schemas that its YAML files name in their first line."""
    from compiler.project.schema import KINDS, schema_text

    found = {path: text.replace(NAME, project) for path, text in FILES.items()}
    return {**found, **{f"schemas/{kind}.json": schema_text(kind) for kind in KINDS}}
