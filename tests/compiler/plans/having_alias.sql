CREATE SINK counts WITH (connector = 'console') AS
SELECT window_start, window_end, customer AS who, count(id) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '5' MINUTES)
GROUP BY window_start, window_end, who
HAVING n > 2 AND who <> 'x';
