CREATE MODEL sliding AS
SELECT window_start, window_end, count(DISTINCT customer) AS customers, avg(price) AS mean
FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR, INTERVAL '3' HOURS, INTERVAL '15' MINUTES))
GROUP BY window_start, window_end
HAVING count(*) > 1;
CREATE SINK out WITH (connector = 'delta', path = 'out/sliding') AS SELECT * FROM sliding;
