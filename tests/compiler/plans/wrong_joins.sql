CREATE MODEL m1 AS SELECT o.id FROM orders o LEFT JOIN clicks c ON o.customer = c.customer;
CREATE MODEL m2 AS SELECT o.id FROM orders o RIGHT JOIN clicks c ON o.customer = c.customer AND c.clicked_at > o.ordered_at;
CREATE MODEL m3 AS SELECT o.id FROM orders o FULL JOIN clicks c ON o.customer = c.customer AND o.ordered_at > c.clicked_at - INTERVAL '1' HOUR;
CREATE MODEL m4 AS SELECT o.id FROM orders o LEFT JOIN readings r ON o.customer = r.sensor;
CREATE MODEL m5 AS SELECT o.id FROM orders o JOIN clicks c ON o.ordered_at > c.clicked_at;
CREATE MODEL m6 AS SELECT o.id FROM orders o, clicks c;
CREATE MODEL m7 AS SELECT o.id FROM orders o JOIN clicks c ON o.customer = c.customer AND c.clicked_at > o.ordered_at + INTERVAL '1' HOUR AND c.clicked_at < o.ordered_at - INTERVAL '1' HOUR;
CREATE MODEL m8 AS SELECT L.id FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '5' MINUTES) L JOIN TUMBLE(TABLE clicks, DESCRIPTOR(clicked_at), INTERVAL '5' MINUTES) R ON L.customer = R.customer AND L.window_end = R.window_end;
CREATE MODEL m9 AS SELECT L.id FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '5' MINUTES) L JOIN TUMBLE(TABLE clicks, DESCRIPTOR(clicked_at), INTERVAL '10' MINUTES) R ON L.customer = R.customer AND L.window_start = R.window_start AND L.window_end = R.window_end;
CREATE MODEL m10 AS SELECT page FROM orders o JOIN clicks c USING (customer) WHERE c.clicked_at > o.ordered_at;
CREATE MODEL m11 AS SELECT o.id FROM orders o LEFT JOIN clicks c ON o.customer = c.customer AND c.clicked_at BETWEEN o.ordered_at AND o.ordered_at + INTERVAL '1' MONTH;
CREATE MODEL m12 AS
SELECT window_start, window_end, count(*) AS n FROM TUMBLE(TABLE (
  SELECT o.id, c.clicked_at FROM orders o LEFT JOIN clicks c
  ON o.customer = c.customer AND c.clicked_at BETWEEN o.ordered_at AND o.ordered_at + INTERVAL '1' HOUR
), DESCRIPTOR(clicked_at), INTERVAL '5' MINUTES) GROUP BY window_start, window_end;
CREATE MODEL m13 AS SELECT customer FROM orders FULL JOIN clicks USING (customer);
CREATE MODEL m14 AS SELECT o.id FROM orders o JOIN clicks FOR SYSTEM_TIME AS OF o.ordered_at AS c ON o.customer = c.customer;
CREATE MODEL m15 AS SELECT o.id FROM orders o JOIN rates FOR SYSTEM_TIME AS OF r.changed_at AS r ON o.customer = r.currency;
CREATE MODEL m16 AS SELECT o.id FROM orders o JOIN rates FOR SYSTEM_TIME AS OF o.ordered_at + INTERVAL '1' HOUR AS r ON o.customer = r.currency;
CREATE MODEL m17 AS SELECT o.id FROM orders o FULL JOIN rates FOR SYSTEM_TIME AS OF o.ordered_at AS r ON o.customer = r.currency;
CREATE MODEL m18 AS SELECT o.id FROM orders o JOIN rates FOR SYSTEM_TIME AS OF o.ordered_at AS r ON o.price > r.rate AND o.customer = r.market;
CREATE MODEL m19 AS SELECT s.sensor FROM readings s JOIN rates FOR SYSTEM_TIME AS OF s.value AS r ON s.sensor = r.currency;
CREATE MODEL m20 AS SELECT o.id FROM orders o JOIN (SELECT * FROM rates WHERE rate > 1) FOR SYSTEM_TIME AS OF o.ordered_at AS r ON o.customer = r.currency;
CREATE SOURCE rates (
  currency STRING, market STRING, rate DECIMAL(10, 4), changed_at TIMESTAMP(3),
  PRIMARY KEY (currency, market) NOT ENFORCED, WATERMARK FOR changed_at AS changed_at
) WITH (connector = 'filesystem', path = 'in/rates', format = 'csv');
CREATE SOURCE events (id BIGINT, code STRING, seen_at AS PROCTIME()) WITH (connector = 'filesystem', path = 'in/events', format = 'json');
CREATE MODEL m21 AS SELECT e.id FROM events e RIGHT JOIN clicks FOR SYSTEM_TIME AS OF e.seen_at AS c ON e.code = c.customer;
CREATE MODEL m22 AS SELECT e.id FROM events e JOIN clicks FOR SYSTEM_TIME AS OF e.seen_at AS c;
CREATE MODEL counts AS SELECT window_start, window_end, customer FROM TUMBLE(TABLE clicks, DESCRIPTOR(clicked_at), INTERVAL '5' MINUTES) GROUP BY window_start, window_end, customer;
CREATE MODEL m23 AS SELECT e.id FROM events e JOIN counts FOR SYSTEM_TIME AS OF e.seen_at AS c ON e.code = c.customer;
CREATE MODEL pages WITH (allow_unbounded = true) AS SELECT customer, count(*) AS n FROM clicks GROUP BY customer;
CREATE MODEL m24 AS SELECT o.id FROM orders o JOIN pages p ON o.customer = p.customer;
CREATE MODEL m25 AS SELECT o.id FROM orders o LEFT JOIN rates FOR SYSTEM_TIME AS OF PROCTIME() AS r ON o.customer = r.currency;
CREATE MODEL m26 AS SELECT e.id FROM events e LEFT JOIN rates FOR SYSTEM_TIME AS OF current_timestamp AS r ON e.code = r.currency;
