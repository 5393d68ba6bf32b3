CREATE SOURCE orders (
  id BIGINT NOT NULL,
  customer STRING,
  price DECIMAL(12, 2),
  qty INT,
  address STRUCT<city: STRING, zip: STRING>,
  tags ARRAY<STRING>,
  ordered_at TIMESTAMP(3),
  total AS price * qty,
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '10' SECONDS
) WITH (connector = 'filesystem', path = 'in/orders', format = 'json');

CREATE SOURCE clicks (
  customer STRING,
  page STRING,
  clicked_at TIMESTAMP(3),
  WATERMARK FOR clicked_at AS clicked_at - INTERVAL '1' MINUTE
) WITH (connector = 'filesystem', path = 'in/clicks', format = 'csv', 'csv.header' = 'true');

CREATE SOURCE readings (
  sensor STRING,
  value DOUBLE
) WITH (connector = 'filesystem', path = 'in/readings', format = 'parquet');
