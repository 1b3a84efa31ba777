\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D5: an override of the predicate holds for one run.
--
-- Case O29.
CREATE TABLE t (day int, v text);
CREATE TABLE s (day int, v text);
INSERT INTO s SELECT day, 'first' FROM generate_series(1, 12) AS day;
SELECT replace_flow.create_where_flow('t', 'TABLE s', 'day >= 10', reset_allowed => true);
CREATE TABLE definition AS TABLE replace_flow.flow;
SELECT refreshed('t');
SELECT * FROM t ORDER BY day;
SELECT refreshed('t', 'day BETWEEN 1 AND 5');
SELECT * FROM t ORDER BY day;
INSERT INTO t VALUES (7, 'manual');
UPDATE s SET v = 'second' WHERE day IN (2, 11);
SELECT refreshed('t');
SELECT * FROM t ORDER BY day;
-- One that fails changes nothing and is not remembered.
SELECT refused($$ SELECT replace_flow.refresh('t', '10 / (day - 4) > 0') $$);
SELECT refreshed('t');
SELECT * FROM t ORDER BY day;
-- A narrow one touches what is in it.
UPDATE s SET v = 'third' WHERE day > 10;
SELECT refreshed('t', 'day >= 11 AND day = 12');
SELECT * FROM t WHERE day > 9 ORDER BY day;
-- The next run misses nothing because of it.
SELECT refreshed('t');
SELECT * FROM t WHERE day > 9 ORDER BY day;
SELECT reset('t');
SELECT * FROM t ORDER BY day;
-- The definition is the same all along.
SELECT same('TABLE definition', 'TABLE replace_flow.flow');
-- and each run tells its window
SELECT predicate, technique, in_words(r) FROM replace_flow.run r ORDER BY run_id;

-- An override is no narrowing of the stored predicate: it is another window.
UPDATE s SET v = 'fourth';
SELECT refreshed('t', 'day < 3');
SELECT * FROM t ORDER BY day;
SELECT refreshed('t', 'true');
SELECT same('TABLE t', 'TABLE s');
SELECT refreshed('t', 'false');
SELECT same('TABLE t', 'TABLE s');
SELECT refreshed('t', 'NULL::boolean');
SELECT same('TABLE t', 'TABLE s');
-- NULL is no override.
SELECT refreshed('t', NULL);

-- Its names mean what they mean for the flow, and not for who gives it: the search
-- path is the creator's.
CREATE SCHEMA test_a;
CREATE SCHEMA test_b;
CREATE FUNCTION test_a.chosen() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE FUNCTION test_b.chosen() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 2';
SET search_path = test_b, test;
UPDATE s SET v = 'fifth';
SELECT refreshed('t', 'day = test_a.chosen()');
SELECT * FROM t WHERE v = 'fifth';
SET search_path = test;
DROP SCHEMA test_a, test_b CASCADE;

-- In a transaction that is rolled back there was none.
BEGIN;
SELECT refreshed('t', 'day = 6');
SAVEPOINT a;
SELECT refreshed('t', 'day = 7');
ROLLBACK TO a;
COMMIT;
SELECT day FROM t WHERE v = 'fifth' ORDER BY day;
SELECT count(*) FILTER (WHERE predicate ~ '7') AS about_7 FROM replace_flow.run;

-- It is not told of a using flow.
CREATE TABLE u_in (k int, s int);
SELECT replace_flow.create_using_flow('u', 'u_in', '{k}', 's');
SELECT refused($$ SELECT replace_flow.refresh('u') $$);
SELECT refused($$ SELECT replace_flow.refresh('u', 'k = 1') $$);
SELECT refused($$ SELECT replace_flow.apply('t') $$);
SELECT refused($$ SELECT replace_flow.full_refresh('u') $$);
SELECT refused($$ SELECT * FROM replace_flow.floors('t') $$);
SELECT refused($$ SELECT replace_flow.refresh('tt') $$);
SELECT refused($$ SELECT replace_flow.refresh(NULL) $$);
SELECT refused($$ SELECT replace_flow.refresh('t', wait => NULL) $$);
-- A technique can be asked for by its name.
SELECT refreshed('t', 'day = 1', 'COMPLETE_REPLACE_WHERE');
SELECT technique, reasons FROM replace_flow.run ORDER BY run_id DESC LIMIT 1;
SELECT refused($$ SELECT replace_flow.refresh('t', technique => 'QUICKLY') $$);
SELECT refused($$ SELECT replace_flow.refresh('t', technique => 'PARTITION_OVERWRITE') $$);
\i :finish
