CREATE SINK by_page WITH (connector = 'delta', path = 'by_page') AS
SELECT window_start, page, count(*) AS n
FROM TUMBLE(TABLE clicks, DESCRIPTOR(clicked_at), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end, page;
CREATE SINK by_customer WITH (connector = 'delta', path = 'by_customer') AS
SELECT window_start, customer, count(*) AS n
FROM TUMBLE(TABLE clicks, DESCRIPTOR(clicked_at), INTERVAL '1' HOUR) WHERE page <> '/'
GROUP BY window_start, window_end, customer;
