CREATE MODEL by_part AS
SELECT window_start, window_end, customer, city, qty, SUM(total) AS revenue, grouping_id(city, customer) AS part
FROM (SELECT *, address.city AS city FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, CUBE (customer, city), GROUPING SETS ((qty), (qty), ());
CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS SELECT * FROM by_part;
