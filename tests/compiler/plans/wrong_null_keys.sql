CREATE SOURCE changes (op STRING, id INT, boss INT, name STRING)
WITH (connector = 'filesystem', path = 'in/changes', format = 'csv', 'csv.header' = 'true');
CREATE MODEL people AS SELECT * FROM FROM_CHANGELOG(TABLE changes PARTITION BY id, DESCRIPTOR(op));

-- Who has the same name, if anybody has: `other` is a part of the key, and NULL where nobody has.
CREATE MODEL namesakes WITH (allow_unbounded = true) AS
SELECT a.id, b.id AS other, b.name FROM people a LEFT JOIN people b ON a.name = b.name;
CREATE MODEL counted WITH (allow_unbounded = true) AS SELECT name AS of, count(*) AS n FROM namesakes GROUP BY name;
CREATE MODEL known AS SELECT id, other FROM namesakes WHERE other IS NOT NULL;
CREATE MODEL bosses WITH (allow_unbounded = true) AS
SELECT a.id, b.id AS of FROM people a LEFT JOIN people b ON a.boss = b.id;

CREATE SINK in_a_database (PRIMARY KEY (id, other) NOT ENFORCED)
WITH (connector = 'jdbc', url = 'jdbc:postgresql://db/shop', 'table-name' = 'pairs') AS SELECT id, other FROM namesakes;
CREATE SINK of_groups (PRIMARY KEY (of) NOT ENFORCED)
WITH (connector = 'jdbc', url = 'jdbc:postgresql://db/shop', 'table-name' = 'groups') AS SELECT * FROM counted;
CREATE SINK as_avro (PRIMARY KEY (id, other) NOT ENFORCED)
WITH (connector = 'upsert-kafka', topic = 'pairs', 'properties.bootstrap.servers' = 'k:9092', 'key.format' = 'avro', 'value.format' = 'json')
AS SELECT id, other FROM namesakes;

-- These are right: JSON and Delta have a NULL, and the others have left such rows out.
CREATE SINK as_json (PRIMARY KEY (id, other) NOT ENFORCED)
WITH (connector = 'upsert-kafka', topic = 'json', 'properties.bootstrap.servers' = 'k:9092', 'key.format' = 'json', 'value.format' = 'json')
AS SELECT id, other FROM namesakes;
CREATE SINK as_delta (PRIMARY KEY (id, other) NOT ENFORCED)
WITH (connector = 'delta', path = 'out/pairs') AS SELECT id, other FROM namesakes;
CREATE SINK of_known (PRIMARY KEY (id, other) NOT ENFORCED)
WITH (connector = 'jdbc', url = 'jdbc:postgresql://db/shop', 'table-name' = 'known') AS SELECT * FROM known;
CREATE SINK of_bosses (PRIMARY KEY (id) NOT ENFORCED)
WITH (connector = 'jdbc', url = 'jdbc:postgresql://db/shop', 'table-name' = 'bosses') AS SELECT * FROM bosses;
