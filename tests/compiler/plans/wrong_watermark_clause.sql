CREATE MODEL twice AS SELECT * FROM orders WATERMARK ordered_at DELAY OF INTERVAL 10 SECONDS;
CREATE MODEL no_time AS SELECT * FROM readings WATERMARK sensor DELAY OF INTERVAL 10 SECONDS;
CREATE MODEL unnamed AS SELECT * FROM readings WATERMARK timestamp_seconds(value) DELAY OF INTERVAL 10 SECONDS;
CREATE MODEL months AS SELECT * FROM readings WATERMARK timestamp_seconds(value) AS at DELAY OF INTERVAL 1 MONTH;
CREATE MODEL misspelt AS SELECT * FROM readings WATERMARK vale AS at DELAY OF INTERVAL 1 DAY;
CREATE MODEL not_there AS SELECT * FROM reading WATERMARK value AS at DELAY OF INTERVAL 1 DAY;
CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS SELECT customer FROM orders;
