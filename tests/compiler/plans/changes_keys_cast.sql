-- A cast may make one value of two: '1' and '01' are one number, so a row may find two of such a key.
CREATE SOURCE a_changes (op STRING, id INT, k INT, big BIGINT)
WITH (connector = 'filesystem', path = 'in/a', format = 'json');
CREATE SOURCE b_changes (op STRING, code STRING, note STRING)
WITH (connector = 'filesystem', path = 'in/b', format = 'json');
CREATE SOURCE c_changes (op STRING, number INT, note STRING)
WITH (connector = 'filesystem', path = 'in/c', format = 'json');
CREATE MODEL a AS SELECT * FROM FROM_CHANGELOG(TABLE a_changes PARTITION BY id, DESCRIPTOR(op));
CREATE MODEL b AS SELECT * FROM FROM_CHANGELOG(TABLE b_changes PARTITION BY code, DESCRIPTOR(op));
CREATE MODEL c AS SELECT * FROM FROM_CHANGELOG(TABLE c_changes PARTITION BY number, DESCRIPTOR(op));
CREATE MODEL by_text WITH (allow_unbounded = true) AS SELECT a.id, b.code, b.note FROM a JOIN b ON a.k = b.code;
-- Wider whole numbers stay apart.
CREATE MODEL by_number WITH (allow_unbounded = true) AS SELECT a.id, c.note FROM a JOIN c ON a.big = c.number;
-- One number in two spellings is one constant: no key tells the inputs apart.
CREATE MODEL both WITH (allow_unbounded = true) AS SELECT 1 AS origin, id FROM a UNION ALL SELECT 01, id FROM a;
CREATE MODEL counted WITH (allow_unbounded = true) AS SELECT origin, count(*) AS n FROM both GROUP BY origin;
CREATE SINK by_text_out (PRIMARY KEY (id, code) NOT ENFORCED) WITH (connector = 'delta', path = 'out/1') AS SELECT * FROM by_text;
CREATE SINK by_number_out (PRIMARY KEY (id) NOT ENFORCED) WITH (connector = 'delta', path = 'out/2') AS SELECT * FROM by_number;
CREATE SINK counted_out (PRIMARY KEY (origin) NOT ENFORCED) WITH (connector = 'delta', path = 'out/3') AS SELECT * FROM counted;
