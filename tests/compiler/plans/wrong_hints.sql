CREATE MODEL m1 AS SELECT /*+ STATE_TTL('o' = 'soon') */ id FROM orders;
CREATE MODEL m2 AS SELECT /*+ STATETTL('o' = '1 d'), OPTIONS('a' = 'b'), NO_SUCH_THING */ id FROM orders;
CREATE MODEL m3 AS SELECT id FROM orders /*+ OPTIONS('pth' = 'x') */;
CREATE MODEL m4 AS SELECT id FROM m3 /*+ OPTIONS('path' = 'x') */;
CREATE MODEL m5 AS SELECT /*+ STATE_TTL(1) */ code FROM customers /*+ OPTIONS('path' = 'x') */ /* a comment */;
