\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A11, A9: what alter_flow is not given goes on to mean what it meant: sequence,
-- tombstone condition and expectations are carried over to the new definition.
--
CREATE SCHEMA test_a;
CREATE SCHEMA test_b;
CREATE FUNCTION test_a.fits(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT $1 <> 'bad' $$;
CREATE FUNCTION test_b.fits(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT false $$;
CREATE FUNCTION test_a.later(int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT $1 $$;
CREATE FUNCTION test_b.later(int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT -$1 $$;
CREATE FUNCTION test_a.removes(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT $1 = 'd' $$;
CREATE FUNCTION test_b.removes(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT true $$;

CREATE TABLE item_in (k int, s int, v text, op text, w int DEFAULT 7);
SET search_path = test_a, test;
SELECT replace_flow.create_using_flow('test.item', 'item_in', '{k}', 'later(s)', name => 'item',
    query => 'SELECT k, s, v, op FROM item_in', delete_when => 'removes(op)');
SELECT replace_flow.add_expectation('item', 'fits', 'fits(v)', 'drop');
SELECT replace_flow.add_expectation('item', 'known', $$ op IN ('i', 'd') $$, 'warn');
SET search_path = test;
INSERT INTO item_in VALUES (1, 1, 'a', 'i'), (1, 1, 'bad', 'i'), (2, 5, 'b', 'i'), (3, 5, 'c', 'd');
SELECT applied('item');

-- Names in the search path of who alters catch nothing that is carried over;
-- columns may change place, and have names that the view used for itself.
SET search_path = test_b, test;
SELECT replace_flow.alter_flow('item', query => $$
    SELECT op, 'x' AS expectation, 'y' AS sequence, w, 'z' AS tombstone, v, 1 AS expectation_1, s, k FROM item_in $$);
SET search_path = test;
INSERT INTO item_in VALUES (1, 2, 'aa', 'i'), (1, 2, 'bad', 'i'), (2, 6, 'b', 'd'), (3, 4, 'late', 'i'), (4, 1, 'e', 'new');
SELECT applied('item');
SELECT k, s, v, op, w, expectation, sequence, tombstone, expectation_1 FROM item ORDER BY k;
SELECT key, floor FROM replace_flow.floors('item') ORDER BY key;
SELECT expectation, action, rows_passed, rows_failed FROM replace_flow.expectation_result ORDER BY run_id, expectation;
-- expectations come and go afterwards
SELECT replace_flow.add_expectation('item', 'third', $$ expectation <> 'x' AND sequence = 'y' $$, 'warn');
SELECT replace_flow.drop_expectation('item', 'known');
SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, v, op, expectation_1, sequence, expectation FROM (
    SELECT *, 2 AS expectation_1, 3::text AS sequence, 4::text AS expectation FROM item_in) i');
INSERT INTO item_in VALUES (1, 3, 'aaa', 'i'), (1, 3, 'bad', 'i');
SELECT refused($$ SELECT replace_flow.add_expectation('item', 'third', 'true', 'warn') $$);
SELECT applied('item');
SELECT k, s, v, op, w, expectation, sequence, tombstone, expectation_1 FROM item ORDER BY k;
SELECT expectation, rows_passed, rows_failed FROM replace_flow.expectation_result WHERE run_id = (SELECT max(run_id) FROM replace_flow.run) ORDER BY 1;

-- One whose column is gone or has another type does not fit; nothing changes.
SELECT refused($$ SELECT replace_flow.alter_flow('item', query => 'SELECT k, v, op FROM item_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, v FROM item_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, op, ''y''::text AS sequence, ''x''::text AS expectation FROM item_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', query => 'SELECT k, s::bigint AS s, v, op, ''y''::text AS sequence, ''x''::text AS expectation FROM item_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, v COLLATE "C" AS v, op, ''y''::text AS sequence, ''x''::text AS expectation FROM item_in') $$);
SELECT definition_version, output_columns FROM replace_flow.flow;
INSERT INTO item_in VALUES (1, 4, 'a4', 'i');
SELECT applied('item');

-- A row as a whole is not what it was.
SELECT replace_flow.drop_flow('item');
DROP TABLE item;
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', query => 'SELECT k, s, v FROM item_in');
SELECT replace_flow.add_expectation('item', 'whole', 'q IS NOT NULL', 'drop');
SELECT refused($$ SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, v, w FROM item_in') $$);
INSERT INTO item_in VALUES (1, 1, 'a'), (2, 1, NULL);
SELECT applied('item');
SELECT replace_flow.drop_expectation('item', 'whole');
SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, v, w FROM item_in');

-- delete_when comes, changes and goes; the floors of emptied keys stay.
SELECT refused($$ SELECT replace_flow.alter_flow('item', delete_when => 'op = 1') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', delete_when => 'v') $$);
SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, v, w, op FROM item_in', delete_when => $$ op = 'd' $$);
SELECT attname FROM pg_attribute WHERE attrelid = 'item'::regclass AND attname = 'op';
INSERT INTO item_in VALUES (1, 3, NULL, 'd'), (2, 3, 'b', 'x');
SELECT applied('item');
SELECT replace_flow.alter_flow('item', delete_when => $$ op = 'x' $$);
INSERT INTO item_in VALUES (1, 2, 'late', 'i'), (2, 4, 'b', 'x'), (3, 1, 'c', 'd');
SELECT applied('item');
SELECT replace_flow.alter_flow('item', delete_when => '');
SELECT delete_when, tombstone_column, definition_version FROM replace_flow.flow;
INSERT INTO item_in VALUES (1, 2, 'late', 'i'), (2, 3, 'late', 'i'), (3, 2, 'c', 'x');
SELECT applied('item');
SELECT k, s, v FROM item ORDER BY k;
SELECT key, floor FROM replace_flow.floors('item') ORDER BY key;
SET client_min_messages = error;
DROP SCHEMA test_a, test_b CASCADE;
\i :finish
