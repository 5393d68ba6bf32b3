CREATE MODEL by_minute AS
SELECT window.start AS began, readings.sensor, count(*) AS n
FROM readings WATERMARK timestamp_seconds(CAST(value AS BIGINT)) AS at DELAY OF INTERVAL 1 MINUTE 30 SECONDS
WHERE value > 0
GROUP BY window(at, '5 minutes'), readings.sensor;

CREATE MODEL of_a_query AS
SELECT window_start, window_end, count(*) AS n
FROM TUMBLE((
  SELECT * FROM (SELECT *, timestamp_seconds(CAST(value AS BIGINT)) AS at FROM readings) WATERMARK at DELAY OF INTERVAL '10' SECONDS r
), DESCRIPTOR(at), INTERVAL '5' MINUTES)
GROUP BY window_start, window_end;
CREATE SINK a WITH (connector = 'filesystem', path = 'a', format = 'json') AS SELECT * FROM by_minute;
CREATE SINK b WITH (connector = 'filesystem', path = 'b', format = 'json') AS SELECT * FROM of_a_query;
