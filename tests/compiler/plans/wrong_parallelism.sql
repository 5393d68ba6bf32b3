CREATE MODEL minutes AS
SELECT window_end, count(*) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' MINUTE) GROUP BY window_start, window_end;
CREATE SINK three WITH (connector = 'console', parallelism = 3) AS SELECT n FROM minutes;
CREATE SINK four WITH (connector = 'console', parallelism = 4) AS SELECT n FROM minutes;
