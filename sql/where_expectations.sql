\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- C1 to C4 for where flows.
--
CREATE TABLE t (day int, amt int);
CREATE TABLE s (day int, amt int, note text);
INSERT INTO s VALUES (1, -1), (2, 20), (2, -2), (3, NULL), (3, 30), (4, 4000);
SELECT replace_flow.create_where_flow('t', 'SELECT day, amt FROM s', 'day >= 2');
SELECT replace_flow.add_expectation('t', 'positive', 'amt > 0', 'drop');
-- C1: only true passes.  C2: a dropped row does not come, and what it would have
-- replaced goes.  A row out of the window is not judged.
INSERT INTO t VALUES (2, -2), (2, 20), (1, -5);
SELECT refreshed('t');
SELECT * FROM t ORDER BY day, amt;
SELECT expectation, action, rows_passed, rows_failed FROM replace_flow.expectation_result;
SELECT flow, expectation, "row" FROM replace_flow.rejected ORDER BY rejected_id;
-- Each run judges anew, and keeps what it dropped.
UPDATE s SET amt = 2 WHERE amt = -2;
SELECT refreshed('t');
SELECT * FROM t ORDER BY day, amt;
SELECT rank() OVER (ORDER BY run_id) AS run, rows_passed, rows_failed FROM replace_flow.expectation_result ORDER BY run_id;
SELECT count(*) AS rejected FROM replace_flow.rejected;
-- An override has its own rows to judge.
SELECT refreshed('t', 'day = 1');
SELECT * FROM t ORDER BY day, amt;
SELECT rows_passed, rows_failed FROM replace_flow.expectation_result ORDER BY run_id DESC LIMIT 1;

-- C3: warn keeps the row and counts it.
SELECT replace_flow.add_expectation('t', 'small', 'amt < 100', 'warn');
SELECT refreshed('t');
SELECT expectation, action, rows_passed, rows_failed FROM replace_flow.expectation_result
WHERE run_id = (SELECT max(run_id) FROM replace_flow.run) ORDER BY expectation;
SELECT * FROM t WHERE amt > 100;

-- C3: fail stops the run; nothing changes.
SELECT replace_flow.add_expectation('t', 'no fives', 'day <> 5', 'fail');
UPDATE s SET amt = 31 WHERE amt = 30;
INSERT INTO s VALUES (5, 5), (5, -5);
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
SELECT * FROM t ORDER BY day, amt;
SELECT count(*) AS runs, (SELECT count(*) FROM replace_flow.rejected) AS rejected FROM replace_flow.run;
-- not where the rows are out of the window
SELECT refreshed('t', 'day < 5');
SELECT replace_flow.drop_expectation('t', 'no fives');
SELECT refreshed('t');
SELECT same('SELECT * FROM t WHERE day > 1', 'SELECT day, amt FROM s WHERE day > 1 AND amt > 0');

-- Several that drop one row: it is rejected once, and counted by each.
SELECT replace_flow.add_expectation('t', 'even', 'amt % 2 = 0', 'drop');
SELECT refreshed('t');
SELECT * FROM t ORDER BY day, amt;
SELECT expectation, rows_passed, rows_failed FROM replace_flow.expectation_result
WHERE run_id = (SELECT max(run_id) FROM replace_flow.run) ORDER BY expectation;

-- A condition sees the query's output before it is converted; the predicate sees it
-- after (D2).  What is kept of a dropped row is that output.
CREATE TABLE price (day int, v int);
CREATE TABLE price_in (day numeric, v numeric);
SELECT replace_flow.create_where_flow('price', 'TABLE price_in', 'day = 2');
SELECT replace_flow.add_expectation('price', 'whole', 'v = trunc(v)', 'drop');
SELECT replace_flow.add_expectation('price', 'whole day', 'day = trunc(day)', 'warn');
INSERT INTO price_in VALUES (1.6, 1), (2.4, 2.5), (2.6, 3), (2, 5000000000.5);
SELECT refreshed('price');
TABLE price;
SELECT expectation, rows_passed, rows_failed FROM replace_flow.expectation_result
WHERE run_id = (SELECT max(run_id) FROM replace_flow.run) ORDER BY expectation;
SELECT expectation, "row" FROM replace_flow.rejected WHERE flow = 'price' ORDER BY rejected_id;
-- A condition may name a column by which the window is not found, and one alone.
SELECT refused($$ SELECT replace_flow.add_expectation('price', 'e', 'w > 0', 'warn') $$);
SELECT refused($$ SELECT replace_flow.add_expectation('price', 'e', 'random() > 0', 'warn') $$);
-- C4: keep_rejected => false.
SELECT replace_flow.alter_flow('price', keep_rejected => false);
SELECT count(*) AS rejected FROM replace_flow.rejected WHERE flow = 'price' \gset
SELECT refreshed('price');
SELECT count(*) = :rejected AS as_before FROM replace_flow.rejected WHERE flow = 'price';

-- An error in a condition is an error of the run, and names it.
SELECT replace_flow.add_expectation('price', 'ratio', '10 / (v - 1) > 0', 'warn');
SELECT refused($$ SELECT replace_flow.refresh('price') $$);
TABLE price;

-- A full refresh, and slices of a backfill, judge as well.
SELECT replace_flow.alter_flow('t', reset_allowed => true);
SELECT reset('t');
SELECT * FROM t ORDER BY day, amt;
CALL replace_flow.backfill('t', 'day', 1, 3, 1);
SELECT * FROM t ORDER BY day, amt;
\i :finish
