CREATE MODEL visits AS
SELECT window_start, window_end, customer, COUNT(*) AS orders
FROM SESSION(TABLE orders PARTITION BY customer, DESCRIPTOR(ordered_at), INTERVAL '30' MINUTES)
GROUP BY window_start, window_end, customer;

CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS SELECT * FROM visits;
