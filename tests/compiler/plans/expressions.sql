CREATE MODEL computed AS
SELECT
  id + 1 AS next_id, price / qty AS unit_price, -qty AS negative, qty % 2 = 0 AND NOT (qty > 5 OR id < 3) AS flag,
  CASE WHEN price > 50 THEN 'high' WHEN price > 10 THEN 'mid' ELSE 'low' END AS band,
  CASE customer WHEN 'a' THEN 1 ELSE 2 END AS code,
  CAST(price AS DOUBLE) AS as_double, qty::STRING AS as_text, TRY_CAST(customer AS INT) AS as_int,
  address.city AS city, tags[0] AS first_tag, customer || '!' AS loud,
  price BETWEEN 1 AND 2 AS cheap, customer IN ('a', 'b') AS known, customer LIKE 'a%' AS starts,
  ordered_at + INTERVAL '1' HOUR AS later, ordered_at - INTERVAL '1' DAY AS earlier,
  EXTRACT(HOUR FROM ordered_at) AS hour_of_day, DATE '2024-01-01' AS day, `qty` <=> NULL AS nothing,
  coalesce(customer, 'it''s nobody') AS somebody, substring(customer FROM 2 FOR 3) AS part,
  trim(BOTH 'x' FROM customer) AS trimmed, 1e3 AS thousand, 12.50 AS decimal_number, 3000000000 AS big
FROM orders;
CREATE SINK out WITH (connector = 'delta', path = 'out/computed') AS SELECT * FROM computed;
