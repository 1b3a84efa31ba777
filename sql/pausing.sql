\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A paused flow is run by nobody: apply returns a skipped run, and what was
-- staged waits.
--
CREATE TABLE item_in (k int, s int, v text);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
INSERT INTO item_in VALUES (1, 1, 'a');
SELECT replace_flow.pause_flow('item');
SELECT paused, definition_version FROM replace_flow.flow;
SELECT status, rows_staged, rows_read, finished_at >= started_at AS finished FROM replace_flow.apply('item');
SELECT status FROM replace_flow.apply('item', wait => false);
SELECT count(*) AS staged FROM item_in;
SELECT count(*) AS stored FROM item;
SELECT flow, status, count(*) FROM replace_flow.run GROUP BY flow, status;
-- to pause it again changes nothing
SELECT replace_flow.pause_flow('item');
SELECT applied('item');

-- It can be looked at and changed all the same, and stays paused.
SELECT * FROM replace_flow.floors('item');
SELECT replace_flow.alter_flow('item', delete_when => 'v IS NULL', comment => 'paused');
SELECT replace_flow.add_expectation('item', 'valid', $$ v <> 'bad' $$, 'drop');
SELECT replace_flow.alter_flow('item', name => 'renamed');
SELECT paused, definition_version FROM replace_flow.flow;
SELECT applied('renamed');

-- Once resumed it takes all that waited.
INSERT INTO item_in VALUES (1, 2, 'b'), (1, 2, 'bad');
SELECT replace_flow.resume_flow('renamed');
SELECT applied('renamed');
TABLE item;
SELECT replace_flow.resume_flow('renamed');
INSERT INTO item_in VALUES (1, 3, 'c');
SELECT applied('renamed');

-- What is rolled back was not paused.
BEGIN;
SELECT replace_flow.pause_flow('renamed');
SELECT status FROM replace_flow.apply('renamed');
ROLLBACK;
INSERT INTO item_in VALUES (1, 4, 'd');
SELECT applied('renamed');

SELECT refused($$ SELECT replace_flow.pause_flow(NULL) $$);
SELECT refused($$ SELECT replace_flow.pause_flow('item') $$);
SELECT refused($$ SELECT replace_flow.resume_flow('item') $$);
-- a paused flow is dropped as any other
SELECT replace_flow.pause_flow('renamed');
SELECT replace_flow.drop_flow('renamed');
SELECT count(*) FROM replace_flow.flow;

-- Who may not run it may not pause it, and not change it from within a run.
CREATE ROLE regress_rf_owner;
CREATE ROLE regress_rf_member IN ROLE regress_rf_owner;
CREATE ROLE regress_rf_other;
GRANT ALL ON SCHEMA test TO regress_rf_owner;
GRANT ALL ON item_in TO regress_rf_owner;
GRANT USAGE ON SCHEMA test TO regress_rf_other;
ALTER TABLE item OWNER TO regress_rf_owner;
SET ROLE regress_rf_owner;
SET search_path = test;
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
SET ROLE regress_rf_other;
SELECT refused($$ SELECT replace_flow.pause_flow('item') $$);
SELECT refused($$ SELECT replace_flow.resume_flow('item') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'mine') $$);
SET ROLE regress_rf_member;
SELECT replace_flow.pause_flow('item');
RESET ROLE;
SELECT paused, replace_flow.flow_owner(flow) FROM replace_flow.flow;
SELECT replace_flow.resume_flow('item');
-- altered by others, it is still its owner's and runs as it
CREATE TABLE secret AS SELECT 'secret' AS secret;
SELECT refused($$ SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, secret AS v FROM item_in, secret') $$);
SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, current_user::text AS v, v AS w FROM item_in');
SET ROLE regress_rf_member;
SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, current_user::text AS v, v AS w, session_user = current_user AS same FROM item_in');
RESET ROLE;
SELECT replace_flow.flow_owner(flow), definition_version FROM replace_flow.flow;
INSERT INTO item_in VALUES (1, 5, 'e');
SELECT status, rows_inserted FROM replace_flow.apply('item');
SELECT * FROM item WHERE s = 5;

CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    EXECUTE TG_ARGV[0];
    RETURN NEW;
END $$;
CREATE FUNCTION try_meddling(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('CREATE TRIGGER meddle BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION meddle(%L)', statement);
    INSERT INTO item_in VALUES (2, 1, 'x');
    SELECT string_agg(line, E'\n') INTO result FROM refused($r$ SELECT replace_flow.apply('item') $r$) AS line;
    DELETE FROM item_in;
    DROP TRIGGER meddle ON item;
    RETURN result;
END $$;
SELECT try_meddling('SELECT replace_flow.pause_flow(''item'')');
SELECT try_meddling('SELECT replace_flow.alter_flow(''item'', comment => ''from within'')');
SELECT try_meddling('SELECT replace_flow.drop_flow(''item'')');
SELECT try_meddling('SELECT replace_flow.add_expectation(''item'', ''e'', ''true'', ''warn'')');
SELECT applied('item');
SELECT replace_flow.drop_flow('item', drop_target => true);
DROP OWNED BY regress_rf_owner, regress_rf_other;
DROP ROLE regress_rf_member, regress_rf_owner, regress_rf_other;
\i :finish
