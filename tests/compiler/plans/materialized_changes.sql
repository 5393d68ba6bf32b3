-- A model whose rows change is kept by its own key.
CREATE MODEL per_customer WITH (materialized = 'delta', allow_unbounded = true) AS
SELECT customer, count(*) AS n FROM orders GROUP BY customer;
