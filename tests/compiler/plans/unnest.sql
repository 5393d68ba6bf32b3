CREATE MODEL words AS
SELECT id, customer, tag, ordered_at FROM orders CROSS JOIN UNNEST(tags) AS t (tag);
CREATE MODEL per_minute AS
SELECT window_start, window_end, tag, count(*) AS n
FROM TUMBLE(TABLE words, DESCRIPTOR(ordered_at), INTERVAL '1' MINUTE) GROUP BY window_start, window_end, tag;
CREATE SINK out WITH (connector = 'delta', path = 'out/words') AS SELECT * FROM per_minute;
