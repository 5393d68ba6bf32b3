-- Late rows are told by one query, of a source that can be read once more, where a row can be followed.
CREATE SOURCE visits (
  id BIGINT, page STRING, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '5' SECONDS
) WITH (connector = 'filesystem', path = 'in/visits', format = 'json', on_late = 'dead_letter',
  dead_letter = 'visit_letters');
CREATE SINK visit_letters WITH (connector = 'filesystem', path = 'out/visits', format = 'json');

CREATE SOURCE changes (
  id BIGINT, at TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR at AS at - INTERVAL '5' SECONDS
) WITH (connector = 'kafka', topic = 't', 'properties.bootstrap.servers' = 'k:9092', format = 'debezium-json',
  on_late = 'dead_letter', dead_letter = 'shared');
CREATE SOURCE made (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '5' SECONDS)
WITH (connector = 'datagen', on_late = 'dead_letter');

CREATE SINK out WITH (connector = 'filesystem', path = 'out/pages', format = 'json') AS
SELECT id, page FROM visits WHERE page <> '/health';
