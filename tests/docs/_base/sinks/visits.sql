CREATE SINK visits WITH (connector = 'console') AS SELECT customer, page FROM clicks;
