\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- F1: the worker is woken by the commit that staged rows.  So a stream and each of its
-- partitions has triggers, for as long as a flow needs them, and no others.
--
CREATE VIEW triggers AS
SELECT t.tgrelid::regclass AS table_name, regexp_replace(t.tgname, '\d+$', 'N') AS tgname, t.tgenabled AS fires,
    regexp_replace(pg_get_triggerdef(t.oid), '^.*(AFTER|BEFORE) (.*) ON .* FOR EACH (\w+).*$', '\1 \2, EACH \3') AS what,
    EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_trigger'::regclass AND d.objid = t.oid AND d.deptype = 'x') AS goes_with_extension
FROM pg_trigger t
WHERE t.tgisinternal AND t.tgname ~ '^replace_flow_staged'
ORDER BY t.tgrelid::regclass::text COLLATE "C", t.tgtype DESC;
CREATE VIEW woken AS
SELECT table_name, string_agg(fires::text, '' ORDER BY tgname) AS fires FROM triggers GROUP BY 1 ORDER BY table_name::text COLLATE "C";
-- Which triggers a statement fires, and how often.
CREATE FUNCTION fired(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF) ' || statement LOOP
        IF line ~ '^Trigger' THEN
            RETURN NEXT regexp_replace(line, '(_staged\w*_)\d+', '\1N');
        END IF;
    END LOOP;
END $$;

-- A plain stream.  They are internal, as those of foreign keys.
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (k int, s int, v text);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
TABLE triggers;
\d item_in

-- They fire when rows are staged, and when replicated rows are.
SELECT fired($$ INSERT INTO item_in VALUES (1, 1, 'a'), (2, 1, 'b') $$);
SET session_replication_role = replica;
SELECT fired($$ INSERT INTO item_in VALUES (3, 1, 'c'), (4, 1, 'd') $$);
RESET session_replication_role;
SELECT applied('item');
CREATE VIEW item_view AS SELECT * FROM item_in;
SELECT fired($$ INSERT INTO item_view VALUES (5, 1, 'e') $$);
TRUNCATE item_in;

-- They stay when the flow is altered and paused, and follow renames.
SELECT replace_flow.alter_flow('item', auto_apply => false, on_tie => 'ignore');
SELECT replace_flow.pause_flow('item');
ALTER TABLE item_in RENAME TO staged;
SELECT replace_flow.resume_flow('item');
CREATE TABLE item_in (k int, s int, v text);
SELECT * FROM woken;

-- Another stream.
SELECT replace_flow.alter_flow('item', source => 'item_in');
SELECT * FROM woken;
SELECT replace_flow.alter_flow('item', source => 'staged');
SELECT * FROM woken;

-- A table without a flow has none; not if something fails on the way either.
BEGIN;
SELECT replace_flow.drop_flow('item');
SELECT * FROM woken;
ROLLBACK;
SELECT refused($$ SELECT replace_flow.create_using_flow('other', 'item_in', '{k}', 'nothing') $$);
SELECT * FROM woken;
SELECT replace_flow.drop_flow('item');
SELECT * FROM woken;
SELECT replace_flow.create_using_flow('item', 'staged', '{k}', 's');
DROP TABLE item;
SELECT * FROM woken;

