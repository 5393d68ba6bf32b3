CREATE SOURCE payments (
  id      INT,
  user_id STRING,
  ts      TIMESTAMP(3),
  price   INT,
  tax     INT,
  WATERMARK FOR ts AS ts - INTERVAL '2' MINUTE
) WITH (connector = 'filesystem', path = '${input}/input_payments.csv', format = 'csv', csv.header = true);

CREATE MODEL lines AS
SELECT ts, 'price' AS line, price AS amount FROM payments
UNION ALL
SELECT ts, 'tax' AS line, tax AS amount FROM payments WHERE tax > 0;

CREATE MODEL sums AS
SELECT line, CAST(count(*) AS INT) AS id, CAST(sum(amount) AS INT) AS amount
FROM TUMBLE(TABLE lines, DESCRIPTOR(ts), INTERVAL '10' MINUTE)
GROUP BY window_start, window_end, line;

CREATE MODEL first_payments WITH (allow_unbounded = true) AS
SELECT id, price, tax FROM payments
QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY ts) = 1;

CREATE MODEL `result` AS
SELECT line, id, amount FROM sums
UNION ALL
SELECT 'first price' AS line, id, price AS amount FROM first_payments
UNION ALL
SELECT 'first tax' AS line, id, tax AS amount FROM first_payments WHERE tax > 0;

CREATE SINK `out` WITH (connector = 'filesystem', path = '${out}', format = 'json') AS SELECT * FROM `result`;
