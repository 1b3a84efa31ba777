\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- E5: what changes in the tables that a where flow reads and writes is captured.  So these
-- have triggers, with their parts and with what they are a part of, for as long as a flow
-- needs them.
--
CREATE VIEW triggers AS
SELECT t.tgrelid::regclass AS table_name, regexp_replace(t.tgname, '\d+$', 'N') AS tgname, t.tgenabled AS fires,
    regexp_replace(pg_get_triggerdef(t.oid), '^.*(AFTER|BEFORE) (.*) ON \S+( REFERENCING .*)? FOR EACH (\w+).*$', '\1 \2\3, EACH \4') AS what,
    EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_trigger'::regclass AND d.objid = t.oid AND d.deptype = 'x') AS goes_with_extension
FROM pg_trigger t
WHERE t.tgisinternal AND t.tgname ~ '^replace_flow_captured'
ORDER BY t.tgrelid::regclass::text COLLATE "C", t.tgtype;
-- When those of a table fire, in the order delete, insert, replica, truncate, update.
CREATE VIEW captured AS
SELECT table_name, string_agg(fires::text, '' ORDER BY tgname COLLATE "C") AS fires FROM triggers GROUP BY 1 ORDER BY table_name::text COLLATE "C";
-- Which triggers a statement fires, and how often.
CREATE FUNCTION fired(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF) ' || statement LOOP
        IF line ~ '^Trigger' THEN
            RETURN NEXT regexp_replace(line, '(_captured_\w+_)\d+', '\1N');
        END IF;
    END LOOP;
END $$;

-- A plain table, and a target.  They are internal, as those of foreign keys.
CREATE TABLE item (k int PRIMARY KEY, v text);
CREATE TABLE copy (k int, v text);
SELECT replace_flow.create_where_flow('copy', 'SELECT k, v FROM item', 'true');
TABLE triggers;
\d item

-- They fire once for a statement, or for each row of a subscription.
SELECT fired($$ INSERT INTO item VALUES (1, 'a'), (2, 'b') $$);
SELECT fired($$ UPDATE item SET v = 'c' $$);
SELECT fired($$ DELETE FROM item WHERE k = 2 $$);
SELECT fired($$ INSERT INTO item VALUES (1, 'd'), (3, 'e') ON CONFLICT (k) DO UPDATE SET v = excluded.v $$);
SELECT fired($$ MERGE INTO item USING (VALUES (1), (3), (4)) s (k) ON item.k = s.k WHEN MATCHED AND s.k = 1 THEN DELETE
    WHEN MATCHED THEN UPDATE SET v = 'f' WHEN NOT MATCHED THEN INSERT VALUES (s.k, 'g') $$);
SELECT fired($$ INSERT INTO copy VALUES (9, 'by hand') $$);
SET session_replication_role = replica;
SELECT fired($$ INSERT INTO item VALUES (5, 'h'), (6, 'i') $$);
RESET session_replication_role;
SELECT refreshed('copy');

-- Who writes needs no right to what is the extension's.
CREATE ROLE regress_rf_writer;
GRANT USAGE ON SCHEMA test TO regress_rf_writer;
GRANT ALL ON item TO regress_rf_writer;
REVOKE USAGE ON SCHEMA replace_flow FROM PUBLIC;
SET ROLE regress_rf_writer;
SET search_path = '';
INSERT INTO test.item VALUES (7, 'j');
UPDATE test.item SET v = 'k' WHERE k = 7;
DELETE FROM test.item WHERE k = 7;
TRUNCATE test.item;
RESET ROLE;
GRANT USAGE ON SCHEMA replace_flow TO PUBLIC;
-- and gets none
SET ROLE regress_rf_writer;
SELECT test.refused($$ TABLE replace_flow.captured $$) AS captured, test.refused($$ TABLE replace_flow.change $$) AS change,
    test.refused($$ TABLE replace_flow.seen $$) AS seen;
SELECT test.refused($$ CREATE TRIGGER t AFTER INSERT ON test.item EXECUTE FUNCTION replace_flow.capture_change() $$);
RESET ROLE;
SET search_path = test;

