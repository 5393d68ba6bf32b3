CREATE MODEL m1 AS SELECT date_trunc('hourz', ordered_at) AS a, trunc(ordered_at, 'xx') AS b,
  trunc(ordered_at, 'DAY') AS c, next_day(ordered_at, 'Mitday') AS d, from_utc_timestamp(ordered_at, 'Europ/Berlin') AS e,
  to_utc_timestamp(ordered_at, 'Mars') AS f, encode(customer, 'UTF-99') AS g, decode(encode(customer, 'utf-8'), 'ebcdic') AS h,
  element_at(tags, 0) AS i, tags[-1] AS n, split_part(customer, ',', 0) AS j, sha2(customer, 3) AS k, conv(customer, 10, 99) AS l,
  convert_tz(customer, 'UTC', 'Europ/Berlin') AS m
FROM orders;
CREATE MODEL m2 AS SELECT date_format(ordered_at, 'YYYY-MM-dd') AS a, date_format(ordered_at, 'u') AS b,
  date_format(ordered_at, 'yyyy-MM-ddTHH:mm') AS c, date_format(ordered_at, 'bad{') AS d,
  date_format(ordered_at, "HH 'Uhr") AS e, to_timestamp(customer, 'EEE, dd MMM') AS f, to_date(customer, 'ddd.MM.yyyy') AS g,
  to_unix_timestamp(customer, 'yyyy]') AS h, from_unixtime(id, 'n') AS i
FROM orders;
CREATE MODEL m3 AS SELECT customer LIKE 'a!' ESCAPE '!' AS a, customer LIKE 'a!b' ESCAPE '!' AS b,
  customer LIKE 'a%' ESCAPE '!!' AS c, customer LIKE 'a\\b' AS e, customer RLIKE '[a' AS f,
  split(customer, '[') AS g, regexp_replace(customer, '(', '') AS h, regexp_extract(customer, '(a)b)', 1) AS i,
  regexp_like(customer, '*a') AS j, regexp_count(customer, 'a|+') AS k, customer ILIKE '%!' ESCAPE '!' AS l
FROM orders;
CREATE MODEL m4 AS SELECT date_trunc('DAY', ordered_at) AS a, trunc(ordered_at, 'Month') AS b, next_day(ordered_at, 'Mo') AS c,
  from_utc_timestamp(ordered_at, '+01:00') AS d, to_utc_timestamp(ordered_at, 'PST') AS e, encode(customer, 'utf-16BE') AS f,
  decode(customer, 'a', 1, 2) AS g, element_at(tags, -1) AS h, date_format(ordered_at, "EEEE yyyy-MM-dd'T'HH:mm:ss.SSSXXX") AS i,
  to_timestamp(customer, '[yyyy-MM-dd][dd.MM.yyyy]') AS j, customer LIKE 'a!%' ESCAPE '!' AS k, customer RLIKE '[(\\[*]+' AS l,
  regexp_extract(customer, '(?<y>\\d{4})(?:-(\\d\\d))?', 1) AS m, split(customer, '|') AS n, regexp_replace(customer, '[]({]', '') AS o,
  unix_timestamp(ordered_at, 'Y') AS p, regexp_replace(customer, '\\Q[(\\E', '') AS q
FROM orders;
