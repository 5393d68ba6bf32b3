CREATE MODEL step_1 AS
SELECT id, customer, price, ordered_at
FROM orders;

CREATE MODEL step_2 AS
SELECT id, customer, price, ordered_at
FROM step_1;

CREATE MODEL step_3 AS
SELECT id, customer, price, ordered_at
FROM step_2;

CREATE MODEL step_4 AS
SELECT id, customer, price, ordered_at
FROM step_3;

CREATE MODEL step_5 AS
SELECT id, customer, price, ordered_at
FROM step_4;

CREATE MODEL step_6 AS
SELECT id, customer, price, ordered_at
FROM step_5;

CREATE MODEL step_7 AS
SELECT id, customer, price, ordered_at
FROM step_6;

CREATE MODEL step_8 AS
SELECT id, customer, price, ordered_at
FROM step_7;

CREATE MODEL step_9 AS
SELECT id, customer, price, ordered_at
FROM step_8;

CREATE MODEL large AS
SELECT id,
  customer,
  price + customr AS price,
  ordered_at
FROM step_9;
