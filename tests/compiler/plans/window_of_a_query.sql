CREATE SINK counts WITH (connector = 'console') AS
SELECT window_start, window_end, count(*) AS n
FROM TUMBLE(TABLE (SELECT * FROM orders WHERE qty > 1), DESCRIPTOR(ordered_at), INTERVAL '5' MINUTES)
GROUP BY window_start, window_end;
