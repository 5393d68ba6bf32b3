CREATE MODEL named AS
SELECT o.id, o.customer, c.name, c.since, o.address.city
FROM orders AS o LEFT JOIN customers AS c ON o.customer = c.code;
CREATE SINK out WITH (connector = 'delta', path = 'out/named') AS SELECT * FROM named WHERE name IS NOT NULL;
