-- Sessions have a state of their own, so two queries leave rows of this source out.
CREATE SOURCE visits (
  id BIGINT, page STRING, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '5' SECONDS
) WITH (connector = 'filesystem', path = 'in/visits', format = 'json', on_late = 'dead_letter',
  dead_letter = 'visit_letters');
CREATE SINK visit_letters WITH (connector = 'filesystem', path = 'out/visits', format = 'json');

CREATE MODEL by_minute AS
SELECT window_start, page, count(*) AS n
FROM TUMBLE(TABLE visits, DESCRIPTOR(at), INTERVAL '1' MINUTE) GROUP BY window_start, window_end, page;
CREATE MODEL sessions AS
SELECT window_end, count(*) AS n
FROM SESSION(TABLE visits PARTITION BY page, DESCRIPTOR(at), INTERVAL '1' MINUTE) GROUP BY window_start, window_end;

CREATE SINK minutes WITH (connector = 'filesystem', path = 'out/minutes', format = 'json') AS SELECT * FROM by_minute;
CREATE SINK parts WITH (connector = 'filesystem', path = 'out/parts', format = 'json') AS SELECT * FROM sessions;
