\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A9: a flow belongs to the role that created it, which must own the target; it
-- may be run and seen by that role, its members and superusers.
--
CREATE ROLE regress_rf_owner;
CREATE ROLE regress_rf_member IN ROLE regress_rf_owner;
CREATE ROLE regress_rf_reader;
CREATE ROLE regress_rf_monitor IN ROLE pg_monitor;
CREATE ROLE regress_rf_other;
GRANT USAGE ON SCHEMA test TO PUBLIC;
CREATE SCHEMA test_owner AUTHORIZATION regress_rf_owner;
CREATE TABLE item_in (k int, s int, v text);
CREATE TABLE lookup (k int, label text);
CREATE TABLE foreign_target (k int, s int, v text);
CREATE INDEX ON foreign_target (k);

-- The stream must be readable and consumable, what the query reads readable.
SET ROLE regress_rf_owner;
SELECT refused($$ SELECT replace_flow.create_using_flow('test_owner.item', 'test.item_in', '{k}', 's') $$);
RESET ROLE;
GRANT SELECT ON item_in TO regress_rf_owner;
SET ROLE regress_rf_owner;
SELECT refused($$ SELECT replace_flow.create_using_flow('test_owner.item', 'test.item_in', '{k}', 's') $$);
RESET ROLE;
GRANT SELECT, DELETE ON item_in TO regress_rf_owner;
SET ROLE regress_rf_owner;
SELECT refused($$ SELECT replace_flow.create_using_flow('test_owner.item', 'test.item_in', '{k}', 's',
    query => 'SELECT i.* FROM test.item_in i JOIN test.lookup l USING (k)') $$);
