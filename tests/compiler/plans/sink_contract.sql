CREATE TABLE summary (
  started TIMESTAMP(3),
  ended TIMESTAMP(3),
  amount DECIMAL(30, 2)
) WITH ('connector' = 'filesystem', 'path' = 'out/summary', 'format' = 'csv', 'csv.header' = 'true');
INSERT INTO summary
SELECT window_start, window_end, SUM(price)
FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '5' MINUTES) GROUP BY window_start, window_end;
