-- What a card does in ten minutes: the features that a model of risk would ask for.
SELECT
  window_start,
  card,
  COUNT(*) AS payments,
  COUNT(DISTINCT merchant) AS merchants,
  SUM(amount) AS spent,
  MAX(amount) AS largest
FROM TUMBLE(TABLE payments, DESCRIPTOR(paid_at), INTERVAL '10' MINUTES)
GROUP BY window_start, window_end, card
