CREATE SINK elsewhere WITH (connector = 'jdbc', url = 'jdbc:mysql://db:3306/shop', table = 'orders')
AS SELECT customer, price FROM orders;

CREATE SINK months WITH (connector = 'postgres', url = '${env:DB}', table = 'months')
AS SELECT customer, INTERVAL '1' MONTH AS span FROM orders;

CREATE SINK shared WITH (connector = 'postgres', url = '${env:DB}', table = 'months')
AS SELECT customer FROM orders;

CREATE SINK hook WITH (connector = 'http', url = 'https://example.com/hook', delivery = 'exactly_once',
  'header.Authorization' = 'Bearer abc')
AS SELECT customer FROM orders;

CREATE SINK login WITH (connector = 'jdbc', url = 'postgresql://shop:hunter2@db/shop', table = 'logins')
AS SELECT customer FROM orders;
