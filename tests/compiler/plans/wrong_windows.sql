CREATE MODEL step_too_long AS SELECT * FROM CUMULATE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '10' MINUTES, INTERVAL '4' MINUTES);
CREATE MODEL step_does_not_divide AS SELECT * FROM CUMULATE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '4' MINUTES, INTERVAL '10' MINUTES);
CREATE MODEL too_many AS SELECT * FROM HOP(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' SECOND, INTERVAL '365' DAYS);
CREATE MODEL no_gap AS SELECT * FROM SESSION(TABLE orders, DESCRIPTOR(ordered_at));
CREATE MODEL zero_gap AS SELECT * FROM SESSION(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '0' SECONDS);
CREATE MODEL no_key AS SELECT * FROM SESSION(TABLE orders PARTITION BY costumer, DESCRIPTOR(ordered_at), INTERVAL '5' SECONDS);
CREATE MODEL computed_key AS SELECT * FROM SESSION(TABLE orders PARTITION BY upper(customer), DESCRIPTOR(ordered_at), INTERVAL '5' SECONDS);
CREATE MODEL parted_tumble AS SELECT * FROM TUMBLE(TABLE orders PARTITION BY customer, DESCRIPTOR(ordered_at), INTERVAL '5' SECONDS);
CREATE MODEL not_event_time AS SELECT * FROM SESSION((SELECT ordered_at + INTERVAL '1' HOUR AS later, price FROM orders), DESCRIPTOR(later), INTERVAL '5' SECONDS);
CREATE MODEL rows_of_sessions AS
SELECT window_start, window_end, count(*) AS n
FROM TUMBLE((SELECT ordered_at FROM SESSION(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '5' SECONDS)), DESCRIPTOR(ordered_at), INTERVAL '1' HOUR)
GROUP BY window_start, window_end;
CREATE MODEL half_a_session AS
SELECT window_end, count(*) AS n FROM SESSION(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '5' SECONDS) GROUP BY window_end;
CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS SELECT customer FROM orders;
CREATE MODEL cast_time AS SELECT window_end, count(*) AS n FROM TUMBLE((SELECT id, CAST(ordered_at AS TIMESTAMP(6)) AS at FROM orders), DESCRIPTOR(at), INTERVAL '1' HOUR) GROUP BY window_start, window_end;
CREATE MODEL half_timed AS SELECT customer, ordered_at AS at FROM orders UNION ALL SELECT customer, CAST(NULL AS TIMESTAMP) FROM clicks;
CREATE MODEL of_some AS SELECT window_end, count(*) AS n FROM TUMBLE(TABLE half_timed, DESCRIPTOR(at), INTERVAL '1' HOUR) GROUP BY window_start, window_end;
CREATE MODEL joined AS SELECT o.id, c.clicked_at AS at FROM orders o LEFT JOIN clicks c
ON o.customer = c.customer AND c.clicked_at BETWEEN o.ordered_at AND o.ordered_at + INTERVAL '1' HOUR;
CREATE MODEL of_partners AS SELECT window_end, count(*) AS n FROM TUMBLE(TABLE joined, DESCRIPTOR(at), INTERVAL '1' HOUR) GROUP BY window_start, window_end;
CREATE MODEL parsed AS SELECT window_end, count(*) AS n FROM TUMBLE((SELECT CAST(customer AS TIMESTAMP) AS at FROM orders), DESCRIPTOR(at), INTERVAL '1' HOUR) GROUP BY window_start, window_end;
