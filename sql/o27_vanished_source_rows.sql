\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set compare :source /sql/include/compare.sql
\i :compare
--
-- Case O27, E5: rows of a source go and come without DELETE and INSERT, by what becomes
-- of its partitions.  Another tool that kept what changed noticed none of this, and
-- showed sums of rows that were no longer there.
--
-- After each step the window is what the query gives (ran says so), however that was
-- done; and what is outside of it stays as the target has it.
CREATE TABLE source (day int, n int) PARTITION BY LIST (day);
SELECT format('CREATE TABLE source_%s PARTITION OF source FOR VALUES IN (%1$s)', day) FROM generate_series(8, 12) AS day \gexec
INSERT INTO source SELECT day, n FROM generate_series(8, 12) AS day, generate_series(1, 3) AS n;
CREATE TABLE target (day int, n bigint);
INSERT INTO target VALUES (7, 70), (9, 90);
SELECT replace_flow.create_where_flow('target', 'SELECT day, count(*) AS n FROM source GROUP BY day', 'day >= 10', name => 'flow');
CREATE FUNCTION ran(technique text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT ran('flow', 'SELECT * FROM test.target WHERE day >= 10',
        'SELECT day, count(*) AS n FROM test.source WHERE day >= 10 GROUP BY day', technique)
$$;
CREATE FUNCTION rows() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(day || ': ' || n, ', ' ORDER BY day) FROM test.target
$$;
SELECT ran(), rows();
-- Between the steps the flow is refreshed until nothing is left to be done, so that each
-- step finds it incremental.
SELECT ran();

-- (a) a row is deleted
DELETE FROM source WHERE day = 10 AND n = 1;
SELECT ran(), rows();
-- (b) a partition is emptied
TRUNCATE source_11;
SELECT ran(), rows();
SELECT ran();
-- (c) one is detached
ALTER TABLE source DETACH PARTITION source_12;
SELECT ran(), rows();
SELECT ran();
INSERT INTO source_12 VALUES (12, 4);
SELECT ran(), rows();
-- (d) and attached again, with what came meanwhile
ALTER TABLE source ATTACH PARTITION source_12 FOR VALUES IN (12);
SELECT ran(), rows();
SELECT ran();
SELECT ran();
INSERT INTO source_12 VALUES (12, 5);
SELECT ran(), rows();
-- (e) one that has no part in the window is dropped
DROP TABLE source_9;
SELECT ran(), rows();
SELECT ran();
-- (f) all is emptied
TRUNCATE source;
SELECT ran(), rows();
SELECT ran();
-- (g) rows are loaded
COPY source FROM stdin;
8	1
8	2
10	1
11	1
\.
SELECT ran(), rows();
-- (h) one moves into the window, through a partition that is new
CREATE TABLE source_9 PARTITION OF source FOR VALUES IN (9);
INSERT INTO source VALUES (9, 1), (9, 2);
SELECT ran(), rows();
SELECT ran();
UPDATE source SET day = 10 WHERE day = 9 AND n = 1;
SELECT ran(), rows();
-- and out of it
UPDATE source SET day = 8 WHERE day = 11;
SELECT ran(), rows();

-- The same when all recompute the whole window.
SELECT ran('COMPLETE_REPLACE_WHERE'), rows();
-- Steps in one transaction, and some that are undone.
BEGIN;
TRUNCATE source_10;
SAVEPOINT a;
DROP TABLE source_12;
ROLLBACK TO a;
INSERT INTO source VALUES (12, 6);
SELECT ran(), rows();
ROLLBACK;
SELECT ran(), rows();
BEGIN;
ALTER TABLE source DETACH PARTITION source_10;
INSERT INTO source_10 VALUES (10, 100);
ALTER TABLE source ATTACH PARTITION source_10 FOR VALUES IN (10);
COMMIT;
SELECT ran(), rows();

\i :finish
