-- The filter moves into the aggregates: a row that it drops still holds its session together.
CREATE MODEL sessions AS
SELECT *, upper(customer) AS name, price * qty AS value
FROM SESSION(DATA => TABLE orders PARTITION BY (customer), TIMECOL => DESCRIPTOR(ordered_at), GAP => INTERVAL '30' MINUTES)
WHERE price > 10;

CREATE MODEL dear AS
SELECT customer AS who, window_end AS ended, window_start AS began, window_time AS rowtime,
  SUM(value) FILTER (WHERE qty > 1) AS total, COUNT(DISTINCT name) AS names
FROM sessions
GROUP BY window_start, window_end, window_time, customer
HAVING COUNT(*) > 1;

CREATE MODEL per_day AS
SELECT window_start, window_end, SUM(total) AS total
FROM TUMBLE(TABLE dear, DESCRIPTOR(rowtime), INTERVAL '1' DAY)
GROUP BY window_start, window_end;

CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS SELECT * FROM per_day;
