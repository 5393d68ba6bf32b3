CREATE SOURCE changes (op STRING, number INT, id INT, name STRING)
WITH (connector = 'filesystem', path = 'in/changes', format = 'csv', 'csv.header' = 'true');
CREATE MODEL counts WITH (allow_unbounded = true) AS SELECT customer, count(*) AS n FROM orders GROUP BY customer;
CREATE MODEL numbers AS SELECT n FROM counts;
CREATE MODEL shouted AS SELECT upper(customer) AS customer, n FROM counts;
CREATE MODEL no_key AS SELECT * FROM FROM_CHANGELOG(TABLE changes, DESCRIPTOR(op));
CREATE MODEL no_text AS SELECT * FROM FROM_CHANGELOG(TABLE changes PARTITION BY id, DESCRIPTOR(number));
CREATE MODEL key_is_op AS SELECT * FROM FROM_CHANGELOG(TABLE changes PARTITION BY op, DESCRIPTOR(op));
CREATE MODEL no_kind AS SELECT * FROM FROM_CHANGELOG(TABLE changes PARTITION BY id, DESCRIPTOR(op), MAP['u', 'UPDATE']);
CREATE MODEL twice AS SELECT * FROM FROM_CHANGELOG(TABLE changes PARTITION BY id, DESCRIPTOR(op), MAP['u, c', 'INSERT', 'c', 'DELETE']);
CREATE MODEL no_map AS SELECT * FROM FROM_CHANGELOG(TABLE changes PARTITION BY id, op_mapping => 'u');
CREATE MODEL handled AS SELECT * FROM FROM_CHANGELOG(TABLE changes PARTITION BY id, invalid_op_handling => 'WARN');
CREATE MODEL people AS SELECT * FROM FROM_CHANGELOG(TABLE changes PARTITION BY id, DESCRIPTOR(op), MAP['u', 'UPDATE_AFTER']);
CREATE MODEL other_key AS SELECT * FROM TO_CHANGELOG(TABLE people PARTITION BY name);
CREATE MODEL taken AS SELECT * FROM TO_CHANGELOG(TABLE people PARTITION BY id, DESCRIPTOR(name));
CREATE MODEL few AS SELECT * FROM counts WHERE n < 3;
CREATE MODEL inexact AS SELECT * FROM TO_CHANGELOG(TABLE few PARTITION BY customer);
CREATE MODEL unbounded AS SELECT * FROM people UNION ALL SELECT * FROM people;
CREATE MODEL loose WITH (allow_unbounded = true) AS SELECT * FROM people UNION ALL SELECT * FROM people;
CREATE MODEL told AS SELECT * FROM TO_CHANGELOG(TABLE loose);
CREATE MODEL unnumbered WITH (state_ttl = '1 d') AS
SELECT customer, id FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY customer ORDER BY price DESC) <= 3;
CREATE MODEL keyless WITH (state_ttl = '1 d') AS
SELECT id FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY customer ORDER BY price DESC) < 3;
