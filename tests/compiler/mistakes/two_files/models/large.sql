SELECT id, customer, prise, ordered_at
FROM orders
