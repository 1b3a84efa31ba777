\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B16, on a small scale: everything spills at a work_mem of 64 kB, and comes out
-- the same.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
CREATE TABLE item_now (k int, v text);
CREATE INDEX ON item_now (k);
CREATE TABLE item_now_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', settings => '{"work_mem": "64kB"}');
SELECT replace_flow.create_using_flow('item_now', 'item_now_in', '{k}', 's', settings => '{"work_mem": "64kB"}');

-- One key of 50,000 rows, with copies: most of them stay, some go, some come.
INSERT INTO item_in SELECT 1, 1, 'row ' || i / 2 FROM generate_series(1, 50000) AS i;
INSERT INTO item_now_in TABLE item_in;
SELECT applied('item');
SELECT applied('item_now');
INSERT INTO item_now_in SELECT 1, 2, 'row ' || i / 2 FROM generate_series(1001, 51000) AS i;
SELECT applied('item_now');
SELECT same('SELECT v FROM item_now', $$ SELECT 'row ' || i / 2 FROM generate_series(1001, 51000) AS i $$);
INSERT INTO item_in SELECT 1, 2, 'row ' || i / 2 FROM generate_series(1001, 51000) AS i;
SELECT applied('item');
SELECT same('SELECT * FROM item', $$ SELECT 1, 2, 'row ' || i / 2 FROM generate_series(1001, 51000) AS i $$);

-- 20,000 keys, in a batch with late, superseded, tied and rejected rows.
SELECT replace_flow.add_expectation('item', 'not bad', $$ v <> 'bad' $$, 'drop');
INSERT INTO item_in SELECT 100 + i % 20000, 5, 'old ' || i FROM generate_series(1, 60000) AS i;
SELECT applied('item');
INSERT INTO item_in
    SELECT 100 + i, 4, 'late' FROM generate_series(1, 4999) AS i
    UNION ALL SELECT 100 + i, 5, 'tie' FROM generate_series(5000, 9999) AS i
    UNION ALL SELECT 100 + i, 6, 'new ' || j FROM generate_series(10000, 14999) AS i, generate_series(1, 2) AS j
    UNION ALL SELECT 100 + i, 5, 'superseded' FROM generate_series(10000, 14999) AS i
    UNION ALL SELECT 100 + i, 7, 'bad' FROM generate_series(1, 19999) AS i;
SELECT applied('item');
SELECT same($$ SELECT * FROM item WHERE k >= 100 $$, $$
    SELECT 100 + i % 20000, 5, 'old ' || i FROM generate_series(1, 60000) AS i WHERE i % 20000 NOT BETWEEN 10000 AND 14999
    UNION ALL SELECT 100 + i, 5, 'tie' FROM generate_series(5000, 9999) AS i
    UNION ALL SELECT 100 + i, 6, 'new ' || j FROM generate_series(10000, 14999) AS i, generate_series(1, 2) AS j $$);
SELECT count(*) FROM replace_flow.rejected WHERE flow = 'item';

-- Wide rows, many patterns of NULL in the key, updates in place.
CREATE TABLE wide (a int, b text, c date, line int, v text, PRIMARY KEY (line));
CREATE INDEX ON wide (a, b, c);
CREATE TABLE wide_in (a int, b text, c date, line int, v text, s int);
SELECT replace_flow.create_using_flow('wide', 'wide_in', '{a, b, c}', 's', settings => '{"work_mem": "64kB"}');
CREATE VIEW wide_source AS
SELECT nullif(i % 10, 0) AS a, nullif(i % 11, 0)::text AS b, date '2026-01-01' + nullif(i % 12, 0) AS c, i AS line,
    repeat('x', i % 1000) AS v, 1 AS s
FROM generate_series(1, 3000) AS i;
INSERT INTO wide_in TABLE wide_source;
SELECT applied('wide');
INSERT INTO wide_in SELECT a, b, c, line, CASE WHEN line % 2 = 0 THEN v ELSE 'y' END, 2 FROM wide_source;
SELECT applied('wide');
SELECT same('TABLE wide', $$ SELECT a, b, c, line, CASE WHEN line % 2 = 0 THEN v ELSE 'y' END FROM wide_source $$);
SELECT count(*) FROM replace_flow.floors('wide');
\i :finish
