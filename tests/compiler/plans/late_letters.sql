-- Rows that come after their windows are read once more by the query that leaves them out.
CREATE SOURCE visits (
  id BIGINT, page STRING, at_text STRING, at AS CAST(at_text AS TIMESTAMP(3)),
  WATERMARK FOR at AS at - INTERVAL '5' SECONDS
) WITH (connector = 'filesystem', path = 'in/visits', format = 'json',
  on_bad_record = 'dead_letter', on_late = 'dead_letter', dead_letter = 'letters');

CREATE MODEL pages AS SELECT page, at FROM visits WHERE page <> '/health';

CREATE MODEL by_minute AS
SELECT window_start, page, count(*) AS n
FROM TUMBLE(TABLE pages, DESCRIPTOR(at), INTERVAL '1' MINUTE) GROUP BY window_start, window_end, page;

CREATE MODEL sliding AS
SELECT window_end, count(*) AS n
FROM HOP(TABLE pages, DESCRIPTOR(at), INTERVAL '1' MINUTE, INTERVAL '5' MINUTES) GROUP BY window_start, window_end;

CREATE SINK minutes WITH (connector = 'filesystem', path = 'out/minutes', format = 'json') AS SELECT * FROM by_minute;
CREATE SINK slides WITH (connector = 'filesystem', path = 'out/slides', format = 'json') AS SELECT * FROM sliding;
CREATE SINK letters WITH (connector = 'filesystem', path = 'out/letters', format = 'json');
