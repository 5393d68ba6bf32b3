CREATE MODEL a WITH (triger = '1 s', chain = 'nevr', isolation = 'alone', parallelism = 0, uid = '1x', materialized = 'table') AS SELECT id FROM orders;
CREATE MODEL b WITH (trigger = 'now', materialized = 'fils', state_ttl = 'soon') AS SELECT id FROM orders;
CREATE MODEL c WITH (uid = 'b', parallelism = 3) AS SELECT id FROM orders;
CREATE MODEL d WITH (uid = 'x', parallelism = 4) AS SELECT id FROM orders;
CREATE MODEL e WITH (uid = 'x') AS SELECT id FROM orders;
CREATE SINK of_both WITH (connector = 'console', materialized = 'delta')
AS SELECT id FROM c UNION ALL SELECT id FROM d;
CREATE SINK more WITH (connector = 'console') AS SELECT id FROM a UNION ALL SELECT id FROM b UNION ALL SELECT id FROM e;
