-- Said of a model that state stands behind it has an effect; of a sink without state it has none.
CREATE MODEL dear WITH (parallelism = 8) AS SELECT id, ordered_at FROM orders WHERE price > 100;
CREATE SINK as_they_come WITH (connector = 'console') AS SELECT id FROM dear;
CREATE SINK minutes WITH (connector = 'console') AS
SELECT count(*) AS n FROM TUMBLE(TABLE dear, DESCRIPTOR(ordered_at), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end;
CREATE SINK all_orders WITH (connector = 'console', parallelism = 4) AS SELECT id FROM orders;
