CREATE MODEL m1 AS SELECT id, "customer" AS c, 'customer' AS d, customer price, qty AS total, qty pieces FROM orders;
CREATE MODEL m2 AS SELECT id FROM orders WHERE "qty" = 'x' OR "other" = 'y';
CREATE MODEL m3 AS SELECT o.id o_id, o.customer `qty` FROM orders o JOIN customers c ON o.customer = c.code AND c.code <> "name";
CREATE SINK out WITH (connector = 'delta', path = 'out/1') AS SELECT * FROM m1;
