-- A table that is only a base is neither a source nor a sink.
CREATE TABLE base (
  id BIGINT,
  name STRING,
  at TIMESTAMP(3),
  twice AS id * 2,
  file STRING METADATA FROM 'file.name' VIRTUAL,
  WATERMARK FOR at AS at - INTERVAL '5' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'of all' PARTITIONED BY (name) WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'json');

CREATE TABLE everything LIKE base;
CREATE TABLE other_place (extra INT) WITH ('path' = 'elsewhere') LIKE base;
CREATE SINK columns_alone WITH (connector = 'print') LIKE base (EXCLUDING ALL);
CREATE SOURCE overwritten (
  twice AS id + id,
  file STRING METADATA FROM 'file.path' VIRTUAL,
  later AS at + INTERVAL '1' HOUR,
  WATERMARK FOR later AS later
) WITH (path = 'third')
LIKE other_place (OVERWRITING WATERMARKS OVERWRITING GENERATED OVERWRITING METADATA EXCLUDING CONSTRAINTS);
CREATE SINK with_query WITH (connector = 'print') LIKE base (INCLUDING ALL EXCLUDING OPTIONS EXCLUDING CONSTRAINTS)
AS SELECT id, name, at FROM everything;

INSERT INTO columns_alone SELECT id, name, at FROM other_place;