-- One table, one set of triggers, whatever the number of flows, and whether they run.
CREATE TABLE other (k int, v text);
SELECT replace_flow.create_where_flow('copy_2', 'SELECT i.k, i.v FROM item i JOIN other o USING (k)', 'true');
SELECT replace_flow.pause_flow('copy_2');
SELECT * FROM captured;
SELECT replace_flow.drop_flow('copy');
SELECT * FROM captured;
-- They follow the flow's query, through views too,
CREATE VIEW others AS SELECT * FROM other;
CREATE MATERIALIZED VIEW no_table AS SELECT 1 AS one;
SELECT replace_flow.alter_flow('copy_2', query => 'SELECT k, v FROM others, no_table, pg_am');
SELECT * FROM captured;
SELECT replace_flow.alter_flow('copy_2', replace_where => 'k > 0', comment => 'they stay');
SELECT * FROM captured;
-- the names of tables,
ALTER TABLE other RENAME TO another;
CREATE TABLE other (k int, v text);
SELECT * FROM captured;
-- and nothing that failed.
SELECT refused($$ SELECT replace_flow.create_where_flow('copy_3', 'SELECT k, v FROM item', 'nothing') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('copy_2', query => 'SELECT k, v, nothing FROM item') $$);
BEGIN;
SAVEPOINT s;
SELECT replace_flow.create_where_flow('copy_3', 'SELECT k, v FROM item', 'true');
ROLLBACK TO s;
SELECT replace_flow.drop_flow('copy_2');
SELECT * FROM captured;
ROLLBACK;
SELECT * FROM captured;
DROP TABLE another CASCADE;
SELECT * FROM captured;
SELECT count(*) FROM replace_flow.captured;

-- A partition can be written by its own name, and through what it is a part of.  The
-- triggers come and go with the parts of a table.
CREATE TABLE fact (day int, shop int) PARTITION BY RANGE (day);
CREATE TABLE fact_1 PARTITION OF fact FOR VALUES FROM (10) TO (20) PARTITION BY LIST (shop);
CREATE TABLE fact_1_1 PARTITION OF fact_1 FOR VALUES IN (1);
CREATE TABLE fact_1_2 PARTITION OF fact_1 FOR VALUES IN (2);
CREATE TABLE fact_2 PARTITION OF fact FOR VALUES FROM (20) TO (30);
CREATE TABLE fact_3 (shop int, day int);
CREATE TABLE fact_4 (day int, shop int) PARTITION BY LIST (shop);
CREATE TABLE fact_4_1 PARTITION OF fact_4 FOR VALUES IN (1);
SELECT replace_flow.create_where_flow('part', 'SELECT day, shop FROM fact_1', 'true');
SELECT * FROM captured;
SELECT fired($$ INSERT INTO fact VALUES (11, 1), (21, 1) $$);
SELECT fired($$ INSERT INTO fact_1 VALUES (11, 1) $$);
SELECT fired($$ INSERT INTO fact_1_1 VALUES (11, 1) $$);
SELECT fired($$ UPDATE fact SET day = day - 10, shop = 2 WHERE day = 21 $$);
SELECT replace_flow.create_where_flow('whole', 'SELECT day, shop FROM fact', 'true');
SELECT * FROM captured;
SELECT replace_flow.drop_flow('part');
CREATE TABLE fact_5 PARTITION OF fact FOR VALUES FROM (50) TO (60);
CREATE TABLE fact_6 PARTITION OF fact FOR VALUES FROM (60) TO (70) PARTITION BY LIST (shop);
CREATE SCHEMA test_more CREATE TABLE fact_7 PARTITION OF test.fact FOR VALUES FROM (70) TO (80);
ALTER TABLE fact ATTACH PARTITION fact_3 FOR VALUES FROM (30) TO (40);
ALTER TABLE fact ATTACH PARTITION fact_4 FOR VALUES FROM (40) TO (50);
SELECT * FROM captured;
ALTER TABLE fact DETACH PARTITION fact_3;
ALTER TABLE fact DETACH PARTITION fact_4;
DROP TABLE fact_5;
SELECT * FROM captured;
-- a table of its own becomes a part of another, and the other way round
SELECT replace_flow.create_where_flow('part', 'SELECT day, shop FROM fact_4_1', 'true');
CREATE TABLE beyond (day int, shop int) PARTITION BY RANGE (day);
ALTER TABLE fact_4 DETACH PARTITION fact_4_1;
ALTER TABLE beyond ATTACH PARTITION fact_4_1 FOR VALUES FROM (0) TO (10);
SELECT * FROM captured WHERE table_name IN ('beyond'::regclass, 'fact_4'::regclass, 'fact_4_1'::regclass);
DROP TABLE beyond CASCADE;
SELECT replace_flow.drop_flow('whole');
SELECT * FROM captured;
DROP TABLE fact CASCADE;
DROP SCHEMA test_more CASCADE;

-- The same with inheritance.
CREATE TABLE parent (k int);
CREATE TABLE child (v text) INHERITS (parent);
CREATE TABLE grandchild (w text) INHERITS (child);
CREATE TABLE stranger (k int, v text);
SELECT replace_flow.create_where_flow('of_child', 'SELECT k, v FROM child', 'true');
SELECT * FROM captured;
SELECT fired($$ INSERT INTO grandchild VALUES (1, 'a', 'b') $$);
SELECT fired($$ UPDATE parent SET k = 2 $$);
ALTER TABLE grandchild NO INHERIT child;
ALTER TABLE child NO INHERIT parent;
ALTER TABLE stranger INHERIT child;
CREATE TEMPORARY TABLE of_session () INHERITS (child);
SELECT * FROM captured;
DROP TABLE of_session;
SELECT replace_flow.drop_flow('of_child');
SELECT * FROM captured;

