CREATE MODEL per_minute AS
SELECT
  window_start, window_end, customer,
  FIRST_VALUE(price) AS opened, LAST_VALUE(price) IGNORE NULLS AS closed, last(tags, true) AS last_tags,
  first_value(qty) FILTER (WHERE qty > 1) AS first_many,
  LISTAGG(CAST(id AS STRING), ',') AS ids, LISTAGG(address.city) WITHIN GROUP (ORDER BY price DESC, id) AS cities,
  listagg(address.zip, '-') WITHIN GROUP (ORDER BY id DESC NULLS FIRST) FILTER (WHERE qty > 0) AS zips,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY qty) AS middle, mode() WITHIN GROUP (ORDER BY qty) AS usual,
  JSON_ARRAYAGG(id) AS json_ids, count(DISTINCT qty) AS quantities
FROM TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '1' MINUTE) GROUP BY window_start, window_end, customer;
CREATE SINK out WITH (connector = 'delta', path = 'out/words') AS SELECT * FROM per_minute;