-- Partitions can be written by their own names.  They get and lose the triggers when
-- they come and go, whoever attaches them.
CREATE TABLE target (k int, s int, v text);
CREATE INDEX ON target (k);
CREATE TABLE parts (k int, s int, v text) PARTITION BY LIST (k);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1) PARTITION BY LIST (s);
CREATE TABLE part_1_1 PARTITION OF part_1 FOR VALUES IN (1);
CREATE TABLE part_3 (k int, s int, v text);
CREATE TABLE part_4 (v text, s int, k int);
CREATE TABLE unrelated (k int, s int, v text) PARTITION BY LIST (k);
CREATE TABLE unrelated_1 PARTITION OF unrelated FOR VALUES IN (1);
SELECT replace_flow.create_using_flow('target', 'parts', '{k}', 's');
SELECT * FROM woken;
CREATE ROLE regress_rf_stager;
GRANT USAGE, CREATE ON SCHEMA test TO regress_rf_stager;
ALTER TABLE parts OWNER TO regress_rf_stager;
ALTER TABLE part_1 OWNER TO regress_rf_stager;
ALTER TABLE part_3 OWNER TO regress_rf_stager;
ALTER TABLE part_4 OWNER TO regress_rf_stager;
SET ROLE regress_rf_stager;
CREATE TABLE part_2 PARTITION OF parts FOR VALUES IN (2);
CREATE TABLE part_1_2 PARTITION OF part_1 FOR VALUES IN (2);
ALTER TABLE parts ATTACH PARTITION part_3 FOR VALUES IN (3);
RESET ROLE;
SELECT * FROM woken;
ALTER TABLE parts DETACH PARTITION part_2;
DROP TABLE part_3;
SELECT * FROM woken;
-- what the command itself does not lock loses them with the next flow that goes
ALTER TABLE parts DETACH PARTITION part_1;
SELECT replace_flow.create_using_flow('new', 'item_in', '{k}', 's');
SELECT replace_flow.drop_flow('new', drop_target => true);
SELECT * FROM woken;
-- a schema with a partition in it; a transaction with an old snapshot
CREATE SCHEMA test_more CREATE TABLE part_5 PARTITION OF test.parts FOR VALUES IN (5);
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM parts;
ALTER TABLE parts ATTACH PARTITION part_4 FOR VALUES IN (4);
COMMIT;
SELECT * FROM woken;
-- a stream becomes a part of another one: its runs fail, and attaching does not
CREATE TABLE part_6 (k int, s int, v text);
CREATE TABLE target_6 (LIKE target);
CREATE INDEX ON target_6 (k);
SELECT replace_flow.create_using_flow('target_6', 'part_6', '{k}', 's');
ALTER TABLE parts ATTACH PARTITION part_6 FOR VALUES IN (6);
SELECT replace_flow.drop_flow('target_6');
SELECT * FROM woken;
ALTER TABLE parts DETACH PARTITION part_6;
SELECT * FROM woken;

-- Rows come through what a stream is a part of, too.
CREATE TABLE whole (k int, s int) PARTITION BY LIST (k);
CREATE TABLE whole_1 PARTITION OF whole FOR VALUES IN (1) PARTITION BY LIST (s);
CREATE TABLE whole_1_1 PARTITION OF whole_1 FOR VALUES IN (1);
CREATE TABLE whole_2 PARTITION OF whole FOR VALUES IN (2);
SELECT replace_flow.create_using_flow('of_whole_1', 'whole_1', '{k}', 's');
SELECT * FROM woken WHERE table_name::text ~ '^whole';
SELECT fired($$ INSERT INTO whole VALUES (1, 1) $$);
SELECT replace_flow.drop_flow('of_whole_1', drop_target => true);
SELECT * FROM woken WHERE table_name::text ~ '^whole';

-- Users' own triggers can have any name.
CREATE TABLE part_7 (k int, s int, v text);
CREATE FUNCTION do_nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER replace_flow_staged AFTER INSERT ON part_7 EXECUTE FUNCTION do_nothing();
ALTER TABLE parts ATTACH PARTITION part_7 FOR VALUES IN (7);
SELECT * FROM woken;

-- Who disables and enables the triggers of a table means those of users, unless it is a
-- superuser who says ALL.  What was disabled stays so; what fires when it should not is
-- made anew, and what is missing as after a restore is made, with the next flow that goes.
ALTER TABLE part_7 OWNER TO regress_rf_stager;
SET ROLE regress_rf_stager;
ALTER TABLE part_7 DISABLE TRIGGER USER;
SELECT refused($$ ALTER TABLE part_7 DISABLE TRIGGER ALL $$) ~ '^42501';
RESET ROLE;
SELECT * FROM woken;
ALTER TABLE part_7 DISABLE TRIGGER ALL;
ALTER TABLE part_4 ENABLE TRIGGER ALL;
DO $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT tgname FROM pg_trigger WHERE tgrelid = 'test_more.part_5'::regclass LOOP
        EXECUTE format('DROP TRIGGER %I ON test_more.part_5', t.tgname);
    END LOOP;
END $$;
SELECT * FROM woken;
SELECT replace_flow.create_using_flow('new', 'item_in', '{k}', 's');
SELECT replace_flow.drop_flow('new', drop_target => true);
SELECT * FROM woken;

-- They go with the extension.
BEGIN;
DROP VIEW unaccounted;
DROP FUNCTION in_words;
DROP EXTENSION replace_flow;
SELECT * FROM woken;
CREATE TABLE part_9 PARTITION OF parts FOR VALUES IN (9);
ROLLBACK;
DROP SCHEMA test_more CASCADE;
REASSIGN OWNED BY regress_rf_stager TO CURRENT_USER;
DROP OWNED BY regress_rf_stager;
DROP ROLE regress_rf_stager;
\i :finish
