\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A1: a target that does not exist is created, with an index on the key; one that
-- exists is taken as it is.
--
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE item_in (
    id int, "Name" varchar(20), code char(3), amount numeric(10,2), tags text[], at timestamptz(3), m mood,
    c text COLLATE "C", d text COLLATE "POSIX", span interval day to second, bits bit(3), s bigint NOT NULL DEFAULT 7 CHECK (s > 0));
SELECT replace_flow.create_using_flow('item', 'item_in', '{id, Name}', 's');
SELECT attname, format_type(atttypid, atttypmod) AS type, attnotnull,
    nullif(attcollation, (SELECT typcollation FROM pg_type WHERE oid = atttypid))::regcollation AS collation
FROM pg_attribute WHERE attrelid = 'item'::regclass AND attnum > 0 ORDER BY attnum;
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'item'::regclass;
INSERT INTO item_in VALUES (1, 'n', 'c', 1.5, '{a}', '2026-03-01', 'sad', 'x', 'x', '1 day', '101', 1);
SELECT applied('item');
SELECT count(*) FROM item;

-- From a query: names and types of its output; in the schema that is named, or
-- else the first of the search path.
CREATE SCHEMA test2;
SELECT replace_flow.drop_flow('item', drop_target => true);
SELECT to_regclass('item') IS NULL AS dropped;
SELECT replace_flow.create_using_flow('test2.item', 'item_in', '{key}', 'at + span', query =>
    'SELECT id AS key, amount * 2 AS twice, ''x'' AS constant, at, span, tags || ''b''::text AS tags FROM item_in');
SELECT attname, format_type(atttypid, atttypmod) AS type
FROM pg_attribute WHERE attrelid = 'test2.item'::regclass AND attnum > 0 ORDER BY attnum;
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'test2.item'::regclass;
SELECT replace_flow.drop_flow('test2.item');
SELECT count(*) FROM test2.item;
DROP SCHEMA test2 CASCADE;

-- An existing target: none of its rows, columns and indexes change.  Without an
-- index that serves the key there is a warning with the statement that makes one,
-- and the flow works all the same.
CREATE TABLE stock (k int, "K 2" text, v text, extra int DEFAULT 5);
CREATE INDEX stock_v ON stock (v);
CREATE INDEX stock_partial ON stock (k, "K 2") WHERE v = 'x';
CREATE INDEX stock_expression ON stock ((k + 1), "K 2");
CREATE INDEX stock_hash ON stock USING hash (k);
CREATE INDEX stock_too_short ON stock (k);
CREATE INDEX stock_other ON stock (v, k, "K 2");
INSERT INTO stock SELECT i, 'k', 'v' FROM generate_series(1, 100) AS i;
CREATE TABLE stock_in (k int, "K 2" text, v text, s int);
CREATE TABLE catalog_before AS SELECT attrelid, attname, atttypid, attnum FROM pg_attribute WHERE attrelid = 'stock'::regclass
    UNION ALL SELECT indexrelid, 'index', 0, 0 FROM pg_index WHERE indrelid = 'stock'::regclass;
SELECT replace_flow.create_using_flow('stock', 'stock_in', '{k, K 2}', 's');
SELECT same('TABLE catalog_before',
    $$ SELECT attrelid, attname, atttypid, attnum FROM pg_attribute WHERE attrelid = 'stock'::regclass
       UNION ALL SELECT indexrelid, 'index', 0, 0 FROM pg_index WHERE indrelid = 'stock'::regclass $$);
SELECT count(*) FROM stock;
INSERT INTO stock_in VALUES (1, 'k', 'new', 1), (101, 'k', 'new', 1);
SELECT applied('stock');
SELECT * FROM stock WHERE v = 'new' ORDER BY k;
SELECT replace_flow.drop_flow('stock');
-- Unique, with more columns or with the columns in another order: such an index
-- serves, and there is no warning.
CREATE INDEX stock_key ON stock ("K 2", k, v);
SELECT replace_flow.create_using_flow('stock', 'stock_in', '{k, K 2}', 's');

-- drop_target drops the table as the flow's owner would.
CREATE VIEW stock_view AS SELECT * FROM stock;
SELECT left(line, 5) AS state FROM refused($$ SELECT replace_flow.drop_flow('stock', drop_target => true) $$) AS line LIMIT 1;
SELECT count(*) FROM replace_flow.flow WHERE name = 'stock';
SELECT replace_flow.drop_flow('stock');
SELECT count(*) FROM stock;
SELECT refused($$ SELECT replace_flow.drop_flow('stock') $$);

-- Where a target cannot be created.
SELECT refused($$ SELECT replace_flow.create_using_flow('pg_temp.item', 'item_in', '{id}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('replace_flow.item', 'item_in', '{id}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('pg_catalog.item', 'item_in', '{id}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{id}', 's',
    query => 'SELECT id, s, ROW(1, 2) AS r FROM item_in') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{id}', 's',
    query => 'SELECT id, s, c || d AS x FROM item_in') $$);
SELECT to_regclass('item') IS NULL AS nothing_left;
\i :finish
