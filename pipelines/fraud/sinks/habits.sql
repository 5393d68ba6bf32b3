-- A row for each card and window; the table is made if it is not there.
CREATE SINK habits (PRIMARY KEY (card, window_start) NOT ENFORCED) WITH (
  connector = 'jdbc',
  url = '${env:FRAUD_POSTGRES}',
  username = '${env:FRAUD_USER}',
  password = '${env:FRAUD_PASSWORD}',
  table = 'card_habits',
  create_table = true
) AS SELECT * FROM card_habits;
