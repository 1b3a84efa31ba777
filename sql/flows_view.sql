\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- G2: replace_flow.flows has a row per flow, which says how the flow is.
--
SELECT column_name, data_type FROM information_schema.columns
WHERE table_schema = 'replace_flow' AND table_name = 'flows' ORDER BY ordinal_position;

CREATE TABLE item_in (k int, s int, v text);
CREATE TABLE event_in (k int, s int, v text) PARTITION BY LIST (k);
CREATE TABLE event_in_1 PARTITION OF event_in FOR VALUES IN (1);
CREATE TABLE event_in_2 PARTITION OF event_in FOR VALUES IN (2) PARTITION BY LIST (s);
CREATE TABLE event_in_2_rest PARTITION OF event_in_2 DEFAULT;
CREATE TABLE source (day int, v text);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', comment => 'for people');
SELECT replace_flow.create_using_flow('event', 'event_in', '{k}', 's');
SELECT replace_flow.create_where_flow('daily', 'SELECT day, v FROM source', 'day > 0');
SELECT flow, kind, target, source, owner = current_user::regrole AS mine, state, backlog_rows, waiting_since, last_run_id, last_status,
    last_finished_at, last_error, consecutive_failures, next_retry_at, definition_version, comment
FROM replace_flow.flows ORDER BY flow;

-- The backlog is what the statement sees of the stream, whatever it is made of.
CREATE VIEW backlog AS SELECT flow, backlog_rows FROM replace_flow.flows WHERE kind = 'using' ORDER BY flow;
INSERT INTO item_in VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 1, 'c');
DELETE FROM item_in WHERE k = 2;
UPDATE item_in SET v = 'A' WHERE k = 1;
INSERT INTO event_in SELECT k, s, 'e' FROM generate_series(1, 2) AS k, generate_series(1, 5) AS s;
TABLE backlog;
BEGIN;
INSERT INTO item_in VALUES (4, 1, 'd');
SAVEPOINT a;
INSERT INTO item_in VALUES (5, 1, 'e');
ROLLBACK TO a;
TABLE backlog;
WITH staged AS (INSERT INTO item_in VALUES (6, 1, 'not seen') RETURNING k) SELECT * FROM backlog WHERE EXISTS (SELECT FROM staged);
TRUNCATE event_in_2;
TABLE backlog;
ROLLBACK;
TABLE backlog;
-- it says what is there, not what the flow's query makes of it
SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, v FROM item_in WHERE k > 1');
TABLE backlog;
-- no flow of that id, and one that has no stream
SELECT replace_flow.backlog(0), replace_flow.backlog(NULL), replace_flow.backlog(flow_id) FROM replace_flow.flow WHERE kind = 'where';
-- who has looked does not hold anybody up
BEGIN;
TABLE backlog;
SELECT count(*) FROM pg_locks WHERE relation IN ('item_in'::regclass, 'event_in'::regclass, 'event_in_1'::regclass);
ROLLBACK;
-- a part that cannot be counted: then there is no number
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE FOREIGN TABLE event_in_3 PARTITION OF event_in FOR VALUES IN (3) SERVER nowhere;
TABLE backlog;
DROP FOREIGN TABLE event_in_3;
DROP SERVER nowhere;
DROP FOREIGN DATA WRAPPER nowhere;

-- The last run is the last one that was not skipped; a run that succeeds ends
-- a row of failures.  Failed runs of the worker are written here by hand.
CREATE VIEW state AS
SELECT flow, state, last_run_id - first.run_id AS last_run, last_status, last_finished_at = now() AS now, last_error, consecutive_failures
FROM replace_flow.flows, (SELECT min(run_id) AS run_id FROM replace_flow.run) AS first WHERE flow = 'item';
CREATE PROCEDURE fail(code text, message text, flow_name text DEFAULT 'item') LANGUAGE sql AS $$
    INSERT INTO replace_flow.run (flow, kind, status, started_at, finished_at, definition_version, flow_id, error_code, error_message)
    SELECT name, kind, 'failed', now(), now(), definition_version, flow_id, code, message FROM replace_flow.flow WHERE name = flow_name
$$;
SELECT applied('item');
TABLE state;
CALL fail('23502', 'sequence "s" of flow "item" is null');
TABLE state;
CALL fail('23514', 'a check');
CALL fail('23514', 'another flow''s', 'event');
TABLE state;
-- what is skipped changes nothing, and a paused flow is paused
SELECT replace_flow.pause_flow('item');
SELECT applied('item');
TABLE state;
SELECT replace_flow.resume_flow('item');
TABLE state;
-- it lacks a right or an object, which it will still lack when it is tried again
CALL fail('42501', 'permission denied');
TABLE state;
SELECT applied('item');
TABLE state;
SELECT flow, state, consecutive_failures FROM replace_flow.flows ORDER BY flow;

-- A flow that has lost one of its relations cannot be used.  Mostly it goes with
-- them; restored from a part of a dump, it may be there.
CREATE FUNCTION without(what text, flow_name text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    ALTER EVENT TRIGGER replace_flow_after_drop DISABLE;
    EXECUTE (SELECT format(what, flow_id) FROM replace_flow.flow WHERE name = flow_name);
    SELECT state || ', ' || coalesce(backlog_rows::text, 'not counted') INTO found FROM replace_flow.flows WHERE flow = flow_name;
    RAISE SQLSTATE 'RF000';
EXCEPTION WHEN SQLSTATE 'RF000' THEN
    RETURN found;
END $$;
SELECT without('SELECT 1', 'event');
SELECT without('DROP VIEW replace_flow.flow_%s', 'event');
SELECT without('DROP TABLE event', 'event');
SELECT without('DROP TABLE event_in CASCADE', 'event');
SELECT without('SELECT 1', 'daily');
SELECT without('DROP VIEW replace_flow.window_%s', 'daily');
SELECT without('DROP TABLE source CASCADE', 'daily');
\i :finish
