CREATE SOURCE rates (
  currency STRING, rate DOUBLE, ts TIMESTAMP(3) METADATA FROM 'timestamp',
  WATERMARK FOR ts AS ts, PRIMARY KEY (currency) NOT ENFORCED
) WITH (connector = 'upsert-kafka', topic = 'rates', 'properties.bootstrap.servers' = 'kafka:9092',
        'key.format' = 'raw', 'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY');

CREATE SOURCE clients (id BIGINT, name STRING, shown AS upper(name), PRIMARY KEY (id) NOT ENFORCED)
WITH (connector = 'kafka', topic = 'shop.clients', 'properties.bootstrap.servers' = 'kafka:9092',
      format = 'debezium-json', on_bad_record = 'dead_letter', dead_letter = 'bad');
CREATE SINK bad WITH (connector = 'filesystem', path = 'bad', format = 'json');

CREATE TABLE copied (id BIGINT, shown STRING, PRIMARY KEY (id) NOT ENFORCED)
WITH (connector = 'upsert-kafka', topic = 'copied', 'properties.bootstrap.servers' = 'kafka:9092',
      'key.format' = 'json', 'value.format' = 'avro');
INSERT INTO copied SELECT id, shown FROM clients WHERE name IS NOT NULL;

CREATE TABLE converted (id BIGINT, price DOUBLE, tags MAP<STRING, BINARY> METADATA FROM 'headers')
WITH (connector = 'kafka', topic = 'converted', 'properties.bootstrap.servers' = 'kafka:9092', format = 'csv');
INSERT INTO converted
SELECT o.id, o.price * r.rate, map('customer', CAST(o.customer AS BINARY)) FROM orders AS o
JOIN rates FOR SYSTEM_TIME AS OF o.ordered_at AS r ON o.customer = r.currency;
