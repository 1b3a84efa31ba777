\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set compare :source /sql/include/compare.sql
\i :compare
--
-- E7: groups are looked for by which of their columns are NULL, but not where that makes
-- thousands of queries.
--
DO $$
DECLARE
    columns text := (SELECT string_agg('c' || i || ' int', ', ') FROM generate_series(1, 12) AS i);
    names text := (SELECT string_agg('c' || i, ', ') FROM generate_series(1, 12) AS i);
    vals text := (SELECT string_agg(format('nullif((n >> %s) & 1, 1)', i), ', ') FROM generate_series(0, 11) AS i);
BEGIN
    EXECUTE format('CREATE TABLE source (id int, %s, v int)', columns);
    EXECUTE format('CREATE TABLE target (id int, %s, v int, UNIQUE (%s, id))', columns, names);
    EXECUTE format('INSERT INTO source SELECT n, %s, 0 FROM generate_series(1, 10000) AS n', vals);
END $$;
SELECT replace_flow.create_where_flow('target', 'TABLE source', 'id > 0', name => 'flow');
SELECT ran('flow', 'TABLE target', 'TABLE source');
UPDATE source SET v = 1 WHERE id IN (1, 2, 3);
SELECT ran('flow', 'TABLE target', 'TABLE source');
UPDATE source SET v = 2 WHERE id % 3 = 0;
SET statement_timeout = '10s';
SELECT (replace_flow.refresh('flow')).technique;
UPDATE source SET v = 3 WHERE id % 3 = 0;
SELECT ran('flow', 'TABLE target', 'TABLE source');

\i :finish
