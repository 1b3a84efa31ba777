\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- alter_flow: what is given changes, what is not stays; each change is one
-- version; what is refused leaves everything as it was.
--
CREATE VIEW definition AS
SELECT name, source, replace_using, query, sequence_by, delete_when, on_tie, auto_apply, keep_rejected, quarantine, comment,
    settings, has_ledger, definition_version AS version
FROM replace_flow.flow;
CREATE TABLE item_in (k int, k2 int, s int, t int, v text);
CREATE TABLE other_in (k int, k2 int, s int, t int, v text, w text);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', comment => 'first');
INSERT INTO item_in VALUES (1, 1, 1, 9, 'a'), (1, 2, 1, 8, 'b'), (2, 1, 1, 7, NULL);
SELECT applied('item');

-- One at a time.
\x on
SELECT * FROM definition;
SELECT replace_flow.alter_flow('item', on_tie => 'ignore', auto_apply => false, keep_rejected => false, quarantine => true,
    comment => 'a comment; it''s', settings => '{"work_mem": "1MB", "lock_timeout": 50}');
SELECT * FROM definition;
SELECT replace_flow.alter_flow('item', comment => '', settings => '{}', auto_apply => true);
SELECT * FROM definition;
\x off
-- nothing given is a change too
SELECT replace_flow.alter_flow(flow => 'item');
SELECT version, on_tie, comment FROM definition;

-- on_tie holds from the next run on
INSERT INTO item_in VALUES (1, 3, 1, 9, 'ignored');
SELECT applied('item');
SELECT replace_flow.alter_flow('item', on_tie => 'replace');
INSERT INTO item_in VALUES (1, 3, 1, 9, 'alone');
SELECT applied('item');
SELECT replace_flow.alter_flow('item', on_tie => 'append');
INSERT INTO item_in VALUES (1, 3, 1, 9, 'with others');
SELECT applied('item');
SELECT * FROM item ORDER BY k, v;

-- Settings hold in runs.
SELECT replace_flow.alter_flow('item', settings => '{"application_name": "of the flow"}');
ALTER TABLE item ADD COLUMN writer text DEFAULT current_setting('application_name');
INSERT INTO item_in VALUES (3, 1, 1, 1, 'set');
SELECT applied('item');
SELECT writer FROM item WHERE k = 3;

-- What is refused.
CREATE TABLE before AS TABLE definition;
CREATE VIEW some_view AS TABLE item_in;
CREATE TEMPORARY TABLE temporary_in (LIKE item_in);
SELECT refused($$ SELECT replace_flow.alter_flow(NULL, on_tie => 'ignore') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('', on_tie => 'ignore') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('test.item', on_tie => 'ignore') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', on_tie => 'other') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', on_tie => '') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', settings => '{"work_mem": "much"}') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', settings => '{"no_such_setting": 1}') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', settings => '{"SEARCH_path": "test"}') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', settings => '{"work_mem": null}') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', settings => '[]') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', settings => 'null') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', replace_using => '{}') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', replace_using => '{k,k}') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', replace_using => '{k3}') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', sequence_by => '') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', sequence_by => 'tt') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', sequence_by => 's, t') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', sequence_by => 'point(s, t)') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', source => 0) $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', source => 'some_view') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', source => 'temporary_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', comment => 'new', source => 'item') $$);
SELECT same('TABLE definition', 'TABLE before') AS nothing_changed;
INSERT INTO item_in VALUES (3, 1, 1, 1, 'still');
SELECT applied('item');

-- Another stream: all of its columns are those that count now.  Rows that wait
-- in the old one stay there.
INSERT INTO item_in VALUES (4, 1, 1, 1, 'left behind');
INSERT INTO other_in VALUES (4, 1, 1, 1, 'read', 'w');
SELECT replace_flow.alter_flow('item', source => 'other_in');
SELECT applied('item');
SELECT k, v, w FROM item WHERE k = 4;
TABLE item_in;
-- which is free to serve another flow, and no longer when it does
SELECT replace_flow.create_using_flow('second', 'item_in', '{k}', 's');
SELECT refused($$ SELECT replace_flow.alter_flow('item', source => 'item_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('second', source => 'item') $$);
SELECT replace_flow.drop_flow('second', drop_target => true);

-- Another key.  Floors are those of the new key, read off the target.
SELECT replace_flow.alter_flow('item', replace_using => '{k,k2}');
INSERT INTO other_in VALUES (1, 3, 5, 9, 'new'), (1, 4, 0, 9, 'first'), (2, 1, 0, 9, 'late');
SELECT applied('item');
SELECT k, k2, s, v FROM item ORDER BY k, k2, v;
SELECT key, floor FROM replace_flow.floors('item') ORDER BY key;
-- and another sequence that the target stores
SELECT replace_flow.alter_flow('item', sequence_by => 't', replace_using => '{k}');
INSERT INTO other_in VALUES (1, 0, 9, 8, 'late'), (2, 0, 0, 8, 'new');
SELECT applied('item');
SELECT k, k2, s, t, v FROM item ORDER BY k, k2, v;

-- A ledger holds floors under key and sequence; while it holds any, neither changes.
SELECT replace_flow.alter_flow('item', delete_when => 'v IS NULL');
SELECT replace_flow.alter_flow('item', replace_using => '{k2}');
SELECT replace_flow.alter_flow('item', replace_using => '{k}', sequence_by => 's');
INSERT INTO other_in VALUES (7, 0, 9, 9, NULL);
SELECT applied('item');
DROP TABLE before;
CREATE TABLE before AS TABLE definition;
SELECT refused($$ SELECT replace_flow.alter_flow('item', replace_using => '{k,k2}') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', replace_using => '{k2}', comment => 'new') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', sequence_by => 't') $$);
SELECT same('TABLE definition', 'TABLE before') AS nothing_changed;
SELECT replace_flow.alter_flow('item', replace_using => '{k}', delete_when => '');
SELECT refused($$ SELECT replace_flow.alter_flow('item', sequence_by => 't') $$);
INSERT INTO other_in VALUES (7, 0, 8, 9, 'late'), (8, 1, 1, 1, 'new');
SELECT applied('item');
SELECT has_ledger FROM definition;
\i :finish
