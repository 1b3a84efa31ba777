\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A1, A2, A8: the target of a where flow.
--
-- A target that does not exist is created with the columns and types of the query's
-- output, and nothing else.
SET datestyle = ISO;
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE s (
    id int PRIMARY KEY, "Name" varchar(20) NOT NULL DEFAULT 'x', code char(3), amount numeric(10,2), tags text[], at timestamptz(3), m mood,
    c text COLLATE "C", span interval day to second, bits bit(3));
INSERT INTO s VALUES (1, 'n', 'c', 1.5, '{a}', '2026-03-01', 'sad', 'x', '1 day', '101');
SELECT replace_flow.create_where_flow('t', 'TABLE s', 'id > 0');
SELECT attname, format_type(atttypid, atttypmod) AS type, attnotnull, atthasdef,
    nullif(attcollation, (SELECT typcollation FROM pg_type WHERE oid = atttypid))::regcollation AS collation
FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*) AS indexes FROM pg_index WHERE indrelid = 't'::regclass;
SELECT count(*) FROM t;
SELECT refreshed('t');
SELECT same('TABLE t', 'TABLE s');
SELECT refreshed('t');
SELECT replace_flow.drop_flow('t', drop_target => true);
SELECT to_regclass('t') IS NULL AS dropped;
-- from expressions, in a schema that is named, under a name of the flow's own
CREATE SCHEMA test2;
SELECT replace_flow.create_where_flow('test2.t', $$ SELECT id AS key, amount * 2 AS twice, 'x' AS constant, at + span AS later, tags || 'b'::text AS tags, count(*) OVER () AS n, NULL AS nothing FROM s $$,
    'key > 0', name => 'my flow', comment => 'a comment');
SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = 'test2.t'::regclass AND attnum > 0 ORDER BY attnum;
SELECT name, kind, target, source, replace_where, comment, definition_version, reset_allowed, allow_empty, keep_rejected, refresh_on_change, min_interval, settings
FROM replace_flow.flow \gx
SELECT refreshed('my flow');
SELECT replace_flow.drop_flow('my flow');
SELECT count(*) FROM test2.t;
DROP SCHEMA test2 CASCADE;

-- An existing target is taken as it is; no index is needed.
CREATE TABLE stock (id int, "Name" text, extra int DEFAULT 5);
INSERT INTO stock VALUES (7, 'seven', 7), (0, 'zero', 0);
SELECT replace_flow.create_where_flow('stock', 'SELECT id, "Name" FROM s', 'id > 0');
SELECT * FROM stock ORDER BY id;
SELECT count(*) AS indexes FROM pg_index WHERE indrelid = 'stock'::regclass;
SELECT refreshed('stock');
SELECT * FROM stock ORDER BY id;

