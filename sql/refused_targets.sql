\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A2: what cannot be the target of a flow.
--
CREATE TABLE item_in (k int, s int, v text);
CREATE TABLE other_in (LIKE item_in);
CREATE TABLE item (LIKE item_in);
CREATE INDEX ON item (k);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', name => 'first');

-- One flow per target, however the target is named.
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'other_in', '{k}', 's', name => 'second') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('"test"."item"', 'other_in', '{k}', 's', name => 'second') $$);
-- And one flow per name.
SELECT refused($$ SELECT replace_flow.create_using_flow('item2', 'other_in', '{k}', 's', name => 'first') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item2', 'other_in', '{k}', 's', name => '') $$);

-- A partition or an ancestor of another flow's target counts as that target.
CREATE TABLE event (LIKE item_in) PARTITION BY LIST (k);
CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1) PARTITION BY LIST (s);
CREATE TABLE event_1_1 PARTITION OF event_1 FOR VALUES IN (1);
CREATE TABLE event_1_2 PARTITION OF event_1 FOR VALUES IN (2);
CREATE TABLE event_2 PARTITION OF event FOR VALUES IN (2);
CREATE INDEX ON event (k);
CREATE TABLE event_in (LIKE item_in);
SELECT replace_flow.create_using_flow('event_1', 'event_in', '{k}', 's');
SELECT refused($$ SELECT replace_flow.create_using_flow('event', 'other_in', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('event_1_1', 'other_in', '{k}', 's') $$);
SELECT replace_flow.create_using_flow('event_2', 'other_in', '{k}', 's', name => 'a sibling');

-- Nor can the stream of a flow be the target of one.
CREATE TABLE third_in (LIKE item_in);
SELECT refused($$ SELECT replace_flow.create_using_flow('item_in', 'third_in', '{k}', 's') $$);

-- A table with INHERITS children; a child is a table like others.
CREATE TABLE parent (LIKE item_in);
CREATE TABLE child () INHERITS (parent);
CREATE INDEX ON child (k);
SELECT refused($$ SELECT replace_flow.create_using_flow('parent', 'third_in', '{k}', 's') $$);
SELECT replace_flow.create_using_flow('child', 'third_in', '{k}', 's');
SELECT replace_flow.drop_flow('child');

-- A partitioned table with a foreign partition, at any depth.
CREATE FOREIGN DATA WRAPPER test_wrapper;
CREATE SERVER test_server FOREIGN DATA WRAPPER test_wrapper;
CREATE TABLE mixed (LIKE item_in) PARTITION BY LIST (k);
CREATE TABLE mixed_1 PARTITION OF mixed FOR VALUES IN (1) PARTITION BY LIST (s);
CREATE FOREIGN TABLE mixed_1_1 PARTITION OF mixed_1 FOR VALUES IN (1) SERVER test_server;
SELECT refused($$ SELECT replace_flow.create_using_flow('mixed', 'third_in', '{k}', 's') $$);

-- Whatever is no ordinary or partitioned table.
CREATE VIEW item_view AS SELECT * FROM third_in;
CREATE MATERIALIZED VIEW item_matview AS SELECT * FROM third_in;
CREATE SEQUENCE item_sequence;
CREATE TYPE item_type AS (k int, s int, v text);
CREATE INDEX item_index ON third_in (k);
CREATE TEMPORARY TABLE item_temporary (LIKE third_in);
SELECT refused($$ SELECT replace_flow.create_using_flow('item_view', 'third_in', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item_matview', 'third_in', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('mixed_1_1', 'third_in', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item_sequence', 'third_in', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item_type', 'third_in', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item_index', 'third_in', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item_temporary', 'third_in', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('pg_catalog.pg_class', 'third_in', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('replace_flow.run', 'third_in', '{k}', 's') $$);

-- Nothing is left of what was refused.
SELECT name FROM replace_flow.flow ORDER BY name COLLATE "C";
DROP FOREIGN DATA WRAPPER test_wrapper CASCADE;
\i :finish
