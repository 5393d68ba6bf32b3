CREATE MODEL counts WITH (allow_unbounded = true) AS
SELECT customer, count(*) AS orders, sum(total) AS revenue FROM orders GROUP BY customer;

CREATE MODEL busy AS
SELECT customer AS who, orders, name FROM counts LEFT JOIN customers ON customer = code WHERE orders > 2;

CREATE SINK busy_customers (PRIMARY KEY (who) NOT ENFORCED) WITH (connector = 'delta', path = 'out/busy')
AS SELECT * FROM busy;

CREATE SINK all_counts WITH (connector = 'print') AS SELECT * FROM counts;

CREATE SINK total WITH (connector = 'delta', path = 'out/total', allow_unbounded = true)
AS SELECT sum(price) AS total FROM orders;
