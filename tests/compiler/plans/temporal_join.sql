CREATE SOURCE rates (
  currency STRING,
  rate DECIMAL(10, 4),
  changed_at TIMESTAMP(3),
  PRIMARY KEY (currency) NOT ENFORCED,
  WATERMARK FOR changed_at AS changed_at - INTERVAL '30' SECONDS
) WITH (connector = 'filesystem', path = 'in/rates', format = 'csv', 'csv.header' = 'true');
CREATE MODEL converted AS
SELECT o.id, o.ordered_at, o.price * r.rate AS amount, r.changed_at
FROM orders AS o
LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ordered_at AS r ON r.currency = upper(o.customer) AND r.rate > 0;
CREATE MODEL sums AS
SELECT window_start, window_end, sum(amount) AS amount
FROM TUMBLE(TABLE converted, DESCRIPTOR(ordered_at), INTERVAL '5' MINUTES)
GROUP BY window_start, window_end;
CREATE SINK s WITH (connector = 'filesystem', path = 'out/s', format = 'json') AS SELECT * FROM sums;
