CREATE SOURCE events (
  id BIGINT,
  code STRING,
  seen_at AS PROCTIME()
) WITH (connector = 'filesystem', path = 'in/events', format = 'json');
CREATE SOURCE people (
  code STRING,
  name STRING NOT NULL,
  PRIMARY KEY (code) NOT ENFORCED
) WITH (
  connector = 'jdbc', url = 'jdbc:postgresql://db:5432/shop', 'table-name' = 'shop.people',
  username = 'reader', password = '${env:PASSWORD}', 'lookup.cache' = 'PARTIAL',
  'lookup.partial-cache.expire-after-write' = '10 min', 'lookup.max-retries' = '3'
);
CREATE SOURCE limits (code STRING, most DECIMAL(10, 2))
WITH (connector = 'delta', path = 'tables/limits', max_files_per_epoch = 10);
CREATE SINK s WITH (connector = 'filesystem', path = 'out/s', format = 'json') AS
SELECT e.id, c.name, l.most
FROM events AS e
LEFT JOIN people FOR SYSTEM_TIME AS OF e.seen_at AS c ON e.code = c.code
JOIN limits FOR SYSTEM_TIME AS OF e.seen_at AS l ON e.code = l.code;
