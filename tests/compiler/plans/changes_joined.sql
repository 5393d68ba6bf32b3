CREATE SOURCE order_changes (op STRING, order_id BIGINT, user_id INT, price DECIMAL(12, 2), tags ARRAY<STRING>)
WITH (connector = 'filesystem', path = 'in/orders', format = 'json');
CREATE SOURCE user_changes (op STRING, user_id BIGINT, status STRING)
WITH (connector = 'filesystem', path = 'in/users', format = 'json');

CREATE MODEL placed AS SELECT * FROM FROM_CHANGELOG(TABLE order_changes PARTITION BY order_id, DESCRIPTOR(op));
CREATE MODEL users AS SELECT * FROM FROM_CHANGELOG(TABLE user_changes PARTITION BY user_id, DESCRIPTOR(op));

-- An order has one user: the key is that of the order, and of the best orders of a status that with a number.
CREATE MODEL known WITH (allow_unbounded = true) AS
SELECT order_id, status, price, tags FROM placed o JOIN users u ON o.user_id = u.user_id AND price > 1;
CREATE MODEL best WITH (allow_unbounded = true) AS
SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY status ORDER BY price DESC, order_id) AS place FROM known)
WHERE place <= 3;

-- Both keys together, where neither is enough.
CREATE MODEL pairs WITH (state_ttl = '30 d') AS
SELECT a.order_id AS one, b.order_id AS other, a.price FROM placed a LEFT JOIN placed b ON a.price = b.price;

-- Rows that only come have no key, and what is joined with them has none.
CREATE MODEL customers_known WITH (allow_unbounded = true) AS
SELECT u.status, o.price, o.id FROM orders o LEFT JOIN users u ON o.id = u.user_id;
CREATE MODEL by_status WITH (allow_unbounded = true) AS
SELECT status, count(*) AS n, max(price) AS most FROM customers_known GROUP BY status;

CREATE SINK best_out (PRIMARY KEY (status, place) NOT ENFORCED) WITH (connector = 'delta', path = 'out/best') AS SELECT * FROM best;
CREATE SINK pairs_out (PRIMARY KEY (one, other) NOT ENFORCED) WITH (connector = 'delta', path = 'out/pairs') AS SELECT * FROM pairs;
CREATE SINK by_status_out (PRIMARY KEY (status) NOT ENFORCED) WITH (connector = 'delta', path = 'out/status')
AS SELECT * FROM by_status;
