\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A7: domains, enums and row types of the target: their checks and their orders
-- count, also those that they get while the flow is in place.
--
-- Domains over scalars, arrays, ranges, enums and row types, as key, as sequence and
-- else; the stream has the types below them, or text.
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN code AS text CHECK (value ~ '^[a-z]+$');
CREATE DOMAIN short_code AS code CHECK (length(value) < 5);
CREATE DOMAIN score AS numeric(5,1) NOT NULL CHECK (value >= 0);
CREATE DOMAIN scores AS int[] CHECK (cardinality(value) > 0);
CREATE DOMAIN span AS int4range CHECK (NOT isempty(value));
CREATE DOMAIN spans AS int4multirange CHECK (NOT isempty(value));
CREATE DOMAIN good_mood AS mood CHECK (value <> 'sad');
CREATE DOMAIN good_pair AS pair CHECK ((value).a > 0);
CREATE TABLE item (c short_code, l scores, r span, rs spans, m good_mood, p good_pair, s score, v text);
CREATE INDEX ON item (c, l, r, rs, m, p);
CREATE TABLE item_in (c text, l int[], r int4range, rs int4multirange, m mood, p pair, s numeric, v text);
CREATE TABLE sent (batch int, LIKE item_in);
INSERT INTO sent VALUES
    (1, 'a', '{1}', '[1,3)', '{[1,3)}', 'ok', '(1,x)', 1.04, 'old'), (1, 'a', '{1}', '[1,3)', '{[1,3)}', 'ok', '(1,x)', 1.0, 'old'),
    (1, 'a', '{2}', '[1,3)', '{[1,3)}', 'ok', '(1,x)', 1, 'other'), (1, NULL, NULL, NULL, NULL, NULL, NULL, 1, 'null'),
    (2, 'a', '{1}', '[1,2]', '{[1,2]}', 'ok', '(1,x)', 2.04, 'new'), (2, 'b', '{1}', '[1,2]', '{[1,2]}', 'happy', '(1,x)', 1, 'happy'),
    (3, 'a', '{1}', '[1,2]', '{[1,2]}', 'ok', '(1,x)', 1.9, 'late'), (3, 'a', '{1}', '[1,2]', '{[1,2]}', 'ok', '(1,x)', 2.0, 'new'), (3, NULL, NULL, NULL, NULL, NULL, NULL, 2, 'new null');
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{c, l, r, rs, m, p}', 's') $$, 'item', 'item_in');
SELECT * FROM outcome;
-- The same with a ledger.
CREATE TABLE item_now (c short_code, l scores, r span, rs spans, m good_mood, p good_pair, v text);
CREATE INDEX ON item_now (c, l, r, rs, m, p);
CALL arrange($$ SELECT replace_flow.create_using_flow('item_now', 'item_in', '{c, l, r, rs, m, p}', 's::score',
                    query => 'SELECT c, l, r, rs, m, p, s, v FROM item_in') $$, 'item_now', 'item_in');
SELECT * FROM outcome;

