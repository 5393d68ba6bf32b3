CREATE SOURCE doubled (id INT, v STRING, twice AS v || v, ts TIMESTAMP(3) METADATA FROM 'timestamp')
WITH (connector = 'kafka', topic = 'a', 'properties.bootstrap.servers' = 'kafka:9092', format = 'json',
      'key.format' = 'json', 'key.fields' = 'twice;ts;no');

CREATE SOURCE cut (a INT, b INT, `a;b` INT, PRIMARY KEY (`a;b`) NOT ENFORCED)
WITH (connector = 'upsert-kafka', topic = 'b', 'properties.bootstrap.servers' = 'kafka:9092',
      'key.format' = 'json', 'value.format' = 'json');

CREATE TABLE timed (id BIGINT, at TIMESTAMP(3) METADATA FROM 'timestamp', PRIMARY KEY (at) NOT ENFORCED)
WITH (connector = 'upsert-kafka', topic = 'c', 'properties.bootstrap.servers' = 'kafka:9092',
      'key.format' = 'json', 'value.format' = 'json');
INSERT INTO timed SELECT id, ordered_at FROM orders;

CREATE TABLE headed (
  id BIGINT, h MAP<STRING, BINARY> METADATA FROM 'headers', h2 MAP<STRING, BINARY> METADATA FROM 'headers'
) WITH (connector = 'kafka', topic = 'd', 'properties.bootstrap.servers' = 'kafka:9092', format = 'json');
INSERT INTO headed SELECT id, map('a', CAST(customer AS BINARY)), map('b', CAST(customer AS BINARY)) FROM orders;

CREATE TABLE unknown (id BIGINT, PRIMARY KEY (no) NOT ENFORCED)
WITH (connector = 'kafka', topic = 'e', 'properties.bootstrap.servers' = 'kafka:9092', format = 'debezium-json');
INSERT INTO unknown SELECT id FROM orders;
