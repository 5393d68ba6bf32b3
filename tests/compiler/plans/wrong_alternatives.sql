CREATE MODEL m1 AS SELECT id FROM orders UNION ALL SELECT customer FROM orders;
CREATE MODEL m2 AS SELECT customer AS x, ordered_at AS y FROM orders UNION ALL SELECT ordered_at, ordered_at FROM orders;
CREATE MODEL m3 AS SELECT * FROM (SELECT array(id) AS x FROM orders) UNION ALL SELECT tags FROM orders;
CREATE MODEL m4 AS SELECT ordered_at FROM orders UNION ALL SELECT '2024-13-01' FROM orders;
CREATE MODEL m5 AS SELECT coalesce(qty, 'n/a') AS a, nvl(price, 'none') AS b, ifnull(qty, 'x') AS c,
  CASE WHEN qty > 1 THEN qty ELSE 'many' END AS d, CASE qty WHEN 1 THEN 'one' ELSE 2 END AS e,
  if(qty > 1, 1, 'a') AS f, nvl2(customer, ordered_at, 'never') AS g, array(1, 'y') AS h, nullif(id, 'x') AS i
FROM orders;
CREATE MODEL m6 AS SELECT DISTINCT str_to_map(customer) AS attrs, ordered_at FROM orders;
CREATE MODEL m7 AS SELECT parse_json(customer) AS v, ordered_at FROM orders UNION SELECT parse_json(page), clicked_at FROM clicks;
CREATE MODEL m8 AS SELECT window_start, window_end, COUNT(DISTINCT str_to_map(customer)) AS n,
  COUNT(DISTINCT customer, map(customer, id)) AS m
FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' MINUTE) GROUP BY window_start, window_end;
CREATE MODEL m9 AS SELECT ordered_at AS t, id AS n, customer AS c FROM orders
UNION ALL SELECT '2024-01-01', price, NULL FROM orders
UNION ALL SELECT DATE '2024-01-01', '5', 'x' FROM orders
UNION ALL SELECT ordered_at, CAST(NULL AS STRING), NULL FROM orders;
CREATE MODEL m10 AS SELECT coalesce(qty, '5') AS a, CASE WHEN qty > 1 THEN ordered_at ELSE '2024-01-01' END AS b,
  coalesce(customer, 0) AS c, if(qty > 1, NULL, 'a') AS d, nvl(CAST(qty AS STRING), 'n/a') AS e
FROM orders;
