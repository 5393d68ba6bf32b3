SELECT id, customer, price, ordered_at
FROM orders
WHERE price > ${least}
