CREATE SINK by_minute WITH (connector = 'delta', path = 'out/by_minute') AS
SELECT window_start, customer, sum(price) AS total, count(*) AS n, avg(id) AS mean
FROM HOP(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' MINUTE, INTERVAL '10' MINUTES)
GROUP BY window_start, window_end, customer;

CREATE SINK large WITH (connector = 'delta', path = 'out/large') AS
SELECT window_start, window_end, customer, max(price) AS most, count(*) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' MINUTE, INTERVAL '30' SECONDS)
WHERE price > 100 GROUP BY window_start, window_end, customer;

CREATE SINK so_far WITH (connector = 'delta', path = 'out/so_far') AS
SELECT window_start, window_end, qty, customer, min(id) AS first, count(*) AS n
FROM CUMULATE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR, INTERVAL '1' DAY)
GROUP BY window_start, window_end, qty, customer;
