\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A key is the whole tuple of key columns; it groups rows and need not be unique.
--

-- Case O01: only the listed pairs are replaced, not each region with each device.
CREATE TABLE device (region int, device text, s int, n int);
CREATE INDEX ON device (region, device);
CREATE TABLE device_in (LIKE device);
CREATE TABLE sent (batch int, LIKE device);
INSERT INTO sent VALUES
    (1, 1, 'ios', 1, 10), (1, 1, 'web', 1, 11), (1, 2, 'ios', 1, 12), (1, 2, 'web', 1, 13),
    (2, 1, 'web', 2, 21), (2, 2, 'ios', 2, 22);
CALL arrange($$ SELECT replace_flow.create_using_flow('device', 'device_in', '{region, device}', 's') $$,
             'device', 'device_in');
SELECT * FROM outcome;

-- The order of the key columns says nothing: also with the ledger, and with an
-- index on the columns in another order.
CREATE TABLE device_now (n int, device text, region int);
CREATE INDEX ON device_now (device, region, n);
CALL arrange($$ SELECT replace_flow.create_using_flow('device_now', 'device_in', '{device, region}', 's') $$,
             'device_now', 'device_in');
SELECT * FROM outcome;

-- Case O10: a set that shrinks, and identical lines.  All rows of the key go,
-- whatever their other columns say; each row that was sent comes, copies too.
CREATE TABLE line_item (ord int, item text, qty int, s int);
CREATE INDEX ON line_item (ord);
CREATE TABLE line_item_in (LIKE line_item);
CREATE TABLE sent_items (batch int, LIKE line_item);
INSERT INTO sent_items VALUES
    (1, 42, 'widget', 2, 1), (1, 42, 'gadget', 5, 1), (1, 42, 'bolt', 10, 1), (1, 43, 'nut', 1, 1),
    (2, 42, 'widget', 3, 2), (2, 42, 'cable', 1, 2), (2, 42, 'cable', 1, 2);
CALL arrange($$ SELECT replace_flow.create_using_flow('line_item', 'line_item_in', '{ord}', 's') $$,
             'line_item', 'line_item_in', 'sent_items');
SELECT * FROM outcome;

-- B5: keys are judged one by one; one that is not sent is left alone.
TRUNCATE line_item;
SELECT replace_flow.create_using_flow('line_item', 'line_item_in', '{ord}', 's');
INSERT INTO line_item VALUES (1, 'one', 1, 5), (2, 'two', 2, 5), (3, 'three', 3, 5), (4, 'four', 4, 5);
INSERT INTO line_item_in VALUES
    (1, 'late', 0, 4), (2, 'newer', 0, 6), (3, 'tie', 0, 5), (5, 'new', 0, 1);
SELECT applied('line_item');
SELECT * FROM line_item ORDER BY ord, item COLLATE "C";

-- B3: of a key's rows in a batch, only those with the highest sequence count.
INSERT INTO line_item_in VALUES (4, 'a', 0, 6), (4, 'b', 0, 7), (4, 'c', 0, 8), (4, 'd', 0, 8), (4, 'e', 0, 2);
SELECT applied('line_item');
SELECT * FROM line_item WHERE ord = 4 ORDER BY item COLLATE "C";

-- An empty stream: a run that does nothing is a run.
SELECT applied('line_item');

-- A row of the target that was never staged is a row of its key like any other.
INSERT INTO line_item VALUES (9, 'by hand', 1, 3);
INSERT INTO line_item_in VALUES (9, 'staged', 1, 4);
SELECT applied('line_item');
SELECT * FROM line_item WHERE ord = 9;

-- Every column may be a key column.
CREATE TABLE tag (name text, s int);
CREATE INDEX ON tag (name, s);
CREATE TABLE tag_in (LIKE tag);
SELECT replace_flow.create_using_flow('tag', 'tag_in', '{s, name}', 's');
INSERT INTO tag_in VALUES ('a', 1), ('a', 2), ('b', 1);
SELECT applied('tag');
SELECT * FROM tag ORDER BY 1, 2;
\i :finish
