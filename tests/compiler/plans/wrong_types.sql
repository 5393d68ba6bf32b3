CREATE MODEL m1 AS SELECT customer AND TRUE AS a, tags + 1 AS b, upper(customer, 1) AS c, address > 1 AS d FROM orders;
CREATE MODEL m2 AS SELECT id FROM orders WHERE price;
CREATE MODEL m3 AS SELECT CASE WHEN qty > 1 THEN tags ELSE 1 END AS x, CAST(tags AS INT) AS y FROM orders;
CREATE MODEL m4 AS SELECT id FROM orders UNION ALL SELECT tags FROM orders;
CREATE MODEL m5 AS SELECT id, price FROM orders UNION ALL SELECT id FROM orders;
CREATE SINK s (id INT, price DECIMAL(5, 2), who STRING NOT NULL) WITH (connector = 'delta', path = 'x')
AS SELECT id, price, customer FROM orders;
CREATE SINK s2 (id INT) WITH (connector = 'delta', path = 'y') AS SELECT id, price FROM orders;
