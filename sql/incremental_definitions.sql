\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set compare :source /sql/include/compare.sql
\i :compare
--
-- E1, E5: what decides what a query gives is seen to change, wherever it is.
--
CREATE TABLE source (k int, v float8);
INSERT INTO source SELECT i, i / 3.0 FROM generate_series(1, 100) AS i;

-- A function that the predicate calls.
CREATE FUNCTION is_in(k int) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT k < 10';
CREATE TABLE target (k int, v float8);
SELECT replace_flow.create_where_flow('target', 'SELECT k, v FROM source', 'is_in(k)', name => 'predicate');
SELECT ran('predicate', 'TABLE target', 'SELECT * FROM source WHERE is_in(k)');
SELECT ran('predicate', 'TABLE target', 'SELECT * FROM source WHERE is_in(k)');
CREATE OR REPLACE FUNCTION is_in(k int) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT k < 20';
SELECT ran('predicate', 'TABLE target', 'SELECT * FROM source WHERE is_in(k)');

-- A function that converts values on their way into the target.
CREATE TYPE wrapped AS (k int);
CREATE FUNCTION wrap(k int) RETURNS wrapped IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN row(k)::test.wrapped; END';
CREATE CAST (int AS wrapped) WITH FUNCTION wrap(int) AS ASSIGNMENT;
CREATE TABLE wrapped_target (k wrapped, n int);
SELECT replace_flow.create_where_flow('wrapped_target', 'SELECT k, k AS n FROM source', 'n > 0', name => 'cast');
SELECT ran('cast', 'TABLE wrapped_target', 'SELECT wrap(k), k FROM source');
SELECT ran('cast', 'TABLE wrapped_target', 'SELECT wrap(k), k FROM source');
CREATE OR REPLACE FUNCTION wrap(k int) RETURNS wrapped IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN row(k + 1)::test.wrapped; END';
SELECT ran('cast', 'TABLE wrapped_target', 'SELECT wrap(k), k FROM source');

-- What the words of a text are.
CREATE TEXT SEARCH CONFIGURATION words (COPY = simple);
CREATE TABLE texts (k int, body text);
INSERT INTO texts SELECT i, 'running dogs ' || i FROM generate_series(1, 100) AS i;
CREATE FUNCTION words_of(body text) RETURNS tsvector IMMUTABLE LANGUAGE sql AS $$SELECT to_tsvector('test.words', body)$$;
SELECT replace_flow.create_where_flow('words_target', $$SELECT k, to_tsvector('test.words', body) AS words FROM texts$$, 'k > 0', name => 'words');
SELECT replace_flow.create_where_flow('words_of_target', 'SELECT k, words_of(body) AS words FROM texts', 'k > 0', name => 'words of');
SELECT ran('words', 'TABLE words_target', 'SELECT k, words_of(body) FROM texts');
SELECT ran('words', 'TABLE words_target', 'SELECT k, words_of(body) FROM texts');
SELECT ran('words of', 'TABLE words_of_target', 'SELECT k, words_of(body) FROM texts');
ALTER TEXT SEARCH CONFIGURATION words ALTER MAPPING FOR asciiword WITH english_stem;
SELECT ran('words', 'TABLE words_target', 'SELECT k, words_of(body) FROM texts');
SELECT ran('words of', 'TABLE words_of_target', 'SELECT k, words_of(body) FROM texts');

-- A column's name, where it is a value.
CREATE TABLE renamed (k int, v int);
INSERT INTO renamed SELECT i, i FROM generate_series(1, 100) AS i;
CREATE TABLE json_target (k int, v jsonb);
SELECT replace_flow.create_where_flow('json_target', 'SELECT k, to_jsonb(r) AS v FROM renamed r', 'k > 0', name => 'json');
SELECT ran('json', 'TABLE json_target', 'SELECT k, to_jsonb(r) FROM renamed r');
SELECT ran('json', 'TABLE json_target', 'SELECT k, to_jsonb(r) FROM renamed r');
ALTER TABLE renamed RENAME v TO w;
SELECT ran('json', 'TABLE json_target', 'SELECT k, to_jsonb(r) FROM renamed r');

-- How the session writes numbers.
CREATE TABLE text_target (k int, v text);
SELECT replace_flow.create_where_flow('text_target', 'SELECT k, v::text FROM source', 'k > 0', name => 'text');
SELECT ran('text', 'TABLE text_target', 'SELECT k, v::text FROM source');
SET extra_float_digits = 3;
SELECT ran('text', 'TABLE text_target', 'SELECT k, v::text FROM source');
SET extra_float_digits = -5;
SELECT ran('text', 'TABLE text_target', 'SELECT k, v::text FROM source');
RESET extra_float_digits;

