CREATE MODEL minutes AS
SELECT customer, window_start, window_end, window_time AS rowtime, SUM(price) AS amount
FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' MINUTE)
GROUP BY customer, window_start, window_end, window_time;
CREATE MODEL hours AS
SELECT window_start, window_end, MAX(amount) AS best_minute
FROM TUMBLE(TABLE minutes, DESCRIPTOR(rowtime), INTERVAL '1' HOUR)
GROUP BY window_start, window_end;
CREATE SINK out WITH (connector = 'delta', path = 'out/hours') AS SELECT * FROM hours;
