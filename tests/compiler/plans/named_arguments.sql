CREATE MODEL sliding AS
SELECT window_end AS until, window_start, max(qty) - min(qty) AS spread, upper(customer) AS who
FROM HOP(DATA => TABLE orders, TIMECOL => DESCRIPTOR(ordered_at), SLIDE => INTERVAL '30' SECONDS, SIZE => INTERVAL '1' MINUTE)
GROUP BY window_start, window_end, upper(customer);
CREATE SINK out WITH (connector = 'delta', path = 'out/sliding') AS SELECT * FROM sliding;
