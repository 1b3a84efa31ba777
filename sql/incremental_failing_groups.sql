\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set compare :source /sql/include/compare.sql
\i :compare
--
-- E1: a query computes its columns for the rows that it joins and filters.  A run that
-- looks for groups computes nothing for others that may fail.
--
CREATE TABLE fact (id int, x int, kind int);
CREATE TABLE kind (kind int, ok boolean);
INSERT INTO fact SELECT i, i % 10, CASE WHEN i % 10 = 0 THEN 0 ELSE 1 END FROM generate_series(1, 20000) AS i;
INSERT INTO kind VALUES (0, false), (1, true);
INSERT INTO kind SELECT i, false FROM generate_series(2, 20000) AS i;
CREATE TABLE target (ratio int, id int);
SELECT replace_flow.create_where_flow('target',
    'SELECT 100 / x AS ratio, id FROM fact JOIN kind USING (kind) WHERE ok', 'id > 0', name => 'flow');
ANALYZE fact, kind;
SELECT ran('flow', 'TABLE target', 'SELECT 100 / x, id FROM fact JOIN kind USING (kind) WHERE ok');
UPDATE fact SET x = 2 WHERE id IN (5, 19999);
SELECT ran('flow', 'TABLE target', 'SELECT 100 / x, id FROM fact JOIN kind USING (kind) WHERE ok');
SELECT columns FROM replace_flow.captured WHERE relid = 'fact'::regclass;

-- Where there is no other column that could tell, all is recomputed.
CREATE TABLE ratios (ratio int, n bigint);
SELECT replace_flow.create_where_flow('ratios',
    'SELECT 100 / x AS ratio, count(*) AS n FROM fact JOIN kind USING (kind) WHERE ok GROUP BY 1', 'true', name => 'ratios');
SELECT ran('ratios', 'TABLE ratios', 'SELECT 100 / x, count(*) FROM fact JOIN kind USING (kind) WHERE ok GROUP BY 1');
UPDATE fact SET x = 2 WHERE id = 7;
SELECT ran('ratios', 'TABLE ratios', 'SELECT 100 / x, count(*) FROM fact JOIN kind USING (kind) WHERE ok GROUP BY 1');

-- What does not fit into the target is outside of the window.
CREATE TABLE name (id int, name text);
INSERT INTO name SELECT i, 'a name of ' || CASE WHEN i % 2 = 0 THEN 'many letters' ELSE i::text END FROM generate_series(1, 1000) AS i;
CREATE TABLE names (name varchar(16), odd int);
SELECT replace_flow.create_where_flow('names', 'SELECT name, id % 2 AS odd FROM name', 'odd = 1', name => 'names');
SELECT ran('names', 'TABLE names', 'SELECT name, id % 2 FROM name WHERE id % 2 = 1');
UPDATE name SET name = 'changed' WHERE id = 5;
SELECT ran('names', 'TABLE names', 'SELECT name, id % 2 FROM name WHERE id % 2 = 1');
SELECT columns FROM replace_flow.captured WHERE relid = 'name'::regclass;

\i :finish
