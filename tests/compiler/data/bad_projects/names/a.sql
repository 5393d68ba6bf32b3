CREATE SOURCE orders (a INT) WITH (connector = 'kafka');
