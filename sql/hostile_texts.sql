\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A8, A12: no text that is given to a function leaks into a statement around
-- it.  A text is taken as what it stands for, or refused.
--
CREATE TABLE canary (k int);
CREATE TABLE item_in (k int, s int, v text);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', query => 'SELECT k, s, v FROM test.item_in');
CREATE TABLE text_given (id int GENERATED ALWAYS AS IDENTITY, t text);
INSERT INTO text_given (t) VALUES
    (''), (' '), (''''), ('"'), (';'), ('--'), ('/*'), ('*/'), (')'), ('('), ('\'), (E'\\'''), (E'\n'), (E'\x01'), ('$$'), ('$a$ $a$'), ('%s %n'),
    ('k; DROP TABLE test.canary'), ('k; DROP TABLE test.canary; --'), ('k) FROM test.item_in; DROP TABLE test.canary; --'), ('1) AS x FROM (SELECT 1) y --'),
    (''' || (SELECT 1) || '''), ('"; DROP TABLE test.canary; --'), ('k AS x'), ('k, s'), ('k FROM test.item_in'), ('k INTO x'), ('k INTO TEMP x'), ('k UNION SELECT 1'),
    ('k ORDER BY k'), ('k LIMIT 1'), ('k FOR UPDATE'), ('DISTINCT k'), ('ALL k'), ('*'), ('q.*'), ('q'), ('(SELECT 1)'), ('EXISTS (SELECT FROM test.canary)'), ('$1'), (':k'),
    ('count(*)'), ('row_number() OVER ()'), ('generate_series(1, 2)'), ('random()'), ('DEFAULT'), ('ctid'), ('tableoid'), ('q.xmin'), ('a.b.c.d'), ('k.'), ('.k'),
    ('SELECT 1'), ('TABLE test.canary'), ('VALUES (1)'), ('SELECT * FROM test.item_in; DROP TABLE test.canary'), ('SELECT 1; SELECT * FROM test.item_in'),
    ('WITH d AS (DELETE FROM test.item_in RETURNING *) SELECT * FROM d'), ('SELECT * INTO test.made FROM test.item_in'), ('CREATE TABLE test.made AS SELECT * FROM test.item_in'),
    ('INSERT INTO test.canary SELECT k FROM test.item_in RETURNING *'), ('EXPLAIN SELECT * FROM test.item_in'), ('DO $x$ BEGIN DROP TABLE test.canary; END $x$'), ('COMMIT'), ('SET ROLE postgres'),
    ('SELECT * FROM test.item_in FOR UPDATE'), ('SELECT k, s, v, $1 AS p FROM test.item_in'), ('SELECT * FROM test.item_in WHERE CURRENT OF c'),
    ('ключ'), ('"ключ"'), (repeat('x', 63)), (repeat('x', 64)), (repeat('é', 40)), (repeat('x', 100000)), (repeat('(', 100)), ('k' || repeat(' + k', 1000));

-- Give each text to a parameter; count what became of it.  Refused texts leave
-- nothing; accepted ones must be known as they are.
CREATE FUNCTION try_texts(statement text, known text DEFAULT NULL) RETURNS TABLE (outcome text, texts bigint, accepted text) LANGUAGE plpgsql AS $$
DECLARE
    given record;
    state text;
    is_known boolean;
BEGIN
    CREATE TEMPORARY TABLE tried (id int, t text, state text);
    FOR given IN SELECT * FROM text_given ORDER BY id LOOP
        BEGIN
            EXECUTE statement USING given.t;
            state := 'accepted';
            IF known IS NOT NULL THEN
                EXECUTE known INTO is_known USING given.t;
                state := CASE WHEN is_known THEN 'accepted' ELSE 'CHANGED' END;
            END IF;
            RAISE SQLSTATE 'RF000';
        EXCEPTION
            WHEN SQLSTATE 'RF000' THEN
                NULL;
            WHEN internal_error OR program_limit_exceeded THEN
                state := SQLSTATE || ' for ' || given.t;
            WHEN OTHERS THEN
                state := 'refused';
        END;
        INSERT INTO tried VALUES (given.id, given.t, state);
    END LOOP;
    RETURN QUERY
    SELECT r.state, count(*), CASE WHEN r.state = 'accepted' AND count(*) < 20 THEN string_agg(left(r.t, 25), ' | ' ORDER BY r.id) END
    FROM tried r GROUP BY r.state ORDER BY r.state COLLATE "C";
    DROP TABLE tried;
    IF NOT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'test' AND tablename = 'canary')
        OR EXISTS (SELECT FROM pg_tables WHERE tablename = 'made') OR EXISTS (SELECT FROM canary) THEN
        RAISE EXCEPTION 'a text was executed';
    END IF;
END $$;

