CREATE MODEL known AS SELECT id, customer FROM orders WHERE qty > 1 AND customer IN (SELECT code FROM customers);
CREATE MODEL unknown AS SELECT id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM customers c WHERE c.code = o.customer AND name <> 'x');
CREATE MODEL both AS
SELECT id FROM orders WHERE EXISTS (SELECT * FROM cities WHERE name = address.city) AND customer NOT IN (SELECT code FROM customers WHERE code <> 'z');
CREATE MODEL pairs AS SELECT id FROM orders WHERE (customer, address.city) IN (SELECT code, name FROM customers);
CREATE SINK out1 WITH (connector = 'delta', path = 'out/1') AS SELECT * FROM known;
CREATE SINK out2 WITH (connector = 'delta', path = 'out/2') AS SELECT * FROM unknown;
CREATE SINK out3 WITH (connector = 'delta', path = 'out/3') AS SELECT * FROM both;
CREATE SINK out4 WITH (connector = 'delta', path = 'out/4') AS SELECT * FROM pairs;