-- The target must be the role's own, or creatable by it.
SELECT refused($$ SELECT replace_flow.create_using_flow('test.foreign_target', 'test.item_in', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('test.item', 'test.item_in', '{k}', 's') $$);
SELECT replace_flow.create_using_flow('test_owner.item', 'test.item_in', '{k}', 's', name => 'item');
SELECT replace_flow.add_expectation('item', 'valid', $$ v <> 'bad' $$, 'drop');
RESET ROLE;
SELECT relowner::regrole FROM pg_class WHERE oid = 'test_owner.item'::regclass;
INSERT INTO item_in VALUES (1, 1, 'a'), (2, 1, 'bad');

-- Strangers can neither run nor change nor see it.
SET ROLE regress_rf_other;
SELECT refused($$ SELECT replace_flow.apply('item') $$);
SELECT refused($$ SELECT replace_flow.drop_flow('item') $$);
SELECT refused($$ SELECT replace_flow.add_expectation('item', 'e', 'true', 'warn') $$);
SELECT refused($$ SELECT replace_flow.drop_expectation('item', 'valid') $$);
SELECT refused($$ SELECT * FROM replace_flow.floors('item') $$);
-- nor learn that it is there by a name that is near
SELECT refused($$ SELECT replace_flow.apply('ITEM') $$);
SELECT count(*) FROM replace_flow.flow;
RESET ROLE;
SELECT refused($$ SELECT replace_flow.apply('ITEM') $$);
SELECT count(*) AS staged FROM item_in;

-- A member of the owning role can, and so can the superuser; a member of
-- pg_monitor sees all but the rejected rows, and can do nothing.
SET ROLE regress_rf_member;
SELECT status, rows_inserted, rows_rejected FROM replace_flow.apply('item');
SELECT * FROM replace_flow.floors('item');
CREATE FUNCTION pg_temp.visible() RETURNS TABLE (flows bigint, runs bigint, expectations bigint, results bigint, rejected bigint)
LANGUAGE sql AS $$
    SELECT (SELECT count(*) FROM replace_flow.flow), (SELECT count(*) FROM replace_flow.run), (SELECT count(*) FROM replace_flow.expectation),
        (SELECT count(*) FROM replace_flow.expectation_result), (SELECT count(*) FROM replace_flow.rejected)
$$;
SELECT * FROM pg_temp.visible();
SET ROLE regress_rf_owner;
SELECT * FROM pg_temp.visible();
SET ROLE regress_rf_monitor;
SELECT * FROM pg_temp.visible();
SELECT refused($$ SELECT replace_flow.apply('item') $$);
SET ROLE regress_rf_other;
SELECT * FROM pg_temp.visible();
RESET ROLE;
SELECT * FROM pg_temp.visible();

-- Nobody but the superuser writes the extension's tables.
SET ROLE regress_rf_owner;
SELECT refused($$ UPDATE replace_flow.flow SET name = 'x' $$);
SELECT refused($$ DELETE FROM replace_flow.run $$);
SELECT refused($$ INSERT INTO replace_flow.rejected (flow) VALUES ('item') $$);
SELECT refused($$ CREATE TABLE replace_flow.mine (k int) $$);
RESET ROLE;

-- Each run checks again: the stream, what the query reads, the target's owner.
REVOKE SELECT, DELETE ON item_in FROM regress_rf_owner;
INSERT INTO item_in VALUES (1, 2, 'b');
SELECT refused($$ SELECT replace_flow.apply('item') $$);
GRANT SELECT ON item_in TO regress_rf_owner;
SELECT refused($$ SELECT replace_flow.apply('item') $$);
GRANT DELETE ON item_in TO regress_rf_owner;
ALTER TABLE test_owner.item OWNER TO regress_rf_reader;
SELECT refused($$ SELECT replace_flow.apply('item') $$);
ALTER TABLE test_owner.item OWNER TO regress_rf_owner;
SELECT applied('item');
TABLE test_owner.item;

-- Runs act as the owner, whoever calls: not as the caller, and not as the
-- superuser.  The search path is locked and the operation restricted.
CREATE FUNCTION who() RETURNS text LANGUAGE sql STABLE AS
    $$ SELECT current_user || ', ' || current_setting('search_path') $$;
GRANT EXECUTE ON FUNCTION who() TO PUBLIC;
CREATE TABLE who_in (k int, s int);
GRANT ALL ON who_in TO regress_rf_owner;
SET ROLE regress_rf_owner;
SELECT replace_flow.create_using_flow('test_owner.who', 'test.who_in', '{k}', 's', name => 'who',
    query => 'SELECT k, s, test.who() AS who FROM test.who_in');
ALTER TABLE test_owner.who ADD COLUMN writer text DEFAULT current_user;
CREATE FUNCTION test_owner.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.writer := NEW.writer || ' in a trigger as ' || current_user || ', ' || current_setting('search_path');
    RETURN NEW;
END $$;
CREATE TRIGGER note BEFORE INSERT ON test_owner.who FOR EACH ROW EXECUTE FUNCTION test_owner.note();
RESET ROLE;
INSERT INTO who_in VALUES (1, 1);
SELECT applied('who');
SET ROLE regress_rf_member;
INSERT INTO test.who_in VALUES (2, 1);
SELECT status FROM replace_flow.apply('who');
RESET ROLE;
SELECT * FROM test_owner.who ORDER BY k;
SELECT current_setting('search_path') AS search_path;
SET ROLE regress_rf_owner;
CREATE OR REPLACE FUNCTION test_owner.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RESET ROLE;
    RETURN NEW;
END $$;
RESET ROLE;
INSERT INTO who_in VALUES (3, 1);
SELECT refused($$ SELECT replace_flow.apply('who') $$);
SET ROLE regress_rf_owner;
CREATE OR REPLACE FUNCTION test_owner.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMPORARY TABLE trap (k int);
    RETURN NEW;
END $$;
RESET ROLE;
SELECT refused($$ SELECT replace_flow.apply('who') $$);
DELETE FROM who_in;

-- A policy that hides rows from the owner makes the run fail whole (B12).
ALTER TABLE item_in ENABLE ROW LEVEL SECURITY;
INSERT INTO item_in VALUES (1, 3, 'c');
SELECT refused($$ SELECT replace_flow.apply('item') $$);
ALTER TABLE item_in DISABLE ROW LEVEL SECURITY;
ALTER TABLE test_owner.item ENABLE ROW LEVEL SECURITY;
SELECT applied('item');
ALTER TABLE test_owner.item FORCE ROW LEVEL SECURITY;
INSERT INTO item_in VALUES (1, 4, 'd');
SELECT refused($$ SELECT replace_flow.apply('item') $$);
ALTER TABLE test_owner.item NO FORCE ROW LEVEL SECURITY;
SELECT applied('item');
TABLE test_owner.item;

-- The owner, or a member, drops the flow.
SET ROLE regress_rf_member;
SELECT replace_flow.drop_flow('item', drop_target => true);
RESET ROLE;
SELECT to_regclass('test_owner.item') IS NULL AS dropped;
SELECT replace_flow.drop_flow('who');
DROP FUNCTION pg_temp.visible();
DROP SCHEMA test_owner CASCADE;
DROP TABLE item_in, who_in;
DROP ROLE regress_rf_member, regress_rf_owner, regress_rf_reader, regress_rf_monitor, regress_rf_other;
\i :finish
