-- Each is right - left in [-1 h, 2 h]; the last one is open at its earlier end.
CREATE MODEL a AS SELECT o.id, c.page FROM orders o, clicks c
WHERE o.customer = c.customer AND c.clicked_at >= o.ordered_at - INTERVAL '1' HOUR
  AND c.clicked_at <= o.ordered_at + INTERVAL '120' MINUTE AND o.qty > 1;
CREATE MODEL b AS SELECT o.id, c.page FROM orders o JOIN clicks c ON o.customer = c.customer
WHERE o.ordered_at - INTERVAL '1' HOUR <= c.clicked_at AND o.ordered_at >= c.clicked_at - INTERVAL '2' HOUR;
CREATE MODEL d AS SELECT o.id FROM orders o LEFT SEMI JOIN clicks c ON o.customer = c.customer
AND c.clicked_at - o.ordered_at BETWEEN INTERVAL '-1' HOUR AND INTERVAL '1' HOUR + INTERVAL '1' HOUR;
CREATE MODEL f AS SELECT o.id, c.page FROM orders o FULL JOIN clicks c ON c.customer = upper(o.customer)
AND o.ordered_at < c.clicked_at + INTERVAL '1' HOUR AND c.clicked_at <= o.ordered_at + INTERVAL '02:00:00' HOUR TO SECOND;
CREATE SINK sa WITH (connector = 'filesystem', path = 'out/a', format = 'json') AS SELECT * FROM a;
CREATE SINK sb WITH (connector = 'filesystem', path = 'out/b', format = 'json') AS SELECT * FROM b;
CREATE SINK sd WITH (connector = 'filesystem', path = 'out/d', format = 'json') AS SELECT * FROM d;
CREATE SINK sf WITH (connector = 'filesystem', path = 'out/f', format = 'json') AS SELECT * FROM f;
