CREATE MODEL revenue AS
SELECT window_start, window_end, customer, SUM(total) AS revenue, COUNT(*) AS orders
FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '5' MINUTES)
WHERE price > 1
GROUP BY window_start, window_end, customer;
CREATE SINK out WITH (connector = 'filesystem', path = 'out/revenue', format = 'json') AS SELECT * FROM revenue;
