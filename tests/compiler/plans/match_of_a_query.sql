CREATE MODEL pairs AS
SELECT m.page, m.first_at, p.name AS other
FROM (SELECT page, clicked_at, customer FROM clicks WHERE page <> '/') MATCH_RECOGNIZE (
  ORDER BY clicked_at
  MEASURES A.page AS page, A.clicked_at AS first_at
  PATTERN (A B)
  DEFINE B AS B.page = A.page
) AS m
JOIN cities p ON p.code = m.page;


CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json') AS SELECT * FROM pairs;
