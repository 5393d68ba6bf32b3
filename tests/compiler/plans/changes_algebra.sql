CREATE SOURCE changes (op STRING, id INT, name STRING, score INT)
WITH (connector = 'filesystem', path = 'in/changes', format = 'csv', 'csv.header' = 'true');
CREATE MODEL people AS SELECT * FROM FROM_CHANGELOG(TABLE changes PARTITION BY id, DESCRIPTOR(op));
CREATE MODEL twice WITH (allow_unbounded = true) AS SELECT * FROM people UNION ALL SELECT * FROM people;
CREATE MODEL pairs WITH (state_ttl = '1 d') AS
SELECT people.id, people.name, twice.score FROM people LEFT JOIN twice ON people.id = twice.id;
CREATE MODEL best WITH (state_ttl = '1 d') AS
SELECT id, name, score, row_number() OVER (PARTITION BY name ORDER BY score DESC) AS place FROM people
QUALIFY place <= 3;
CREATE MODEL newest WITH (state_ttl = '1 d') AS
SELECT id, name FROM people QUALIFY row_number() OVER (PARTITION BY name ORDER BY id DESC) = 1;
CREATE MODEL names WITH (state_ttl = '1 d') AS SELECT name, count(*) AS n FROM pairs GROUP BY name;
CREATE SINK best_out (PRIMARY KEY (name, place) NOT ENFORCED) WITH (connector = 'delta', path = 'out/best') AS SELECT * FROM best;
CREATE SINK newest_out (PRIMARY KEY (name) NOT ENFORCED) WITH (connector = 'delta', path = 'out/newest') AS SELECT * FROM newest;
CREATE SINK names_out (PRIMARY KEY (name) NOT ENFORCED) WITH (connector = 'delta', path = 'out/names') AS SELECT * FROM names;
