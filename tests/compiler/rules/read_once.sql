CREATE SINK by_page WITH (connector = 'delta', path = 'by_page') AS
SELECT window_start, page, count(*) AS n
FROM TUMBLE(TABLE clicks, DESCRIPTOR(clicked_at), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end, page;
CREATE SINK all_clicks WITH (connector = 'delta', path = 'all_clicks') AS
SELECT customer, page, clicked_at FROM clicks WHERE page <> '/';
