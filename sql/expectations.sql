\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- C1 to C4: expectations.
--

-- Case O09: a dropped row neither replaces nor sets a floor; the key falls back
-- to its highest valid sequence; a set may lose single members (C2).
CREATE TABLE item (k int, s int, amt int);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
SELECT replace_flow.add_expectation('item', 'positive', 'amt > 0', 'drop');
INSERT INTO item_in VALUES (1, 1, 10), (3, 1, 50);
SELECT applied('item');
INSERT INTO item_in VALUES (1, 3, -5), (1, 2, 7);
SELECT applied('item');
INSERT INTO item_in VALUES (2, 9, -1);
SELECT applied('item');
INSERT INTO item_in VALUES (2, 4, 3);
SELECT applied('item');
INSERT INTO item_in VALUES (3, 2, -9);
SELECT applied('item');
INSERT INTO item_in VALUES (4, 5, 8), (4, 5, -2), (4, 5, 6);
SELECT applied('item');
SELECT * FROM item ORDER BY k, amt DESC;
SELECT sum(rows_rejected) AS dropped FROM replace_flow.run WHERE flow = 'item';
-- C4: the counts of each run, and the rows that were dropped.
SELECT rank() OVER (ORDER BY run_id) AS run, expectation, action, rows_passed, rows_failed
FROM replace_flow.expectation_result ORDER BY run_id;
SELECT flow, expectation, "row" FROM replace_flow.rejected ORDER BY run_id, rejected_id;
SELECT replace_flow.drop_flow('item');
SELECT count(*) AS rejected FROM replace_flow.rejected;

