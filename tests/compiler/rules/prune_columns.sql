CREATE MODEL priced AS SELECT *, upper(customer) AS who FROM orders;
CREATE SINK first WITH (connector = 'delta', path = 'first') AS SELECT id, total FROM priced;
CREATE SINK second WITH (connector = 'delta', path = 'second') AS SELECT id, qty FROM priced WHERE price > 1;
