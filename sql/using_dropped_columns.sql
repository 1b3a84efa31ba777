\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A6: dropped columns, before the flow was created and after (case O17).
--
CREATE TABLE item (junk bytea, k int, mid text, v text, s int);
ALTER TABLE item DROP COLUMN junk, DROP COLUMN mid, ADD COLUMN z text;
CREATE INDEX ON item (k);
CREATE TABLE item_in (first int, z text, k int, s int, v text, last text);
ALTER TABLE item_in DROP COLUMN first, DROP COLUMN last;
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
INSERT INTO item_in (k, v, s, z) VALUES (1, repeat('1', 10000), 1, 'z1');
SELECT applied('item');
SELECT k, s, z, length(v), left(v, 1) AS v FROM item;
INSERT INTO item_in (k, v, s, z) VALUES (1, repeat('2', 10000), 2, 'z2');
SELECT applied('item');
SELECT k, s, z, length(v), left(v, 1) AS v FROM item;

-- The target loses a column that the query gives: the run says which, and
-- nothing is lost; neither a column of the same name nor one in its place counts.
ALTER TABLE item DROP COLUMN z;
INSERT INTO item_in (k, v, s, z) VALUES (1, repeat('3', 10000), 3, 'z3');
SELECT refused($$ SELECT replace_flow.apply('item') $$);
ALTER TABLE item ADD COLUMN z2 int DEFAULT 7;
SELECT refused($$ SELECT replace_flow.apply('item') $$);
SELECT k, s, z2, length(v), left(v, 1) AS v FROM item;
SELECT count(*) AS staged FROM item_in;
-- Then the flow is created anew.
SELECT replace_flow.drop_flow('item');
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', query => 'SELECT s, v, k FROM item_in');
SELECT applied('item');
SELECT k, s, z2, length(v), left(v, 1) AS v FROM item;

-- With the flow in place and the session kept: columns come and go on both sides.
ALTER TABLE item DROP COLUMN z2, ADD COLUMN y text DEFAULT 'y';
ALTER TABLE item_in ADD COLUMN more int, DROP COLUMN z;
INSERT INTO item_in (k, v, s) VALUES (1, '4', 4), (2, '4', 4);
SELECT applied('item');
ALTER TABLE item ADD COLUMN x int DEFAULT 9;
INSERT INTO item_in (k, v, s, more) VALUES (1, '5', 5, 1);
SELECT applied('item');
SELECT * FROM item ORDER BY k;

-- A column of the stream that the query uses cannot be dropped.
SELECT left(line, 5) AS state FROM refused($$ ALTER TABLE item_in DROP COLUMN v $$) AS line LIMIT 1;

-- A partitioned target: partitions that were made before a column was dropped,
-- after that, and attached with another order of columns.
CREATE TABLE event (junk bytea, k int, mid text, v text, s int) PARTITION BY LIST (k);
CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1);
ALTER TABLE event DROP COLUMN junk, DROP COLUMN mid, ADD COLUMN z text;
CREATE TABLE event_2 PARTITION OF event FOR VALUES IN (2);
CREATE TABLE event_3 (z text, gone int, s int, v text, k int);
ALTER TABLE event_3 DROP COLUMN gone;
ALTER TABLE event ATTACH PARTITION event_3 FOR VALUES IN (3);
CREATE INDEX ON event (k);
CREATE TABLE event_in (gone int, v text, z text, k int, s int);
ALTER TABLE event_in DROP COLUMN gone;
SELECT replace_flow.create_using_flow('event', 'event_in', '{k}', 's');
INSERT INTO event_in (k, v, s, z) SELECT k, 'v' || k, 1, 'z' || k FROM generate_series(1, 3) AS k, generate_series(1, 2);
SELECT applied('event');
INSERT INTO event_in (k, v, s, z) SELECT k, v || n, 2, z || n
    FROM generate_series(1, 3) AS k, (VALUES ('v', 'z', 1), ('v', 'z', 2)) AS r (v, z, n);
SELECT applied('event');
SELECT tableoid::regclass AS part, k, v, s, z FROM event ORDER BY k, v;
ALTER TABLE event DROP COLUMN z;
INSERT INTO event_in (k, v, s, z) VALUES (1, 'x', 3, 'z');
SELECT refused($$ SELECT replace_flow.apply('event') $$);
\i :finish
