CREATE SINK out (
  window_start TIMESTAMP(3),
  window_end TIMESTAMP(3),
  customer STRING,
  orders STRING,
  revenue DECIMAL(22, 2)
) WITH (connector = 'filesystem', path = 'out/per_minute', format = 'json')
AS SELECT window_start, window_end, customer, orders, revenue FROM per_minute;
