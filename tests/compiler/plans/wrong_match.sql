CREATE MODEL unordered AS SELECT * FROM orders MATCH_RECOGNIZE (
  PARTITION BY customer ORDER BY price MEASURES A.id AS id AFTER MATCH SKIP TO NEXT ROW PATTERN (A B));

CREATE MODEL downwards AS SELECT * FROM orders MATCH_RECOGNIZE (
  ORDER BY ordered_at DESC MEASURES A.id AS id AFTER MATCH SKIP TO NEXT ROW PATTERN (A B));

CREATE MODEL static AS SELECT * FROM cities MATCH_RECOGNIZE (ORDER BY code MEASURES A.code AS c PATTERN (A B));

CREATE MODEL empty AS SELECT * FROM orders MATCH_RECOGNIZE (ORDER BY ordered_at PATTERN (A* B?));

CREATE MODEL endless AS SELECT * FROM orders MATCH_RECOGNIZE (ORDER BY ordered_at PATTERN (A B*));

CREATE MODEL anchored AS SELECT * FROM orders MATCH_RECOGNIZE (ORDER BY ordered_at PATTERN (^ A B));

CREATE MODEL unread AS SELECT * FROM orders MATCH_RECOGNIZE (ORDER BY ordered_at PATTERN (A | | B));

CREATE MODEL every_row AS SELECT * FROM orders MATCH_RECOGNIZE (ORDER BY ordered_at ALL ROWS PER MATCH PATTERN (A B));

CREATE MODEL subsets AS SELECT * FROM orders MATCH_RECOGNIZE (
  ORDER BY ordered_at PATTERN (A B) SUBSET S = (A, B) DEFINE A AS A.qty > 1);

CREATE MODEL loops AS SELECT * FROM orders MATCH_RECOGNIZE (
  ORDER BY ordered_at AFTER MATCH SKIP TO FIRST A PATTERN (A B));

CREATE MODEL nowhere AS SELECT * FROM orders MATCH_RECOGNIZE (
  ORDER BY ordered_at AFTER MATCH SKIP TO LAST Z PATTERN (A B));

CREATE MODEL skips AS SELECT * FROM orders MATCH_RECOGNIZE (
  ORDER BY ordered_at AFTER MATCH SKIP SOMEWHERE PATTERN (A B));

CREATE MODEL names AS SELECT * FROM orders MATCH_RECOGNIZE (
  PARTITION BY customer
  ORDER BY ordered_at
  MEASURES A.id AS id, B.id AS id, A.id AS customer, Q.id AS q, A.nothing AS nothing, sum(A.price * B.qty) AS mixed
  PATTERN (A B)
  DEFINE
    C AS C.price > 1,
    A AS A.price,
    B AS B.address.city LIKE A.address.city);

CREATE MODEL across AS SELECT * FROM orders MATCH_RECOGNIZE (
  ORDER BY ordered_at
  MEASURES
    PREV(A.price) AS p,
    CLASSIFIER() AS c,
    LAST(FIRST(A.price)) AS l,
    LAST(A.price, A.qty) AS v,
    LAST(sum(A.price)) AS s,
    collect_list(A.price) AS xs,
    count(DISTINCT A.price) AS d,
    sum(A.price) FILTER (WHERE A.qty > 1) AS f,
    MATCH_ROWTIME(A.price) AS r
  PATTERN (A B)
  DEFINE
    A AS length(concat(A.customer, LAST(A.customer, 1))) > 3,
    B AS CAST(sum(B.price) AS STRING) = 'x');

CREATE MODEL late AS SELECT * FROM orders MATCH_RECOGNIZE (
  PATTERN (A B) ORDER BY ordered_at);

CREATE MODEL unnamed AS SELECT * FROM orders MATCH_RECOGNIZE (
  ORDER BY ordered_at MEASURES A.price PATTERN (A B));

CREATE MODEL computed AS SELECT * FROM orders MATCH_RECOGNIZE (
  PARTITION BY upper(customer) ORDER BY ordered_at PATTERN (A B));

CREATE MODEL months AS SELECT * FROM orders MATCH_RECOGNIZE (
  ORDER BY ordered_at PATTERN (A B) WITHIN INTERVAL '1' MONTH);
