\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set compare :source /sql/include/compare.sql
\i :compare
--
-- E1, A7: joined keys are equal, but not always the same.
--
CREATE EXTENSION citext SCHEMA test;
CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);

-- As citext a label is that of two keys, which are two as text.
CREATE TABLE fact (id int, key test.citext);
CREATE TABLE label (key test.citext, name text);
INSERT INTO fact SELECT i, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'A' END || i / 2 FROM generate_series(1, 100) AS i;
INSERT INTO label SELECT 'A' || i, 'label ' || i FROM generate_series(1, 50) AS i;
CREATE TABLE text_target (key text, name text, n bigint);
SELECT replace_flow.create_where_flow('text_target',
    'SELECT key::text, name, count(*) AS n FROM fact JOIN label USING (key) GROUP BY 1, 2', 'true', name => 'text');
CREATE TABLE citext_target (key test.citext, name text, n bigint);
SELECT replace_flow.create_where_flow('citext_target',
    'SELECT key, name, count(*) AS n FROM fact JOIN label USING (key) GROUP BY 1, 2', 'true', name => 'citext');
SELECT ran('text', 'TABLE text_target', 'SELECT key::text, name, count(*) FROM fact JOIN label USING (key) GROUP BY 1, 2');
SELECT ran('citext', 'TABLE citext_target', 'SELECT key, name, count(*) FROM fact JOIN label USING (key) GROUP BY 1, 2');
UPDATE label SET name = 'another' WHERE key = 'a5';
SELECT ran('text', 'TABLE text_target', 'SELECT key::text, name, count(*) FROM fact JOIN label USING (key) GROUP BY 1, 2');
SELECT ran('citext', 'TABLE citext_target', 'SELECT key, name, count(*) FROM fact JOIN label USING (key) GROUP BY 1, 2');

-- The same of a collation that folds, and a target that does not.
CREATE TABLE folded_fact (id int, key text COLLATE folding);
CREATE TABLE folded_label (key text COLLATE folding, name text);
INSERT INTO folded_fact SELECT id, key::text FROM fact;
INSERT INTO folded_label SELECT key::text, name FROM label;
CREATE TABLE exact_target (key text COLLATE "C", id int, name text);
SELECT replace_flow.create_where_flow('exact_target',
    'SELECT f.key, id, name FROM folded_fact f LEFT JOIN folded_label l ON f.key = l.key', 'true', name => 'exact');
CREATE TABLE folded_target (key text COLLATE folding, id int, name text);
SELECT replace_flow.create_where_flow('folded_target',
    'SELECT f.key, id, name FROM folded_fact f LEFT JOIN folded_label l ON f.key = l.key', 'true', name => 'folded');
SELECT ran('exact', 'TABLE exact_target',
    'SELECT f.key COLLATE "C", id, name FROM folded_fact f LEFT JOIN folded_label l ON f.key = l.key');
SELECT ran('folded', 'TABLE folded_target',
    'SELECT f.key, id, name FROM folded_fact f LEFT JOIN folded_label l ON f.key = l.key');
UPDATE folded_label SET name = 'a third one' WHERE key = 'a5';
DELETE FROM folded_label WHERE key = 'a6';
SELECT ran('exact', 'TABLE exact_target',
    'SELECT f.key COLLATE "C", id, name FROM folded_fact f LEFT JOIN folded_label l ON f.key = l.key');
SELECT ran('folded', 'TABLE folded_target',
    'SELECT f.key, id, name FROM folded_fact f LEFT JOIN folded_label l ON f.key = l.key');

-- A predicate that tells apart what is one group is asked of rows, not of groups.
CREATE TABLE amount (id int, k numeric, v text);
INSERT INTO amount VALUES (1, 1.0, 'a'), (2, 1.00, 'b'), (3, 2.0, 'c');
SELECT replace_flow.create_where_flow('amount_target', 'SELECT k, v FROM amount', 'k::text = ''1.00''');
SELECT technique FROM replace_flow.refresh('amount_target');
UPDATE amount SET v = v || '!' WHERE k = 1;
SELECT technique FROM replace_flow.refresh('amount_target');
TABLE amount_target;
\i :finish
