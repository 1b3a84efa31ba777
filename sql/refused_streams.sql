\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A4: what cannot be the stream of a flow.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);

CREATE VIEW item_view AS SELECT * FROM item_in;
CREATE MATERIALIZED VIEW item_matview AS SELECT * FROM item_in;
CREATE FOREIGN DATA WRAPPER test_wrapper;
CREATE SERVER test_server FOREIGN DATA WRAPPER test_wrapper;
CREATE FOREIGN TABLE item_foreign (k int, s int, v text) SERVER test_server;
CREATE TEMPORARY TABLE item_temporary (LIKE item);
CREATE SEQUENCE item_sequence;
CREATE TYPE item_type AS (k int, s int, v text);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_view', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_matview', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_foreign', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_temporary', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_sequence', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_type', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_k_idx', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'pg_catalog.pg_class', '{relname}', 'relpages') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'replace_flow.run', '{flow}', 'run_id') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', NULL, '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 0::regclass, '{k}', 's') $$);

-- A partitioned stream is fine, unless a partition is a foreign table.
CREATE TABLE mixed_in (LIKE item) PARTITION BY LIST (k);
CREATE FOREIGN TABLE mixed_in_1 PARTITION OF mixed_in FOR VALUES IN (1) SERVER test_server;
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'mixed_in', '{k}', 's') $$);
DROP FOREIGN DATA WRAPPER test_wrapper CASCADE;

-- The target itself, its partitions and ancestors.
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item', '{k}', 's') $$);
CREATE TABLE event (LIKE item) PARTITION BY LIST (k);
CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1);
CREATE TABLE event_2 PARTITION OF event FOR VALUES IN (2);
CREATE INDEX ON event (k);
SELECT refused($$ SELECT replace_flow.create_using_flow('event', 'event_1', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('event_1', 'event', '{k}', 's') $$);

-- A table that a flow rewrites.
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
SELECT refused($$ SELECT replace_flow.create_using_flow('item2', 'item', '{k}', 's') $$);
-- Or one that another flow consumes.
SELECT refused($$ SELECT replace_flow.create_using_flow('item2', 'item_in', '{k}', 's') $$);
CREATE TABLE part_in (LIKE item) PARTITION BY LIST (k);
CREATE TABLE part_in_1 PARTITION OF part_in FOR VALUES IN (1);
CREATE TABLE part_in_2 PARTITION OF part_in FOR VALUES IN (2);
SELECT replace_flow.create_using_flow('part_1', 'part_in_1', '{k}', 's');
SELECT refused($$ SELECT replace_flow.create_using_flow('part', 'part_in', '{k}', 's') $$);
SELECT replace_flow.create_using_flow('part_2', 'part_in_2', '{k}', 's');

-- An unlogged stream is allowed, with a warning.
CREATE UNLOGGED TABLE fast_in (k int, s int);
SELECT replace_flow.create_using_flow('fast', 'fast_in', '{k}', 's');
INSERT INTO fast_in VALUES (1, 1);
SELECT applied('fast');
TABLE fast;

SELECT name FROM replace_flow.flow ORDER BY name COLLATE "C";
\i :finish
