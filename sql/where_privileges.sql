\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A9: a where flow belongs to the role that created it; runs act as that role.
--
CREATE ROLE regress_rf_owner;
CREATE ROLE regress_rf_member IN ROLE regress_rf_owner;
CREATE ROLE regress_rf_reader;
CREATE ROLE regress_rf_monitor IN ROLE pg_monitor;
CREATE ROLE regress_rf_other;
GRANT USAGE ON SCHEMA test TO PUBLIC;
CREATE SCHEMA test_owner AUTHORIZATION regress_rf_owner;
CREATE TABLE s (day int, v text);
CREATE TABLE lookup (v text, label text);
CREATE TABLE foreign_target (day int, v text);
INSERT INTO s VALUES (1, 'a'), (2, 'b');
INSERT INTO lookup VALUES ('a', 'A'), ('b', 'B');
CREATE FUNCTION first_day() RETURNS int LANGUAGE sql STABLE AS 'SELECT 1';
REVOKE EXECUTE ON FUNCTION first_day() FROM PUBLIC;

-- What the query reads must be readable, and the target the role's own or creatable by
-- it.
SET ROLE regress_rf_owner;
SELECT refused($$ SELECT replace_flow.create_where_flow('test_owner.t', 'SELECT * FROM test.s', 'true', name => 't') $$);
RESET ROLE;
GRANT SELECT ON s TO regress_rf_owner;
SET ROLE regress_rf_owner;
SELECT refused($$ SELECT replace_flow.create_where_flow('test_owner.t', 'SELECT s.* FROM test.s JOIN test.lookup l USING (v)', 'true', name => 't') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('test.foreign_target', 'SELECT * FROM test.s', 'true', name => 't') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('test.t', 'SELECT * FROM test.s', 'true', name => 't') $$);
RESET ROLE;
GRANT SELECT ON lookup TO regress_rf_owner;
GRANT EXECUTE ON FUNCTION first_day() TO regress_rf_owner;
SET ROLE regress_rf_owner;
SELECT replace_flow.create_where_flow('test_owner.t', 'SELECT s.day, l.label AS v FROM test.s JOIN test.lookup l USING (v)', 'day >= test.first_day()',
    name => 't', reset_allowed => true);
SELECT replace_flow.add_expectation('t', 'valid', $$ v <> 'bad' $$, 'drop');
RESET ROLE;
SELECT relowner::regrole FROM pg_class WHERE oid = 'test_owner.t'::regclass
UNION ALL SELECT relowner::regrole FROM pg_class WHERE relname ~ '^(flow|window)_\d+$' AND relnamespace = 'replace_flow'::regnamespace;
GRANT ALL ON TABLE test_owner.t TO regress_rf_other;

-- Strangers can do nothing with it, and do not see it.
SET ROLE regress_rf_other;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
SELECT refused($$ SELECT replace_flow.refresh('t', 'day = 1') $$);
SELECT refused($$ SELECT replace_flow.full_refresh('t') $$);
SELECT refused($$ SELECT replace_flow.preview('t') $$);
SELECT refused($$ SELECT replace_flow.explain('t') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('t', replace_where => 'true') $$);
SELECT refused($$ SELECT replace_flow.start_update('{t}') $$);
SELECT refused($$ SELECT replace_flow.drop_flow('t') $$);
SELECT refused($$ SELECT replace_flow.add_expectation('t', 'e', 'true', 'warn') $$);
CALL replace_flow.backfill('t', 'day', 1, 3, 1);
SELECT refused($$ SELECT replace_flow.refresh('T') $$);
SELECT count(*) FROM replace_flow.flow;
SELECT count(*) FROM replace_flow.start_update();
RESET ROLE;
SET ROLE regress_rf_monitor;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
SELECT refused($$ SELECT replace_flow.preview('t') $$);
RESET ROLE;
SELECT count(*) AS runs FROM replace_flow.run;

