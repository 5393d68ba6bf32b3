-- Double quotes are names in DDL and strings in expressions.
CREATE SOURCE "made" (
  "a b" BIGINT,
  `c` STRING,
  d AS concat("c", '"c"', "no column", "a b"), -- "c"
  PRIMARY KEY ("a b") NOT ENFORCED
) WITH ("connector" = 'datagen', number_of_rows = 5);
CREATE SINK "out" WITH ('connector' = 'console') AS SELECT "a b" AS text, `a b`, "C" AS y, /* "c" */ 'it''s "c"' AS x FROM made;
