CREATE MODEL counts WITH (allow_unbounded = true) AS SELECT customer, count(*) AS n FROM orders GROUP BY customer;
CREATE MODEL total WITH (allow_unbounded = true) AS SELECT count(*) AS n FROM orders;
CREATE SINK a WITH (connector = 'filesystem', path = 'out/a', format = 'json') AS SELECT * FROM counts;
CREATE SINK b (PRIMARY KEY (customer) NOT ENFORCED) WITH (connector = 'filesystem', path = 'out/b', format = 'json') AS SELECT * FROM counts;
CREATE SINK c WITH (connector = 'delta', path = 'out/c') AS SELECT * FROM counts;
CREATE SINK d (PRIMARY KEY (n) NOT ENFORCED) WITH (connector = 'delta', path = 'out/d') AS SELECT * FROM counts;
CREATE SINK e (PRIMARY KEY (n) NOT ENFORCED) WITH (connector = 'delta', path = 'out/e') AS SELECT * FROM total;
CREATE SINK f WITH (connector = 'filesystem', path = 'out/f', format = 'json') AS SELECT * FROM total;
