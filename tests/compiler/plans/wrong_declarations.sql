CREATE SOURCE made (id INT, small TINYINT, price DECIMAL(5, 2), name STRING, at TIMESTAMP(3), day DATE, tags ARRAY<STRING>) WITH (
  connector = 'datagen', start = 'yesterday', 'fields.id.values' = '1, q', 'fields.small.max' = 300,
  'fields.price.min' = '5', 'fields.price.max' = '1.5', 'fields.name.length' = -1, 'fields.name.null_rate' = 7,
  'fields.at.min' = 'now', 'fields.day.values' = '2024-01-01, 2024-02-30'
);
CREATE SOURCE counted (id BIGINT, x DOUBLE) WITH (
  connector = 'datagen', 'fields.id.kind' = 'sequential', 'fields.id.start' = '1.5', 'fields.x.min' = 'low', 'fields.x.null_rate' = 'some'
);
CREATE SOURCE lines (id INT, tags ARRAY<STRING>, attrs MAP<STRING, STRING>) WITH (
  connector = 'filesystem', path = ' ', format = 'csv', 'csv.quote' = 'abc', 'csv.escape' = '<<', 'csv.delimiter' = '', timestamp_format = 'YYYY-MM-dd'
);
CREATE SOURCE keyed (id INT, attrs MAP<STRING, STRING>, PRIMARY KEY (attrs) NOT ENFORCED) WITH (
  connector = 'upsert-kafka', topic = 'keyed', format = 'json', 'key.format' = 'json', 'properties.bootstrap.servers' = 'localhost:9092'
);
CREATE SINK packed WITH (connector = 'filesystem', path = 'out/packed', format = 'json', compression = 'gzp') AS SELECT id FROM orders;
CREATE SINK columns WITH (connector = 'filesystem', path = 'out/columns', format = 'parquet', compression = 'bzip2') AS SELECT id FROM orders;
CREATE SINK sent WITH (connector = 'http', url = 'foo') AS SELECT id FROM orders;
CREATE SOURCE good (id INT, small TINYINT, price DECIMAL(5, 2), name STRING, at TIMESTAMP(3), day DATE, tags AS array(name)) WITH (
  connector = 'datagen', start = '2024-01-01T00:00:00Z', 'fields.id.values' = '1, 2', 'fields.small.max' = 100,
  'fields.price.min' = '1.5', 'fields.price.max' = 5, 'fields.name.length' = 3, 'fields.name.null_rate' = 0.5,
  'fields.at.min' = '2024-01-01', 'fields.day.values' = '2024-01-01, 2024-02-29'
);
CREATE SINK zipped WITH (
  connector = 'filesystem', path = 'out/zipped', format = 'csv', compression = 'org.apache.hadoop.io.compress.GzipCodec', 'csv.quote' = ''
) AS SELECT id FROM good;
