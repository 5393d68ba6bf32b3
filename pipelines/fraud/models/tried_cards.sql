-- A stolen card is tried with small payments, in a row, and then emptied: at least two trials and a large payment
-- within five minutes.
SELECT card, trials, began_at, emptied_at, payment_id, amount
FROM payments
MATCH_RECOGNIZE (
  PARTITION BY card
  ORDER BY paid_at
  MEASURES
    COUNT(TRIAL.payment_id) AS trials,
    FIRST(TRIAL.paid_at) AS began_at,
    LARGE.paid_at AS emptied_at,
    LARGE.payment_id AS payment_id,
    LARGE.amount AS amount
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (TRIAL{2,} LARGE) WITHIN INTERVAL '5' MINUTES
  DEFINE
    TRIAL AS TRIAL.amount < ${small},
    LARGE AS LARGE.amount >= ${large}
)
