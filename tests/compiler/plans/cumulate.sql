CREATE MODEL revenue AS
SELECT window_start, window_end, customer, SUM(price) AS total
FROM CUMULATE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR, INTERVAL '1' DAY, INTERVAL '-2' HOURS)
GROUP BY window_start, window_end, customer;

CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS SELECT * FROM revenue;
