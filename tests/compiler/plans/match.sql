CREATE MODEL dips AS
SELECT *
FROM orders MATCH_RECOGNIZE (
  PARTITION BY customer
  ORDER BY ordered_at, id DESC
  MEASURES
    FIRST(A.price) AS before,
    LAST(DOWN.price) / 2 AS half,
    SUM(DOWN.total) AS total,
    count(*) AS orders,
    upper(LAST(customer)) AS who,
    MATCH_ROWTIME() AS at
  ONE ROW PER MATCH
  AFTER MATCH SKIP TO LAST UP
  PATTERN (A (DOWN+ | FLAT{2,3}?) UP) WITHIN INTERVAL '1' HOUR
  DEFINE
    DOWN AS DOWN.price < LAST(DOWN.price, 1) OR (LAST(DOWN.price, 1) IS NULL AND DOWN.price < A.price),
    FLAT AS price = A.price AND tags[0] = 'flat',
    UP AS UP.qty > AVG(DOWN.qty) AND UP.ordered_at - A.ordered_at < INTERVAL '30' MINUTES
);

CREATE SINK out WITH (connector = 'filesystem', path = 'out', format = 'json')
AS SELECT window_start, window_end, count(*) AS dips
FROM TUMBLE(TABLE dips, DESCRIPTOR(at), INTERVAL '1' DAY)
GROUP BY window_start, window_end;
