CREATE MODEL m1 AS WITH a AS (SELECT id FROM orders), A AS (SELECT qty FROM orders) SELECT * FROM a;
CREATE MODEL m2 AS WITH a AS (SELECT * FROM a) SELECT * FROM a;
CREATE MODEL m3 AS WITH m3 AS (SELECT * FROM m3) SELECT * FROM m3;
CREATE MODEL m4 AS WITH a (x) AS (SELECT id, qty FROM orders) SELECT x FROM a;
CREATE MODEL m5 AS SELECT id + 1 AS i FROM orders WHERE i > 2;
CREATE MODEL m6 AS SELECT o.id FROM orders o JOIN customers o ON o.customer = o.code;
CREATE MODEL m7 AS SELECT id, name FROM orders JOIN customers;
CREATE MODEL m8 AS SELECT foo AS f, upper(bar) AS u FROM orders GROUP BY f, 2;
CREATE MODEL m9 AS SELECT id, t FROM orders LATERAL VIEW explode(tags) x AS t;
CREATE MODEL m10 AS SELECT * EXCEPT (custmer) FROM orders;
CREATE MODEL m11 AS SELECT x.* FROM orders o;
CREATE MODEL m12 AS SELECT * FROM orders o JOIN customers FOR SYSTEM_TIME AS OF o.ordered_at AS c ON o.customer = c.code;
CREATE MODEL m13 AS SELECT "customer" FROM orders WHERE ${nothing} > 1;
CREATE MODEL m14 AS SELECT id FROM orders HAVING sum(qty) > 1;
CREATE SOURCE s1 (a INT, b AS a + 1, c AS b + 1, ts TIMESTAMP, WATERMARK FOR ts AS ts - 5)
WITH (connector = 'datagen', 'fields.aa.min' = '1');
CREATE SOURCE s2 (a INT, b AS a + 1, c AS b + 1) WITH (connector = 'datagen');
CREATE SOURCE s3 (ts TIMESTAMP, WATERMARK FOR ts AS ts - 5) WITH (connector = 'datagen');
