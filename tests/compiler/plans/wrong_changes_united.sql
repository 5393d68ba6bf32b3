CREATE SOURCE changes (op STRING, id INT, name STRING)
WITH (connector = 'filesystem', path = 'in/changes', format = 'csv', 'csv.header' = 'true');
CREATE MODEL people AS SELECT * FROM FROM_CHANGELOG(TABLE changes PARTITION BY id, DESCRIPTOR(op));
CREATE MODEL loose WITH (allow_unbounded = true) AS
SELECT id, name FROM people WHERE id > 3 UNION ALL SELECT id, upper(name) FROM people;
CREATE MODEL unlike WITH (allow_unbounded = true) AS SELECT DISTINCT name FROM loose;
CREATE SINK loose_out (PRIMARY KEY (id) NOT ENFORCED) WITH (connector = 'delta', path = 'out/loose') AS SELECT * FROM loose;
CREATE SINK files WITH (connector = 'filesystem', path = 'out/files', format = 'json') AS SELECT * FROM loose;
CREATE SINK shown WITH (connector = 'print') AS SELECT * FROM loose;
