-- Two sinks over one model: the files are read once for both, and each epoch's rows are kept while the
-- second is written. `headrace explain` shows them as one query.
CREATE SINK all_departures WITH (
  connector = 'filesystem',
  path = '${out}/departures',
  format = 'parquet'
) AS SELECT * FROM departures_named;

CREATE SINK cancellations WITH (
  connector = 'filesystem',
  path = '${out}/cancellations',
  format = 'json'
) AS SELECT scheduled_at, carrier, flight, origin, dest
FROM departures
WHERE cancelled;
