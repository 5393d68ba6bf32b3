CREATE MODEL distinct_values AS
SELECT window_start, window_end, COUNT(DISTINCT customer, qty) FILTER (WHERE price > 1) AS pairs,
  SUM(DISTINCT price) AS prices, AVG(DISTINCT price) AS mean_price, AVG(DISTINCT qty) FILTER (WHERE qty > 1) AS mean_qty,
  MAX(DISTINCT qty) AS most, ARRAY_AGG(DISTINCT customer) AS customers, SUM(qty) FILTER (WHERE qty > 1) / COUNT(*) AS share
FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR)
GROUP BY window_start, window_end;
CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS SELECT * FROM distinct_values;
