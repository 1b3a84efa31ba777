\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D11: backfill recomputes a long range in half-open slices, one run and one
-- transaction each.
--
CREATE TABLE t (day int, v text);
CREATE TABLE s (day int, v text);
CREATE INDEX ON s (day);
INSERT INTO s SELECT i, 'v' || i FROM generate_series(0, 99) AS i;
INSERT INTO t VALUES (19, 'below'), (50, 'above'), (33, 'inside'), (NULL, 'neither');
SELECT replace_flow.create_where_flow('t', 'SELECT day, v FROM s', 'day >= 90');
-- The runs since the last look, in their order.
CREATE TABLE looked (run_id bigint);
INSERT INTO looked VALUES (0);
CREATE PROCEDURE look() LANGUAGE sql AS 'UPDATE looked SET run_id = (SELECT max(run_id) FROM replace_flow.run)';
CREATE VIEW runs AS
SELECT row_number() OVER (ORDER BY run_id) AS run, flow, predicate, in_words(r) AS counts
FROM replace_flow.run r WHERE run_id > (SELECT l.run_id FROM looked l) ORDER BY run_id;

-- Newest first by default; the end is not in the range, and the last slice is cut.
CALL replace_flow.backfill('t', 'day', 20, 50, 8);
TABLE runs;
CALL look();
SELECT same('TABLE t', $$ SELECT * FROM s WHERE day >= 20 AND day < 50 UNION ALL VALUES (19, 'below'), (50, 'above'), (NULL, 'neither') $$);
SELECT count(DISTINCT xmin::text) AS transactions FROM replace_flow.run;
-- Oldest first, over what has changed.
UPDATE s SET v = 'w' || day WHERE day < 30;
CALL replace_flow.backfill('t', 'day', 20, 50, 10, newest_first => false);
TABLE runs;
CALL look();
-- The stored predicate is the same as before.
SELECT replace_where FROM replace_flow.flow;
SELECT refreshed('t');
CALL look();
-- One slice, when the step is longer than the range; and of one value.
CALL replace_flow.backfill('t', 'day', 20, 22, 1000);
CALL replace_flow.backfill('t', 'day', 2147483645, 2147483647, 2);
CALL replace_flow.backfill('t', 'day', -2147483648, -2147483647, 2147483647);
TABLE runs;
CALL look();
-- Arguments may be literals without a type, and named.
CALL replace_flow.backfill(flow => 't', column_name => 'day', from_value => '0', to_value => '4', step => '2', newest_first => false);
TABLE runs;
CALL look();

-- What is no range.
SELECT refused($$ CALL replace_flow.backfill('t', 'day', 5, 5, 1) $$);
CALL replace_flow.backfill('t', 'day', 5, 5, 1);
CALL replace_flow.backfill('t', 'day', 6, 5, 1);
CALL replace_flow.backfill('t', 'day', 1, 5, 0);
CALL replace_flow.backfill('t', 'day', 1, 5, -1);
CALL replace_flow.backfill('t', 'day', 1, 5, NULL::int);
CALL replace_flow.backfill('t', 'day', NULL, 5, 1);
CALL replace_flow.backfill('t', 'day', 1, NULL::int, 1);
CALL replace_flow.backfill('t', 'day', 1, 5, 1, newest_first => NULL);
-- Of another type than the column's, or a column of which there are no ranges.
CALL replace_flow.backfill('t', 'day', '2026-01-01'::date, '2026-02-01'::date, 1);
CALL replace_flow.backfill('t', 'day', 1, 5, interval '1 day');
CALL replace_flow.backfill('t', 'day', 'one', 'five', 1);
CALL replace_flow.backfill('t', 'day', 1.5, 5, 1);
CALL replace_flow.backfill('t', 'v', 'a', 'z', 1);
CALL replace_flow.backfill('t', 'dai', 1, 5, 1);
CALL replace_flow.backfill('t', 'ctid', 1, 5, 1);
CALL replace_flow.backfill('t', NULL, 1, 5, 1);
CALL replace_flow.backfill('tt', 'day', 1, 5, 1);
CALL replace_flow.backfill(NULL, 'day', 1, 5, 1);
-- A column of the target that the query does not give.
ALTER TABLE t ADD COLUMN more int;
CALL replace_flow.backfill('t', 'more', 1, 5, 1);
-- A using flow has no window.
CREATE TABLE u_in (k int, s int);
SELECT replace_flow.create_using_flow('u', 'u_in', '{k}', 's');
CALL replace_flow.backfill('u', 'k', 1, 5, 1);

