CREATE SINK out WITH (connector = 'console') AS SELECT * FROM big;
