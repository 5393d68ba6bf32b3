-- One message an alert, under the card's key: whoever reads at read_committed sees it once.
CREATE SINK alerts WITH (
  connector = 'kafka',
  topic = 'alerts',
  'properties.bootstrap.servers' = '${env:FRAUD_KAFKA}',
  format = 'json',
  'key.fields' = 'card'
) AS SELECT * FROM tried_cards;
