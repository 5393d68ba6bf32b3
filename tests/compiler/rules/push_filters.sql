CREATE MODEL both AS
SELECT id, customer, ordered_at AS at FROM orders
UNION ALL SELECT NULL, customer, clicked_at FROM clicks;
CREATE MODEL by_hour AS
SELECT window_start, window_end, customer, count(*) AS n
FROM HOP(TABLE both, DESCRIPTOR(at), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)
WHERE customer IS NOT NULL AND window_start > TIMESTAMP '2024-01-01 00:00:00'
GROUP BY window_start, window_end, customer;
CREATE SINK out WITH (connector = 'delta', path = 'out') AS SELECT * FROM by_hour;
