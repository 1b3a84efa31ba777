\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A10: a flow ends with its target, its stream, or anything that its query
-- reads; nothing of it is left behind.
--
-- Define the flow, run it, and then something else; what is left?
CREATE FUNCTION define() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    CREATE TABLE stream (k int, s int, v text);
    CREATE TABLE label (k int, label text);
    CREATE VIEW between AS SELECT * FROM stream;
    PERFORM replace_flow.create_using_flow('target', 'stream', '{k}', 's', delete_when => 'v IS NULL',
        query => 'SELECT b.*, label FROM between b LEFT JOIN label USING (k)');
    PERFORM replace_flow.add_expectation('target', 'valid', $e$ v <> 'bad' $e$, 'drop');
    INSERT INTO stream VALUES (1, 1, 'a'), (2, 1, 'bad');
    PERFORM applied('target');
END $$;
CREATE FUNCTION left_of_flows() RETURNS text LANGUAGE sql AS $$
    SELECT coalesce(string_agg(format('%s %s', number, what), ', ' ORDER BY what), 'nothing')
    FROM (
        SELECT count(*), 'flow' FROM replace_flow.flow UNION ALL
        SELECT count(*), 'expectation' FROM replace_flow.expectation UNION ALL
        SELECT count(*), 'run' FROM replace_flow.run UNION ALL
        SELECT count(*), 'result' FROM replace_flow.expectation_result UNION ALL
        SELECT count(*), 'rejected' FROM replace_flow.rejected UNION ALL
        SELECT count(*), 'view or ledger' FROM pg_class
        WHERE relnamespace = 'replace_flow'::regnamespace AND relname ~ '^(flow|floor)_\d+$'
    ) AS l (number, what)
    WHERE number > 0
$$;
CREATE FUNCTION after(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM define();
    BEGIN
        EXECUTE statement;
        RETURN NEXT left_of_flows();
        RAISE SQLSTATE 'RF000';
    EXCEPTION
        WHEN SQLSTATE 'RF000' THEN
            NULL;
        WHEN OTHERS THEN
            RETURN NEXT regexp_replace(SQLERRM, '_\d+', '_N', 'g');
            RETURN NEXT left_of_flows();
    END;
    -- what was rolled back was not dropped
    INSERT INTO stream VALUES (3, 1, 'c');
    RETURN NEXT applied('target');
    PERFORM replace_flow.drop_flow('target', drop_target => true);
    DROP TABLE stream, label CASCADE;
    RETURN NEXT left_of_flows();
END $$;
SELECT after('SELECT 1');
SELECT after('DROP TABLE target');
SELECT after('DROP TABLE target CASCADE');
SELECT after('DROP TABLE stream');
SELECT after('DROP TABLE stream CASCADE');
SELECT after('DROP TABLE label');
SELECT after('DROP TABLE label CASCADE');
SELECT after('DROP VIEW between');
SELECT after('DROP VIEW between CASCADE');
SELECT after('ALTER TABLE stream DROP COLUMN v');
SELECT after('ALTER TABLE stream DROP COLUMN v CASCADE');
SELECT after('ALTER TABLE label DROP COLUMN label CASCADE');
SELECT after('DROP TABLE target, label, stream CASCADE');
SELECT after('CREATE SCHEMA gone; ALTER TABLE stream SET SCHEMA gone; DROP SCHEMA gone CASCADE');
SELECT after('CREATE SCHEMA gone; ALTER TABLE target SET SCHEMA gone; DROP SCHEMA gone CASCADE');
-- what the flow does not need
SELECT after('ALTER TABLE target DROP COLUMN label; ALTER TABLE target ADD COLUMN label text; CREATE TABLE x (k int); DROP TABLE x');
SELECT after('CREATE TEMPORARY TABLE target (k int); DROP TABLE pg_temp.target');
SELECT after('CREATE SCHEMA other; CREATE TABLE other.stream (k int); DROP SCHEMA other CASCADE');

-- Who may drop the table ends the flow, also without a right to the flow.
CREATE ROLE regress_rf_other;
SELECT define();
GRANT ALL ON SCHEMA test TO regress_rf_other;
ALTER TABLE target OWNER TO regress_rf_other;
SET ROLE regress_rf_other;
DROP TABLE test.target;
RESET ROLE;
SELECT left_of_flows();
DROP TABLE stream, label CASCADE;

-- Partitions come and go.
CREATE TABLE stream (k int, s int, v text) PARTITION BY LIST (k);
CREATE TABLE stream_1 PARTITION OF stream FOR VALUES IN (1);
CREATE TABLE stream_2 PARTITION OF stream DEFAULT;
CREATE TABLE target (k int, s int, v text) PARTITION BY LIST (k);
CREATE TABLE target_1 PARTITION OF target FOR VALUES IN (1);
CREATE TABLE target_2 PARTITION OF target DEFAULT;
CREATE INDEX ON target (k);
SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's');
INSERT INTO stream VALUES (1, 1, 'a'), (2, 1, 'b');
SELECT applied('target');
DROP TABLE target_1;
DROP TABLE stream_1;
ALTER TABLE target DETACH PARTITION target_2;
INSERT INTO stream VALUES (2, 2, 'bb');
SELECT refused($$ SELECT replace_flow.apply('target') $$);
TABLE target_2;
DROP TABLE target_2;
CREATE TABLE target_3 PARTITION OF target DEFAULT;
SELECT applied('target');
SELECT tableoid::regclass, * FROM target;
SELECT left_of_flows();
DROP TABLE target;
SELECT left_of_flows();
DROP TABLE stream;

