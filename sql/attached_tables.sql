\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A2, A4: a table is the target or the stream of one flow, also when it is attached
-- to another one after the flow was created: then runs say so, and touch nothing.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (k int, s int, v text) PARTITION BY LIST (k);
CREATE TABLE item_in_1 PARTITION OF item_in FOR VALUES IN (1, 2, 3);
CREATE TABLE other (k int, s int, v text) PARTITION BY LIST (k);
CREATE TABLE other_1 PARTITION OF other FOR VALUES IN (1);
CREATE INDEX ON other (k);
CREATE TABLE other_in (k int, s int, v text);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
SELECT replace_flow.create_using_flow('other', 'other_in', '{k}', 's');
INSERT INTO item_in VALUES (1, 1, 'a');
INSERT INTO other_in VALUES (1, 1, 'b');
SELECT applied('item');
SELECT applied('other');
INSERT INTO item_in VALUES (1, 2, 'c');
INSERT INTO other_in VALUES (1, 2, 'd');

-- the target below its own stream, below the other flow's target, its stream below the other's
BEGIN;
ALTER TABLE other ATTACH PARTITION item FOR VALUES IN (9);
ROLLBACK;
BEGIN;
UPDATE item SET k = 9;
ALTER TABLE item_in ATTACH PARTITION item FOR VALUES IN (9);
SELECT refused($$ SELECT replace_flow.apply('item') $$);
ROLLBACK;
BEGIN;
UPDATE item SET k = 9;
ALTER TABLE other ATTACH PARTITION item FOR VALUES IN (9);
SELECT refused($$ SELECT replace_flow.apply('item') $$);
SELECT refused($$ SELECT replace_flow.apply('other') $$);
ROLLBACK;
BEGIN;
ALTER TABLE item_in ATTACH PARTITION other_in FOR VALUES IN (1, 9) ;
ROLLBACK;
BEGIN;
UPDATE other_in SET k = 9;
ALTER TABLE item_in ATTACH PARTITION other_in FOR VALUES IN (9);
SELECT refused($$ SELECT replace_flow.apply('item') $$);
SELECT refused($$ SELECT replace_flow.apply('other') $$);
ROLLBACK;
SELECT applied('item');
SELECT applied('other');

-- A flow does not read what is the extension's own, not even through a view.
CREATE VIEW own AS SELECT flow_id FROM replace_flow.flow;
CREATE TABLE new_in (k int, s int);
SELECT refused($$ SELECT replace_flow.create_using_flow('new', 'new_in', '{k}', 's', query => 'SELECT n.* FROM new_in n, replace_flow.run') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('new', 'new_in', '{k}', 's', query => 'SELECT n.* FROM new_in n, own') $$);

-- Definitions change only where the transaction sees what others did before.
CREATE FUNCTION under_repeatable_read(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY SELECT r FROM refused(statement) AS r LIMIT 1;
END $$;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT under_repeatable_read($$ SELECT replace_flow.create_using_flow('new', 'new_in', '{k}', 's') $$);
SELECT under_repeatable_read($$ SELECT replace_flow.alter_flow('item', comment => 'new') $$);
SELECT under_repeatable_read($$ SELECT replace_flow.pause_flow('item') $$);
SELECT under_repeatable_read($$ SELECT replace_flow.add_expectation('item', 'e', 'true', 'warn') $$);
SELECT under_repeatable_read($$ SELECT replace_flow.drop_flow('item') $$);
COMMIT;
\i :finish
