\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A9, G2: replace_flow.flows shows everybody the flows that they may run, and members
-- of pg_monitor all.  To see how much waits takes no right on the stream, and tells
-- nothing of other flows.
--
CREATE ROLE regress_rf_owner;
CREATE ROLE regress_rf_member IN ROLE regress_rf_owner;
CREATE ROLE regress_rf_monitor IN ROLE pg_monitor;
CREATE ROLE regress_rf_other;
CREATE SCHEMA test_owner AUTHORIZATION regress_rf_owner;
CREATE TABLE item_in (k int, s int, v text);
GRANT USAGE ON SCHEMA test TO PUBLIC;
GRANT SELECT, DELETE ON item_in TO regress_rf_owner;
SET ROLE regress_rf_owner;
SELECT replace_flow.create_using_flow('test_owner.item', 'test.item_in', '{k}', 's', name => 'item');
RESET ROLE;
CREATE TABLE mine_in (k int, s int);
SELECT replace_flow.create_using_flow('mine', 'mine_in', '{k}', 's');
INSERT INTO item_in VALUES (1, 1, 'a'), (2, 1, 'b');
SELECT run.status FROM replace_flow.apply('mine') AS run;
SELECT min(flow_id) AS id FROM replace_flow.flow WHERE name = 'item' \gset

CREATE FUNCTION pg_temp.visible() RETURNS TABLE (flow text, owner regrole, state text, backlog_rows bigint, last_status text)
LANGUAGE sql AS 'SELECT flow, owner, state, backlog_rows, last_status FROM replace_flow.flows ORDER BY flow';
SELECT flow, state, backlog_rows, last_status FROM pg_temp.visible();
SET ROLE regress_rf_owner;
SELECT *, replace_flow.backlog(:id) FROM pg_temp.visible();
SET ROLE regress_rf_member;
SELECT *, replace_flow.backlog(:id) FROM pg_temp.visible();
-- all that one may see of the flow, and not of its rows
SET ROLE regress_rf_monitor;
SELECT flow, state, backlog_rows, last_status, replace_flow.backlog(:id) FROM pg_temp.visible();
SELECT count(*) FROM test.item_in;
SET ROLE regress_rf_other;
SELECT * FROM pg_temp.visible();
SELECT replace_flow.backlog(:id);
SELECT count(*) FROM replace_flow.runs_under_way();
SELECT count(*) FROM replace_flow.worker_flow_state();
RESET ROLE;

-- Not even the owner needs to be able to read the stream to be told, nor does
-- row-level security hide what a run will meet.
REVOKE ALL ON item_in FROM regress_rf_owner;
ALTER TABLE item_in ENABLE ROW LEVEL SECURITY;
SET ROLE regress_rf_owner;
SELECT * FROM pg_temp.visible();
RESET ROLE;

DROP FUNCTION pg_temp.visible();
SELECT replace_flow.drop_flow('item');
DROP SCHEMA test_owner CASCADE;
DROP TABLE item_in;
DROP ROLE regress_rf_member, regress_rf_owner, regress_rf_monitor, regress_rf_other;
\i :finish
