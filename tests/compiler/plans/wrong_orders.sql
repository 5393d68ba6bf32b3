CREATE MODEL m1 AS SELECT window_start, window_end, sum(qty) WITHIN GROUP (ORDER BY id) AS a, percentile_cont(0.5) AS b,
  mode() WITHIN GROUP (ORDER BY id, qty) AS c, listagg(id, ',') WITHIN GROUP (ORDER BY nothing) AS d
FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' MINUTE) GROUP BY window_start, window_end;