-- A member of the owning role can do all of it, with or without rights of its own.
SET ROLE regress_rf_member;
SELECT key, rows_inserted FROM replace_flow.preview('t');
SELECT status, rows_inserted FROM replace_flow.refresh('t');
SELECT status, rows_unchanged FROM replace_flow.refresh('t', 'day = 1');
SELECT status, rows_unchanged FROM replace_flow.full_refresh('t');
SELECT flow, status FROM replace_flow.start_update();
CALL replace_flow.backfill('t', 'day', 1, 3, 1);
SELECT replace_flow.alter_flow('t', comment => 'by a member');
SELECT count(*) > 0 AS explained FROM replace_flow.explain('t');
CREATE FUNCTION pg_temp.visible() RETURNS TABLE (flows bigint, runs boolean, expectations bigint) LANGUAGE sql AS $$
    SELECT (SELECT count(*) FROM replace_flow.flow), (SELECT count(*) > 5 FROM replace_flow.run), (SELECT count(*) FROM replace_flow.expectation)
$$;
SELECT * FROM pg_temp.visible();
SET ROLE regress_rf_owner;
SELECT * FROM pg_temp.visible();
SET ROLE regress_rf_monitor;
SELECT * FROM pg_temp.visible();
SET ROLE regress_rf_other;
SELECT * FROM pg_temp.visible();
RESET ROLE;

-- Each run checks again: what the query reads, what the predicate calls, the target's owner.
REVOKE SELECT ON lookup FROM regress_rf_owner;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
GRANT SELECT ON lookup TO regress_rf_owner;
REVOKE EXECUTE ON FUNCTION first_day() FROM regress_rf_owner;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
GRANT EXECUTE ON FUNCTION first_day() TO regress_rf_owner;
ALTER TABLE test_owner.t OWNER TO regress_rf_reader;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
SELECT refused($$ SELECT replace_flow.preview('t') $$);
SELECT refused($$ SELECT replace_flow.full_refresh('t') $$);
ALTER TABLE test_owner.t OWNER TO regress_rf_owner;
SELECT refreshed('t');
-- An override is the owner's, whoever gives it: what the owner may not call is refused.
CREATE FUNCTION secret() RETURNS int LANGUAGE sql STABLE AS 'SELECT 1';
REVOKE EXECUTE ON FUNCTION secret() FROM PUBLIC;
SELECT refused($$ SELECT replace_flow.refresh('t', 'day = test.secret()') $$);

-- Runs act as the owner, not as the caller and not as the superuser; the search path
-- is locked, and the operation restricted.
CREATE FUNCTION who() RETURNS text LANGUAGE sql STABLE AS
    $$ SELECT current_user || ', ' || current_setting('search_path') $$;
CREATE FUNCTION is_owner(text) RETURNS boolean LANGUAGE plpgsql STABLE AS
    $$ BEGIN RAISE WARNING '% as %', $1, test.who(); RETURN true; END $$;
SET ROLE regress_rf_owner;
SELECT replace_flow.create_where_flow('test_owner.who', 'SELECT test.who() AS who', $$ test.is_owner('a predicate') $$, name => 'who');
SELECT replace_flow.add_expectation('who', 'owner', $$ test.is_owner('an expectation') $$, 'drop');
RESET ROLE;
SELECT refreshed('who');
SET ROLE regress_rf_member;
SELECT status FROM replace_flow.refresh('who', $$ test.is_owner('an override') $$);
SELECT rows_unchanged FROM replace_flow.preview('who');
RESET ROLE;
TABLE test_owner.who;
SELECT current_setting('search_path') AS search_path;
-- Neither a predicate nor a trigger gets out of it.
SET ROLE regress_rf_owner;
CREATE FUNCTION test_owner.escape() RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN RESET ROLE; RETURN true; END $$;
CREATE FUNCTION test_owner.trap() RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN CREATE TEMPORARY TABLE trap (k int); RETURN true; END $$;
RESET ROLE;
SELECT refused($$ SELECT replace_flow.refresh('who', 'test_owner.escape()') $$);
SELECT refused($$ SELECT replace_flow.refresh('who', 'test_owner.trap()') $$);
SELECT refused($$ SELECT replace_flow.preview('who', 'test_owner.escape()') $$);
SELECT replace_flow.drop_flow('who');

