CREATE MODEL clean AS SELECT id, customer, price, ordered_at FROM orders WHERE price > ${least} AND customer IS NOT NULL;
CREATE SINK all_of_them WITH (connector = 'filesystem', path = 'out/all', format = 'parquet') AS SELECT * FROM clean;
CREATE SINK large WITH (connector = 'delta', path = 'out/large') AS SELECT id, price FROM clean WHERE price > 90;
