CREATE MODEL cheap AS SELECT id, price, 'cheap' AS kind FROM orders WHERE price < 10;
CREATE MODEL dear AS SELECT id, CAST(price AS DECIMAL(14, 4)) AS price, 'dear' AS kind FROM orders WHERE price > 90;
CREATE SINK out WITH (connector = 'filesystem', path = 'out/both', format = 'json')
AS SELECT * FROM cheap UNION ALL SELECT id, price, upper(kind) FROM dear;
