-- A source that reads an output of another query.
CREATE SOURCE written (id BIGINT) WITH (connector = 'filesystem', path = 'out/a', format = 'json');
CREATE SINK a WITH (connector = 'filesystem', path = 'out/a', format = 'json') AS SELECT id FROM orders;
CREATE SINK b WITH (connector = 'filesystem', path = './out/b/', format = 'json')
AS SELECT id FROM written;
CREATE SINK c WITH (connector = 'console') AS SELECT id FROM written;
