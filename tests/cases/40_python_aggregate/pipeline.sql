CREATE SOURCE bid (
  bidtime TIMESTAMP(3),
  price   DECIMAL(10, 2),
  item    STRING,
  WATERMARK FOR bidtime AS bidtime - INTERVAL '5' MINUTES
) WITH (connector = 'filesystem', path = '${input}/input_bid.csv', format = 'csv', 'csv.header' = 'true');

CREATE MODEL result AS
SELECT window_start, window_end, change(price) AS change, path(item) AS path
FROM TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)
GROUP BY window_start, window_end;

CREATE SINK out WITH (connector = 'filesystem', path = '${out}', format = 'json')
AS SELECT * FROM result;
