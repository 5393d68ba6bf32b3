CREATE SINK by_page WITH (connector = 'filesystem', path = 'out/by_page', format = 'json') AS
SELECT window_start, page, count(*) AS n, max(customer) AS last
FROM TUMBLE(TABLE clicks, DESCRIPTOR(clicked_at), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end, page;

CREATE SINK sliding WITH (connector = 'filesystem', path = 'out/sliding', format = 'json') AS
SELECT window_time, customer, count(*) AS n
FROM (SELECT *, 'x' AS kind FROM HOP(TABLE clicks, DESCRIPTOR(clicked_at), INTERVAL '1' MINUTE, INTERVAL '5' MINUTES))
WHERE page <> '/' AND kind = 'x'
GROUP BY window_start, window_end, window_time, customer
HAVING count(*) > 1;
