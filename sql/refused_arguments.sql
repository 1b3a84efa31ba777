\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A8, G5: arguments that are missing or unknown.
--
CREATE TABLE item_in (k int, s int);

-- None of them may be NULL but those whose default is NULL.
SELECT refused($$ SELECT replace_flow.create_using_flow(NULL, 'item_in', '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', NULL, '{k}', 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', NULL, 's') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', NULL) $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', on_tie => NULL) $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', auto_apply => NULL) $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', keep_rejected => NULL) $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', quarantine => NULL) $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', settings => NULL) $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', on_tie => 'keep') $$);
SELECT refused($$ SELECT replace_flow.apply(NULL) $$);
SELECT refused($$ SELECT replace_flow.apply('item', NULL) $$);
SELECT refused($$ SELECT replace_flow.drop_flow(NULL) $$);
SELECT refused($$ SELECT replace_flow.drop_flow('item', NULL) $$);

-- Settings hold during the flow's runs; unknown ones, values that are none, and
-- those that runs rely on are refused.
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', settings => '[]') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', settings => '"work_mem"') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', settings => '{"work_memory": "1MB"}') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', settings => '{"work_mem": "much"}') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', settings => '{"work_mem": null}') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', settings => '{"search_path": "test"}') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', settings => '{"Row_Security": "on"}') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', settings => '{"role": "postgres"}') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', settings => '{"session_replication_role": "replica"}') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', settings => '{"shared_buffers": "1GB"}') $$);
CREATE FUNCTION setting(name text, s int) RETURNS text LANGUAGE sql STABLE AS $$ SELECT current_setting(name) $$;
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', query =>
    $$ SELECT k, s, setting('work_mem', s) AS work_mem, setting('lock_timeout', s) AS lock_timeout,
           setting('datestyle', s) AS datestyle FROM item_in $$,
    settings => '{"work_mem": "1234kB", "lock_timeout": 5000, "DateStyle": "German, DMY"}');
INSERT INTO item_in VALUES (1, 1);
SELECT applied('item');
TABLE item;
SELECT current_setting('work_mem') = '1234kB' AS still_set;

-- Expectations
SELECT refused($$ SELECT replace_flow.add_expectation('item', 'e', 'k > 0', 'stop') $$);
SELECT refused($$ SELECT replace_flow.add_expectation('item', 'e', 'k > 0', NULL) $$);
SELECT refused($$ SELECT replace_flow.add_expectation('item', NULL, 'k > 0', 'warn') $$);
SELECT refused($$ SELECT replace_flow.add_expectation('item', '', 'k > 0', 'warn') $$);
SELECT refused($$ SELECT replace_flow.add_expectation(NULL, 'e', 'k > 0', 'warn') $$);
SELECT refused($$ SELECT replace_flow.add_expectation('items', 'e', 'k > 0', 'warn') $$);
SELECT replace_flow.add_expectation('item', 'e', 'k > 0', 'warn');
SELECT refused($$ SELECT replace_flow.add_expectation('item', 'e', 'k > 1', 'drop') $$);
SELECT refused($$ SELECT replace_flow.drop_expectation('item', 'f') $$);
SELECT refused($$ SELECT replace_flow.drop_expectation('item', NULL) $$);
SELECT refused($$ SELECT replace_flow.drop_expectation('items', 'e') $$);
SELECT condition, action FROM replace_flow.expectation;
\i :finish
