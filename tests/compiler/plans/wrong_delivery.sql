CREATE SINK a WITH (connector = 'filesystem', path = 'out/x', format = 'json') AS SELECT id, rand() AS r FROM orders;
CREATE SINK b WITH (connector = 'delta', path = 'out/x/deeper') AS SELECT id FROM orders;
CREATE SINK c WITH (connector = 'console', delivery = 'exactly_once') AS SELECT id FROM orders;
CREATE SINK d (id BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (connector = 'filesystem', path = 'out/d', format = 'json') AS SELECT id FROM orders;
CREATE SINK e WITH (connector = 'filesystem', path = 'in/orders', format = 'json') AS SELECT id FROM orders;
CREATE SINK g WITH (connector = 'delta', path = 'out/g') AS SELECT id AS `order id` FROM orders;
CREATE SINK h WITH (connector = 'filesystem', path = 'out/h', format = 'csv') AS SELECT id, tags FROM orders;
CREATE SINK f WITH (connector = 'delta', path = 'out/f') AS SELECT * FROM customers;
