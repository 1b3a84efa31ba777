\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A flow's name changes with its history; any name works (A12).
--
CREATE TABLE item_in (k int, s int, v text);
CREATE TABLE other_in (LIKE item_in);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
SELECT replace_flow.create_using_flow('other', 'other_in', '{k}', 's');
SELECT replace_flow.add_expectation('item', 'valid', $$ v <> 'bad' $$, 'drop');
INSERT INTO item_in VALUES (1, 1, 'a'), (1, 1, 'bad');
INSERT INTO other_in VALUES (1, 1, 'o');
SELECT applied('item');
SELECT applied('other');
CREATE FUNCTION try_name(new_name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    old_name text := (SELECT name FROM replace_flow.flow WHERE target = 'item'::regclass);
    version int := (SELECT definition_version FROM replace_flow.flow WHERE target = 'item'::regclass);
BEGIN
    PERFORM replace_flow.alter_flow(old_name, name => new_name);
    INSERT INTO item_in SELECT 1, max(s) + 1, 'a' FROM item;
    RETURN applied(new_name)
        || format(', version + %s', (SELECT definition_version FROM replace_flow.flow WHERE name = new_name) - version)
        || CASE WHEN EXISTS (SELECT FROM replace_flow.run WHERE flow NOT IN (new_name, 'other'))
                OR EXISTS (SELECT FROM replace_flow.rejected WHERE flow <> new_name)
                OR NOT EXISTS (SELECT FROM replace_flow.rejected)
                OR (SELECT count(*) FROM replace_flow.run WHERE flow = 'other') <> 1
            THEN ', history lost' ELSE ', with history' END;
END $$;
SELECT left(name, 20) AS name, try_name(name)
FROM (VALUES
    ('Item'), ('test.item'), ('"item"'), ('it''s; DROP TABLE test.item; --'), (' '), ('select'), ('$$'), ('%s'), ('\'),
    ('ключ 🗝'), (E'two\nlines'), (repeat('n', 63)), (repeat('n', 64)), (repeat('é', 500)), ('item')) AS n (name);

-- The same name is no change of name.
SELECT try_name('item');
SELECT refused($$ SELECT replace_flow.alter_flow('item', name => 'other', comment => 'new') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', name => '') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('item', name => 'third', sequence_by => 'nothing') $$);
SELECT name, comment FROM replace_flow.flow ORDER BY name;
-- the old name is free, and nothing clings to it
SELECT replace_flow.alter_flow('item', name => 'third', on_tie => 'ignore');
SELECT refused($$ SELECT replace_flow.apply('item') $$);
SELECT replace_flow.alter_flow('other', name => 'item');
SELECT name, on_tie, target FROM replace_flow.flow ORDER BY name;
SELECT flow, count(*) FROM replace_flow.run GROUP BY flow ORDER BY flow;
SELECT replace_flow.drop_flow('item');
SELECT flow, count(*) > 1 AS runs FROM replace_flow.run GROUP BY flow ORDER BY flow;
\i :finish
