SELECT ${x} AS x
