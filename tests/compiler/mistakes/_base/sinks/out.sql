CREATE SINK out WITH (connector = 'filesystem', path = 'out/per_minute', format = 'json')
AS SELECT * FROM per_minute;
