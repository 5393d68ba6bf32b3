CREATE MODEL cleaned AS SELECT id, trim(customer) AS customer, price FROM orders WHERE price > 0;
CREATE MODEL large AS SELECT id, customer FROM cleaned WHERE price > 100;
CREATE SINK out WITH (connector = 'delta', path = 'out') AS SELECT * FROM large;
