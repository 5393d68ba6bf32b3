CREATE MODEL latest AS
SELECT page AS name, customer, at
FROM (SELECT *, clicked_at AS at, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY clicked_at DESC) AS n FROM clicks)
WHERE n = 1;
CREATE MODEL m WITH (allow_unbounded = true) AS
SELECT o.id, l.name, l.at
FROM orders AS o JOIN latest FOR SYSTEM_TIME AS OF o.ordered_at AS l ON l.customer = o.customer;
CREATE SINK s WITH (connector = 'filesystem', path = 'out/s', format = 'json') AS SELECT * FROM m;
