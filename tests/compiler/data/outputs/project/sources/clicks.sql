CREATE SOURCE clicks (page STRING) WITH (
  connector = 'filesystem', path = 'data', formt = 'csv');
