\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A7: keys of types that extensions bring: citext folds, ltree and hstore sort.
--
SELECT count(*) < 3 AS skip FROM pg_available_extensions WHERE name IN ('citext', 'ltree', 'hstore') \gset
\if :skip
\i :finish
\quit
\endif
CREATE EXTENSION citext SCHEMA test;
CREATE EXTENSION ltree SCHEMA test;
CREATE EXTENSION hstore SCHEMA test;

CREATE TABLE person (name citext, s int, v text);
CREATE INDEX ON person (name);
CREATE TABLE person_in (name text, s int, v text);
CREATE TABLE sent (batch int, LIKE person_in);
INSERT INTO sent VALUES
    (1, 'ann', 1, 'a'), (1, 'BOB', 1, 'b'), (2, 'ANN', 2, 'A'), (2, 'Ann', 2, 'A2'), (3, 'aNN', 1, 'late');
CALL arrange($$ SELECT replace_flow.create_using_flow('person', 'person_in', '{name}', 's') $$, 'person', 'person_in');
SELECT * FROM outcome;
CREATE TABLE person_now (name citext, v text);
CREATE INDEX ON person_now (name);
CALL arrange($$ SELECT replace_flow.create_using_flow('person_now', 'person_in', '{name}', 's') $$, 'person_now', 'person_in');
SELECT * FROM outcome;

CREATE TABLE node (path ltree, attributes hstore, s int, v text);
CREATE INDEX ON node (path, attributes);
CREATE TABLE node_in (LIKE node);
CREATE TABLE sent_nodes (batch int, LIKE node);
INSERT INTO sent_nodes VALUES
    (1, 'a.b', 'x=>1, y=>2', 1, 'old'), (1, 'a.b', 'x=>1', 1, 'keep'), (1, NULL, '', 1, 'null'),
    (2, 'a.b', 'y=>2, x=>1', 2, 'new'), (2, NULL, '', 2, 'new null'), (3, 'a.b', 'x=>1, y=>2', 1, 'late');
CALL arrange($$ SELECT replace_flow.create_using_flow('node', 'node_in', '{path, attributes}', 's') $$,
             'node', 'node_in', 'sent_nodes');
SELECT * FROM outcome;
SELECT replace_flow.create_using_flow('node', 'node_in', '{path, attributes}', 's');
SELECT key, floor FROM replace_flow.floors('node') ORDER BY floor, key::text COLLATE "C";
\i :finish
