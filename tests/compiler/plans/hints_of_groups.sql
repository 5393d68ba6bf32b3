CREATE MODEL counted AS SELECT /*+ STATE_TTL('orders' = '2 d') */ customer, count(*) AS n FROM orders GROUP BY customer;
CREATE SINK counts (PRIMARY KEY (customer) NOT ENFORCED) WITH (connector = 'delta', path = 'out/counts') AS
SELECT * FROM counted;
