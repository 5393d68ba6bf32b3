CREATE MODEL m1 AS SELECT
  transform(tags, x -> x + 1 + y) AS a,
  transform(tags, (x, y, z) -> x) AS b,
  upper(x -> x) AS c,
  filter(tags, x -> length(x)) AS d,
  transform(qty, x -> x) AS e,
  transform(tags, x -> max(x)) AS f,
  aggregate(tags, 0, (n, x) -> 'a') AS g,
  zip_with(tags, tags, x -> x) AS h,
  transform(tags, (x, x) -> x) AS i
FROM orders;
