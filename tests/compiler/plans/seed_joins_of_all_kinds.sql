CREATE MODEL known AS SELECT * FROM clicks SEMI JOIN customers ON customer = code;
CREATE MODEL unknown AS SELECT * FROM clicks ANTI JOIN customers ON customer = code;
CREATE MODEL pairs AS SELECT page, cities.name AS city FROM clicks CROSS JOIN cities;
CREATE MODEL twice AS
SELECT k.page, customers.name AS customer, cities.name AS city
FROM clicks k JOIN customers ON k.customer = customers.code JOIN cities ON cities.code = k.page;
CREATE MODEL seed_first AS SELECT name, page FROM customers RIGHT JOIN clicks ON clicks.customer = customers.code;
CREATE MODEL by_using AS SELECT * FROM (SELECT customer AS code, page FROM clicks) AS renamed JOIN cities USING (code);
CREATE SINK s1 WITH (connector = 'blackhole') AS SELECT * FROM known;
CREATE SINK s2 WITH (connector = 'blackhole') AS SELECT * FROM unknown;
CREATE SINK s3 WITH (connector = 'blackhole') AS SELECT * FROM pairs;
CREATE SINK s4 WITH (connector = 'blackhole') AS SELECT * FROM twice;
CREATE SINK s5 WITH (connector = 'blackhole') AS SELECT * FROM seed_first;
CREATE SINK s6 WITH (connector = 'blackhole') AS SELECT * FROM by_using;
