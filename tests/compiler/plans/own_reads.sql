-- Spark reads what is joined or united with itself once for each use, and wants a name for each.
CREATE MODEL firsts WITH (allow_unbounded = true) AS
SELECT id, qty FROM orders
QUALIFY row_number() OVER (PARTITION BY customer ORDER BY ordered_at) = 1;

CREATE MODEL pairs AS
SELECT a.id AS one, b.id AS other
FROM orders a JOIN orders b
  ON a.customer = b.customer AND b.ordered_at BETWEEN a.ordered_at AND a.ordered_at + INTERVAL '1' MINUTE;

CREATE SINK out WITH (connector = 'filesystem', path = 'out/own', format = 'json') AS
SELECT one, other FROM pairs
UNION ALL
SELECT id AS one, qty AS other FROM firsts
UNION ALL
SELECT qty AS one, id AS other FROM firsts;
