CREATE MODEL m1 AS SELECT id FROM orders JOIN (VALUES (1, 'a'), (2)) AS v (x, y) ON qty = x;
CREATE MODEL m2 AS SELECT id FROM orders JOIN (VALUES (1), (DATE '2024-01-01')) AS v (x) ON qty = x;
CREATE MODEL m3 AS SELECT id FROM orders JOIN (VALUES (1, 2)) AS v (x) ON qty = x;
CREATE MODEL m4 AS SELECT id FROM orders JOIN (VALUES (id)) AS v (x) ON qty = x;
CREATE MODEL m5 AS SELECT id FROM orders JOIN (VALUES (1, 'a'), (2, 3)) AS v (x, y) ON qty = x;
