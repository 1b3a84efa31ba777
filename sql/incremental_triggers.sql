\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set compare :source /sql/include/compare.sql
\i :compare
--
-- E1: a refresh in a trigger sees what the statement around it has done, logged or not.
--
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (id int REFERENCES parent ON DELETE CASCADE ON UPDATE CASCADE, v int);
INSERT INTO parent SELECT generate_series(1, 100);
INSERT INTO child SELECT i, i FROM generate_series(1, 100) AS i;
CREATE TABLE target (id int, v int);
SELECT replace_flow.create_where_flow('target', 'SELECT id, v FROM child', 'id > 0', name => 'flow');
SELECT ran('flow', 'TABLE target', 'TABLE child');
DELETE FROM parent WHERE id = 5;
UPDATE parent SET id = 106 WHERE id = 6;
SELECT ran('flow', 'TABLE target', 'TABLE child');
CREATE FUNCTION run_it() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING 'in a trigger of a %: %', lower(tg_level), test.ran('flow', 'TABLE test.target', 'TABLE test.child');
    RETURN NULL;
END $$;
CREATE TRIGGER z_row AFTER UPDATE OR DELETE ON parent FOR EACH ROW EXECUTE FUNCTION run_it();
CREATE TRIGGER z_statement AFTER UPDATE OR DELETE ON parent FOR EACH STATEMENT EXECUTE FUNCTION run_it();
DELETE FROM parent WHERE id = 7;
SELECT ran('flow', 'TABLE target', 'TABLE child');
UPDATE parent SET id = 108 WHERE id = 8;
SELECT ran('flow', 'TABLE target', 'TABLE child');

\i :finish
