\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- What a refresh would do is shown before it is done, and what keeps refreshes from
-- being incremental is told when the flow is created.
--
SET client_min_messages = notice;
CREATE TABLE event (ts timestamp, key int, n int);
INSERT INTO event SELECT '2024-01-01'::timestamp + i * interval '1 minute', i % 20, 1 FROM generate_series(0, 14399) AS i;
ANALYZE event;
SELECT replace_flow.create_where_flow('daily', 'SELECT date_trunc(''day'', ts) AS day, key, sum(n) AS n FROM event GROUP BY 1, 2', 'day >= ''2024-01-05''');
CREATE FUNCTION planned() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT concat_ws(' ', CASE WHEN chosen THEN '->' ELSE '  ' END, technique, changed_rows || ' rows', affected_groups || ' groups',
        CASE WHEN estimated_cost > 0 THEN 'at a cost' END, reason) FROM replace_flow.planning('daily')
$$;
SELECT planned();
SELECT technique FROM replace_flow.refresh('daily');
ANALYZE daily;
SELECT planned();
UPDATE event SET n = 2 WHERE ts = '2024-01-05 12:00' OR ts = '2024-01-01';
SELECT planned();
INSERT INTO daily VALUES ('2024-01-05', 1, 1);
SELECT planned();
-- It has done nothing.
SELECT count(*) FROM replace_flow.run;
SELECT technique, reasons FROM replace_flow.refresh('daily');
-- Who may not run the flow may not see its plan.
CREATE ROLE regress_rf_other;
GRANT USAGE ON SCHEMA test TO regress_rf_other;
SET ROLE regress_rf_other;
SELECT refused($$ SELECT replace_flow.planning('daily') $$);
RESET ROLE;

-- The index by which changed groups would be found.
CREATE FUNCTION missing_indexes(flow text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT trim(line) FROM replace_flow.explain(flow) AS line WHERE line ~ '^ *(CREATE INDEX|Indexes)'
$$;
SELECT missing_indexes('daily');
CREATE INDEX ON event (ts, key);
CREATE INDEX ON event (key);
SELECT missing_indexes('daily');
CREATE INDEX ON event (key, ts);
SELECT missing_indexes('daily');
-- A unique index of the target that finds less than a group finds it as well.
ALTER TABLE daily ADD PRIMARY KEY (key, day);
SELECT missing_indexes('daily');
CREATE TABLE label (key int, name text);
SELECT replace_flow.create_where_flow('labelled', 'SELECT ts, e.key, name FROM event e LEFT JOIN label l ON e.key = l.key', 'ts > ''2024-01-05''');
SELECT missing_indexes('labelled');

-- What is never incremental.
SELECT replace_flow.create_where_flow('t1', 'SELECT ts, key, now() AS loaded FROM event', 'key > 0');
SELECT replace_flow.create_where_flow('t2', 'SELECT ts, key, random() AS r FROM event', 'key > 0');
SELECT replace_flow.create_where_flow('t3', 'SELECT ts, key FROM event WHERE ts::date < CURRENT_DATE', 'key > 0');
SELECT replace_flow.create_where_flow('t4', 'SELECT ts, key FROM event TABLESAMPLE SYSTEM (10)', 'key > 0');
SELECT replace_flow.create_where_flow('t5', 'SELECT ts, key FROM event ORDER BY ts DESC LIMIT 10', 'key > 0');
SELECT replace_flow.create_where_flow('t6', 'SELECT count(*) AS key FROM event', 'key > 0');
SELECT replace_flow.create_where_flow('t7', 'SELECT relname::text AS name, relpages AS key FROM pg_class', 'key > 0');
CREATE FUNCTION is_new(timestamp) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT $1 > now() - interval ''3 days''';
SELECT replace_flow.create_where_flow('t8', 'SELECT ts, key FROM event', 'is_new(ts)');
CREATE UNLOGGED TABLE unlogged (key int);
SELECT replace_flow.create_where_flow('t11', 'TABLE unlogged', 'key > 0');
-- Only changes of one of the tables make a run complete.
SELECT replace_flow.create_where_flow('t9', 'SELECT ts, key FROM event e WHERE EXISTS (SELECT FROM label l WHERE l.key = e.key)', 'key > 0');
-- These are fine: the time in the predicate, the zone that is the flow's.
SELECT replace_flow.create_where_flow('t10', 'SELECT ts::timestamptz AS at, key FROM event', 'at > now() - interval ''3 days''');
-- That only the worker looks at another setting makes no run complete.
SELECT technique FROM replace_flow.refresh('daily');
SELECT replace_flow.alter_flow('daily', refresh_on_change => true);
SELECT technique FROM replace_flow.refresh('daily');
SELECT replace_flow.alter_flow('daily', refresh_on_change => false);
SELECT technique FROM replace_flow.refresh('daily');
SELECT refused($$ SELECT replace_flow.refresh('daily', technique => 'INCREMENTAL') $$);
SET client_min_messages = warning;
REVOKE USAGE ON SCHEMA test FROM regress_rf_other;
DROP ROLE regress_rf_other;
\i :finish
