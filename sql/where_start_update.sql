\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D10: start_update runs several flows in the order of their dependencies.
--
-- A chain: raw -> a using flow -> daily -> weekly -> total, created backwards, so
-- that neither names nor ids have the right order; and one flow beside it.
CREATE TABLE raw_in (id int, day int, s int);
CREATE TABLE c_raw (id int, day int, s int);
CREATE INDEX ON c_raw (id);
CREATE TABLE b_daily (day int, n bigint);
CREATE TABLE a_weekly (week int, n numeric);
CREATE TABLE beside (v text);
CREATE VIEW weeks AS SELECT day / 7 AS week, n FROM b_daily;
SELECT replace_flow.create_where_flow('total', 'SELECT sum(n) AS n, (SELECT count(*) FROM c_raw) AS raws FROM a_weekly', 'true', reset_allowed => true);
SELECT replace_flow.create_where_flow('a_weekly', 'SELECT week, sum(n) AS n FROM weeks GROUP BY week', 'week >= 1', reset_allowed => true);
SELECT replace_flow.create_where_flow('b_daily', 'SELECT day, count(*) AS n FROM c_raw GROUP BY day', 'day >= 7');
SELECT replace_flow.create_where_flow('beside', $$ SELECT 'x' AS v $$, 'true');
SELECT replace_flow.create_using_flow('c_raw', 'raw_in', '{id}', 's');
CREATE FUNCTION update_in_words(refresh_selection text[] DEFAULT NULL, full_refresh_selection text[] DEFAULT '{}', replace_where_overrides jsonb DEFAULT '[]')
RETURNS SETOF text LANGUAGE sql AS $$
    SELECT format('%s: %s', (run).flow, in_words(run)) FROM (SELECT replace_flow.start_update($1, $2, $3) AS run) AS u
$$;
INSERT INTO raw_in SELECT i, i % 21, 1 FROM generate_series(1, 100) AS i;
-- All: those of the chain in its order.  One update is one moment: what is staged
-- first is in the total last.
SELECT flow, kind, status FROM replace_flow.start_update() WHERE flow <> 'beside';
TABLE total;
SELECT count(*) AS runs FROM replace_flow.run;
INSERT INTO raw_in VALUES (1, 20, 2), (101, 8, 1);
SELECT line FROM update_in_words() AS line WHERE line !~ 'beside' ;
SELECT same('SELECT sum(n) FROM a_weekly', 'SELECT n FROM total') AS same;

-- A selection: in order, however it is given; flows in between that are not
-- selected are not run.
INSERT INTO raw_in VALUES (102, 8, 1);
SELECT update_in_words('{total, b_daily}');
SELECT update_in_words('{total, a_weekly, c_raw, b_daily, total}');
SELECT update_in_words('{}');
-- Also where what lies between two is no flow's but reads one.
SELECT update_in_words('{a_weekly, b_daily}');

-- Overrides.
SELECT update_in_words('{a_weekly, b_daily}', replace_where_overrides => '[{"flow_name": "b_daily", "predicate_override": "day < 7"}, {"flow_name": "a_weekly", "predicate_override": "week = 0"}]');
SELECT * FROM a_weekly ORDER BY week;
SELECT flow, predicate FROM replace_flow.run ORDER BY run_id DESC LIMIT 2;
-- What is no list of overrides, or overrides what is not in the update.
SELECT refused($$ SELECT update_in_words('{beside}', '{}', '[{"flow_name": "b_daily", "predicate_override": "day < 7"}]') $$);
SELECT refused($$ SELECT update_in_words('{b_daily}', '{}', '{"flow_name": "b_daily", "predicate_override": "day < 7"}') $$);
SELECT min(left(line, 5)) AS state, bool_or(line ~ 'null') AS about_null FROM refused($$ SELECT update_in_words('{b_daily}', '{}', '[["b_daily", "day < 7"]]') $$) AS line WHERE line !~ '^HINT';
SELECT refused($$ SELECT update_in_words('{b_daily}', '{}', '[{"flow_name": "b_daily"}]') $$);
SELECT min(left(line, 5)) AS state, bool_or(line ~ 'null') AS about_null FROM refused($$ SELECT update_in_words('{b_daily}', '{}', '[{"predicate_override": "day < 7"}]') $$) AS line WHERE line !~ '^HINT';
SELECT refused($$ SELECT update_in_words('{b_daily}', '{}', '[{"flow_name": "b_daily", "predicate_override": 7}]') $$);
SELECT refused($$ SELECT update_in_words('{b_daily}', '{}', '[{"flow_name": "b_daily", "predicate_override": "day < 7"}, {"flow_name": "b_daily", "predicate_override": "day < 8"}]') $$);
SELECT refused($$ SELECT update_in_words('{b_daily}', '{}', '[{"flow_name": "b_day", "predicate_override": "day < 7"}]') $$);
SELECT refused($$ SELECT update_in_words('{c_raw}', '{}', '[{"flow_name": "c_raw", "predicate_override": "day < 7"}]') $$);
SELECT refused($$ SELECT update_in_words('{b_daily}', '{}', NULL) $$);
-- A wrong override fails the update before anything happens.
INSERT INTO raw_in VALUES (103, 9, 1);
SELECT refused($$ SELECT update_in_words(NULL, '{}', '[{"flow_name": "total", "predicate_override": "nothing = 7"}]') $$);
SELECT refused($$ SELECT update_in_words(NULL, '{}', '[{"flow_name": "total", "predicate_override": "random() < 7"}]') $$);
SELECT count(*) AS staged FROM raw_in;

