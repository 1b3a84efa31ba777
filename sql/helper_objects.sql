\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A9, A12: view and ledger belong to the flow's owner.  Whatever an owner does with
-- them, others can go on creating flows and dropping tables; and nobody but the
-- owner has rights on them.
--
CREATE ROLE regress_rf_owner;
CREATE ROLE regress_rf_other;
CREATE SCHEMA rf_owner AUTHORIZATION regress_rf_owner;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO regress_rf_other;
SET ROLE regress_rf_owner;
CREATE TABLE rf_owner.a_in (k int, s int);
CREATE TABLE rf_owner.b_in (k int, s int);
SELECT replace_flow.create_using_flow('rf_owner.a', 'rf_owner.a_in', '{k}', 's + 0', name => 'a');
SELECT replace_flow.create_using_flow('rf_owner.b', 'rf_owner.b_in', '{k}', 's + 0', name => 'b');
RESET ROLE;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM regress_rf_other;
CREATE FUNCTION helper(kind text, flow_name text) RETURNS text LANGUAGE sql AS
    $$ SELECT format('replace_flow.%s_%s', $1, flow_id) FROM replace_flow.flow WHERE name = $2 $$;
SELECT c.relkind, has_table_privilege('regress_rf_other', c.oid, 'SELECT, INSERT, TRIGGER') AS others_can
FROM pg_class c WHERE relnamespace = 'replace_flow'::regnamespace AND relname ~ '^(flow|floor)_' AND relkind IN ('r', 'v') ORDER BY 1;

-- The owner takes a name that the next flow would use, and moves the ledger away.
DO $$
DECLARE
    next int := (SELECT max(flow_id) + 1 FROM replace_flow.flow);
BEGIN
    EXECUTE format('SET LOCAL ROLE regress_rf_owner; ALTER TABLE %s RENAME CONSTRAINT %s TO flow_%s',
        helper('floor', 'a'), (SELECT conname FROM pg_constraint WHERE conrelid = helper('floor', 'a')::regclass AND contype = 'u'), next);
END $$;
CREATE TABLE mine_in (k int, s int);
SELECT replace_flow.create_using_flow('mine', 'mine_in', '{k}', 's');
SELECT helper('flow', 'mine') IS NOT NULL AS created;
DO $$
BEGIN
    EXECUTE format('SET LOCAL ROLE regress_rf_owner; ALTER VIEW %s SET SCHEMA rf_owner', helper('flow', 'b'));
END $$;
-- the flow is lost, and goes with the next DROP of anything by anybody
SET ROLE regress_rf_other;
CREATE TEMPORARY TABLE scratch ();
DROP TABLE scratch;
RESET ROLE;
SELECT name FROM replace_flow.flow ORDER BY name;

-- A lost flow whose ledger cannot be dropped hinders nobody.
CREATE EXTENSION hstore SCHEMA rf_owner;
DO $$
BEGIN
    EXECUTE format('ALTER EXTENSION hstore ADD TABLE %s', helper('floor', 'a'));
    EXECUTE format('SET LOCAL ROLE regress_rf_owner; ALTER VIEW %s SET SCHEMA rf_owner', helper('flow', 'a'));
END $$;
\set VERBOSITY terse
SET client_min_messages = error;
CREATE TEMPORARY TABLE scratch ();
DROP TABLE scratch;
SELECT name FROM replace_flow.flow ORDER BY name;
DROP EXTENSION hstore;
DROP OWNED BY regress_rf_owner CASCADE;
DROP OWNED BY regress_rf_other;
DROP ROLE regress_rf_owner, regress_rf_other;
\i :finish