-- A2: one flow per target, whatever its kind, and one per name.
CREATE TABLE u_in (k int, s int);
SELECT refused($$ SELECT replace_flow.create_where_flow('stock', 'SELECT id FROM s', 'true', name => 'other') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('"test"."stock"', 'SELECT id FROM s', 'true', name => 'other') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('stock', 'u_in', '{id}', 's', name => 'other', query => 'SELECT k AS id, s FROM u_in') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('t', 'SELECT id FROM s', 'true', name => 'stock') $$);
SELECT replace_flow.create_using_flow('u', 'u_in', '{k}', 's');
SELECT refused($$ SELECT replace_flow.create_where_flow('u', 'SELECT id AS k FROM s', 'true', name => 'other') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('t', 'SELECT id FROM s', 'true', name => 'u') $$);
-- The parts of a target, and what it is a part of, count as that target.
CREATE TABLE event (id int, "Name" text) PARTITION BY LIST (id);
CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1) PARTITION BY LIST ("Name");
CREATE TABLE event_1_1 PARTITION OF event_1 DEFAULT;
CREATE TABLE event_2 PARTITION OF event FOR VALUES IN (2);
SELECT replace_flow.create_where_flow('event_1', 'SELECT id, "Name" FROM s', 'true');
SELECT refused($$ SELECT replace_flow.create_where_flow('event', 'SELECT id FROM s', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('event_1_1', 'SELECT id FROM s', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('event_1_1', 'u_in', '{k}', 's') $$);
SELECT replace_flow.create_where_flow('event_2', 'SELECT id FROM s', 'true');

-- A stream cannot be a target, nor can a target become a stream.
SELECT refused($$ SELECT replace_flow.create_where_flow('u_in', 'SELECT id AS k FROM s', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('v', 'stock', '{id}', 'id') $$);

-- What is no table that can be written.
CREATE TABLE parent (id int);
CREATE TABLE child () INHERITS (parent);
CREATE VIEW s_view AS SELECT * FROM s;
CREATE MATERIALIZED VIEW s_matview AS SELECT * FROM s;
CREATE SEQUENCE s_sequence;
CREATE TEMPORARY TABLE s_temporary (id int);
SELECT refused($$ SELECT replace_flow.create_where_flow('parent', 'SELECT id FROM s', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('s_view', 'SELECT 1 AS id', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('s_matview', 'SELECT 1 AS id', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('s_sequence', 'SELECT 1 AS id', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('s_temporary', 'SELECT 1 AS id', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('pg_temp.t', 'SELECT 1 AS id', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('pg_catalog.pg_class', 'SELECT 1 AS id', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('replace_flow.run', 'SELECT 1 AS id', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('replace_flow.t', 'SELECT 1 AS id', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('nowhere.t', 'SELECT 1 AS id', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('a.b.c.d', 'SELECT 1 AS id', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('', 'SELECT 1 AS id', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('t; DROP TABLE s', 'SELECT 1 AS id', 'true') $$);

-- Arguments.
SELECT refused($$ SELECT replace_flow.create_where_flow(NULL, 'SELECT 1 AS id', 'true') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('t', 'SELECT 1 AS id', 'true', name => '') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('t', 'SELECT 1 AS id', 'true', reset_allowed => NULL) $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('t', 'SELECT 1 AS id', 'true', allow_empty => NULL) $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('t', 'SELECT 1 AS id', 'true', keep_rejected => NULL) $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('t', 'SELECT 1 AS id', 'true', refresh_on_change => NULL) $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('t', 'SELECT 1 AS id', 'true', min_interval => NULL) $$);
SELECT line !~ '^RF000' AS refused FROM refused($$ SELECT replace_flow.create_where_flow('t', 'SELECT 1 AS id', 'true', min_interval => '-1 s') $$) AS line LIMIT 1;
SELECT refused($$ SELECT replace_flow.create_where_flow('t', 'SELECT 1 AS id', 'true', settings => NULL) $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('t', 'SELECT 1 AS id', 'true', settings => '{"search_path": "test"}') $$);
-- Columns that no table can have, and none at all.
SELECT line !~ '^RF000' AS refused FROM refused($$ SELECT replace_flow.create_where_flow('t', 'SELECT FROM s', 'true') $$) AS line LIMIT 1;
SELECT refused($$ SELECT replace_flow.create_where_flow('t', 'SELECT 1 AS id, ROW(1, 2) AS r', 'true') $$);

-- A8: nothing is left of what was refused: no flow, no target, no view.
SELECT name FROM replace_flow.flow ORDER BY name;
SELECT to_regclass('t') IS NULL AND to_regclass('v') IS NULL AS nothing_left;
SELECT regexp_replace(relname, '\d+', 'N') AS view, count(*) FROM pg_class
WHERE relnamespace = 'replace_flow'::regnamespace AND relname ~ '^(flow|floor|window)_\d+$' GROUP BY 1 ORDER BY 1;

-- Warnings: deletes that would cascade to other tables (B12), and a published target
-- without replica identity (B11).
SET client_min_messages = warning;
CREATE TABLE keyed (id int PRIMARY KEY, v text);
CREATE TABLE follower (id int REFERENCES keyed ON DELETE CASCADE);
SELECT replace_flow.create_where_flow('keyed', $$ SELECT id, "Name" AS v FROM s $$, 'true');
CREATE TABLE shown (id int);
SET client_min_messages = error;
CREATE PUBLICATION regress_rf_shown FOR TABLE shown;
SET client_min_messages = warning;
SELECT replace_flow.create_where_flow('shown', 'SELECT id FROM s', 'true');
DROP PUBLICATION regress_rf_shown;
\i :finish
