-- Payments as the tills report them, some seconds late; and partitions of the topic that are read together may
-- be apart by more. A record that is no payment goes to a sink of its own instead of stopping everybody's.
CREATE SOURCE payments (
  payment_id STRING,
  card STRING,
  merchant STRING,
  amount DECIMAL(10, 2),
  paid_at TIMESTAMP(3),
  WATERMARK FOR paid_at AS paid_at - INTERVAL '2' MINUTES
) WITH (
  connector = 'kafka',
  topic = 'payments',
  'properties.bootstrap.servers' = '${env:FRAUD_KAFKA}',
  format = 'json',
  max_records_per_epoch = 20000,
  on_bad_record = 'dead_letter',
  dead_letter = 'unreadable'
);
