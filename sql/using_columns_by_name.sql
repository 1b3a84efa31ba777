\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A6: columns are matched by name, never by position.
--

-- Case O16: stream and target have their columns in other orders.
CREATE TABLE item (k int, a text, b text, s int);
CREATE INDEX ON item (k);
CREATE TABLE item_in (s int, b text, k int, a text);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
INSERT INTO item_in (k, a, b, s) VALUES (1, 'A', 'B', 1);
SELECT applied('item');
SELECT * FROM item;
-- A new column is last in the target, and first in the stream.
SELECT replace_flow.drop_flow('item');
ALTER TABLE item ADD COLUMN c text;
DROP TABLE item_in;
CREATE TABLE item_in (c text, s int, b text, k int, a text);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
INSERT INTO item_in (k, a, b, c, s) VALUES (1, 'A2', 'B2', 'C2', 2);
SELECT applied('item');
SELECT * FROM item;

-- A column of the target that the query does not give takes its default in new
-- rows, and keeps its value in rows that stay (B10).
CREATE TABLE stock (k int, v text, note text DEFAULT 'n/a', n int);
CREATE INDEX ON stock (k);
CREATE TABLE stock_in (v text, s int, k int);
SELECT replace_flow.create_using_flow('stock', 'stock_in', '{k}', 's');
INSERT INTO stock_in VALUES ('a', 1, 1), ('b', 1, 1);
SELECT applied('stock');
UPDATE stock SET note = 'seen', n = 1;
INSERT INTO stock_in VALUES ('a', 2, 1), ('c', 2, 1);
SELECT applied('stock');
SELECT * FROM stock ORDER BY v;

-- Where a unique index on given columns, none of them NULL, says that an old and
-- a new row are the same thing, the row survives when its other columns change.
CREATE TABLE line_item (id int GENERATED ALWAYS AS IDENTITY (START 10), k int, line int, v text, note text DEFAULT 'n/a',
    PRIMARY KEY (k, line));
CREATE TABLE line_item_in (k int, line int, v text, s int);
SELECT replace_flow.create_using_flow('line_item', 'line_item_in', '{k}', 's');
INSERT INTO line_item_in VALUES (1, 1, 'a', 1), (1, 2, 'b', 1), (1, 3, 'c', 1);
SELECT applied('line_item');
UPDATE line_item SET note = 'seen ' || line;
CREATE TABLE line_before AS SELECT * FROM line_item;
INSERT INTO line_item_in VALUES (1, 2, 'B', 2), (1, 3, 'c', 2), (1, 4, 'd', 2);
SELECT applied('line_item');
SELECT new.id = old.id AS id_kept, line, new.v, new.note
FROM line_item new LEFT JOIN line_before old USING (k, line) ORDER BY line;
-- With NULLs possible it does not say so: rows of NULLs need not be the same thing.
CREATE TABLE loose_item (id int GENERATED ALWAYS AS IDENTITY (START 10), k int, line int, v text, note text DEFAULT 'n/a',
    UNIQUE (k, line));
CREATE TABLE loose_item_in (k int, line int, v text, s int);
SELECT replace_flow.create_using_flow('loose_item', 'loose_item_in', '{k}', 's');
INSERT INTO loose_item_in VALUES (1, 1, 'a', 1), (1, NULL, 'b', 1), (1, NULL, 'c', 1);
SELECT applied('loose_item');
UPDATE loose_item SET note = 'seen ' || v;
INSERT INTO loose_item_in VALUES (1, 1, 'A', 2), (1, NULL, 'c', 2), (1, NULL, 'd', 2);
SELECT applied('loose_item');
SELECT line, v, note FROM loose_item ORDER BY v COLLATE "C";

-- Columns that only sequence_by or delete_when use need not be in the target:
-- they are used and not stored.  All others must be.
CREATE TABLE price (k int, v numeric);
CREATE INDEX ON price (k);
CREATE TABLE price_in (op text, k int, day date, number int, v numeric, extra text);
SELECT refused($$ SELECT replace_flow.create_using_flow('price', 'price_in', '{k}', 'day + number',
    delete_when => $d$ op = 'delete' $d$) $$);
ALTER TABLE price_in DROP COLUMN extra;
SELECT replace_flow.create_using_flow('price', 'price_in', '{k}', 'day + number',
    delete_when => $$ op = 'delete' $$);
INSERT INTO price_in (op, k, day, number, v) VALUES
    ('insert', 1, '2026-03-01', 1, 5), ('insert', 1, '2026-03-01', 2, 6),
    ('insert', 2, '2026-03-02', 1, 7), ('delete', 2, '2026-03-01', 3, 7);
SELECT applied('price');
SELECT * FROM price ORDER BY k;
SELECT key, floor::date = '2026-03-03' AS expected FROM replace_flow.floors('price') ORDER BY key;

-- Values go under their names also when the flow creates the target (A1).
CREATE TABLE made_in (s int, "select" text, k int);
SELECT replace_flow.create_using_flow('made', 'made_in', '{k}', 's',
    query => 'SELECT k, "select" AS "from", s, 1.5 AS n FROM made_in');
INSERT INTO made_in VALUES (1, 'x', 7);
SELECT applied('made');
SELECT * FROM made;
\i :finish
