\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A5, A10, A11, B7: altering a flow loses no staged row and no floor.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
CREATE TABLE other_in (LIKE item);

-- A query that is not given goes on to read the old stream, so another stream
-- needs another query: rows that nobody reads would be consumed.
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', query => 'SELECT k, s, v FROM item_in');
SELECT refused($$ SELECT replace_flow.alter_flow('item', source => 'other_in') $$);
SELECT replace_flow.alter_flow('item', source => 'other_in', query => 'SELECT k, s, v FROM other_in');
INSERT INTO other_in VALUES (1, 5, 'five');
SELECT applied('item');
SELECT replace_flow.alter_flow('item', source => 'item_in', query => '');

-- A column that the flow gave already stays the one that it was, by whatever
-- name: key, sequence and others.
ALTER TABLE item RENAME k TO id;
ALTER TABLE item RENAME s TO seq;
ALTER TABLE item RENAME v TO label;
ALTER TABLE item ADD COLUMN s text;
SELECT replace_flow.alter_flow('item', delete_when => $$ v = 'gone' $$);
SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, v, 1 AS more FROM item_in');
INSERT INTO item_in VALUES (1, 3, 'late'), (2, 1, 'new'), (3, 1, 'gone');
SELECT applied('item');
TABLE item;
SELECT * FROM replace_flow.floors('item');
SELECT refused($$ SELECT replace_flow.alter_flow('item', query => 'SELECT k, 7 AS id, s, v FROM item_in') $$);

