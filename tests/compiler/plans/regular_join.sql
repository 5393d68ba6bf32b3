CREATE MODEL pairs WITH (state_ttl = '1 d') AS
SELECT o.id, c.page FROM orders AS o JOIN clicks AS c ON o.customer = c.customer AND o.qty > length(c.page);
CREATE SINK s WITH (connector = 'filesystem', path = 'out/s', format = 'json') AS SELECT * FROM pairs;
CREATE MODEL all_pairs WITH (allow_unbounded = true) AS
SELECT customer, id, page FROM orders JOIN clicks USING (customer);
CREATE SINK a WITH (connector = 'filesystem', path = 'out/a', format = 'json') AS SELECT * FROM all_pairs;
