\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set compare :source /sql/include/compare.sql
\i :compare
--
-- E5: a table's rows are also in its children, and come through whatever these are
-- children of.
--
CREATE TABLE parent (k int, v int);
CREATE TABLE other_parent (k int, v int);
CREATE TABLE child () INHERITS (parent, other_parent);
INSERT INTO child SELECT i, i FROM generate_series(1, 100) AS i;
CREATE TABLE target (k int, v int);
SELECT replace_flow.create_where_flow('target', 'SELECT k, v FROM parent', 'k > 0', name => 'flow');
SELECT ran('flow', 'TABLE target', 'TABLE parent');
UPDATE other_parent SET v = -1 WHERE k = 5;
SELECT ran('flow', 'TABLE target', 'TABLE parent');

-- A parent that came, and one that came and went.
CREATE TABLE third_parent (v int);
ALTER TABLE child INHERIT third_parent;
SELECT ran('flow', 'TABLE target', 'TABLE parent');
UPDATE third_parent SET v = -2 WHERE v = 6;
SELECT ran('flow', 'TABLE target', 'TABLE parent');
ALTER TABLE child NO INHERIT third_parent;
SELECT ran('flow', 'TABLE target', 'TABLE parent');
BEGIN;
ALTER TABLE child INHERIT third_parent;
UPDATE third_parent SET v = -2 WHERE v = 7;
ALTER TABLE child NO INHERIT third_parent;
COMMIT;
SELECT ran('flow', 'TABLE target', 'TABLE parent');

-- A child that went, was written, and came back.
BEGIN;
ALTER TABLE child NO INHERIT parent;
UPDATE child SET v = -3 WHERE k = 8;
ALTER TABLE child INHERIT parent;
COMMIT;
SELECT ran('flow', 'TABLE target', 'TABLE parent');

-- Nobody sees changes that came through a table that the flow's owner may not watch.
CREATE ROLE replace_flow_reader;
GRANT ALL ON SCHEMA test TO replace_flow_reader;
GRANT SELECT, TRIGGER ON parent TO replace_flow_reader;
SET ROLE replace_flow_reader;
CREATE TABLE target_of_reader (k int, v int);
SELECT replace_flow.create_where_flow('target_of_reader', 'SELECT k, v FROM parent', 'k > 0', name => 'flow of reader');
SELECT ran('flow of reader', 'TABLE target_of_reader', 'TABLE parent');
RESET ROLE;
SELECT replace_flow.drop_flow('flow');
UPDATE other_parent SET v = -1 WHERE k = 9;
SELECT ran('flow of reader', 'TABLE target_of_reader', 'TABLE parent');

\i :finish
DROP OWNED BY replace_flow_reader;
DROP ROLE replace_flow_reader;
