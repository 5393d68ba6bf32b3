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

CREATE MODEL ahead AS
SELECT * FROM (SELECT page, clicked_at FROM behind) MATCH_RECOGNIZE (
  PARTITION BY page ORDER BY clicked_at MEASURES MATCH_ROWTIME() AS at
  AFTER MATCH SKIP PAST LAST ROW PATTERN (A{2}) WITHIN INTERVAL '1' MINUTE);

CREATE MODEL behind AS SELECT page, clicked_at FROM clicks;

CREATE SINK twice WITH (connector = 'filesystem', path = 'twice', format = 'json') AS SELECT * FROM ahead;
