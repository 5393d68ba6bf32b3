CREATE SOURCE clicks (
  id      INT,
  user_id STRING,
  ts      TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' MINUTE
) WITH (connector = 'filesystem', path = '${input}/input_clicks.csv', format = 'csv', csv.header = true);

CREATE MODEL `result` AS
SELECT 'near' AS pair, a.id AS one, b.id AS other
FROM clicks a JOIN clicks b
  ON a.user_id = b.user_id AND b.ts BETWEEN a.ts - INTERVAL '5' MINUTE AND a.ts
WHERE a.id <> b.id
UNION ALL
SELECT 'window' AS pair, a.id AS one, b.id AS other
FROM TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' MINUTE) a
JOIN TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' MINUTE) b
  ON a.user_id = b.user_id AND a.window_start = b.window_start AND a.window_end = b.window_end
WHERE a.id < b.id;

CREATE SINK `out` WITH (connector = 'filesystem', path = '${out}', format = 'json') AS SELECT * FROM `result`;