-- Names that are none.
SELECT refused($$ SELECT update_in_words('{b_daily, b_dayly}') $$);
SELECT refused($$ SELECT update_in_words('{b_daily, NULL}') $$);
SELECT refused($$ SELECT update_in_words('{b_daily, ""}') $$);
SELECT refused($$ SELECT update_in_words('{*}') $$);
SELECT refused($$ SELECT update_in_words('{b_daily}', '{nothing}') $$);
SELECT refused($$ SELECT update_in_words('{b_daily}', NULL) $$);

-- Full refresh: a flow that is not resettable fails the update before anything
-- happens, ...
INSERT INTO b_daily VALUES (-1, 1);
INSERT INTO a_weekly VALUES (-1, 1);
SELECT refused($$ SELECT update_in_words('{}', '{b_daily}') $$);
SELECT refused($$ SELECT update_in_words(NULL, '{a_weekly, b_daily}') $$);
SELECT count(*) AS staged FROM raw_in;
SELECT count(*) FROM a_weekly WHERE week < 0;
-- ... one that is, is reset, beside others that are refreshed, ...
SELECT update_in_words('{c_raw, b_daily}', '{a_weekly}');
SELECT reasons FROM replace_flow.run WHERE flow = 'a_weekly' ORDER BY run_id DESC LIMIT 1;
SELECT * FROM a_weekly ORDER BY week;
-- (a flow in both selections is fully refreshed, once)
SELECT update_in_words('{a_weekly}', '{a_weekly}');
-- ... and everything at once succeeds: guarded flows are refreshed and not reset,
-- and say so.
INSERT INTO a_weekly VALUES (-1, 1);
SELECT line FROM update_in_words(full_refresh_selection => '{*}') AS line WHERE line !~ 'beside';
SELECT flow, array_to_string(reasons, ' ') ~ 'RESET_NOT_ALLOWED' AS not_allowed FROM replace_flow.run
WHERE kind = 'where' ORDER BY run_id DESC LIMIT 4;
SELECT count(*) FILTER (WHERE day < 0) AS kept FROM b_daily;
SELECT count(*) FILTER (WHERE week < 0) AS kept FROM a_weekly;
-- An override of a flow that is reset would be lost.
SELECT refused($$ SELECT update_in_words(NULL, '{a_weekly}', '[{"flow_name": "a_weekly", "predicate_override": "week = 0"}]') $$);
-- One of a guarded flow is not, when everything is refreshed fully.
SELECT line FROM update_in_words(NULL, '{*}', '[{"flow_name": "b_daily", "predicate_override": "day = 8"}]') AS line WHERE line ~ '^b_daily';
SELECT predicate, array_to_string(reasons, ' ') ~ 'RESET_NOT_ALLOWED' AS not_allowed FROM replace_flow.run WHERE flow = 'b_daily' ORDER BY run_id DESC LIMIT 1;
-- A guarded flow that is named is not one of everything.
SELECT refused($$ SELECT update_in_words('{}', '{*, b_daily}') $$);
-- A using flow cannot be reset: its rows were consumed.
SELECT refused($$ SELECT update_in_words('{}', '{c_raw}') $$);

