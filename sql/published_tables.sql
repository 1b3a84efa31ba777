\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B11: a published stream or target without a replica identity gets a warning
-- with the statement that mends it; a run that PostgreSQL refuses fails whole.
--
CREATE TABLE item (k int, s int);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
-- the server warns that it has no logical replication
SET client_min_messages = error;
CREATE PUBLICATION test_both FOR TABLE item, item_in;
SET client_min_messages = warning;
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
INSERT INTO item_in VALUES (1, 1);
SELECT left(line, 5) AS state FROM refused($$ SELECT replace_flow.apply('item') $$) AS line LIMIT 1;
SELECT (SELECT count(*) FROM item) AS rows, (SELECT count(*) FROM item_in) AS staged;
ALTER TABLE test.item_in REPLICA IDENTITY FULL;
SELECT applied('item');
INSERT INTO item_in VALUES (1, 2);
SELECT left(line, 5) AS state FROM refused($$ SELECT replace_flow.apply('item') $$) AS line LIMIT 1;
SELECT (SELECT count(*) FROM item) AS rows, (SELECT count(*) FROM item_in) AS staged;
ALTER TABLE test.item REPLICA IDENTITY FULL;
SELECT applied('item');
TABLE item;
SELECT replace_flow.drop_flow('item');

-- With an identity there is none: full, a primary key, an index; nor when only
-- inserts are published, or the table is not.
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
SELECT replace_flow.drop_flow('item');
ALTER TABLE item REPLICA IDENTITY DEFAULT, ADD PRIMARY KEY (k, s);
ALTER TABLE item_in ALTER k SET NOT NULL;
CREATE UNIQUE INDEX item_in_key ON item_in (k);
ALTER TABLE item_in REPLICA IDENTITY USING INDEX item_in_key;
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
SELECT replace_flow.drop_flow('item');
DROP PUBLICATION test_both;
ALTER TABLE item_in REPLICA IDENTITY NOTHING;
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
SELECT replace_flow.drop_flow('item');
SET client_min_messages = error;
CREATE PUBLICATION test_inserts FOR TABLE item_in WITH (publish = 'insert');
SET client_min_messages = warning;
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
SELECT replace_flow.drop_flow('item');
DROP PUBLICATION test_inserts;
\i :finish
