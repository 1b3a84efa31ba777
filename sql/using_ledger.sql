\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B7: where the target does not store the sequence, a ledger keeps the floors.
--
CREATE TABLE item (k int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (k int, s int, v text);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
INSERT INTO item_in VALUES (1, 5, 'five'), (2, 7, 'seven');
SELECT applied('item');
SELECT * FROM replace_flow.floors('item');
INSERT INTO item_in VALUES (1, 4, 'late'), (2, 8, 'eight'), (3, 1, 'one');
SELECT applied('item');
SELECT * FROM item ORDER BY k;
SELECT * FROM replace_flow.floors('item');

-- It keeps the floor of rows that are deleted by hand.
DELETE FROM item WHERE k = 1;
SELECT * FROM replace_flow.floors('item');
INSERT INTO item_in VALUES (1, 4, 'late');
SELECT applied('item');
SELECT * FROM item ORDER BY k;
INSERT INTO item_in VALUES (1, 5, 'tie'), (1, 6, 'six');
SELECT applied('item');
SELECT * FROM item ORDER BY k;

-- Rows that were there before the flow have no floor: the first set replaces them.
INSERT INTO item VALUES (9, 'before');
INSERT INTO item_in VALUES (9, -5, 'first');
SELECT applied('item');
SELECT * FROM item WHERE k = 9;

-- A set that is resent unchanged raises the floor and writes nothing to the target (B10).
CREATE TABLE before AS SELECT ctid AS place, xmin AS writer, k FROM item;
INSERT INTO item_in VALUES (1, 20, 'six'), (2, 20, 'eight');
SELECT applied('item');
SELECT count(*) AS left_in_place FROM item i JOIN before b USING (k) WHERE i.ctid = place AND i.xmin = writer;
SELECT * FROM replace_flow.floors('item');

-- A late set and an ignored tie leave the ledger alone; an error does too.
INSERT INTO item_in VALUES (1, 19, 'late'), (2, 20, 'tie');
SELECT applied('item');
INSERT INTO item_in VALUES (3, 30, 'x'), (4, NULL, 'no sequence');
SELECT refused($$ SELECT replace_flow.apply('item') $$);
SELECT * FROM replace_flow.floors('item');
DELETE FROM item_in;

-- An expression is not stored by any column: it goes to the ledger.
CREATE TABLE part (k int, major int, minor int);
CREATE INDEX ON part (k);
CREATE TABLE part_in (LIKE part);
SELECT replace_flow.create_using_flow('part', 'part_in', '{k}', 'ARRAY[major, minor]');
INSERT INTO part_in VALUES (1, 1, 9), (1, 1, 10), (2, 2, 0);
SELECT applied('part');
INSERT INTO part_in VALUES (1, 1, 9), (2, 10, 0);
SELECT applied('part');
SELECT * FROM part ORDER BY k;
SELECT * FROM replace_flow.floors('part');

-- Keys with NULL, of several columns, of types that fold; sequences of any
-- sortable type.
CREATE TABLE place (a numeric, b char(3), v text);
CREATE INDEX ON place (a, b);
CREATE TABLE place_in (a numeric, b text, at interval, v text);
SELECT replace_flow.create_using_flow('place', 'place_in', '{a, b}', 'at');
INSERT INTO place_in VALUES (1.0, 'x', '1 day', 'v'), (NULL, NULL, '1 day', 'v');
SELECT applied('place');
INSERT INTO place_in VALUES (1.00, 'x ', '24 hours', 'tie'), (NULL, NULL, '25 hours', 'newer');
SELECT applied('place');
SELECT * FROM place ORDER BY a, v;
SELECT key, floor::interval FROM replace_flow.floors('place') ORDER BY key::text;

-- The ledger of a flow goes with it: a new flow begins anew.
SELECT replace_flow.drop_flow('item');
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
SELECT * FROM replace_flow.floors('item');
INSERT INTO item_in VALUES (1, 0, 'anew');
SELECT applied('item');
SELECT * FROM item WHERE k = 1;
\i :finish
