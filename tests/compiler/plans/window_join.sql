CREATE MODEL both AS
SELECT coalesce(L.customer, R.customer) AS customer, L.id, R.page, L.window_start, L.window_end
FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '5' MINUTES) AS L
LEFT JOIN TUMBLE(TABLE clicks, DESCRIPTOR(clicked_at), INTERVAL '5' MINUTES) AS R
  ON L.window_start = R.window_start AND R.customer = L.customer AND L.window_end = R.window_end;
CREATE SINK s WITH (connector = 'filesystem', path = 'out/s', format = 'json') AS
SELECT window_start, window_end, count(page) AS pages FROM both GROUP BY window_start, window_end;
CREATE MODEL without AS
SELECT L.id FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '5' MINUTES) AS L
LEFT ANTI JOIN TUMBLE(TABLE clicks, DESCRIPTOR(clicked_at), INTERVAL '5' MINUTES) AS R
  ON L.window_start = R.window_start AND R.customer = L.customer AND L.window_end = R.window_end;
CREATE SINK w WITH (connector = 'filesystem', path = 'out/w', format = 'json') AS SELECT * FROM without;
