\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A4, B1: a partitioned stream of any shape: each run reads and consumes what its
-- parts hold at that moment, and nothing of what is no part of it.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (gone int, k int, s int, v text) PARTITION BY RANGE (s);
CREATE TABLE item_in_1 PARTITION OF item_in FOR VALUES FROM (0) TO (10);
ALTER TABLE item_in DROP COLUMN gone;
CREATE TABLE item_in_2 (v text, gone int, s int, k int);
ALTER TABLE item_in_2 DROP COLUMN gone;
ALTER TABLE item_in ATTACH PARTITION item_in_2 FOR VALUES FROM (10) TO (20);
CREATE TABLE item_in_3 PARTITION OF item_in FOR VALUES FROM (20) TO (30) PARTITION BY LIST (k);
CREATE TABLE item_in_3_1 PARTITION OF item_in_3 FOR VALUES IN (1);
CREATE TABLE item_in_3_rest PARTITION OF item_in_3 DEFAULT PARTITION BY HASH (v);
CREATE TABLE item_in_3_rest_0 PARTITION OF item_in_3_rest FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE item_in_3_rest_1 PARTITION OF item_in_3_rest FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE item_in_rest PARTITION OF item_in DEFAULT;
CREATE INDEX ON item_in_2 (k);
CREATE UNIQUE INDEX ON item_in_3_1 (v);
CREATE TABLE consumed (part text, k int, s int, v text);
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.consumed VALUES (TG_TABLE_NAME, OLD.k, OLD.s, OLD.v);
    RETURN NULL;
END $$;
CREATE TRIGGER note_row AFTER DELETE ON item_in_2 FOR EACH ROW EXECUTE FUNCTION note_row();
CREATE TRIGGER note_row AFTER DELETE ON item_in_3 FOR EACH ROW EXECUTE FUNCTION note_row();

-- One key in many parts, and the order and cut of batches does not matter.
CREATE TABLE sent (batch int, k int, s int, v text);
INSERT INTO sent VALUES
    (1, 1, 5, 'a'), (1, 1, 15, 'b'), (1, 2, 15, 'c'), (1, 3, 99, 'd'), (2, 1, 25, 'e'), (2, 1, 25, 'f'), (2, 2, 25, 'g'), (2, 2, 25, 'h'),
    (2, 4, 25, 'i'), (3, 1, 24, 'late'), (3, 3, 5, 'late'), (3, 4, 99, 'j');
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's') $$, 'item', 'item_in');
SELECT * FROM outcome;
SELECT part, count(*) > 0 AS consumed FROM consumed GROUP BY part ORDER BY part;
TRUNCATE item, consumed;

-- Rows staged by the name of a part are rows of the stream.
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
INSERT INTO item_in_2 (k, s, v) VALUES (1, 11, 'a'), (1, 11, 'a');
INSERT INTO item_in_3_rest (k, s, v) VALUES (2, 21, 'b');
SELECT applied('item');
SELECT * FROM item ORDER BY k, v;

-- Detached with rows in it: they are not read and not consumed, and the part can be
-- attached again, or another one with rows of its own and other columns.
INSERT INTO item_in (k, s, v) VALUES (1, 12, 'in part 2'), (2, 22, 'in part 3');
ALTER TABLE item_in DETACH PARTITION item_in_2;
SELECT applied('item');
SELECT * FROM item ORDER BY k, v;
SELECT k, s, v FROM item_in_2;
INSERT INTO item_in (k, s, v) VALUES (3, 12, 'in the default part');
SELECT applied('item');
ALTER TABLE item_in ATTACH PARTITION item_in_2 FOR VALUES FROM (10) TO (20);
CREATE TABLE item_in_4 (s int, gone int, v text, also_gone int, k int);
ALTER TABLE item_in_4 DROP COLUMN gone, DROP COLUMN also_gone;
INSERT INTO item_in_4 VALUES (31, 'x', 1), (31, 'y', 1), (32, 'z', 4);
ALTER TABLE item_in ATTACH PARTITION item_in_4 FOR VALUES FROM (30) TO (40);
SELECT applied('item');
SELECT * FROM item ORDER BY k, v;
SELECT count(*) AS staged FROM item_in;
-- A part that is dropped takes its rows along, and one that is emptied too.
INSERT INTO item_in (k, s, v) VALUES (1, 33, 'dropped'), (1, 13, 'late'), (5, 5, 'emptied');
DROP TABLE item_in_4;
TRUNCATE item_in_1;
SELECT applied('item');
SELECT * FROM item ORDER BY k, v;

-- Columns that the stream gets later are in all parts; a run that fails leaves the
-- rows where they were.
ALTER TABLE item_in ADD COLUMN more text DEFAULT 'more';
INSERT INTO item_in (k, s, v) VALUES (1, 25, 'late'), (1, 99, 'A'), (6, 1, 'B'), (7, 15, 'C'), (8, 24, 'D');
CREATE TABLE before AS SELECT tableoid AS part, ctid AS place, xmin::text AS age, * FROM item_in;
ALTER TABLE item ADD CHECK (k < 8);
SELECT refused($$ SELECT replace_flow.apply('item') $$) LIMIT 1;
SELECT same('SELECT tableoid, ctid, xmin::text, * FROM item_in', 'TABLE before');
DELETE FROM item_in WHERE k = 8;
SELECT applied('item');
SELECT * FROM item ORDER BY k, v;

-- A stream without any part is an empty one.
CREATE TABLE part_in (k int, s int) PARTITION BY LIST (k);
SELECT replace_flow.create_using_flow('part', 'part_in', '{k}', 's');
SELECT applied('part');
CREATE TABLE part_in_1 PARTITION OF part_in FOR VALUES IN (1);
INSERT INTO part_in VALUES (1, 1);
SELECT applied('part');
TABLE part;
-- The stream as a part of something else: only its own rows.
CREATE TABLE whole (k int, s int, v text) PARTITION BY LIST (k);
CREATE TABLE whole_1 PARTITION OF whole FOR VALUES IN (1);
CREATE TABLE whole_2 PARTITION OF whole FOR VALUES IN (2);
SELECT replace_flow.create_using_flow('ones', 'whole_1', '{k}', 's');
INSERT INTO whole VALUES (1, 1, 'a'), (2, 1, 'b');
SELECT applied('ones');
TABLE whole;
ALTER TABLE whole DETACH PARTITION whole_1;
INSERT INTO whole_1 VALUES (1, 2, 'c');
SELECT applied('ones');
TABLE ones;
\i :finish