-- A value that a domain refuses fails the run whole, and the error says where.
SELECT replace_flow.create_using_flow('item', 'item_in', '{c, l, r, rs, m, p}', 's');
CREATE FUNCTION try_bad(bad text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('INSERT INTO item_in VALUES (''a'', ''{1}'', ''[1,3)'', ''{[1,3)}'', ''ok'', ''(1,x)'', 9, ''good''), %s', bad);
    RETURN QUERY SELECT refused($r$ SELECT replace_flow.apply('item') $r$);
    RETURN NEXT (SELECT count(*) FROM item WHERE v = 'good') || ' written, ' || (SELECT count(*) FROM item_in) || ' staged';
    DELETE FROM item_in;
END $$;
SELECT try_bad($$ ('abcde', '{1}', '[1,3)', '{[1,3)}', 'ok', '(1,x)', 9, 'bad') $$);
SELECT try_bad($$ ('A', '{1}', '[1,3)', '{[1,3)}', 'ok', '(1,x)', 9, 'bad') $$);
SELECT try_bad($$ ('a', '{}', '[1,3)', '{[1,3)}', 'ok', '(1,x)', 9, 'bad') $$);
SELECT try_bad($$ ('a', '{1}', 'empty', '{[1,3)}', 'ok', '(1,x)', 9, 'bad') $$);
SELECT try_bad($$ ('a', '{1}', '[1,3)', '{}', 'ok', '(1,x)', 9, 'bad') $$);
SELECT try_bad($$ ('a', '{1}', '[1,3)', '{[1,3)}', 'sad', '(1,x)', 9, 'bad') $$);
SELECT try_bad($$ ('a', '{1}', '[1,3)', '{[1,3)}', 'ok', '(0,x)', 9, 'bad') $$);
SELECT try_bad($$ ('a', '{1}', '[1,3)', '{[1,3)}', 'ok', '(1,x)', -1, 'bad') $$);
SELECT try_bad($$ ('a', '{1}', '[1,3)', '{[1,3)}', 'ok', '(1,x)', 12345, 'bad') $$);
SELECT try_bad($$ ('a', '{1}', '[1,3)', '{[1,3)}', 'ok', '(1,x)', NULL, 'bad') $$);
-- A check that the domain gets while rows are staged.
INSERT INTO item_in VALUES ('zzz', '{1}', '[1,3)', '{[1,3)}', 'ok', '(1,x)', 9, 'staged before');
ALTER DOMAIN code ADD CHECK (value <> 'zzz');
SELECT refused($$ SELECT replace_flow.apply('item') $$) LIMIT 1;
ALTER DOMAIN code DROP CONSTRAINT code_check1;
SELECT applied('item');

-- Enums: the order is that of the labels as they were declared, and labels that are
-- added before, between and after others are sorted where they were put.
CREATE TABLE task (k mood, s mood, v text);
CREATE INDEX ON task (k);
CREATE TABLE task_in (LIKE task);
CREATE TABLE sent_tasks (batch int, LIKE task);
INSERT INTO sent_tasks VALUES (1, 'sad', 'ok', 'a'), (1, 'ok', 'happy', 'b'), (1, 'happy', 'sad', 'c'), (2, 'sad', 'happy', 'A'), (2, 'ok', 'ok', 'late'), (2, 'happy', 'sad', 'tie');
CALL arrange($$ SELECT replace_flow.create_using_flow('task', 'task_in', '{k}', 's') $$, 'task', 'task_in', 'sent_tasks');
SELECT * FROM outcome;
CREATE TABLE task_now (k mood, v text);
CREATE INDEX ON task_now (k);
CREATE TABLE task_now_in (LIKE task);
SELECT replace_flow.create_using_flow('task', 'task_in', '{k}', 's'), replace_flow.create_using_flow('task_now', 'task_now_in', '{k}', 's');
CREATE FUNCTION send(VARIADIC rows task[]) RETURNS text LANGUAGE sql AS $$
    INSERT INTO task_in SELECT (r).* FROM unnest(rows) AS r;
    INSERT INTO task_now_in SELECT (r).* FROM unnest(rows) AS r;
    SELECT applied('task') || '; ' || applied('task_now');
$$;
TRUNCATE task;
SELECT send('(sad,ok,a)', '(ok,ok,b)', '(happy,ok,c)');
ALTER TYPE mood ADD VALUE 'fine' AFTER 'ok';
ALTER TYPE mood ADD VALUE 'desperate' BEFORE 'sad';
ALTER TYPE mood ADD VALUE 'ecstatic';
SELECT send('(sad,fine,A)', '(ok,desperate,late)', '(happy,ecstatic,C)', '(fine,desperate,new)', '(desperate,ok,new)');
SELECT send('(sad,ok,late)', '(happy,happy,late)', '(ok,fine,B)', '(fine,sad,newer)', '(desperate,desperate,late)');
SELECT * FROM task ORDER BY k;
SELECT same('TABLE task_now', 'SELECT k, v FROM task');
SELECT * FROM replace_flow.floors('task_now');
-- A label that is renamed is the same value still.
ALTER TYPE mood RENAME VALUE 'fine' TO 'good';
SELECT send('(sad,good,tie)', '(good,happy,newest)');
SELECT * FROM task ORDER BY k, v COLLATE "C";
-- So many labels that the order of their numbers is not that of the labels.
DO $$
BEGIN
    FOR i IN 1 .. 70 LOOP
        EXECUTE format('ALTER TYPE mood ADD VALUE %L BEFORE %L', 'm' || i, CASE WHEN i = 1 THEN 'ok' ELSE 'm' || (i - 1) END);
    END LOOP;
END $$;
SELECT send('(m70,m1,a)', '(m70,m70,superseded)', '(m1,m70,b)');
SELECT send('(m70,m2,late)', '(m1,m69,B)');
SELECT * FROM task WHERE k IN ('m1', 'm70') ORDER BY k;

-- A row type that gets another column: rows of before are the same key as new ones
-- without it.
CREATE TABLE place (p pair, s pair, v text);
CREATE INDEX ON place (p);
CREATE TABLE place_in (LIKE place);
SELECT replace_flow.create_using_flow('place', 'place_in', '{p}', 's');
INSERT INTO place_in VALUES ('(1,x)', '(1,)', 'old'), ('(1,)', '(1,)', 'null'), ('(2,x)', '(1,b)', 'other');
SELECT applied('place');
ALTER TYPE pair ADD ATTRIBUTE c int;
INSERT INTO place_in VALUES ('(1,x,)', '(2,,)', 'new'), ('(1,x,5)', '(1,,)', 'another key'), ('(2,x,)', '(1,b,)', 'tie'), ('(1,,)', '(0,z,9)', 'late');
SELECT applied('place');
SELECT * FROM place ORDER BY p, v COLLATE "C";
\i :finish
