CREATE MODEL lists AS
SELECT
  id,
  transform(tags, x -> upper(x)) AS loud,
  transform(tags, (x, i) -> concat(x, i, customer)) AS numbered,
  filter(tags, t -> length(t) > qty) AS long_ones,
  aggregate(tags, 0, (n, x) -> n + length(x)) AS characters,
  aggregate(tags, 0, (n, x) -> n + length(x), n -> n / 2) AS half,
  exists(tags, x -> x IS NULL) AS holes,
  zip_with(tags, array(1, 2), (x, y) -> named_struct('tag', x, 'number', y)) AS pairs,
  map_filter(map('a', qty), (k, v) -> v > 1) AS many,
  transform(transform(tags, x -> named_struct('a', x)), s -> s.a) AS fields,
  transform(array(tags), xs -> transform(xs, x -> x || xs[0])) AS nested,
  array_sort(tags, (a, b) -> CASE WHEN a < b THEN -1 WHEN a > b THEN 1 ELSE 0 END) AS sorted
FROM orders;
CREATE SINK out WITH (connector = 'delta', path = 'out/lists') AS SELECT * FROM lists;
