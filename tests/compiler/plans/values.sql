CREATE MODEL m1 AS
SELECT id, label, weight FROM orders JOIN (VALUES (1, 'one', 1.5), (2, 'two', NULL), (3000000000, 'many', 10)) AS v (q, label, weight) ON qty = q;
CREATE MODEL m2 AS SELECT id FROM orders WHERE customer NOT IN (SELECT col1 FROM VALUES ('x'), ('y'));
CREATE SINK out1 WITH (connector = 'delta', path = 'out/1') AS SELECT * FROM m1;
CREATE SINK out2 WITH (connector = 'delta', path = 'out/2') AS SELECT * FROM m2;
