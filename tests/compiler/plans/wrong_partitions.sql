CREATE SINK s1 PARTITIONED BY (id, customer) WITH (connector = 'delta', path = 'out/s1') AS SELECT id, customer FROM orders;
CREATE SINK s2 PARTITIONED BY (tags) WITH (connector = 'delta', path = 'out/s2') AS SELECT id, tags FROM orders;
CREATE SINK s3 PARTITIONED BY (address) WITH (connector = 'filesystem', path = 'out/s3', format = 'json') AS SELECT id, address FROM orders;
CREATE SINK s4 PARTITIONED BY (id) WITH (connector = 'filesystem', path = 'out/s4', format = 'csv') AS SELECT id FROM orders;
CREATE SINK s5 (PRIMARY KEY (attrs) NOT ENFORCED) WITH (connector = 'delta', path = 'out/s5') AS
SELECT str_to_map(customer) AS attrs, id FROM orders;
CREATE SINK s6 PARTITIONED BY (customer) WITH (connector = 'delta', path = 'out/s6') AS SELECT id, customer FROM orders;
