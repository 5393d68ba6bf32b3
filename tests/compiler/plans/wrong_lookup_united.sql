-- What was looked up cannot meet rows of another state within a query: nothing is above both.
CREATE SOURCE named_orders (
  order_id BIGINT, user_id BIGINT, price DECIMAL(10, 2), order_time TIMESTAMP(3), seen_at AS PROCTIME(),
  WATERMARK FOR order_time AS order_time - INTERVAL '10' SECOND
) WITH (connector = 'filesystem', path = 'in/orders', format = 'json');

CREATE SOURCE names (user_id BIGINT, name STRING)
WITH (connector = 'filesystem', path = 'in/names', format = 'json');

CREATE SINK out WITH (connector = 'filesystem', path = 'out/united', format = 'json') AS
SELECT o.order_id AS id, n.name
FROM named_orders o JOIN names FOR SYSTEM_TIME AS OF o.seen_at AS n ON o.user_id = n.user_id
UNION ALL
SELECT count(*) AS id, CAST(user_id AS STRING) AS name
FROM TUMBLE(TABLE named_orders, DESCRIPTOR(order_time), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end, user_id;
