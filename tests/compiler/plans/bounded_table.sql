CREATE SOURCE purchases (
  id BIGINT NOT NULL,
  amount DECIMAL(10, 2),
  bought_at TIMESTAMP(3),
  note STRING,
  WATERMARK FOR bought_at AS bought_at - INTERVAL '1' MINUTE
) WITH (
  connector = 'jdbc', url = 'jdbc:postgresql://db:5432/shop', table = 'purchases', username = 'reader',
  password = '${env:PASSWORD}'
);
CREATE SINK s WITH (connector = 'filesystem', path = 'out/s', format = 'json') AS
SELECT window_start, SUM(amount) AS total
FROM TUMBLE(TABLE purchases, DESCRIPTOR(bought_at), INTERVAL '1' DAY)
GROUP BY window_start, window_end;
