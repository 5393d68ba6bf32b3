CREATE MODEL lines AS
SELECT ordered_at, 'price' AS line, price AS amount FROM orders
UNION ALL
SELECT ordered_at, 'total' AS line, CAST(total AS DECIMAL(12, 2)) AS amount FROM orders WHERE qty > 1;

CREATE SINK sums WITH (connector = 'delta', path = 'sums') AS
SELECT window_start, line, sum(amount) AS amount
FROM TUMBLE(TABLE lines, DESCRIPTOR(ordered_at), INTERVAL '1' MINUTE) GROUP BY window_start, window_end, line;
