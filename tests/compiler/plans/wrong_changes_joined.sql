CREATE SOURCE changes (op STRING, id INT, name STRING)
WITH (connector = 'filesystem', path = 'in/changes', format = 'csv', 'csv.header' = 'true');
CREATE MODEL people AS SELECT * FROM FROM_CHANGELOG(TABLE changes PARTITION BY id, DESCRIPTOR(op));
CREATE MODEL unbounded AS SELECT a.id, b.name FROM people a JOIN people b ON a.id = b.id;
CREATE MODEL semi WITH (allow_unbounded = true) AS SELECT * FROM people a LEFT SEMI JOIN people b ON a.id = b.id;
CREATE MODEL more WITH (allow_unbounded = true) AS
SELECT a.id, b.name FROM people a LEFT JOIN people b ON a.id = b.id AND a.name < b.name;
CREATE MODEL first AS SELECT * FROM people QUALIFY row_number() OVER (PARTITION BY name ORDER BY id) = 1;
CREATE MODEL first_of_all WITH (allow_unbounded = true) AS
SELECT * FROM people QUALIFY row_number() OVER (ORDER BY id) = 1;
