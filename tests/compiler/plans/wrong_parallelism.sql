CREATE SINK three WITH (connector = 'console', parallelism = 3) AS SELECT id FROM orders;
CREATE SINK four WITH (connector = 'console', parallelism = 4) AS SELECT id FROM orders;