-- The same in every order and cut.
CREATE FUNCTION define(target text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    flow text := replace_flow.create_using_flow(target, 'item_in', '{k}', 's');
BEGIN
    PERFORM replace_flow.add_expectation(flow, 'positive', 'amt > 0', 'drop');
    RETURN flow;
END $$;
CREATE TABLE sent (batch int, LIKE item);
INSERT INTO sent VALUES
    (1, 1, 1, 10), (1, 3, 1, 50), (2, 1, 3, -5), (2, 1, 2, 7), (3, 2, 9, -1),
    (4, 2, 4, 3), (5, 3, 2, -9), (6, 4, 5, 8), (6, 4, 5, -2), (6, 4, 5, 6);
CALL arrange($$ SELECT define('item') $$, 'item', 'item_in');
SELECT * FROM outcome;
CREATE TABLE item_now (k int, amt int);
CREATE INDEX ON item_now (k);
CALL arrange($$ SELECT define('item_now') $$, 'item_now', 'item_in');
SELECT * FROM outcome;

-- C1: only true passes; NULL violates.
TRUNCATE item;
SELECT define('item');
INSERT INTO item_in VALUES (1, 1, NULL), (2, 1, 0), (3, 1, 1);
SELECT applied('item');
SELECT * FROM item;

-- C3: warn keeps the row and counts it.
SELECT replace_flow.add_expectation('item', 'small', 'amt < 100', 'warn');
INSERT INTO item_in VALUES (4, 1, 1000), (5, 1, 5), (6, 1, -1), (7, 1, NULL);
SELECT applied('item');
SELECT * FROM item ORDER BY k;
SELECT expectation, action, rows_passed, rows_failed FROM replace_flow.expectation_result
WHERE run_id = (SELECT max(run_id) FROM replace_flow.run) ORDER BY expectation;

-- C3: fail stops the run; nothing changes and nothing is consumed.
SELECT replace_flow.add_expectation('item', 'no three', 'k <> 3', 'fail');
INSERT INTO item_in VALUES (3, 2, 2), (3, 3, 3), (8, 1, -5), (9, 1, 9);
SELECT refused($$ SELECT replace_flow.apply('item') $$);
SELECT status FROM replace_flow.apply('item');
SELECT * FROM item ORDER BY k;
SELECT count(*) AS staged FROM item_in;
SELECT count(*) AS runs, sum(rows_rejected) AS rejected FROM replace_flow.run WHERE flow = 'item';
SELECT count(*) AS rejected FROM replace_flow.rejected;
-- It fails also on a row that another expectation drops.
UPDATE item_in SET amt = -1 WHERE k = 3;
SELECT refused($$ SELECT replace_flow.apply('item') $$);
-- Without it the same batch passes.
SELECT replace_flow.drop_expectation('item', 'no three');
SELECT applied('item');
SELECT * FROM item ORDER BY k;

-- A row that several expectations drop is rejected once, and counted by each.
SELECT replace_flow.add_expectation('item', 'even', 'amt % 2 = 0', 'drop');
INSERT INTO item_in VALUES (10, 1, -1), (10, 1, -2), (10, 1, 1), (10, 1, 2);
SELECT applied('item');
SELECT * FROM item WHERE k = 10;
SELECT expectation, rows_passed, rows_failed FROM replace_flow.expectation_result
WHERE run_id = (SELECT max(run_id) FROM replace_flow.run) ORDER BY expectation;
SELECT expectation, "row" FROM replace_flow.rejected
WHERE run_id = (SELECT max(run_id) FROM replace_flow.run) ORDER BY rejected_id;

-- An empty batch passes everything.
SELECT applied('item');
SELECT expectation, rows_passed, rows_failed FROM replace_flow.expectation_result
WHERE run_id = (SELECT max(run_id) FROM replace_flow.run) ORDER BY expectation;

-- What a condition sees is the query's output, before it is converted (A6), and
-- also what is not stored; what is kept of a dropped row is that output.
CREATE TABLE price (k int, v int);
CREATE INDEX ON price (k);
CREATE TABLE price_in (k int, s int, v numeric, op text);
SELECT replace_flow.create_using_flow('price', 'price_in', '{k}', 's', delete_when => $$ op = 'delete' $$);
SELECT replace_flow.add_expectation('price', 'whole', 'v = trunc(v)', 'drop');
SELECT replace_flow.add_expectation('price', 'known op', $$ op IN ('insert', 'delete') $$, 'drop');
INSERT INTO price_in VALUES (1, 1, 5, 'insert'), (1, 2, 5.5, 'insert'), (2, 1, 6, 'delete'), (2, 2, 7, 'erase');
SELECT applied('price');
TABLE price;
SELECT expectation, "row" FROM replace_flow.rejected WHERE flow = 'price' ORDER BY expectation;
-- A dropped row is not converted: it need not fit the target.
INSERT INTO price_in VALUES (1, 3, 5000000000.5, 'insert');
SELECT applied('price');

-- Conditions may be dropped in any order, while others stay what they are.
SELECT replace_flow.drop_expectation('price', 'known op');
SELECT replace_flow.add_expectation('price', 'a', 'k > 0', 'drop');
SELECT replace_flow.add_expectation('price', 'z', 's > 0', 'warn');
SELECT replace_flow.drop_expectation('price', 'whole');
SELECT replace_flow.add_expectation('price', 'whole', 'v = trunc(v)', 'warn');
INSERT INTO price_in VALUES (-1, 1, 1, 'insert'), (3, -1, 2.5, 'erase'), (4, 4, 4, 'delete');
SELECT applied('price');
TABLE price;
SELECT expectation, action, rows_passed, rows_failed FROM replace_flow.expectation_result
WHERE run_id = (SELECT max(run_id) FROM replace_flow.run) ORDER BY expectation;

-- C4: keep_rejected => false counts dropped rows and does not keep them.
CREATE TABLE quiet_in (k int, s int);
SELECT replace_flow.create_using_flow('quiet', 'quiet_in', '{k}', 's', keep_rejected => false);
SELECT replace_flow.add_expectation('quiet', 'positive', 'k > 0', 'drop');
INSERT INTO quiet_in VALUES (1, 1), (-1, 1), (-2, 1);
SELECT applied('quiet');
SELECT count(*) AS rejected FROM replace_flow.rejected WHERE flow = 'quiet';
SELECT expectation, rows_passed, rows_failed FROM replace_flow.expectation_result
WHERE run_id = (SELECT max(run_id) FROM replace_flow.run);

-- What json may hold and jsonb may not, the character of code zero, is replaced.
CREATE TABLE doc_in (k int, s int, doc json);
SELECT replace_flow.create_using_flow('doc', 'doc_in', '{k}', 's');
SELECT replace_flow.add_expectation('doc', 'positive', 'k > 0', 'drop');
INSERT INTO doc_in VALUES (-1, 1, '{"a\u0000": "b\u0000c\\u0000"}');
SELECT applied('doc');
SELECT replace("row"->>'doc', '\u001a', '<zero>') AS doc FROM replace_flow.rejected WHERE flow = 'doc';

-- An error in a condition is an error of the run: nothing is consumed.
SELECT replace_flow.add_expectation('quiet', 'ratio', '10 / k > 0', 'warn');
INSERT INTO quiet_in VALUES (0, 1);
SELECT refused($$ SELECT replace_flow.apply('quiet') $$);
SELECT count(*) AS staged FROM quiet_in;
\i :finish
