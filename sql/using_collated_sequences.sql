\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A7, B3, B4: a text sequence has the order of the target's column, or of the
-- expression; what its collation takes for equal is a tie.
--
SELECT getdatabaseencoding() <> 'UTF8' OR
    NOT EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') AS skip \gset
\if :skip
\i :finish
\quit
\endif
CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION upper_first (provider = icu, locale = 'und-u-kf-upper');
CREATE COLLATION lower_first (provider = icu, locale = 'und-u-kf-lower');
CREATE TABLE sent (batch int, k int, s text, v text);
INSERT INTO sent VALUES
    (1, 1, 'b', 'b'), (1, 1, 'B', 'B'), (1, 2, 'a', 'a'), (1, 3, 'ä', 'ä'), (1, 4, 'Z', 'Z'),
    (2, 1, 'A', 'A'), (2, 2, 'A', 'A'), (2, 3, 'z', 'z'), (2, 4, 'a', 'a'), (3, 1, 'b', 'b2'), (3, 2, '', 'empty'), (3, 4, 'z', 'z');
-- Where the target stores the sequence, whatever collation the stream has.
CREATE TABLE item_in (k int, s text COLLATE "C", v text);
CREATE FUNCTION make_target(collation_name text, is_stored boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE item (k int, v text%s)', CASE WHEN is_stored THEN ', s text COLLATE ' || collation_name END);
    CREATE INDEX ON item (k);
END $$;
SELECT make_target('folding', true);
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's') $$, 'item', 'item_in');
SELECT * FROM outcome;
DROP TABLE item;
SELECT make_target('upper_first', true);
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's') $$, 'item', 'item_in');
SELECT * FROM outcome;
DROP TABLE item;
SELECT make_target('lower_first', true);
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's') $$, 'item', 'item_in');
SELECT * FROM outcome;
DROP TABLE item;
SELECT make_target('"C"', true);
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's') $$, 'item', 'item_in');
SELECT * FROM outcome;
DROP TABLE item;
-- The same orders where a ledger keeps the floors.
SELECT make_target(NULL, false);
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's COLLATE folding') $$, 'item', 'item_in');
SELECT * FROM outcome;
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's COLLATE upper_first') $$, 'item', 'item_in');
SELECT * FROM outcome;
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's COLLATE lower_first') $$, 'item', 'item_in');
SELECT * FROM outcome;
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's') $$, 'item', 'item_in');
SELECT * FROM outcome;
-- Ties under folding are ignored, or replace.
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's COLLATE folding', on_tie => 'ignore');
TRUNCATE item;
INSERT INTO item_in VALUES (1, 'a', 'first');
SELECT applied('item');
INSERT INTO item_in VALUES (1, 'A', 'tie');
SELECT applied('item');
SELECT replace_flow.drop_flow('item');
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's COLLATE folding', on_tie => 'replace');
INSERT INTO item_in VALUES (1, 'a', 'again');
SELECT applied('item');
INSERT INTO item_in VALUES (1, 'A', 'tie');
SELECT applied('item');
TABLE item;

-- Keys of arrays, ranges and row values follow the collation of their parts.
CREATE TYPE name_and_number AS (name text COLLATE folding, number int);
CREATE TYPE textrange AS RANGE (subtype = text, collation = folding);
CREATE TABLE part (names text[] COLLATE folding, pair name_and_number, span textrange, s int, v text);
CREATE INDEX ON part (names, pair, span);
CREATE TABLE part_in (names text[], pair name_and_number, span textrange, s int, v text);
CREATE TABLE sent_parts (batch int, LIKE part_in);
INSERT INTO sent_parts VALUES
    (1, '{a,B}', '(x,1)', '[a,b)', 1, 'old'), (1, '{a,c}', '(x,1)', '[a,b)', 1, 'other'),
    (2, '{A,b}', '(X,1)', '[A,B)', 2, 'new'), (3, '{A,B}', '(x,1)', '[a,B)', 1, 'late'), (3, '{a,b}', '(X,1)', '[a,b)', 2, 'tie');
CALL arrange($$ SELECT replace_flow.create_using_flow('part', 'part_in', '{names, pair, span}', 's') $$, 'part', 'part_in', 'sent_parts');
SELECT * FROM outcome;
CREATE TABLE part_now (names text[] COLLATE folding, pair name_and_number, span textrange, v text);
CREATE INDEX ON part_now (names, pair, span);
CALL arrange($$ SELECT replace_flow.create_using_flow('part_now', 'part_in', '{names, pair, span}', 's') $$, 'part_now', 'part_in', 'sent_parts');
SELECT * FROM outcome;
\i :finish
