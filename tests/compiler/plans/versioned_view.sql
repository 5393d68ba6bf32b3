CREATE MODEL latest AS
SELECT page AS name, customer, at
FROM (SELECT *, clicked_at AS at, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY clicked_at DESC) AS n FROM clicks)
WHERE n = 1;
CREATE MODEL m WITH (allow_unbounded = true) AS
SELECT o.id, l.name, l.at
FROM orders AS o JOIN latest FOR SYSTEM_TIME AS OF o.ordered_at AS l ON l.customer = o.customer;
CREATE SINK s WITH (connector = 'filesystem', path = 'out/s', format = 'json') AS SELECT * FROM m;
CREATE SOURCE changes (
  op STRING, code STRING, name STRING, changed_at TIMESTAMP(3),
  WATERMARK FOR changed_at AS changed_at
) WITH (connector = 'filesystem', path = 'in/changes', format = 'json');
CREATE MODEL customers_by_code AS
SELECT * FROM FROM_CHANGELOG(TABLE changes PARTITION BY code, op => DESCRIPTOR(op), op_mapping => MAP['c', 'INSERT', 'u', 'UPDATE_AFTER', 'd', 'DELETE']);
CREATE MODEL m2 WITH (allow_unbounded = true) AS
SELECT o.id, c.name
FROM orders AS o LEFT JOIN customers_by_code FOR SYSTEM_TIME AS OF o.ordered_at AS c ON c.code = o.customer;
CREATE SINK s2 WITH (connector = 'filesystem', path = 'out/s2', format = 'json') AS SELECT * FROM m2;
