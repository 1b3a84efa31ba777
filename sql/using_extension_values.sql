\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A3, A7, B10: types that extensions bring as sequence and as payload, and rows of
-- them that stay.
--
SELECT count(*) < 3 AS skip FROM pg_available_extensions WHERE name IN ('citext', 'ltree', 'hstore') \gset
\if :skip
\i :finish
\quit
\endif
CREATE EXTENSION citext SCHEMA test;
CREATE EXTENSION ltree SCHEMA test;
CREATE EXTENSION hstore SCHEMA test;

-- As the sequence, stored and in a ledger: the order is the type's own.
CREATE TABLE value (type text, low text, low_again text, high text);
INSERT INTO value VALUES
    ('citext', 'a', 'A', 'b'), ('citext', 'Y', 'y', 'z'), ('ltree', '', '', 'a'), ('ltree', 'a.b', 'a.b', 'a.b.c'), ('hstore', 'a=>1', '"a"=>"1"', 'a=>2'),
    ('citext[]', '{a,B}', '{A,b}', '{a,c}'), ('ltree[]', '{a.b}', '{"a.b"}', '{a.c}');
CREATE FUNCTION try_sequence(type text, low text, low_again text, high text, is_stored boolean) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    outcome text;
BEGIN
    EXECUTE format('CREATE TABLE target (k int, v text%s)', CASE WHEN is_stored THEN ', s ' || type END);
    CREATE INDEX ON target (k);
    CREATE TABLE stream (k int, s text, v text);
    PERFORM replace_flow.create_using_flow('target', 'stream', '{k}', 's', query => format('SELECT k, s::%s AS s, v FROM stream', type));
    INSERT INTO stream VALUES (1, low, 'a'), (2, high, 'c'), (2, low, 'superseded');
    PERFORM applied('target');
    INSERT INTO stream VALUES (1, low_again, 'b'), (2, low_again, 'late');
    PERFORM applied('target');
    SELECT string_agg(k || v, ' ' ORDER BY k, v) INTO outcome FROM target;
    INSERT INTO stream VALUES (1, high, 'c'), (1, low, 'superseded');
    PERFORM applied('target');
    SELECT outcome || ', then ' || string_agg(k || v, ' ' ORDER BY k, v) INTO outcome FROM target;
    PERFORM replace_flow.drop_flow('target', drop_target => true);
    DROP TABLE stream;
    RETURN outcome;
END $$;
SELECT outcome, count(*), string_agg(DISTINCT type, ', ') FILTER (WHERE outcome <> '1a 1b 2c, then 1c 2c') AS wrong
FROM value, (VALUES (true), (false)) AS variant (is_stored), try_sequence(type, low, low_again, high, is_stored) AS outcome
GROUP BY outcome;

-- As payload: what is the same stays, and another spelling is another row.
CREATE TABLE item (k int, name citext, path ltree, attributes hstore, names citext[], search lquery);
CREATE INDEX ON item (k);
CREATE TABLE item_in (k int, s int, name text, path ltree, attributes hstore, names citext[], search lquery);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
INSERT INTO item_in VALUES
    (1, 1, 'Ann', 'a.b', 'x=>1, y=>NULL', '{a,B}', '*.a'), (1, 1, 'Bob', '', '', '{}', 'a|b'), (1, 1, NULL, NULL, NULL, NULL, NULL),
    (1, 1, 'Cid', 'c', hstore('z', repeat('z', 9000)), '{c}', 'c');
SELECT applied('item');
INSERT INTO item_in VALUES
    (1, 2, 'Ann', 'a.b', 'y=>NULL, x=>1', '{a,B}', '*.a'), (1, 2, 'BOB', '', '', '{}', 'a|b'), (1, 2, NULL, NULL, NULL, NULL, NULL),
    (1, 2, 'Cid', 'c', hstore('z', repeat('z', 9000)), '{c}', 'c');
SELECT applied('item');
SELECT name, path, left(attributes::text, 20) AS attributes, names, search FROM item ORDER BY name;

-- A unique index that folds: another spelling takes the place of the old one.
CREATE UNIQUE INDEX ON item (name);
INSERT INTO item_in VALUES (1, 3, 'bob', '', '', '{}', 'a|b'), (1, 3, 'ANN', 'a', '', '{}', 'a');
SELECT applied('item');
SELECT name, path FROM item ORDER BY name;
INSERT INTO item_in VALUES (1, 4, 'bob', '', '', '{}', 'a|b'), (1, 4, 'Bob', 'a', '', '{}', 'a');
SELECT refused($$ SELECT replace_flow.apply('item') $$) LIMIT 1;
DELETE FROM item_in;
\i :finish