-- How it writes names, and what it takes abbreviations of time zones for.
CREATE TABLE named (k int, name text, at timestamptz);
INSERT INTO named SELECT i, 'name', timestamptz '2024-01-01 00:00+00' + i * interval '1 hour' FROM generate_series(1, 48) AS i;
SELECT replace_flow.create_where_flow('name_target', 'SELECT k, quote_ident(name) AS name FROM named', 'true', name => 'name');
SELECT ran('name', 'TABLE name_target', 'SELECT k, quote_ident(name) FROM named');
SET quote_all_identifiers = on;
SELECT ran('name', 'TABLE name_target', 'SELECT k, quote_ident(name) FROM named');
RESET quote_all_identifiers;
SELECT replace_flow.create_where_flow('day_target', $$SELECT (at AT TIME ZONE 'EST')::date AS day, count(*) AS rows
    FROM named GROUP BY 1$$, 'true', name => 'day');
SELECT ran('day', 'TABLE day_target', $$SELECT (at AT TIME ZONE 'EST')::date, count(*) FROM named GROUP BY 1$$);
SET timezone_abbreviations = 'Australia';
INSERT INTO named VALUES (100, 'name', '2024-01-02 00:00+00');
SELECT ran('day', 'TABLE day_target', $$SELECT (at AT TIME ZONE 'EST')::date, count(*) FROM named GROUP BY 1$$);
RESET timezone_abbreviations;

-- A lock of a row, where it is a value.
CREATE TABLE locked (k int PRIMARY KEY);
CREATE TABLE locking (k int REFERENCES locked);
INSERT INTO locked VALUES (1), (2);
SELECT replace_flow.create_where_flow('lock_target', 'SELECT k, xmax::text AS locker FROM locked', 'true', name => 'lock');
SELECT ran('lock', 'TABLE lock_target', 'SELECT k, xmax::text FROM locked');
INSERT INTO locking VALUES (1);
SELECT ran('lock', 'TABLE lock_target', 'SELECT k, xmax::text FROM locked');
SELECT split_part(reasons[1], 'uses ', 2) FROM replace_flow.refresh('lock');

-- A unique index of the target makes other columns tell rows apart.  What came before they
-- were captured is not told apart by them; what comes then is.
CREATE TABLE wide (a int, b int, c int, d int, e int);
INSERT INTO wide SELECT i, i, i, i, i FROM generate_series(1, 100) AS i;
CREATE TABLE wide_target (LIKE wide);
SELECT replace_flow.create_where_flow('wide_target', 'TABLE wide', 'true', name => 'wide');
SELECT ran('wide', 'TABLE wide_target', 'TABLE wide');
SELECT columns FROM replace_flow.captured WHERE relid = 'wide'::regclass;
CREATE UNIQUE INDEX ON wide_target (e);
UPDATE wide SET d = 0 WHERE e = 5;
SELECT ran('wide', 'TABLE wide_target', 'TABLE wide');
SELECT columns FROM replace_flow.captured WHERE relid = 'wide'::regclass;
UPDATE wide SET d = 0 WHERE e = 6;
SELECT ran('wide', 'TABLE wide_target', 'TABLE wide');

-- Definitions that come back are those of a run before the last one: what the last one
-- has done under others is not forgotten, whether it was remembered or not.
CREATE TABLE whole (d int, v int) PARTITION BY LIST (d);
CREATE TABLE whole_1 PARTITION OF whole FOR VALUES IN (1);
CREATE TABLE whole_2 PARTITION OF whole FOR VALUES IN (2);
INSERT INTO whole VALUES (1, 1), (2, 2);
SELECT replace_flow.create_where_flow('mirror', 'TABLE whole', 'true');
CREATE FUNCTION mirrored(predicate_override text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT replace_flow.refresh('mirror', predicate_override);
    SELECT string_agg(d::text, ' ' ORDER BY d) FROM mirror
$$;
SELECT mirrored();
ALTER TABLE whole DETACH PARTITION whole_1;
SELECT mirrored();
ALTER TABLE whole ATTACH PARTITION whole_1 FOR VALUES IN (1);
SELECT mirrored();
ALTER TABLE whole DETACH PARTITION whole_1 CONCURRENTLY;
SELECT mirrored();
ALTER TABLE whole ATTACH PARTITION whole_1 FOR VALUES IN (1);
SELECT mirrored('d = 1');
ALTER TABLE whole DETACH PARTITION whole_1 CONCURRENTLY;
SELECT mirrored();
\i :finish
