CREATE SOURCE late (id INT, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '${delay}' SECONDS) WITH (connector = 'filesystem', path = 'in/late', format = '${form}');
CREATE MODEL compared AS SELECT id FROM orders WHERE price > '${least}' AND ordered_at > TIMESTAMP '${day}';
CREATE MODEL converted AS SELECT CAST('${whole}' AS INT) AS n FROM orders WHERE qty IN (1, '${other}');
CREATE MODEL windowed AS SELECT window_end, count(*) AS n FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '${size}' MINUTES) GROUP BY window_start, window_end;
CREATE MODEL wrong_itself AS SELECT id FROM orders WHERE price > 'abc' AND customer <> '${who}';
CREATE SINK out WITH (connector = '${what}', path = 'out') AS SELECT customer FROM orders;
