\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A7: NULL is a key value of its own, and equals NULL.
--

-- Case O02: NULL in parts of a composite key.
CREATE TABLE item (a text, b int, s int, v text);
CREATE INDEX ON item (a, b);
CREATE TABLE item_in (LIKE item);
CREATE TABLE sent (batch int, LIKE item);
INSERT INTO sent VALUES
    (1, 'x', NULL, 1, 'old'), (1, 'x', 1, 1, 'keep'), (1, NULL, NULL, 1, 'old2'), (1, NULL, 1, 1, 'keep2'),
    (2, 'x', NULL, 2, 'new'), (2, NULL, NULL, 2, 'new2'),
    (3, 'x', NULL, 1, 'stale');
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{a, b}', 's') $$, 'item', 'item_in');
SELECT * FROM outcome;

-- The same without the index.
DROP INDEX item_a_b_idx;
SET client_min_messages = error;
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{a, b}', 's') $$, 'item', 'item_in');
SET client_min_messages = warning;
SELECT * FROM outcome;

-- The same with the sequence in the ledger.
CREATE TABLE item_now (a text, b int, v text);
CREATE INDEX ON item_now (a, b);
CALL arrange($$ SELECT replace_flow.create_using_flow('item_now', 'item_in', '{a, b}', 's') $$, 'item_now', 'item_in');
SELECT * FROM outcome;

-- The same among 100,000 other keys, so that other plans are chosen: first for
-- few keys of a large table, then for all of them.
CREATE TABLE many (LIKE item);
CREATE INDEX ON many (a, b);
INSERT INTO many SELECT nullif(i / 100, 500)::text, nullif(i % 100, 7), 1, 'many' FROM generate_series(0, 99999) AS i;
ANALYZE many;
CREATE TABLE many_in (LIKE item);
SELECT replace_flow.create_using_flow('many', 'many_in', '{a, b}', 's');
INSERT INTO many_in SELECT a, b, s, v FROM sent WHERE batch = 1;
SELECT applied('many');
INSERT INTO many_in SELECT a, b, s, v FROM sent WHERE batch > 1;
SELECT applied('many');
SELECT a, b, s, v FROM many WHERE v <> 'many' ORDER BY v;
INSERT INTO many_in SELECT a, b, s + 1, v FROM many;
SELECT applied('many');
SELECT v, s, count(*) FROM many GROUP BY v, s ORDER BY v;

-- A row value of NULLs is not NULL.
CREATE TYPE pair AS (a int, b int);
CREATE TABLE place (k pair, s int, v text);
CREATE INDEX ON place (k);
CREATE TABLE place_in (LIKE place);
SELECT replace_flow.create_using_flow('place', 'place_in', '{k}', 's');
INSERT INTO place_in VALUES (NULL, 1, 'null'), (ROW(NULL, NULL), 1, 'row of nulls');
SELECT applied('place');
INSERT INTO place_in VALUES (NULL, 2, 'new null');
SELECT applied('place');
INSERT INTO place_in VALUES (ROW(NULL, NULL), 3, 'new row of nulls');
SELECT applied('place');
SELECT * FROM place ORDER BY s;
SELECT * FROM replace_flow.floors('place') ORDER BY floor;

-- NULLs of other columns are values like others: a row of them is left alone.
CREATE TABLE note (k int, s int, v text);
CREATE INDEX ON note (k);
CREATE TABLE note_in (LIKE note);
SELECT replace_flow.create_using_flow('note', 'note_in', '{k}', 's', query => 'SELECT k, v, s FROM note_in');
INSERT INTO note_in VALUES (1, 1, NULL), (1, 1, NULL), (2, 1, 'x');
SELECT applied('note');
SELECT * FROM note ORDER BY k;
\i :finish
