SELECT id, customer, price, ordered_at
FROM checked
