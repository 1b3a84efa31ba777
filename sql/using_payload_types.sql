\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- Only keys and the sequence need an order; other columns may be of any type
-- (case O21).
--
CREATE TABLE item (k int, s int, j json, x xml, p point, arr json[], poly polygon, t txid_snapshot);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', on_tie => 'replace');
INSERT INTO item_in VALUES
    (1, 1, '{"a": 1}', NULL, '(1,2)', '{"{\"b\": 2}"}', '((0,0),(1,1),(1,0))', '10:20:10,14,15'),
    (1, 1, 'null', NULL, NULL, NULL, NULL, NULL),
    (2, 1, '[ ]', NULL, '(0,0)', '{}', NULL, NULL);
SELECT applied('item');
-- The same rows: identical ones stay, also of types without equality (B10).
INSERT INTO item_in SELECT * FROM item;
SELECT applied('item');
INSERT INTO item_in VALUES
    (1, 2, '{"a":1}', NULL, '(1,2)', '{"{\"b\": 2}"}', '((0,0),(1,1),(1,0))', '10:20:10,14,15'),
    (2, 1, '[]', NULL, '(0,0)', '{}', NULL, NULL);
SELECT applied('item');
SELECT * FROM item ORDER BY k;

-- Not as a key, nor as the sequence (A3).
SELECT replace_flow.drop_flow('item');
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{j}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k, p}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{arr}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 'j') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 'p') $$);

-- A row value is sortable if its columns are.
CREATE TYPE sortable AS (a int, b text);
CREATE TYPE unsortable AS (a int, b json);
CREATE TABLE pair (k sortable, u unsortable, s int);
CREATE INDEX ON pair (k);
CREATE TABLE pair_in (LIKE pair);
SELECT refused($$ SELECT replace_flow.create_using_flow('pair', 'pair_in', '{u}', 's') $$);
SELECT replace_flow.create_using_flow('pair', 'pair_in', '{k}', 's');
INSERT INTO pair_in VALUES ('(1,x)', '(1,"{}")', 1), ('(1,y)', '(1,"[]")', 1), ('(1,x)', '(2,"{}")', 2);
SELECT applied('pair');
SELECT * FROM pair ORDER BY k;
-- As many columns as a table can have.
DO $$
BEGIN
    EXECUTE (SELECT format('CREATE TABLE wide (k int, s int, %s)', string_agg(format('c%s smallint', i), ', '))
             FROM generate_series(1, 1598) AS i);
END $$;
CREATE INDEX ON wide (k);
CREATE TABLE wide_in (LIKE wide);
SELECT replace_flow.create_using_flow('wide', 'wide_in', '{k}', 's');
INSERT INTO wide_in (k, s, c1, c1598) VALUES (1, 1, 1, 1), (1, 1, 2, 2);
SELECT applied('wide');
INSERT INTO wide_in (k, s, c1, c1598) VALUES (1, 2, 1, 3), (1, 2, 2, 4);
SELECT applied('wide');
SELECT k, s, c1, c2, c1598 FROM wide ORDER BY c1;
\i :finish
