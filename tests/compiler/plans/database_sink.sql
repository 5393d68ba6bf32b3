-- As a script for Flink has it.
CREATE TABLE revenue (
  customer STRING,
  total DECIMAL(12, 2),
  PRIMARY KEY (customer) NOT ENFORCED
) WITH (
  'connector' = 'jdbc',
  'url' = 'jdbc:postgresql://db:5432/shop?reWriteBatchedInserts=true',
  'table-name' = 'public.revenue',
  'username' = 'shop',
  'password' = '${env:SHOP_PASSWORD}',
  'driver' = 'org.postgresql.Driver',
  'sink.buffer-flush.max-rows' = '500',
  'sink.buffer-flush.interval' = '2s',
  'sink.max-retries' = '3',
  'sink.parallelism' = '2'
);
INSERT INTO revenue SELECT customer, price AS total FROM orders;
