CREATE MODEL people AS SELECT customer, clicked_at FROM clicks;
CREATE MODEL buyers AS SELECT customer, ordered_at FROM orders;
CREATE MODEL seen AS
WITH everybody AS (SELECT * FROM people UNION ALL SELECT * FROM buyers)
SELECT window_start, window_end, customer, count(*) AS times
FROM HOP(TABLE everybody, DESCRIPTOR(clicked_at), INTERVAL '1' MINUTE, INTERVAL '2' MINUTES)
GROUP BY ALL;
CREATE SINK out WITH (connector = 'delta', path = 'out/seen') AS SELECT * FROM seen;
