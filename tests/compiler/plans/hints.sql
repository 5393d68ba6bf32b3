CREATE MODEL m1 AS SELECT /*+ BROADCAST(c) */ id, name FROM orders /*+ OPTIONS('path' = 'in/other', 'max-files-per-epoch' = '3') */ o
JOIN customers c ON o.customer = c.code;
CREATE MODEL m2 AS
SELECT window_start, window_end, count(*) AS n
FROM TUMBLE(TABLE orders /*+ OPTIONS('path' = 'in/other', 'max-files-per-epoch' = '3') */, DESCRIPTOR(ordered_at), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end;
CREATE MODEL m3 AS SELECT /*+ STATE_TTL('o' = '2 d', 'r' = '1d') */ o.id, r.value FROM orders o JOIN readings r ON o.customer = r.sensor;
CREATE SINK out1 WITH (connector = 'delta', path = 'out/1') AS SELECT * FROM m1;
CREATE SINK out2 WITH (connector = 'delta', path = 'out/2') AS SELECT * FROM m2;
CREATE SINK out3 WITH (connector = 'delta', path = 'out/3') AS SELECT * FROM m3;