-- Each slice is a transaction: not inside of another one.
BEGIN;
CALL replace_flow.backfill('t', 'day', 1, 5, 1);
ROLLBACK;
DO $$ BEGIN CALL replace_flow.backfill('t', 'day', 1, 3, 1); END $$;
CREATE FUNCTION fill() RETURNS void LANGUAGE plpgsql AS $$ BEGIN CALL replace_flow.backfill('t', 'day', 1, 5, 1); END $$;
SELECT fill();
CREATE PROCEDURE fill_twice() LANGUAGE plpgsql AS $$
BEGIN
    CALL replace_flow.backfill('t', 'day', 3, 5, 1);
    CALL replace_flow.backfill('t', 'day', 5, 7, 1);
END $$;
CALL fill_twice();
TABLE runs;
CALL look();
BEGIN ISOLATION LEVEL REPEATABLE READ;
CALL replace_flow.backfill('t', 'day', 1, 5, 1);
ROLLBACK;
SET default_transaction_isolation = 'repeatable read';
CALL replace_flow.backfill('t', 'day', 1, 5, 1);
RESET default_transaction_isolation;

-- What fails in the middle keeps the slices that are done; called again it goes on
-- with the one that failed.
ALTER TABLE t ADD CONSTRAINT no_x CHECK (v <> 'x');
UPDATE s SET v = 'x' WHERE day = 45;
UPDATE s SET v = 'y' WHERE day IN (41, 48, 55);
CALL replace_flow.backfill('t', 'day', 40, 60, 5);
TABLE runs;
CALL look();
CALL replace_flow.backfill('t', 'day', 40, 60, 5);
TABLE runs;
SELECT flow, activity, column_name, from_value, to_value, step, newest_first, slices_done, slices_total, updated_at >= started_at AS in_time FROM replace_flow.progress;
UPDATE s SET v = 'good' WHERE day = 45;
CALL replace_flow.backfill('t', 'day', 40, 60, 5);
TABLE runs;
CALL look();
SELECT same('SELECT day, v FROM t WHERE day BETWEEN 40 AND 59', 'SELECT * FROM s WHERE day BETWEEN 40 AND 59');
-- Once it is done, the same call does all of it again.
CALL replace_flow.backfill('t', 'day', 40, 60, 5);
TABLE runs;
CALL look();
-- Another range, step or direction is another backfill: it does not begin where the
-- broken one stopped.
UPDATE s SET v = 'x' WHERE day = 45;
CALL replace_flow.backfill('t', 'day', 40, 60, 5);
UPDATE s SET v = 'good' WHERE day = 45;
CALL look();
CALL replace_flow.backfill('t', 'day', 40, 60, 10);
TABLE runs;
CALL look();
UPDATE s SET v = 'x' WHERE day = 45;
CALL replace_flow.backfill('t', 'day', 40, 60, 5);
UPDATE s SET v = 'good' WHERE day = 45;
-- nor does it after the flow has changed: what was done was done by another definition
SELECT replace_flow.alter_flow('t', query => $$ SELECT day, v || '!' AS v FROM s $$);
CALL look();
CALL replace_flow.backfill('t', 'day', 40, 60, 5);
TABLE runs;
CALL look();
SELECT same('SELECT day, v FROM t WHERE day BETWEEN 40 AND 59', $$ SELECT day, v || '!' FROM s WHERE day BETWEEN 40 AND 59 $$);

-- A flow that is paused does nothing.
SELECT replace_flow.pause_flow('t');
CALL replace_flow.backfill('t', 'day', 1, 5, 2);
TABLE runs;
SELECT replace_flow.resume_flow('t');
CALL replace_flow.backfill('t', 'day', 1, 5, 2);
CALL look();

-- A trigger, a check, an expectation: slices are runs.
SELECT replace_flow.add_expectation('t', 'not 3', 'day <> 3', 'drop');
CALL replace_flow.backfill('t', 'day', 2, 5, 1);
TABLE runs;
CALL look();
SELECT replace_flow.alter_flow('t', allow_empty => false);
DELETE FROM s WHERE day = 1;
CALL replace_flow.backfill('t', 'day', 0, 2, 1);
TABLE runs;
CALL look();

-- It tells what it does.
SET client_min_messages = notice;
CALL replace_flow.backfill('t', 'day', 20, 24, 2);
SET client_min_messages = warning;
-- What is left are those that failed; they go with the flow.
SELECT from_value, to_value, step, slices_done, slices_total FROM replace_flow.progress ORDER BY from_value::int;
DROP TABLE t;
SELECT count(*) FROM replace_flow.backfill;
\i :finish
