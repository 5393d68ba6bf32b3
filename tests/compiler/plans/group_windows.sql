CREATE MODEL tumbling AS
SELECT TUMBLE_START(ordered_at, INTERVAL '5' MINUTES) AS began, TUMBLE_END(ordered_at, INTERVAL '5' MINUTES) AS ended,
  customer, SUM(price) AS total, TUMBLE_ROWTIME(ordered_at, INTERVAL '5' MINUTES) AS rowtime
FROM orders WHERE price > 1
GROUP BY TUMBLE(ordered_at, INTERVAL '5' MINUTES), customer
HAVING TUMBLE_END(ordered_at, INTERVAL '5' MINUTES) > TIMESTAMP '2024-01-01 00:00:00' AND COUNT(*) > 1;

CREATE MODEL again AS
SELECT HOP_START(rowtime, INTERVAL '10' MINUTES, INTERVAL '1' HOUR) AS began, SUM(total) AS total
FROM tumbling
GROUP BY HOP(rowtime, INTERVAL '10' MINUTES, INTERVAL '1' HOUR);

CREATE MODEL visits AS
SELECT SESSION_START(o.ordered_at, INTERVAL '30' MINUTES) AS began, customer, price > 10 AS dear, COUNT(*) AS n
FROM orders o
GROUP BY SESSION(o.ordered_at, INTERVAL '30' MINUTES), customer, price > 10;

CREATE MODEL of_spark AS
SELECT window.start, window.end, window(ordered_at, '10 minutes', '5 minutes').end AS ended, count(*) AS n,
  window_time(window) AS rowtime
FROM orders GROUP BY window(ordered_at, '10 minutes', '5 minutes');

CREATE MODEL by_alias AS
SELECT session_window(ordered_at, INTERVAL '5' MINUTES) AS w, customer, count(*) AS n FROM orders GROUP BY w, 2;

CREATE MODEL whole AS SELECT window(ordered_at, '1 hour'), customer, count(*) AS n FROM orders GROUP BY 1, ROLLUP (customer);

CREATE SINK a WITH (connector = 'filesystem', path = 'a', format = 'json') AS SELECT * FROM again;
CREATE SINK b WITH (connector = 'filesystem', path = 'b', format = 'json') AS SELECT * FROM visits;
CREATE SINK c WITH (connector = 'filesystem', path = 'c', format = 'json') AS SELECT * FROM of_spark;
CREATE SINK d WITH (connector = 'filesystem', path = 'd', format = 'json') AS SELECT * FROM by_alias;
CREATE SINK e WITH (connector = 'filesystem', path = 'e', format = 'json') AS SELECT * FROM whole;
