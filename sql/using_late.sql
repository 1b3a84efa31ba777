\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B4, B6: a set below the floor of its key is late and changes nothing; a
-- member that a newer set does not have does not come back.
--

-- Case O05: an older batch comes second.
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
INSERT INTO item_in VALUES (7, 20, 'new1'), (7, 20, 'new2');
SELECT applied('item');
INSERT INTO item_in VALUES (7, 10, 'o1'), (7, 10, 'o2'), (8, 10, 'x');
SELECT applied('item');
SELECT * FROM item ORDER BY k, v;
-- The same rows once more are late again for key 7, and a tie for key 8.
INSERT INTO item_in VALUES (7, 10, 'o1'), (7, 10, 'o2'), (8, 10, 'x');
SELECT applied('item');
SELECT * FROM item ORDER BY k, v;
SELECT replace_flow.drop_flow('item');

-- The same in every order and cut.
CREATE TABLE sent (batch int, LIKE item);
INSERT INTO sent VALUES
    (1, 7, 20, 'new1'), (1, 7, 20, 'new2'),
    (2, 7, 10, 'o1'), (2, 7, 10, 'o2'), (2, 8, 10, 'x'),
    (3, 7, 10, 'o1'), (3, 7, 10, 'o2'), (3, 8, 10, 'x');
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's') $$, 'item', 'item_in');
SELECT * FROM outcome;
-- And with the floors in a ledger.
CREATE TABLE item_now (k int, v text);
CREATE INDEX ON item_now (k);
CALL arrange($$ SELECT replace_flow.create_using_flow('item_now', 'item_in', '{k}', 's') $$, 'item_now', 'item_in');
SELECT * FROM outcome;

-- B6: the set of 2 lacks b; an older batch with b in it is late as a whole.
DELETE FROM sent;
INSERT INTO sent VALUES (1, 1, 1, 'a'), (1, 1, 1, 'b'), (2, 1, 2, 'a'), (3, 1, 1, 'b'), (3, 1, 0, 'c');
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's') $$, 'item', 'item_in');
SELECT * FROM outcome;
CALL arrange($$ SELECT replace_flow.create_using_flow('item_now', 'item_in', '{k}', 's') $$, 'item_now', 'item_in');
SELECT * FROM outcome;
\i :finish
