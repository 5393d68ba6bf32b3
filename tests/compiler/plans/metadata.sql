CREATE SOURCE files (
  id BIGINT,
  origin STRING METADATA FROM 'file.name' VIRTUAL,
  size DECIMAL(20, 0) METADATA FROM 'file.size' VIRTUAL,
  `file.path` STRING METADATA,
  modified TIMESTAMP_LTZ(3) METADATA FROM 'file.modification-time' VIRTUAL,
  name AS upper(origin),
  WATERMARK FOR modified AS modified - INTERVAL '1' SECOND
) WITH (connector = 'filesystem', path = 'in/files', format = 'json');

CREATE TABLE files_out (id BIGINT, name STRING, ts TIMESTAMP(3) METADATA VIRTUAL, twice AS id * 2)
WITH ('connector' = 'print');
INSERT INTO files_out SELECT id, name FROM files WHERE size > 0 AND `file.path` LIKE '%.json';
