CREATE SOURCE changes (op STRING, id INT, name STRING)
WITH (connector = 'filesystem', path = 'in/changes', format = 'csv', 'csv.header' = 'true');

CREATE MODEL people AS
SELECT * FROM FROM_CHANGELOG(
  input => TABLE changes PARTITION BY id,
  op => DESCRIPTOR(op),
  op_mapping => MAP['c, r', 'INSERT', 'u', 'UPDATE_AFTER', 'd', 'DELETE'],
  invalid_op_handling => 'SKIP');

CREATE MODEL history AS
SELECT * FROM TO_CHANGELOG(TABLE people PARTITION BY id, DESCRIPTOR(kind), MAP['INSERT, UPDATE_AFTER', 'set', 'DELETE', 'gone']);

CREATE SINK people_now (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
WITH (connector = 'delta', path = 'out/people') AS SELECT * FROM people;

CREATE SINK people_then WITH (connector = 'filesystem', path = 'out/history', format = 'json') AS SELECT * FROM history;
