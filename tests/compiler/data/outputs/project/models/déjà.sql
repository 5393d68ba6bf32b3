SELECT 'é𝄞' AS sign, prise
FROM orders
WHERE price > ${least};