-- Tables that take the old names are other tables.
CREATE TABLE stream (k int, s int, v text);
SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', delete_when => 'v IS NULL');
INSERT INTO stream VALUES (1, 1, 'a'), (2, 1, 'b');
SELECT applied('target');
CREATE SCHEMA aside;
ALTER TABLE target RENAME TO old_target;
ALTER TABLE old_target SET SCHEMA aside;
ALTER SCHEMA aside RENAME TO moved;
CREATE TABLE target (k int, s int, v text);
ALTER TABLE stream RENAME TO old_stream;
CREATE TABLE stream (k int, s int, v text);
INSERT INTO stream VALUES (8, 8, 'decoy');
INSERT INTO old_stream VALUES (1, 2, 'aa'), (2, 2, NULL);
SELECT applied('target');
-- columns too
ALTER TABLE moved.old_target RENAME COLUMN k TO kk;
ALTER TABLE moved.old_target RENAME COLUMN s TO v_;
ALTER TABLE moved.old_target RENAME COLUMN v TO s;
ALTER TABLE moved.old_target RENAME COLUMN v_ TO v;
ALTER TABLE old_stream RENAME COLUMN k TO s_;
ALTER TABLE old_stream RENAME COLUMN s TO k;
ALTER TABLE old_stream RENAME COLUMN s_ TO s;
INSERT INTO old_stream (s, k, v) VALUES (1, 1, 'late'), (2, 1, 'late'), (3, 1, 'c');
SELECT applied('target');
SELECT * FROM moved.old_target ORDER BY kk;
SELECT key, floor FROM replace_flow.floors('target') ORDER BY key;
SELECT target, source, target_columns FROM replace_flow.flow;
TABLE target;
TABLE stream;
-- a dropped stream that comes back is another one
DROP TABLE old_stream CASCADE;
SELECT left_of_flows();
SELECT refused($$ SELECT replace_flow.apply('target') $$);
CREATE TABLE old_stream (k int, s int, v text);
SELECT replace_flow.create_using_flow('moved.old_target', 'old_stream', '{kk}', 's', name => 'target',
    query => 'SELECT k AS kk, s::text AS s FROM old_stream');
SELECT left_of_flows();
DROP SCHEMA moved CASCADE;
SELECT left_of_flows();

-- In one transaction a flow goes and another comes.
DROP TABLE target, stream;
BEGIN;
SELECT define();
DROP TABLE target;
DROP TABLE stream, label CASCADE;
SELECT define();
SAVEPOINT s;
DROP TABLE target;
SELECT left_of_flows();
ROLLBACK TO s;
SELECT left_of_flows();
COMMIT;
INSERT INTO stream VALUES (1, 2, 'b');
SELECT applied('target');

-- What somebody made of a flow's view goes when the view does: anybody can make
-- one, and must not hinder the flow by it.
CREATE PROCEDURE look_in() LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE (SELECT format('CREATE VIEW mine AS SELECT 1 AS one FROM replace_flow.flow_%s', flow_id) FROM replace_flow.flow);
END $$;
CREATE ROLE regress_rf_stranger;
GRANT CREATE, USAGE ON SCHEMA test TO regress_rf_stranger;
CALL look_in();
ALTER VIEW mine OWNER TO regress_rf_stranger;
SELECT replace_flow.alter_flow('target', comment => 'changed');
SELECT to_regclass('mine') AS stays;
SELECT replace_flow.add_expectation('target', 'second', 'true', 'warn');
SELECT to_regclass('mine') AS gone;
CALL look_in();
SELECT replace_flow.alter_flow('target', delete_when => '');
INSERT INTO stream VALUES (1, 3, 'c');
SELECT applied('target');
CALL look_in();
DROP TABLE target;
SELECT left_of_flows();
REVOKE ALL ON SCHEMA test FROM regress_rf_stranger;
DROP ROLE regress_rf_stranger;
CREATE TABLE target (k int, s int, v text);
CREATE INDEX ON target (k);
DELETE FROM stream;
SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's');

-- Owners.
CREATE ROLE regress_rf_owner;
GRANT ALL ON SCHEMA test TO regress_rf_owner;
ALTER TABLE target OWNER TO regress_rf_owner;
SELECT replace_flow.drop_flow('target');
ALTER TABLE stream OWNER TO regress_rf_owner;
SET ROLE regress_rf_owner;
SELECT replace_flow.create_using_flow('test.target', 'test.stream', '{k}', 's', name => 'target', query => 'SELECT k, s, v FROM test.stream',
    delete_when => 'v IS NULL');
RESET ROLE;
INSERT INTO stream VALUES (1, 4, 'd'), (4, 1, NULL);
SELECT status FROM replace_flow.apply('target');
DO $$ BEGIN DROP ROLE regress_rf_owner; EXCEPTION WHEN dependent_objects_still_exist THEN RAISE WARNING 'owns something'; END $$;
REASSIGN OWNED BY regress_rf_owner TO regress_rf_other;
SELECT replace_flow.flow_owner(flow) FROM replace_flow.flow;
INSERT INTO stream VALUES (1, 5, 'e'), (4, 0, 'late');
SELECT applied('target');
REVOKE ALL ON SCHEMA test FROM regress_rf_owner;
DROP ROLE regress_rf_owner;
DROP VIEW between;
DROP OWNED BY regress_rf_other;
SELECT left_of_flows();
SELECT to_regclass('target') IS NULL AND to_regclass('stream') IS NULL AS gone;
DROP ROLE regress_rf_other;
DROP TABLE label;
\i :finish
