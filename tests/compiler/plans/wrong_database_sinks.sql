CREATE SINK elsewhere WITH (connector = 'jdbc', url = 'jdbc:db2://db:50000/shop', table = 'orders')
AS SELECT customer, price FROM orders;

CREATE SINK maria WITH (connector = 'jdbc', url = 'jdbc:mariadb://db:3306/shop', table = 'm')
AS SELECT customer, price FROM orders;

CREATE SINK nowhere WITH (connector = 'jdbc', url = 'mysql://db:3306/shop', table = 'n')
AS SELECT customer, price FROM orders;

CREATE SINK spans WITH (connector = 'jdbc', url = 'jdbc:mysql://db:3306/shop', table = 's')
AS SELECT customer, INTERVAL '1' DAY AS span FROM orders;

CREATE SINK months WITH (connector = 'postgres', url = '${env:DB}', table = 'months')
AS SELECT customer, INTERVAL '1' MONTH AS span FROM orders;

CREATE SINK shared WITH (connector = 'postgres', url = '${env:DB}', table = 'months')
AS SELECT customer FROM orders;

CREATE SINK hook WITH (connector = 'http', url = 'https://example.com/hook', delivery = 'exactly_once',
  'header.Authorization' = 'Bearer abc')
AS SELECT customer FROM orders;

CREATE SINK login WITH (connector = 'jdbc', url = 'postgresql://shop:hunter2@db/shop', table = 'logins')
AS SELECT customer FROM orders;
