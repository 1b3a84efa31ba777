-- In the new server: what was saved is there, and what waited is applied once.

CREATE FUNCTION saved.verdict(promise text, holds boolean) RETURNS text
LANGUAGE sql AS $$ SELECT CASE WHEN holds THEN 'ok ' ELSE 'not ok ' END || promise $$;

CREATE FUNCTION saved.same(query1 text, query2 text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    differs boolean;
BEGIN
    EXECUTE format('SELECT EXISTS ((%1$s) EXCEPT ALL (%2$s)) OR EXISTS ((%2$s) EXCEPT ALL (%1$s))',
                   query1, query2) INTO differs;
    RETURN NOT differs;
END $$;

SELECT saved.verdict('the cluster was upgraded', current_setting('server_version_num')::int / 10000 = :new_version);
SELECT saved.verdict('flows are there', count(*) = 5) FROM saved.flow;
SELECT saved.verdict('flows are the same', saved.same('TABLE saved.flow', 'SELECT to_jsonb(f) FROM replace_flow.flow f'));
SELECT saved.verdict('expectations are the same',
    saved.same('TABLE saved.expectation', 'SELECT to_jsonb(e) FROM replace_flow.expectation e'));
SELECT saved.verdict('runs are the same', saved.same('TABLE saved.run', 'SELECT to_jsonb(r) FROM replace_flow.run r'));
SELECT saved.verdict('results of expectations are the same',
    saved.same('TABLE saved.result', 'SELECT to_jsonb(r) FROM replace_flow.expectation_result r'));
SELECT saved.verdict('rejected rows are the same',
    saved.same('TABLE saved.rejected', 'SELECT to_jsonb(r) FROM replace_flow.rejected r'));
SELECT saved.verdict('a backfill is as far as it was', slices_done = 1 AND slices_total = 3
    AND saved.same('TABLE saved.backfill', 'SELECT to_jsonb(b) FROM replace_flow.backfill b'))
FROM replace_flow.progress;
SELECT saved.verdict('floors are the same', saved.same('TABLE saved.floor', 'TABLE saved.floor_now'));

SET search_path = shop, saved;
GRANT USAGE ON SCHEMA saved TO clerk;
SET SESSION AUTHORIZATION clerk;
CREATE TABLE applied AS
SELECT 1 AS pass, run.*
FROM unnest(ARRAY['item', 'item_now', 'account', 'Events']) AS flow_name, replace_flow.apply(flow_name) AS run;
INSERT INTO applied
SELECT 2, run.*
FROM unnest(ARRAY['item', 'item_now', 'account', 'Events']) AS flow_name, replace_flow.apply(flow_name) AS run;
RESET SESSION AUTHORIZATION;
SELECT verdict('rows that waited were read', same('SELECT flow, rows_staged FROM applied WHERE pass = 1',
    $$ VALUES ('item', 5::bigint), ('item_now', 5), ('account', 5), ('Events', 4) $$));
SELECT verdict('none was read twice', sum(rows_staged) = 0) FROM applied WHERE pass = 2;
SELECT verdict('conditions still hold', same('SELECT flow, rows_rejected FROM applied WHERE pass = 1',
    $$ VALUES ('item', 1::bigint), ('item_now', 1), ('account', 1), ('Events', 1) $$));
SELECT verdict('run numbers go on', min(run_id) > (SELECT max((to_jsonb ->> 'run_id')::bigint) FROM saved.run))
FROM applied;

SELECT verdict('target that stores the sequence', same('TABLE item',
    $$ VALUES (1, 'a', 2), (2, 'b', 2), (2, 'tie', 2), (3, 'new', 6), (4, 'd', 1) $$));
SELECT verdict('target with a ledger', same('TABLE item_now',
    $$ VALUES (1, 'a'), (2, 'tie'), (3, 'new'), (4, 'd') $$));
SELECT verdict('target with deleted keys', same('TABLE account', $$ VALUES (4, 'd', 1) $$));
SELECT verdict('partitioned target', same('SELECT tableoid::regclass::text, k, v, s FROM event',
    $$ VALUES ('event_1', 1, 'a', 2), ('event_2', 1, 'b', 2), ('event_2', 2, 'moved', 3), ('event_1', 4, 'd', 1) $$));
SELECT verdict('deleted keys keep their floors', same($$ SELECT key, floor FROM replace_flow.floors('account') $$,
    $$ VALUES ('{"k": 1}'::jsonb, '3'), ('{"k": 2}', '2'), ('{"k": 3}', '5'), ('{"k": 4}', '1') $$));

SET SESSION AUTHORIZATION clerk;
INSERT INTO sale VALUES (7, '2026-02-01', 'a', 'b', 'happy', 7), (8, '2026-02-03', 'a', 'b', 'happy', 8);
SELECT verdict('a window is refreshed', rows_read = 3 AND rows_unchanged = 1 AND predicate = (
    SELECT predicate FROM replace_flow.run WHERE flow = 'daily' ORDER BY run_id LIMIT 1))
FROM replace_flow.refresh('daily');
UPDATE sale SET customer = 'b' WHERE id = 1;
CALL replace_flow.backfill('daily', 'day', '2026-01-29', '2026-02-01', 1);
SELECT verdict('a backfill does the slices that were left', count(*) = 3 AND count(DISTINCT predicate) = 3)
FROM replace_flow.run WHERE flow = 'daily' AND predicate ~ '< ''2026';
RESET SESSION AUTHORIZATION;
SELECT verdict('target with a window', same('TABLE daily', $$ VALUES
    ('2025-01-01'::date, 'a'::char(3), 1::bigint, 1.00::numeric(8,2), 'history'::varchar(9), 'sad'::mood),
    ('2026-01-30', 'a', 1, 1.00, 'b', 'happy'), ('2026-01-31', 'a', 1, 2.00, 'b', 'happy'),
    ('2026-02-01', 'a', 2, 10.00, 'b', 'happy'), ('2026-02-02', 'b', 1, 6.00, 'b', 'happy'),
    ('2026-02-03', 'a', 1, 8.00, 'b', 'happy') $$));

-- What comes after the upgrade meets nothing of what was before.
SET SESSION AUTHORIZATION clerk;
CREATE TABLE later (k int PRIMARY KEY, v text);
CREATE TABLE later_in (k int, v text, s int);
SELECT verdict('a flow can be created', replace_flow.create_using_flow('later', 'later_in', '{k}', 's') = 'later');
INSERT INTO later_in VALUES (1, 'a', 1);
SELECT verdict('and run', (replace_flow.apply('later')).rows_inserted = 1);
SELECT verdict('a flow can be dropped', replace_flow.drop_flow('item_now') IS NOT NULL);
RESET SESSION AUTHORIZATION;
SELECT verdict('the triggers that wake the worker are there again', count(*) = 6
    AND same('TABLE saved.trigger', $$ SELECT * FROM trigger_now WHERE tgrelid <> 'later_in'::regclass $$)) FROM saved.trigger;
SELECT verdict('its ledger went with it', count(*) = 2) FROM pg_class
WHERE relnamespace = 'replace_flow'::regnamespace AND relkind = 'r' AND relname ~ '^floor_\d+$';
DROP TABLE later;
SELECT verdict('and goes with its target', count(*) = 4) FROM replace_flow.flow;

DROP VIEW floor_now;
DROP EXTENSION replace_flow;
SELECT verdict('the extension leaves only tables of the user', to_regnamespace('replace_flow') IS NULL);
SELECT verdict('the targets stay', count(*) = 5) FROM item;
