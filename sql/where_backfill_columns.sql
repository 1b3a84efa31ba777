\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D11, A10: a backfill goes on by the column by which it began, whatever the
-- names of columns are then.
--

CREATE TABLE s (a int, b int);
INSERT INTO s SELECT i, 100 - i FROM generate_series(1, 20) AS i;
CREATE TABLE t (a int, b int, CONSTRAINT not_yet CHECK (a <> 12));
SELECT replace_flow.create_where_flow('t', 'SELECT * FROM s', 'true');
\set VERBOSITY terse
CALL replace_flow.backfill('t', 'a', 1, 21, 5);
\set VERBOSITY default
SELECT flow, column_name, slices_done, slices_total FROM replace_flow.progress;
ALTER TABLE t RENAME a TO x;
ALTER TABLE t RENAME b TO a;
ALTER TABLE t DROP CONSTRAINT not_yet;
SELECT flow, column_name, slices_done, slices_total FROM replace_flow.progress;
-- the other column: another backfill
CALL replace_flow.backfill('t', 'a', 80, 90, 5);
SELECT min(a), max(a), count(*) FROM t WHERE a BETWEEN 80 AND 89;
SELECT flow, column_name, slices_done, slices_total FROM replace_flow.progress;
-- the same one
CALL replace_flow.backfill('t', 'x', 1, 21, 5);
SELECT same('SELECT x, a FROM t', 'SELECT a, b FROM s');
SELECT count(*) FROM replace_flow.progress;

-- What is no number of values.
CREATE TABLE n (n numeric);
SELECT replace_flow.create_where_flow('n_copy', 'SELECT n FROM n', 'n > 0');
CALL replace_flow.backfill('n_copy', 'n', 1, 10, 'Infinity');
CALL replace_flow.backfill('n_copy', 'n', 1, 10, 'NaN');
SELECT count(*) FROM replace_flow.progress;
\i :finish
