CREATE MODEL with_place AS
SELECT id, tag, place FROM orders CROSS JOIN UNNEST(tags) WITH ORDINALITY AS t (tag, place);
CREATE MODEL without_tags_too AS SELECT id, t.tag FROM orders LEFT JOIN UNNEST(tags) AS t (tag) ON TRUE;
CREATE MODEL entries AS
SELECT id, k, v, n FROM orders, UNNEST(map('qty', qty)) WITH ORDINALITY AS t (k, v, n);
CREATE MODEL records AS
SELECT id, r.city, zip, n FROM orders
CROSS JOIN UNNEST(array(address)) AS r
LEFT JOIN UNNEST(array(address)) WITH ORDINALITY AS s (city, post, n) ON TRUE;
CREATE MODEL spark_views AS
SELECT id, i, x, w FROM orders
LATERAL VIEW OUTER posexplode(tags) t AS i, x LATERAL VIEW explode(split(x, ' ')) u AS w WHERE w <> '';
CREATE MODEL lateral_table AS
SELECT id, x, y.col FROM orders, LATERAL TABLE(explode(tags)) AS t (x), LATERAL explode(array(x, id)) AS y;
CREATE MODEL long_tags AS
SELECT o.id, x FROM orders AS o JOIN UNNEST(o.tags) AS t (x) ON length(x) > 3;
CREATE MODEL in_select AS SELECT id, explode(tags) AS tags, ordered_at FROM orders WHERE qty > 1;
CREATE MODEL two_columns AS SELECT id, posexplode(tags) AS (place, tag) FROM orders;
CREATE MODEL json_fields AS SELECT id, a, b FROM orders LATERAL VIEW json_tuple(customer, 'a', 'b') j AS a, b;
CREATE SINK out1 WITH (connector = 'delta', path = 'out/1') AS SELECT * FROM with_place;
CREATE SINK out2 WITH (connector = 'delta', path = 'out/2') AS SELECT * FROM without_tags_too;
CREATE SINK out3 WITH (connector = 'delta', path = 'out/3') AS SELECT * FROM entries;
CREATE SINK out4 WITH (connector = 'delta', path = 'out/4') AS SELECT * FROM records;
CREATE SINK out5 WITH (connector = 'delta', path = 'out/5') AS SELECT * FROM spark_views;
CREATE SINK out6 WITH (connector = 'delta', path = 'out/6') AS SELECT * FROM lateral_table;
CREATE SINK out7 WITH (connector = 'delta', path = 'out/7') AS SELECT * FROM long_tags;
CREATE SINK out8 WITH (connector = 'delta', path = 'out/8') AS SELECT * FROM in_select;
CREATE SINK out9 WITH (connector = 'delta', path = 'out/9') AS SELECT * FROM two_columns;
CREATE SINK out10 WITH (connector = 'delta', path = 'out/10') AS SELECT * FROM json_fields;
