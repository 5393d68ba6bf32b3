CREATE MODEL counts WITH (allow_unbounded = true) AS SELECT customer, count(*) AS n FROM orders GROUP BY customer;
CREATE MODEL sizes WITH (allow_unbounded = true) AS SELECT n, count(*) AS customers FROM counts GROUP BY n;
CREATE MODEL united WITH (allow_unbounded = true) AS SELECT customer, n FROM counts UNION ALL SELECT customer, n FROM counts;
CREATE MODEL unlike WITH (allow_unbounded = true) AS SELECT DISTINCT customer FROM counts;
CREATE MODEL known AS SELECT customer, n FROM counts LEFT SEMI JOIN customers ON customer = code;
CREATE SINK out WITH (connector = 'print') AS SELECT * FROM counts;