-- A sequence that the target stores cannot move where there is none of the old
-- rows; it can to a column that was there.
SELECT replace_flow.drop_flow('item');
DELETE FROM item_in;
ALTER TABLE item DROP COLUMN s, DROP COLUMN more, ADD COLUMN t int;
UPDATE item SET t = 10 * seq;
ALTER TABLE item_in RENAME s TO seq;
ALTER TABLE item_in ADD COLUMN t int;
SELECT replace_flow.create_using_flow('item', 'item_in', '{id}', 'seq', query => 'SELECT k AS id, seq, v AS label, t FROM item_in');
SELECT refused($$ SELECT replace_flow.alter_flow('item', sequence_by => 'seq + 0') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', query => 'SELECT k AS id, seq, v AS label, t, t AS u FROM item_in', sequence_by => 'u') $$);
SELECT replace_flow.alter_flow('item', sequence_by => 't');
SELECT * FROM replace_flow.floors('item');
INSERT INTO item_in (k, seq, v, t) VALUES (1, 9, 'late', 49), (2, 0, 'newer', 11);
SELECT applied('item');
SELECT * FROM item ORDER BY id;
TRUNCATE item;
SELECT replace_flow.alter_flow('item', sequence_by => 'seq + t');
SELECT has_ledger FROM replace_flow.flow;
-- and a ledger with floors keeps key and sequence, see altering_definition
INSERT INTO item_in (k, seq, v, t) VALUES (1, 1, 'a', 1);
SELECT applied('item');
SELECT refused($$ SELECT replace_flow.alter_flow('item', sequence_by => 'seq') $$);

-- A view in between that is replaced: what is consumed must have been read.
CREATE TABLE v_target (k int, s int);
CREATE INDEX ON v_target (k);
CREATE TABLE v_in (LIKE v_target);
CREATE TABLE elsewhere (LIKE v_target);
CREATE VIEW between_view AS TABLE v_in;
SELECT replace_flow.create_using_flow('v_target', 'v_in', '{k}', 's', query => 'TABLE between_view');
INSERT INTO v_in VALUES (1, 1);
CREATE OR REPLACE VIEW between_view AS TABLE elsewhere;
SELECT refused($$ SELECT replace_flow.apply('v_target') $$);
CREATE OR REPLACE VIEW between_view AS TABLE v_in UNION ALL TABLE v_in;
SELECT refused($$ SELECT replace_flow.apply('v_target') $$);
CREATE OR REPLACE VIEW between_view AS SELECT k, s + 1 AS s FROM v_in;
SELECT applied('v_target');
TABLE v_target;

-- The view of a flow is its owner's, who could put something else in its place.
CREATE PROCEDURE change_view(definition text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE (SELECT format('CREATE OR REPLACE RULE "_RETURN" AS ON SELECT TO replace_flow.flow_%s DO INSTEAD %s', flow_id, definition)
             FROM replace_flow.flow WHERE name = 'v_target');
END $$;
CREATE VIEW state AS SELECT (SELECT count(*) FROM v_in) AS staged, (SELECT count(*) FROM v_target) AS stored;
INSERT INTO v_in VALUES (2, 1);
CALL change_view('SELECT q.k, q.s FROM (SELECT 1 AS k, 2 AS s, 3, 4, 5, 6, 7, 8, 9, 10) q');
SELECT refused($$ SELECT replace_flow.apply('v_target') $$);
SELECT refused($$ SELECT replace_flow.add_expectation('v_target', 'e', 'k > 0', 'drop') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('v_target', delete_when => 'k > 0') $$);
CALL change_view('SELECT k, s FROM test.v_in');
SELECT refused($$ SELECT replace_flow.apply('v_target') $$);
CALL change_view('SELECT q.k, q.s FROM (SELECT k, s FROM test.v_in) q WHERE q.k > 7');
SELECT refused($$ SELECT replace_flow.apply('v_target') $$);
CALL change_view('SELECT q.s AS k, q.k AS s FROM (SELECT k, s FROM test.v_in) q');
SELECT refused($$ SELECT replace_flow.apply('v_target') $$);
CALL change_view('SELECT q.k, q.s FROM (SELECT k, s FROM test.elsewhere) q');
SELECT refused($$ SELECT replace_flow.apply('v_target') $$);
TABLE state;
CALL change_view('SELECT q.k, q.s FROM (SELECT k, s FROM test.v_in) q');
SELECT applied('v_target');

-- So is the ledger.
DO $$
BEGIN
    EXECUTE (SELECT format('ALTER TABLE replace_flow.floor_%s DROP COLUMN key_1', flow_id) FROM replace_flow.flow WHERE name = 'item');
END $$;
SELECT refused($$ SELECT replace_flow.apply('item') $$);

-- What lives in a session's temporary schema is not used.
CREATE FUNCTION pg_temp.f(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE TYPE pg_temp.pair AS (a int, b int);
SELECT regexp_replace(line, 'pg_temp_\d+', 'pg_temp')
FROM refused($$ SELECT replace_flow.create_using_flow('new_target', 'elsewhere', '{k}', 's', query => 'SELECT k, s, pg_temp.f(k) AS f FROM elsewhere') $$) AS line;
SELECT regexp_replace(line, 'pg_temp_\d+', 'pg_temp')
FROM refused($$ SELECT replace_flow.add_expectation('v_target', 'e', 'pg_temp.f(k) > 0', 'warn') $$) AS line;
SELECT regexp_replace(line, 'pg_temp_\d+', 'pg_temp')
FROM refused($$ SELECT replace_flow.alter_flow('v_target', query => 'SELECT k, s, ROW(k, s)::pg_temp.pair AS p FROM v_in') $$) AS line;

-- A flow whose target has lost a column can be mended.
CREATE TABLE lost (k int, s int, v text, w text);
CREATE INDEX ON lost (k);
CREATE TABLE lost_in (LIKE lost);
SELECT replace_flow.create_using_flow('lost', 'lost_in', '{k}', 's');
INSERT INTO lost_in VALUES (1, 1, 'a', 'b');
ALTER TABLE lost DROP COLUMN w;
SELECT refused($$ SELECT replace_flow.apply('lost') $$);
SELECT replace_flow.alter_flow('lost', comment => 'mended soon');
SELECT replace_flow.alter_flow('lost', query => 'SELECT k, s, v FROM lost_in');
SELECT applied('lost');
-- or the column added again
ALTER TABLE lost DROP COLUMN v;
ALTER TABLE lost ADD COLUMN v text;
SELECT replace_flow.alter_flow('lost', query => 'SELECT k, s, v FROM lost_in');
INSERT INTO lost_in VALUES (1, 2, 'c', 'd');
SELECT applied('lost');
TABLE lost;

-- An expectation on the whole row is no obstacle as long as the query stays.
SELECT replace_flow.add_expectation('lost', 'whole', 'q IS NOT NULL', 'warn');
SELECT replace_flow.alter_flow('lost', delete_when => $$ v = 'gone' $$);
SELECT refused($$ SELECT replace_flow.alter_flow('lost', query => 'SELECT k, s, v, w FROM lost_in') $$);

-- A domain's default is for rows that are inserted, not for history (A11).
CREATE DOMAIN seven AS int DEFAULT 7;
SELECT replace_flow.drop_expectation('lost', 'whole');
SELECT replace_flow.alter_flow('lost', query => 'SELECT k, s, v, k::seven AS d FROM lost_in');
SELECT k, d FROM lost;
\i :finish
