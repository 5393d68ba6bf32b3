CREATE SOURCE clicks (page STRING) WITH (
  connector = 'filesystem', path = 'data', format = 'csv', tokn = '1', 'access.token' = 'hunter2');
