CREATE SOURCE orders (
  id BIGINT NOT NULL,
  price DOUBLE,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (connector = 'filesystem', path = 'data', format = 'csv');
