CREATE MODEL m1 AS SELECT id, (SELECT max(code) FROM customers) AS x FROM orders;
CREATE MODEL m2 AS SELECT id FROM orders WHERE qty > 1 OR customer IN (SELECT code FROM customers);
CREATE MODEL m3 AS SELECT id FROM orders WHERE customer IN (SELECT code, name FROM customers);
CREATE MODEL m4 AS SELECT id FROM orders WHERE EXISTS (SELECT code FROM customers GROUP BY code);
CREATE MODEL m5 AS SELECT id FROM orders WHERE customer IN (SELECT customer FROM clicks);
CREATE MODEL m6 AS SELECT code FROM customers WHERE EXISTS (SELECT 1 FROM clicks WHERE customer = code);
CREATE MODEL m7 AS SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM customers WHERE nothing = customer);
CREATE MODEL m8 AS SELECT id FROM orders WHERE tags IN (SELECT code FROM customers);
CREATE MODEL m9 AS SELECT id FROM orders WHERE id IN (SELECT code FROM custmers) AND nothing > 1;
