-- A long script: each mistake is told at its line, and hides no other.
CREATE TABLE t1 (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'filesystem', 'path' = 'in/1', 'format' = 'json');

CREATE TABLE t2 (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'filesystem', 'path' = 'in/2', 'format' = 'json');

CREATE TABLE t3 (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'filesystem', 'path' = 'in/3', 'format' = 'json');

CREATE TABLE t4 (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'filesystem', 'path' = 'in/4', 'format' = 'json');

CREATE TABLE t5 (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'filesystem', 'path' = 'in/5', 'format' = 'json');

CREATE TABLE t6 (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'filesystem', 'path' = 'in/6', 'format' = 'json');

CREATE TABLE t7 (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'filesystem', 'path' = 'in/7', 'format' = 'json');

CREATE TABLE t8 (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'filesystem', 'path' = 'in/8', 'format' = 'json');

CREATE TABLE t9 (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'filesystem', 'path' = 'in/9', 'format' = 'json');

CREATE TABLE t10 (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'filesystem', 'path' = 'in/10', 'format' = 'json');

CREATE TABLE t11 (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'filesystem', 'path' = 'in/11', 'format' = 'json');

CREATE TABLE t12 (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at)
WITH ('connector' = 'filesystem', 'path' = 'in/12', 'format' = 'json');

/* line 38 ; ' " ` */
CREATE VIEW a AS SELECT id FROM t1;
CREATE VIEW b AS SELECT idd FROM t2;  -- line 40
DROP TABLE t3;
ALTER TABLE t4 RENAME TO t5;
USE CATALOG x;
EXPLAIN SELECT 1;
SHOW TABLES;
CREATE VIEW c (x, y) AS SELECT id FROM t3;
CREATE TABLE out1 (id STRING) WITH ('connector' = 'print');
EXECUTE STATEMENT SET
BEGIN
  INSERT INTO out1 SELECT id FROM a;
  INSERT INTO out2 SELECT id FROM b;
  INSERT INT out1 SELECT 1;
END;
SET 'parallelism.default' = '0';
SELECT id, at FROM t5 WHERE ident = 1
