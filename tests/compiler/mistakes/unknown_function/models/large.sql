SELECT id, uper(customer) AS customer, price, ordered_at
FROM orders
