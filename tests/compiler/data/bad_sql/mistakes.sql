CREATE SOURCE orders (
  order_id BIGINT
  customer STRING,
  price DECIMAL(12,2
) WITH (connector = 'kafka');

CREATE SOURCE o2 (a INT, b STRING) WITH (connector : 'kafka', topic = 'x');
CREATE SOURCE o3 (a INT, b STRING,) WITH (connector = 'kafka');
CREATE SOURCE o4 (a INT, b STRING) WITH (connector = 'kafka' topic = 'x');
CREATE SOURCE o5 (a INT, b STRING) WITH (connector = "kafka", x = 5 s);
CREATE SOURCE o6 (a INT, b STRING) WITH (connector = 'kafka', path = out/x);
CREATE SOURCE o7 WITH (connector = 'kafka') (a INT);
CREATE MODEL m SELECT 1;
CREATE MODEL m2 AS
CREATE MODEL m3 WITH (x = 1) AS SELECT 1
CREATE SINK s1 WITH (connector = 'x') AS SELECT 1;
CREATE SINK s2 WITH (connector = 'x AS SELECT 1;
SELEC 1;
CRETE SOURCE x (a INT);
CREATE SORCE x (a INT);
CREATE SOURCE x (a INT, WATERMARK FR a AS b);
CREATE SOURCE x (a INT, WATERMARK FOR a = b);
CREATE SOURCE x (a INT, PRIMARY KEY a NOT ENFORCED);
CREATE SOURCE x2 (a, b INT) WITH (connector = ‘kafka’);
CREATE SOURCE x3 (a AS , b INT);
CREATE SOURCE x4 (a INT, b INT) WTH (a = 1);
CREATE SOURCE x5 (a INT, b INT) WITH (a == 1);
CREATE SOURCE x6 a INT, b INT) WITH (a = 1);
CREATE SOURCE x7 (a INT, b INT) WITH a = 1;
CREATE SOURCE x8 (a INT, b INT)) WITH (a = 1);
CREATE SOURCE (a INT, b INT) WITH (a = 1);
INSERT s1 SELECT 1;
INSERT INTO s9 VALUS (1);
SET x 1;
CREATE SOURCE x9 (a ARRAY<INT) WITH (a = 1);
CREATE SOURCE x9 (a INT NOT NUL) WITH (a = 1);
CREATE SOURCE x9 (a INT, b INT AS a + 1) WITH (a = 1);
CREATE SOURCE x9 (a INT, b AS (a + 1) WITH (a = 1);
CREATE SOURCE 9x (a INT, b AS (a + 1)) WITH (a = 1);
DROP TABLE x;
CREATE TABLE
