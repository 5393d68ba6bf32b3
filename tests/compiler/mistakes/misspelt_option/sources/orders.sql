CREATE SOURCE orders (
  id BIGINT NOT NULL,
  customer STRING,
  price DECIMAL(12, 2),
  ordered_at TIMESTAMP(3),
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '5' SECONDS
) WITH (connector = 'filesystem', path = 'in/orders', fromat = 'json');
