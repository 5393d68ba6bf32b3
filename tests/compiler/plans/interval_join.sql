CREATE MODEL visits AS
SELECT o.id, o.ordered_at, c.page, c.clicked_at
FROM orders AS o
LEFT JOIN clicks AS c
  ON o.customer = c.customer
  AND o.ordered_at BETWEEN c.clicked_at - INTERVAL '5' MINUTE AND c.clicked_at + INTERVAL '1' HOUR
  AND c.page <> 'home';
CREATE MODEL counts AS
SELECT window_start, window_end, count(*) AS orders, count(page) AS pages
FROM TUMBLE(TABLE visits, DESCRIPTOR(ordered_at), INTERVAL '10' MINUTES)
GROUP BY window_start, window_end;
CREATE SINK s WITH (connector = 'filesystem', path = 'out/s', format = 'json') AS SELECT * FROM counts;
