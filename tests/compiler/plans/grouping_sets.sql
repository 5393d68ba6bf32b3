CREATE MODEL by_part AS
SELECT window_start, window_end, customer, address.city AS city, SUM(total) AS revenue,
  COUNT(DISTINCT customer) AS customers, grouping(address.city) AS all_cities, grouping_id() AS part
FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR)
GROUP BY window_start, window_end, ROLLUP (customer, city)
HAVING grouping(customer) = 0 OR SUM(total) > 100;
CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS SELECT * FROM by_part;
