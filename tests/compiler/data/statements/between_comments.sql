-- Keywords that are names here: what follows the first comment says so, and not what follows the second.
CREATE OR /* a * b **/ /***/ REPLACE SOURCE s (
  comment /* a */ STRING COMMENT /* b */ 'what was said',
  constraint /* a */ STRING,
  id /* b */ INT PRIMARY /* c */ KEY NOT ENFORCED
) WITH (connector = 'datagen');
