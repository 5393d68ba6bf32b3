CREATE SOURCE a (x INT) WITH (
  connector = 'kafka,
  topic = 'orders',
  format = 'json'
);
CREATE SOURCE b (x INT) WITH (connector = 'kafka', 'topic = 'x');
CREATE SOURCE c (x INT) WITH (connector = 'kafka' /* never closed );
