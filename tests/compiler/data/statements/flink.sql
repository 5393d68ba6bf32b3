SET 'table.exec.state.ttl' = '1 h';
CREATE TEMPORARY TABLE bid (
  bidtime TIMESTAMP(3),
  price   DECIMAL(10, 2),
  item    STRING,
  id BIGINT PRIMARY KEY NOT ENFORCED,
  proc AS PROCTIME(),
  WATERMARK FOR bidtime AS bidtime - INTERVAL '1' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '/data/input_bid.csv',
  'format' = 'csv',
  'csv.header' = 'true'
);

CREATE VIEW `result` AS
SELECT bidtime, price, item, window_start, window_end
FROM HOP(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES);

RESET;
CREATE TABLE `out` (
  bidtime      TIMESTAMP(3),
  price        DECIMAL(10, 2)
) WITH ('connector' = 'filesystem', 'path' = '/out', 'format' = 'json');
CREATE TABLE second WITH ('connector' = 'print') AS SELECT * FROM `result`;
CREATE SINK third WITH (connector = 'print');

EXECUTE STATEMENT SET
BEGIN
  INSERT INTO `out` (price, bidtime) SELECT price, bidtime FROM `result`;
  INSERT INTO third SELECT * FROM `result`;
END;
