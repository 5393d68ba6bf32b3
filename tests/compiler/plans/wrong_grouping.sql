CREATE MODEL never_closes AS SELECT window_start, window_end, count(*) AS n FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR) GROUP BY ROLLUP (window_start, window_end, customer);
CREATE MODEL no_key AS SELECT window_start, window_end, grouping(qty) AS g FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR) GROUP BY window_start, window_end, ROLLUP (customer);
CREATE MODEL too_many AS SELECT window_start, window_end, count(*) AS n FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR) GROUP BY window_start, window_end, CUBE (id, customer, price, qty), CUBE (total, ordered_at, tags, id + 1), CUBE (id + 2, id + 3, id + 4, id + 5);
CREATE MODEL spread AS SELECT window_start, window_end, stddev(DISTINCT price) AS n FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' HOUR) GROUP BY window_start, window_end;
CREATE MODEL outside AS SELECT grouping(customer) AS g FROM orders;
CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS SELECT customer FROM orders;
CREATE MODEL no_window WITH (allow_unbounded = true) AS SELECT customer, qty, count(*) AS n FROM orders GROUP BY CUBE (customer, qty);