-- Names of flows are texts.
CREATE TABLE other_in (LIKE item_in);
SELECT * FROM try_texts($$ SELECT replace_flow.create_using_flow('test.other', 'other_in', '{k}', 's', name => $1) $$,
    $$ SELECT count(*) = 1 FROM replace_flow.flow WHERE name = $1 $$);
SELECT * FROM try_texts($$ SELECT replace_flow.alter_flow('item', name => $1) $$, $$ SELECT count(*) = 1 FROM replace_flow.flow WHERE name = $1 $$);
SELECT * FROM try_texts($$ SELECT replace_flow.apply($1) $$);
SELECT * FROM try_texts($$ SELECT replace_flow.floors($1) $$);
SELECT * FROM try_texts($$ SELECT replace_flow.alter_flow($1, comment => 'new') $$);
SELECT * FROM try_texts($$ SELECT replace_flow.drop_flow($1) $$);
SELECT * FROM try_texts($$ SELECT replace_flow.pause_flow($1) $$);
SELECT * FROM try_texts($$ SELECT replace_flow.resume_flow($1) $$);
SELECT * FROM try_texts($$ SELECT replace_flow.add_expectation($1, 'e', 'true', 'warn') $$);
SELECT * FROM try_texts($$ SELECT replace_flow.drop_expectation($1, 'e') $$);
-- So are comments, and values of settings of kind text.
SELECT * FROM try_texts($$ SELECT replace_flow.alter_flow('item', comment => $1) $$, $$ SELECT comment IS NOT DISTINCT FROM nullif($1, '') FROM replace_flow.flow $$);
SELECT * FROM try_texts($$ SELECT replace_flow.alter_flow('item', settings => jsonb_build_object('my.setting', $1)) $$,
    $$ SELECT settings ->> 'my.setting' = $1 FROM replace_flow.flow $$);
SELECT * FROM try_texts($$ SELECT replace_flow.alter_flow('item', settings => jsonb_build_object($1, 'x')) $$);
SELECT * FROM try_texts($$ SELECT replace_flow.alter_flow('item', settings => jsonb_build_object('work_mem', $1)) $$);
-- And names of expectations.
SELECT * FROM try_texts($$ SELECT replace_flow.add_expectation('item', $1, 'v IS NOT NULL', 'drop') $$, $$ SELECT name = $1 FROM replace_flow.expectation $$);
SELECT * FROM try_texts($$ SELECT replace_flow.drop_expectation('item', $1) $$);
-- Choices.
SELECT * FROM try_texts($$ SELECT replace_flow.alter_flow('item', on_tie => $1) $$);
SELECT * FROM try_texts($$ SELECT replace_flow.add_expectation('item', 'e', 'true', $1) $$);
-- Columns are named, not written.
SELECT * FROM try_texts($$ SELECT replace_flow.alter_flow('item', replace_using => ARRAY[$1]) $$);
SELECT * FROM try_texts($$ SELECT replace_flow.create_using_flow('test.other', 'other_in', ARRAY['k', $1], 's') $$);
-- A target's name is one name; it is the table's.
SELECT * FROM try_texts($$ SELECT replace_flow.create_using_flow('test.' || $1, 'other_in', '{k}', 's', name => 'other') $$);
SELECT * FROM try_texts($$ SELECT replace_flow.create_using_flow('test.' || quote_ident($1), 'other_in', '{k}', 's', name => 'other') $$,
    $$ SELECT c.relname = $1::name AND relkind = 'r' FROM pg_class c JOIN replace_flow.flow ON c.oid = target WHERE name = 'other' $$);
-- Expressions: one over what the query gives.
SELECT * FROM try_texts($$ SELECT replace_flow.alter_flow('item', sequence_by => $1) $$);
SELECT * FROM try_texts($$ SELECT replace_flow.alter_flow('item', delete_when => $1) $$);
SELECT * FROM try_texts($$ SELECT replace_flow.add_expectation('item', 'e', $1, 'fail') $$);
SELECT * FROM try_texts($$ SELECT replace_flow.add_expectation('item', 'e', 'true OR ' || $1, 'fail') $$);
-- Queries: one that reads the stream.
SELECT * FROM try_texts($$ SELECT replace_flow.alter_flow('item', query => $1) $$);
SELECT * FROM try_texts($$ SELECT replace_flow.create_using_flow('test.other', 'other_in', '{k}', 's', query => $1) $$);
SELECT * FROM try_texts($$ SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, v FROM test.item_in WHERE ' || $1) $$);
-- Columns of tables.
SELECT * FROM try_texts($$ SELECT $1::replace_flow.regcolumn $$);
SELECT * FROM try_texts($$ SELECT ('test.item.' || $1)::replace_flow.regcolumn $$);
SELECT 'test.item.k'::replace_flow.regcolumn, '"test" . "item" . v'::replace_flow.regcolumn;

-- After all of this the flow is what it was.
SELECT name, definition_version, comment, settings FROM replace_flow.flow;
INSERT INTO item_in VALUES (1, 1, 'a');
SELECT applied('item');
\i :finish
