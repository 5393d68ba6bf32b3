CREATE MODEL newest WITH (state_ttl = '1 d') AS
SELECT id, price FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ordered_at) AS n FROM orders
) WHERE n = 1;
CREATE SINK out WITH (connector = 'delta', path = 'out') AS SELECT * FROM newest;
