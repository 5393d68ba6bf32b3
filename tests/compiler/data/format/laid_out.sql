-- headrace: allow HR219
CREATE SOURCE orders (
  id bigint NOT NULL,
  customer STRING,
  price decimal(12, 2),
  total AS price * qty, -- computed
  ts timestamp(3) METADATA FROM 'timestamp' VIRTUAL,
  tags array<struct<a:int, b:map<string, int>>>,
  WATERMARK FOR ts AS ts - INTERVAL '5' second,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (connector = 'kafka', 'topic' = 'x');

CREATE MODEL m WITH (state_ttl = '1 d') AS
SELECT /*+ STATE_TTL('1d') */
  a.id,
  sum(price) AS p,
  -1 AS neg,
  a - -1,
  CASE WHEN a > 1 AND b < 2 THEN 'x' ELSE 'y' END AS kind,
  count(*) FILTER (WHERE x IS NOT DISTINCT FROM y) c,
  `we ird`.x[1].y AS `group`,
  date,
  left(a, 3),
  INTERVAL 5 minutes
FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '5' minutes) a
-- about the join
LEFT JOIN customers FOR SYSTEM_TIME AS OF a.ts AS c
  ON a.id = c.id
    AND a.very_long_column_name_number_one = c.very_long_column_name_number_two
    AND x BETWEEN 1 AND 2
WHERE a > ${least}
  AND name LIKE '%x'
  OR NOT (b IN (1, 2, 3) AND c IS NULL) -- trailing
GROUP BY window_start, window_end
HAVING count(*) > 1
UNION ALL
SELECT *
FROM (
  SELECT x, row_number() OVER (PARTITION BY a ORDER BY b DESC) rn
  FROM t
)
WHERE rn <= 3
ORDER BY a DESC
LIMIT 10;
INSERT INTO t (a, b)
WITH q AS (
  SELECT 1 AS x
),
r AS (
  SELECT 2
)
SELECT *
FROM q, r;
EXECUTE STATEMENT SET BEGIN
INSERT INTO a
SELECT 1;
INSERT INTO b
SELECT 2;
END;
SET 'k' = 'v';
SELECT {{ ref('x') }}.a, pre_${x}_post, x -> x + 1, a::int, v:path.b
FROM {{ source('a','b') }}
