CREATE SOURCE events (
  id BIGINT,
  code STRING,
  seen_at AS PROCTIME()
) WITH (connector = 'filesystem', path = 'in/events', format = 'json');
CREATE SOURCE countries (
  code STRING,
  name STRING NOT NULL,
  upper_name AS upper(name),
  PRIMARY KEY (code) NOT ENFORCED
) WITH (connector = 'filesystem', path = 'in/countries', format = 'csv', 'lookup.cache.ttl' = '10 min');
CREATE MODEL named AS
SELECT /*+ LOOKUP('table'='countries', 'async'='true') */ e.id, c.upper_name AS name
FROM events AS e
LEFT JOIN countries FOR SYSTEM_TIME AS OF e.seen_at AS c ON e.code = c.code;
CREATE SINK s WITH (connector = 'filesystem', path = 'out/s', format = 'json') AS SELECT * FROM named;
