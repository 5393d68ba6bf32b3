CREATE SOURCE shop_changes (op STRING, id BIGINT, status STRING, price DECIMAL(12, 2))
WITH (connector = 'filesystem', path = 'in/shop', format = 'json');
CREATE SOURCE web_changes (op STRING, id BIGINT, status STRING, price DECIMAL(12, 2))
WITH (connector = 'filesystem', path = 'in/web', format = 'json');

CREATE MODEL shop AS SELECT * FROM FROM_CHANGELOG(TABLE shop_changes PARTITION BY id, DESCRIPTOR(op));
CREATE MODEL web AS SELECT * FROM FROM_CHANGELOG(TABLE web_changes PARTITION BY id, DESCRIPTOR(op));

-- A constant of each input keeps their keys apart.
CREATE MODEL every WITH (allow_unbounded = true) AS
SELECT 'shop' AS origin, id, status, price FROM shop UNION ALL SELECT 'web', id, status, price FROM web;

-- Rows without a key come and go: groups, filters and joins with a seed take them as they are.
CREATE MODEL prices WITH (state_ttl = '30 d') AS
SELECT status, price FROM (
  SELECT id, status, price FROM shop UNION ALL SELECT id, status, price FROM web
  UNION ALL SELECT id, customer, CAST(price AS DECIMAL(12, 2)) FROM orders)
LEFT SEMI JOIN customers ON status = code WHERE price > 1;
CREATE MODEL totals WITH (state_ttl = '30 d') AS
SELECT status, count(*) AS n, sum(price) AS price FROM prices GROUP BY status;

CREATE SINK every_out (PRIMARY KEY (origin, id) NOT ENFORCED) WITH (connector = 'delta', path = 'out/every')
AS SELECT * FROM every WHERE price > 0;
CREATE SINK totals_out (PRIMARY KEY (status) NOT ENFORCED) WITH (connector = 'delta', path = 'out/totals')
AS SELECT * FROM totals;
