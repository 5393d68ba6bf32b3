-- What stands between two comments is not a part of them, also where words that stand together do.
CREATE OR /* a */ garbage /* b */ REPLACE SOURCE s (id INT) WITH (connector = 'datagen');
CREATE SOURCE IF /* a */ garbage NOT /* b */ NOT EXISTS t (id INT) WITH (connector = 'datagen');
CREATE SOURCE u (id INT NOT /* a */ garbage /* b */ NULL) WITH (connector = 'datagen');
CREATE SOURCE v (id INT, PRIMARY /* a */ garbage /* b */ KEY (id) NOT ENFORCED) WITH (connector = 'datagen');
CREATE SOURCE w (id INT, PRIMARY KEY (id) NOT /* a */ garbage /* b */ ENFORCED) WITH (connector = 'datagen');
CREATE SOURCE x (t TIMESTAMP, WATERMARK /* a */ garbage /* b */ FOR t AS t) WITH (connector = 'datagen');
CREATE MODEL y PARTITIONED /* a */ garbage /* b */ BY (id) AS SELECT 1 AS id;
