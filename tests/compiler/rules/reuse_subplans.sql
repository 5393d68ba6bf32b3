CREATE MODEL priced AS SELECT id, price * qty AS total FROM orders WHERE qty > 0;
CREATE MODEL again AS SELECT id, price * qty AS total FROM orders WHERE qty > 0;
CREATE SINK large WITH (connector = 'delta', path = 'large') AS SELECT id FROM priced WHERE total > 100;
CREATE SINK small WITH (connector = 'delta', path = 'small') AS SELECT id FROM again WHERE total < 1;