-- A target that is a part of another table, and one with parts.
CREATE TABLE result (k int, v text) PARTITION BY LIST (k);
CREATE TABLE result_1 PARTITION OF result FOR VALUES IN (1) PARTITION BY LIST (v);
CREATE TABLE result_1_a PARTITION OF result_1 FOR VALUES IN ('a');
SELECT replace_flow.create_where_flow('result_1', 'SELECT k, v FROM item', 'k = 1');
SELECT * FROM captured;
SELECT replace_flow.drop_flow('result_1');

-- Triggers on somebody else's table need the right to make triggers there.  Without it the
-- flow works, and its runs are complete.
CREATE ROLE regress_rf_owner;
CREATE SCHEMA test_owner AUTHORIZATION regress_rf_owner;
GRANT USAGE ON SCHEMA test TO regress_rf_owner;
GRANT SELECT ON parent, child, stranger, item TO regress_rf_owner;
SET ROLE regress_rf_owner;
CREATE TABLE test_owner.own (k int);
SELECT replace_flow.create_where_flow('test_owner.t', 'SELECT k FROM test.item JOIN test_owner.own USING (k)', 'true', name => 't');
RESET ROLE;
SELECT * FROM captured;
GRANT TRIGGER ON item TO regress_rf_owner;
SET ROLE regress_rf_owner;
SELECT replace_flow.alter_flow('t', replace_where => 'k > 0');
RESET ROLE;
SELECT * FROM captured;
-- the right to a part is none to the whole
ALTER TABLE child INHERIT parent;
GRANT TRIGGER ON child TO regress_rf_owner;
SET ROLE regress_rf_owner;
SELECT replace_flow.alter_flow('t', query => 'SELECT k FROM test.child');
RESET ROLE;
SELECT * FROM captured;
-- a right that is revoked takes them away with the next flow that goes
REVOKE TRIGGER ON child FROM regress_rf_owner;
SELECT replace_flow.create_where_flow('new', 'SELECT k FROM item', 'true');
SELECT replace_flow.drop_flow('new', drop_target => true);
SELECT * FROM captured;
DROP OWNED BY regress_rf_owner CASCADE;
DROP ROLE regress_rf_owner;
SELECT * FROM captured;

-- What was disabled stays so; what fires when it should not is made anew, and what is missing
-- as after a restore is made, with the next flow that goes.
SELECT replace_flow.create_where_flow('result', 'SELECT k, v FROM item', 'true');
ALTER TABLE item DISABLE TRIGGER ALL;
ALTER TABLE result_1_a ENABLE TRIGGER ALL;
DO $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT tgname FROM pg_trigger WHERE tgrelid = 'result_1'::regclass LOOP
        EXECUTE format('DROP TRIGGER %I ON result_1', t.tgname);
    END LOOP;
END $$;
SELECT * FROM captured;
SELECT replace_flow.create_where_flow('new', 'SELECT k FROM result', 'true');
SELECT replace_flow.drop_flow('new', drop_target => true);
SELECT * FROM captured;
ALTER TABLE item ENABLE TRIGGER ALL;

-- What nobody waits for goes with the last flow that did, and what is of a table that is gone.
-- To be sure of what there is, it is written by hand.
CREATE FUNCTION note(noted regclass[]) RETURNS void LANGUAGE sql AS $$
    TRUNCATE replace_flow.change;
    INSERT INTO replace_flow.change SELECT oid, pg_current_xact_id(), NULL, false, '' FROM unnest(noted || 987654321::regclass) oid;
$$;
CREATE VIEW changed AS SELECT relid::regclass FROM replace_flow.change ORDER BY relid::regclass::text COLLATE "C";
SELECT replace_flow.create_where_flow('new', 'SELECT k FROM result_1', 'true');
SELECT note('{item, result, result_1, result_1_a, parent}');
SELECT replace_flow.drop_flow('result');
SELECT * FROM changed;
SELECT note('{result, result_1, result_1_a, new}');
DROP TABLE result_1 CASCADE;
SELECT count(*) FROM changed;
SELECT * FROM captured;
SELECT count(*) FROM replace_flow.captured;

-- They go with the extension.
SELECT replace_flow.create_where_flow('newer', 'SELECT k, v FROM item', 'true');
SELECT * FROM captured;
BEGIN;
DROP VIEW unaccounted, changed;
DROP FUNCTION in_words;
DROP EXTENSION replace_flow;
SELECT * FROM captured;
INSERT INTO item VALUES (100, 'x');
ROLLBACK;
INSERT INTO item VALUES (100, 'x');
REVOKE ALL ON item FROM regress_rf_writer;
DROP OWNED BY regress_rf_writer;
DROP ROLE regress_rf_writer;
\i :finish
