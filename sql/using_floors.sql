\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B7: where the target stores the sequence, the floor of a key is the highest
-- sequence in the key's rows; floors() shows it.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
INSERT INTO item VALUES (1, 3, 'here'), (1, 5, 'before'), (2, NULL, 'no sequence');
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');

-- Rows that were there before the flow have floors, if they have a sequence.
SELECT * FROM replace_flow.floors('item');
INSERT INTO item_in VALUES (1, 4, 'late'), (2, -1, 'first');
SELECT applied('item');
SELECT * FROM item ORDER BY k, s;

-- Rows with other sequences are rows of the set too: all of them are replaced.
INSERT INTO item_in VALUES (1, 6, 'newer');
SELECT applied('item');
SELECT * FROM item ORDER BY k;

-- Rows that are deleted by hand take their floor with them.
DELETE FROM item WHERE k = 1;
SELECT * FROM replace_flow.floors('item');
INSERT INTO item_in VALUES (1, 1, 'older');
SELECT applied('item');
SELECT * FROM item ORDER BY k;

-- Rows that are changed by hand change it.
UPDATE item SET s = 9 WHERE k = 1;
INSERT INTO item_in VALUES (1, 8, 'late'), (1, 2, 'late');
SELECT applied('item');
SELECT * FROM replace_flow.floors('item');

-- Key and floor are shown as they are: composite keys, NULL, any type.
CREATE TABLE place (a text, "B c" int, at timestamptz);
CREATE INDEX ON place (a, "B c");
CREATE TABLE place_in (LIKE place);
SELECT replace_flow.create_using_flow('place', 'place_in', '{a, B c}', 'at');
INSERT INTO place_in VALUES ('x', 1, '2026-03-01 10:00+00'), ('x', NULL, 'infinity'), (NULL, NULL, '-infinity');
SELECT applied('place');
SELECT key, floor::timestamptz = '2026-03-01 10:00+00' AS expected, isfinite(floor::timestamptz)
FROM replace_flow.floors('place') ORDER BY key::text COLLATE "C";

-- Only keys that have rows are shown.
INSERT INTO place_in SELECT 'y', i, '2026-03-01' FROM generate_series(1, 1000) AS i;
SELECT applied('place');
SELECT count(*) FROM replace_flow.floors('place');
SELECT refused($$ SELECT * FROM replace_flow.floors('plaice') $$);
SELECT refused($$ SELECT * FROM replace_flow.floors(NULL) $$);
\i :finish
