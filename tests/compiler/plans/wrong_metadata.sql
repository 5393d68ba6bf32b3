CREATE SOURCE files (
  id BIGINT,
  a STRING METADATA FROM 'file.nam',
  size BIGINT METADATA,
  t ARRAY<STRING> METADATA FROM 'file.name'
) WITH (connector = 'filesystem', path = 'in/files', format = 'json');
CREATE SOURCE made (id BIGINT, topic STRING METADATA) WITH (connector = 'datagen');
CREATE TABLE written (id BIGINT, ts TIMESTAMP(3) METADATA FROM 'timestamp') WITH ('connector' = 'print');
INSERT INTO written SELECT 1L, current_timestamp() FROM orders;
