\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set compare :source /sql/include/compare.sql
\i :compare
--
-- E1: a target whose unique indexes have more columns than can be used to tell rows.
--
DO $$
DECLARE
    columns text := (SELECT string_agg('c' || i || ' int', ', ') FROM generate_series(1, 40) AS i);
    firsts text := (SELECT string_agg('c' || i, ', ') FROM generate_series(1, 20) AS i);
    lasts text := (SELECT string_agg('c' || i, ', ') FROM generate_series(21, 40) AS i);
    vals text := (SELECT string_agg(CASE i WHEN 33 THEN 'NULL::int' ELSE 'n' END, ', ') FROM generate_series(1, 40) AS i);
BEGIN
    EXECUTE format('CREATE TABLE source (%s)', columns);
    EXECUTE format('CREATE TABLE target (%s, UNIQUE (%s), UNIQUE (%s))', columns, firsts, lasts);
    EXECUTE format('INSERT INTO source SELECT %s FROM generate_series(1, 100) AS n', vals);
END $$;
SELECT replace_flow.create_where_flow('target', 'TABLE source', 'c40 > 0', name => 'flow');
SELECT ran('flow', 'TABLE target', 'TABLE source');
UPDATE source SET c39 = -1 WHERE c1 = 5;
DELETE FROM source WHERE c1 = 6;
SELECT ran('flow', 'TABLE target', 'TABLE source');
SELECT columns FROM replace_flow.captured WHERE relid = 'source'::regclass;

\i :finish
