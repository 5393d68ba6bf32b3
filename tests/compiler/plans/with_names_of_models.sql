-- As dbt's users begin a model: names of WITH stand for what they read.
CREATE MODEL big AS
WITH orders AS (SELECT * FROM orders),
     buyers (code, buyer) AS (SELECT code, upper(name) FROM customers)
SELECT orders.id, qty, buyer FROM orders JOIN buyers ON customer = code;

CREATE TABLE out (id BIGINT, twice INT, thrice INT) WITH ('connector' = 'print');
-- Columns are matched by position, so they need no names of their own.
INSERT INTO out WITH big AS (SELECT * FROM big) SELECT id, qty * 2, qty * 3 FROM big UNION ALL SELECT id, qty, qty FROM big;
