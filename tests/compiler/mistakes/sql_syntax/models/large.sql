SELECT id, customer, price, ordered_at
FROM orders
WERE price > ${least}
