-- Groups that are not the sessions: those of one customer and one kind of price, and those of all bounds.
CREATE MODEL by_price AS
SELECT window_start, window_end, customer, price > 10 AS dear, COUNT(*) AS orders
FROM SESSION(TABLE orders PARTITION BY customer, DESCRIPTOR(ordered_at), INTERVAL '30' MINUTES)
GROUP BY window_start, window_end, customer, price > 10;

CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS SELECT * FROM by_price;