-- All or nothing: an error in the last undoes the first.
ALTER TABLE total ADD CHECK (n < 150);
INSERT INTO raw_in SELECT i, 10, 1 FROM generate_series(200, 299) AS i;
SELECT refused($$ SELECT update_in_words() $$);
SELECT count(*) AS staged FROM raw_in;
DELETE FROM raw_in;

-- A paused flow is run by nobody.
SELECT replace_flow.pause_flow('a_weekly');
SELECT update_in_words('{b_daily, a_weekly, total}');
SELECT replace_flow.resume_flow('a_weekly');

-- A cycle is refused, and tells its flows; also when only some of it is selected
-- there is none among those.
CREATE TABLE egg (n int);
CREATE TABLE hen (n int);
CREATE VIEW hens AS SELECT * FROM hen;
INSERT INTO hen VALUES (1);
SELECT replace_flow.create_where_flow('egg', 'SELECT n + 1 AS n FROM hens', 'true');
SELECT replace_flow.create_where_flow('hen', 'SELECT n + 1 AS n FROM egg', 'true');
SELECT refused($$ SELECT update_in_words() $$);
SELECT refused($$ SELECT update_in_words('{hen, egg}') $$);
SELECT update_in_words('{egg}');
SELECT update_in_words('{hen, beside}');
SELECT replace_flow.drop_flow('hen');
SELECT count(*) > 0 AS run FROM update_in_words();

-- A flow over the parts of another's target, and one that reads a partition of it.
CREATE TABLE parted (day int, n bigint) PARTITION BY LIST (day);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_2 PARTITION OF parted DEFAULT;
SELECT replace_flow.create_where_flow('after_part', 'SELECT * FROM parted_1', 'true');
SELECT replace_flow.create_where_flow('parted', 'SELECT i AS day, 1::bigint AS n FROM generate_series(1, 3) AS i', 'true');
SELECT update_in_words('{after_part, parted}');

-- A using flow whose query looks up another's target comes after it.
CREATE TABLE first_looked (k int, s int, n bigint);
CREATE INDEX ON first_looked (k);
CREATE TABLE first_in (k int, s int);
SELECT replace_flow.create_using_flow('first_looked', 'first_in', '{k}', 's', query => 'SELECT k, s, n FROM first_in JOIN parted ON day = k');
INSERT INTO first_in VALUES (3, 1);
SELECT replace_flow.alter_flow('parted', query => 'SELECT i AS day, 33::bigint AS n FROM generate_series(1, 3) AS i');
SELECT update_in_words('{first_looked, after_part, parted}');
TABLE first_looked;

-- Privileges: NULL means all that one may run; of what one names, all or nothing.
CREATE ROLE regress_rf_owner;
CREATE ROLE regress_rf_other;
GRANT USAGE, CREATE ON SCHEMA test TO regress_rf_owner;
GRANT USAGE ON SCHEMA test TO regress_rf_other;
GRANT SELECT ON beside TO regress_rf_owner;
SET ROLE regress_rf_owner;
SELECT replace_flow.create_where_flow('test.own', 'SELECT * FROM test.beside', 'true', name => 'own', reset_allowed => true);
SELECT flow, status FROM replace_flow.start_update();
SELECT flow, status FROM replace_flow.start_update('{own}');
SELECT flow, status FROM replace_flow.start_update(full_refresh_selection => '{*}');
SELECT line FROM test.refused($$ SELECT replace_flow.start_update('{own, beside}') $$) AS line LIMIT 1;
SELECT line FROM test.refused($$ SELECT replace_flow.start_update('{own}', '{a_weekly}') $$) AS line LIMIT 1;
SET ROLE regress_rf_other;
SELECT test.refused($$ SELECT replace_flow.start_update('{own}') $$);
SELECT flow, status FROM replace_flow.start_update();
RESET ROLE;
SELECT replace_flow.drop_flow('own', drop_target => true);
REVOKE ALL ON SCHEMA test FROM regress_rf_owner, regress_rf_other;
REVOKE ALL ON beside FROM regress_rf_owner;
DROP ROLE regress_rf_owner, regress_rf_other;

-- It runs inside of functions and transactions, and not on a snapshot that is old.
BEGIN;
SELECT count(*) > 5 AS several FROM replace_flow.start_update();
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT refused($$ SELECT update_in_words() $$);
ROLLBACK;
\i :finish
