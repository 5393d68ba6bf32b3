SELECT id, customer, price, ordered_at
FROM order
WHERE price > ${least}
