-- Two triggers are two queries; uid names state and sinks; a model that is kept has a sink of its name.
CREATE MODEL sums WITH (uid = 'totals', tags = 'money, hourly', parallelism = 7, materialized = 'delta') AS
SELECT window_start, window_end, count(*) AS n
FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '5' MINUTES)
GROUP BY window_start, window_end;
CREATE MODEL kept WITH (materialized = 'files', trigger = '10 seconds') AS SELECT id, qty FROM orders;
CREATE SINK sums_out WITH (connector = 'console', uid = 'old_name') AS SELECT * FROM sums;
CREATE SINK fast WITH (connector = 'console', trigger = '1 second') AS SELECT id FROM kept;
CREATE SINK slow WITH (connector = 'console') AS SELECT id FROM orders;
