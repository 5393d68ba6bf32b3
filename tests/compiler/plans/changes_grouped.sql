CREATE SOURCE user_changes (op STRING, user_id BIGINT, status STRING, credit DECIMAL(12, 2), note STRING)
WITH (connector = 'filesystem', path = 'in/users', format = 'json');

CREATE MODEL users AS
SELECT * FROM FROM_CHANGELOG(input => TABLE user_changes PARTITION BY user_id, op => DESCRIPTOR(op));

-- The row of a user before a change is needed to take it back; `note` is not read, and not kept.
CREATE MODEL by_status WITH (allow_unbounded = true) AS
SELECT status, count(*) AS users, sum(credit) AS credit, avg(credit) AS mean, min(credit) AS least,
  count(DISTINCT credit) FILTER (WHERE credit > 0) AS kinds
FROM users GROUP BY status HAVING count(*) > 1;

-- A group that gets no row for a day goes: headrace keeps these, since Spark drops none.
CREATE MODEL recent WITH (state_ttl = '1 d') AS SELECT customer, count(*) AS orders FROM orders GROUP BY customer;

-- Groups of groups, and of the last row of each key.
CREATE MODEL sizes WITH (state_ttl = '2 d') AS SELECT orders, count(*) AS customers FROM recent GROUP BY orders;

CREATE MODEL newest WITH (allow_unbounded = true) AS
SELECT customer, price FROM orders QUALIFY row_number() OVER (PARTITION BY customer ORDER BY ordered_at DESC) = 1;

CREATE SINK status_out (PRIMARY KEY (status) NOT ENFORCED) WITH (connector = 'delta', path = 'out/status')
AS SELECT * FROM by_status;
CREATE SINK sizes_out (PRIMARY KEY (orders) NOT ENFORCED) WITH (connector = 'delta', path = 'out/sizes')
AS SELECT * FROM sizes;
CREATE SINK newest_out WITH (connector = 'delta', path = 'out/newest', allow_unbounded = true)
AS SELECT sum(price) AS total, max(price) AS most FROM newest;
