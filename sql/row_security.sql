\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B12: row-level security of target, stream or another table of the query that
-- would hide rows from the flow's owner makes the run fail whole; where it does not
-- bind the owner, the run sees all rows, whoever calls.
--
CREATE ROLE regress_rf_owner;
CREATE ROLE regress_rf_member IN ROLE regress_rf_owner;
CREATE ROLE regress_rf_bypass BYPASSRLS;
GRANT USAGE, CREATE ON SCHEMA test TO regress_rf_owner, regress_rf_bypass;
GRANT regress_rf_bypass TO regress_rf_member;

-- The tables of a flow of that role: its own target, and stream and lookup of its
-- own or of the superuser.  The policies hide every row of key 2.
CREATE PROCEDURE make_tables(owner name, others name)
LANGUAGE plpgsql AS $$
BEGIN
    CREATE TABLE item (k int, s int, v text);
    CREATE INDEX ON item (k);
    CREATE TABLE item_in (k int, s int);
    CREATE TABLE lookup (k int, v text);
    INSERT INTO item VALUES (1, 1, 'old'), (2, 1, 'old');
    INSERT INTO lookup VALUES (1, 'one'), (2, 'two');
    CREATE POLICY hide ON item USING (k <> 2);
    CREATE POLICY hide ON item_in USING (k <> 2);
    CREATE POLICY hide ON lookup USING (k <> 2);
    EXECUTE format('ALTER TABLE item OWNER TO %I', owner);
    EXECUTE format('ALTER TABLE item_in OWNER TO %I', others);
    EXECUTE format('ALTER TABLE lookup OWNER TO %I', others);
    EXECUTE format('GRANT ALL ON item_in, lookup TO %I', owner);
END $$;
-- One run by each caller, with the security of one table on.
CREATE FUNCTION try_policy(owner name, others name, relation text, mode text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    caller name;
    line text;
    superuser name := session_user;
BEGIN
    CALL make_tables(owner, others);
    EXECUTE format('SET LOCAL ROLE %I', owner);
    PERFORM replace_flow.create_using_flow('test.item', 'test.item_in', '{k}', 's', name => 'item',
        query => 'SELECT k, s, v FROM test.item_in LEFT JOIN test.lookup USING (k)');
    RESET ROLE;
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', relation);
    IF mode = 'forced' THEN
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', relation);
    END IF;
    FOREACH caller IN ARRAY ARRAY[owner, 'regress_rf_member', superuser] LOOP
        BEGIN
            INSERT INTO item_in VALUES (1, 2), (2, 2);
            EXECUTE format('SET LOCAL ROLE %I', caller);
            BEGIN
                PERFORM status FROM replace_flow.apply('item');
                line := 'applied';
            EXCEPTION WHEN insufficient_privilege THEN
                line := 'refused';
            END;
            RESET ROLE;
            RETURN NEXT line || ': ' || (SELECT string_agg(format('%s %s %s', k, s, v), ', ' ORDER BY k) FROM item)
                || '; staged ' || (SELECT count(*) FROM item_in);
            RAISE SQLSTATE 'RF000';
        EXCEPTION WHEN SQLSTATE 'RF000' THEN
            RESET ROLE;
        END;
    END LOOP;
    PERFORM replace_flow.drop_flow('item', drop_target => true);
    DROP TABLE item_in, lookup;
END $$;
SELECT relation, mode, owner, others, outcome, count(*) AS callers
FROM unnest('{item, item_in, lookup}'::text[]) WITH ORDINALITY AS r (relation, place),
    (VALUES ('enabled'), ('forced')) AS m (mode),
    (VALUES ('regress_rf_owner', 'regress_rf_owner'), ('regress_rf_owner', 'regress_rf_bypass'),
            ('regress_rf_bypass', 'regress_rf_owner')) AS o (owner, others),
    try_policy(owner::name, others::name, relation, mode) AS outcome
GROUP BY relation, place, mode, owner, others, outcome ORDER BY place, mode, owner, others DESC;

-- Also when the flow is created and when its floors are asked for.
CALL make_tables('regress_rf_owner', 'regress_rf_owner');
ALTER TABLE item_in ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SET ROLE regress_rf_owner;
SELECT replace_flow.create_using_flow('test.item', 'test.item_in', '{k}', 's', name => 'item',
    query => 'SELECT * FROM test.item_in');
RESET ROLE;
ALTER TABLE item_in NO FORCE ROW LEVEL SECURITY;
SET ROLE regress_rf_owner;
SELECT replace_flow.create_using_flow('test.item', 'test.item_in', '{k}', 's', name => 'item',
    query => 'SELECT * FROM test.item_in');
RESET ROLE;
ALTER TABLE item ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SET ROLE regress_rf_owner;
SELECT * FROM replace_flow.floors('item');
RESET ROLE;
SELECT * FROM replace_flow.floors('item');
ALTER TABLE item DISABLE ROW LEVEL SECURITY;
SELECT * FROM replace_flow.floors('item');
SELECT replace_flow.drop_flow('item');

-- A superuser's flow sees all rows of tables of its own, also of a table that is
-- read through a view, unless the policies bind the view's owner.
ALTER TABLE item OWNER TO CURRENT_USER;
ALTER TABLE item_in OWNER TO CURRENT_USER;
ALTER TABLE item ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE item_in ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE VIEW shown AS SELECT * FROM lookup;
GRANT SELECT ON shown TO PUBLIC;
ALTER VIEW shown OWNER TO regress_rf_owner;
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', query => 'SELECT k, s, v FROM item_in JOIN shown USING (k)');
INSERT INTO item_in VALUES (1, 2), (2, 2);
SELECT applied('item');
ALTER TABLE lookup ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
INSERT INTO item_in VALUES (1, 3), (2, 3);
SELECT refused($$ SELECT replace_flow.apply('item') $$);
ALTER VIEW shown OWNER TO CURRENT_USER;
SELECT applied('item');
SELECT * FROM item ORDER BY k;

-- Policies of a part do not count where the whole is read and written, and what
-- the session has set for itself counts neither.
CREATE TABLE event (k int, s int) PARTITION BY LIST (k);
CREATE TABLE event_1 PARTITION OF event FOR VALUES IN (1);
CREATE INDEX ON event (k);
CREATE TABLE event_in (LIKE event) PARTITION BY LIST (k);
CREATE TABLE event_in_1 PARTITION OF event_in FOR VALUES IN (1);
ALTER TABLE event OWNER TO regress_rf_owner;
ALTER TABLE event_in OWNER TO regress_rf_owner;
ALTER TABLE event_1 ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE event_in_1 ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
GRANT INSERT ON event_in TO regress_rf_member;
SET ROLE regress_rf_owner;
SELECT replace_flow.create_using_flow('test.event', 'test.event_in', '{k}', 's', name => 'event');
SET ROLE regress_rf_member;
SET row_security = off;
INSERT INTO test.event_in VALUES (1, 1);
SELECT status, rows_inserted FROM replace_flow.apply('event');
SET row_security = on;
INSERT INTO test.event_in VALUES (1, 2);
SELECT status, rows_inserted, rows_deleted, rows_updated FROM replace_flow.apply('event');
RESET ROLE;
TABLE event;
SELECT replace_flow.drop_flow(name) FROM replace_flow.flow ORDER BY name;
DROP TABLE event, event_in, item, item_in;
DROP VIEW shown;
DROP TABLE lookup;
REVOKE ALL ON SCHEMA test FROM regress_rf_owner, regress_rf_bypass;
DROP ROLE regress_rf_member, regress_rf_owner, regress_rf_bypass;
\i :finish