-- What lies in the search path of who calls is not taken for the flow's.
CREATE SCHEMA planted;
CREATE FUNCTION planted.less(int, int) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'sprung'; END $$;
CREATE OPERATOR planted.< (LEFTARG = int, RIGHTARG = int, FUNCTION = planted.less);
CREATE OPERATOR planted.>= (LEFTARG = int, RIGHTARG = int, FUNCTION = planted.less);
CREATE OPERATOR planted.= (LEFTARG = int, RIGHTARG = int, FUNCTION = planted.less);
CREATE FUNCTION planted.first_day() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'sprung'; END $$;
CREATE TABLE planted.t (day int);
GRANT USAGE ON SCHEMA planted TO PUBLIC;
SET search_path = planted, pg_catalog, test;
SELECT status FROM replace_flow.refresh('t');
SELECT status FROM replace_flow.refresh('t', 'day OPERATOR(pg_catalog.>=) 2');
SELECT status FROM replace_flow.full_refresh('t');
SELECT rows_unchanged FROM replace_flow.preview('t');
SELECT flow, status FROM replace_flow.start_update();
CALL replace_flow.backfill('t', 'day', 1, 3, 1);
SELECT replace_flow.create_where_flow('test.made', 'SELECT * FROM test.s', 'day OPERATOR(pg_catalog.>) 1', name => 'made');
SELECT status FROM replace_flow.refresh('made');
SELECT 1 < 2 AS sprung;
SET search_path = test;
DROP SCHEMA planted CASCADE;
SELECT * FROM made;

-- Row-level security that would hide rows from the owner fails the run whole (B12).
ALTER TABLE s ENABLE ROW LEVEL SECURITY;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
SELECT refused($$ SELECT replace_flow.preview('t') $$);
SET ROLE regress_rf_member;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
RESET ROLE;
ALTER TABLE s DISABLE ROW LEVEL SECURITY;
ALTER TABLE test_owner.t ENABLE ROW LEVEL SECURITY;
SELECT refreshed('t');
ALTER TABLE test_owner.t FORCE ROW LEVEL SECURITY;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
SELECT refused($$ SELECT replace_flow.full_refresh('t') $$);
ALTER TABLE test_owner.t NO FORCE ROW LEVEL SECURITY;
SELECT refreshed('t');
SELECT * FROM test_owner.t ORDER BY day;

-- The flow goes to another role with what it owns.
GRANT ALL ON s, lookup TO regress_rf_other;
GRANT EXECUTE ON FUNCTION first_day() TO regress_rf_other;
GRANT ALL ON SCHEMA test_owner TO regress_rf_other;
REASSIGN OWNED BY regress_rf_owner TO regress_rf_other;
SELECT replace_flow.flow_owner(flow) FROM replace_flow.flow WHERE name = 't';
SET ROLE regress_rf_member;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
SET ROLE regress_rf_other;
SELECT status, rows_unchanged FROM replace_flow.refresh('t');
RESET ROLE;
DROP FUNCTION pg_temp.visible();
SELECT replace_flow.drop_flow(name) FROM replace_flow.flow ORDER BY name;
SET client_min_messages = error;
DROP SCHEMA test_owner CASCADE;
DROP TABLE s, lookup;
DROP FUNCTION first_day();
DROP OWNED BY regress_rf_member, regress_rf_owner, regress_rf_reader, regress_rf_monitor, regress_rf_other;
DROP ROLE regress_rf_member, regress_rf_owner, regress_rf_reader, regress_rf_monitor, regress_rf_other;
\i :finish
