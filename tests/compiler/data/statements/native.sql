-- one of each native statement
CREATE SOURCE orders (
  order_id BIGINT NOT NULL COMMENT 'it''s unique', customer STRING, price DECIMAL(12,2), qty INT,
  order_time TIMESTAMP(3),
  `select` ROW<a INT, b: ARRAY<STRING>>, m MAP<STRING, STRUCT<x: DOUBLE>>, d DOUBLE PRECISION,
  z TIMESTAMP(3) WITH LOCAL TIME ZONE,
  total AS price * (qty + 1) /* computed */ COMMENT 'sum',
  comment AS coalesce(customer, ')'),
  WATERMARK FOR order_time AS order_time - INTERVAL '5' SECOND,
  PRIMARY KEY (order_id) NOT ENFORCED
) COMMENT 'all orders' WITH (connector = 'kafka', 'properties.bootstrap.servers' = '${env:KAFKA}',
        scan.startup.mode = earliest-offset, csv.quote = '\', max = 5, header = true);

CREATE MODEL revenue_5m WITH (state_ttl = '1 d') AS
SELECT window_start, window_end, customer, SUM(total) AS revenue -- a ; in a comment
FROM TUMBLE(TABLE orders, DESCRIPTOR(order_time), INTERVAL '5' MINUTES)
WHERE customer <> 'a;b' AND price > ${min_price}
GROUP BY window_start, window_end, customer;

CREATE OR REPLACE MODEL parens AS (SELECT 1 AS x UNION ALL SELECT 2 AS x);
CREATE MODEL IF NOT EXISTS ctes AS WITH a AS (SELECT * FROM orders) SELECT * FROM a;

CREATE SINK revenue (PRIMARY KEY (customer) NOT ENFORCED) PARTITIONED BY (customer)
WITH (connector = 'delta', path = 'out/revenue')
AS SELECT * FROM revenue_5m;

CREATE SOURCE casts (
  at STRING,
  kind STRING,
  event_time AS CAST(at AS TIMESTAMP(3)) COMMENT 'AS, LIKE and WITH are words of an expression too',
  price AS TRY_CAST(substring(kind, 2) AS DECIMAL(10, 2)),
  test AS kind LIKE 'test%' OR (kind LIKE '%x' AND at IS NOT NULL),
  WATERMARK FOR event_time AS event_time
) WITH (connector = 'datagen');

SELECT * FROM orders
