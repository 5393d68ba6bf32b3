CREATE MODEL pages WITH (allow_unbounded = true) AS SELECT DISTINCT customer, page FROM clicks;

CREATE SINK customers_seen WITH (connector = 'filesystem', path = 'out/customers', format = 'json', state_ttl = '30 d') AS
SELECT DISTINCT customer FROM clicks;

CREATE SINK pages_seen WITH (connector = 'filesystem', path = 'out/pages', format = 'json') AS SELECT * FROM pages;

CREATE SINK pages_by_hour WITH (connector = 'filesystem', path = 'out/hours', format = 'json') AS
SELECT DISTINCT window_start, window_end, page
FROM TUMBLE(TABLE clicks, DESCRIPTOR(clicked_at), INTERVAL '1' HOUR);

CREATE SINK times WITH (connector = 'filesystem', path = 'out/times', format = 'json') AS
SELECT customer, clicked_at AS at FROM clicks UNION SELECT customer, ordered_at FROM orders;
