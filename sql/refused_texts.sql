\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A8: expressions are parsed as exactly one expression of the right type, and
-- never pasted: nothing in them leaks into a statement around them.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
INSERT INTO item_in VALUES (1, 1, 'a'), (2, 2, 'b');
CREATE TABLE victim (k int);
CREATE FUNCTION counted() RETURNS int LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION try_sequence(expression text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT refused(format('SELECT replace_flow.create_using_flow(''item'', ''item_in'', ''{k}'', %L)', expression))
$$;
CREATE FUNCTION try_delete(expression text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT refused(format('SELECT replace_flow.create_using_flow(''item'', ''item_in'', ''{k}'', ''s'', delete_when => %L)', expression))
$$;
CREATE FUNCTION try_condition(expression text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT refused(format('SELECT replace_flow.add_expectation(''item'', ''valid'', %L, ''drop'')', expression))
$$;

-- sequence_by
SELECT try_sequence('s; DROP TABLE victim');
SELECT try_sequence('s) FROM item_in; DROP TABLE victim; --');
SELECT try_sequence('s FROM item_in');
SELECT try_sequence('s ORDER BY k');
SELECT try_sequence('DISTINCT s');
SELECT try_sequence('s AS t');
SELECT try_sequence('s t');
SELECT try_sequence('s OR');
SELECT try_sequence('s, 1');
SELECT try_sequence('(s');
SELECT try_sequence('s /* open');
SELECT try_sequence('q.*');
SELECT try_sequence('(SELECT max(s) FROM item_in)');
SELECT try_sequence('max(s)');
SELECT try_sequence('count(*)');
SELECT try_sequence('row_number() OVER (ORDER BY s)');
SELECT try_sequence('generate_series(1, s)');
SELECT try_sequence('random()');
SELECT try_sequence('nextval(''item_in'')');
SELECT try_sequence('clock_timestamp()');
SELECT try_sequence('$1');
SELECT try_sequence(':s');
SELECT try_sequence('s + ''x''');
SELECT try_sequence('nothing_like_it(s)');
SELECT try_sequence('item_in.s');
SELECT try_sequence('DEFAULT');

-- delete_when is boolean
SELECT try_delete('s');
SELECT try_delete('v');
SELECT try_delete($$'delete'$$);
SELECT try_delete('s = 1, v = 2');
SELECT try_delete('s = 1; DELETE FROM victim');
SELECT try_delete('true) OR (true');
SELECT try_delete('vv = ''delete''');
SELECT try_delete('op');
SELECT try_delete('EXISTS (SELECT FROM victim)');
SELECT try_delete('random() < 0.5');
SELECT try_delete('');

-- A8: a refused definition leaves nothing behind.
SELECT count(*) AS flows FROM replace_flow.flow;
SELECT count(*) FROM victim;

-- A comment in an expression is no more than a comment, and an OR binds no
-- further than the text.
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's -- the number', delete_when => 'false OR k = 3 -- never');

-- The condition of an expectation
SELECT try_condition('s');
SELECT try_condition('s > 0; DROP TABLE victim');
SELECT try_condition('s > 0) OR (true');
SELECT try_condition('s > 0 AND');
SELECT try_condition('s > 0, true');
SELECT try_condition('ss > 0');
SELECT try_condition('amount');
SELECT try_condition('s = (SELECT 1)');
SELECT try_condition('sum(s) > 0');
SELECT try_condition('now() < clock_timestamp()');
SELECT try_condition('');
SELECT try_condition(NULL);
SELECT replace_flow.add_expectation('item', 'stable', 'counted() = 1 AND now() IS NOT NULL', 'warn');
INSERT INTO item_in VALUES (3, 3, 'gone'), (0, 0, 'bad');
SELECT applied('item');
SELECT * FROM item ORDER BY k;
SELECT expectation, condition FROM replace_flow.expectation_result r JOIN replace_flow.expectation e ON e.name = r.expectation
ORDER BY 1;

-- The hint points to a name that is near, and to none where no name is.
SELECT try_condition('"V"');
SELECT try_condition('"something else"');
\i :finish
