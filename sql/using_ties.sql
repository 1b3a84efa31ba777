\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B4: a set that ties with the floor of its key: on_tie decides.
--

-- Case O06: one set cut across two batches, then a late and a newer one.
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
INSERT INTO item_in VALUES (5, 3, 'l1'), (5, 3, 'l2');
SELECT applied('item');
INSERT INTO item_in VALUES (5, 3, 'l3');
SELECT applied('item');
SELECT * FROM item ORDER BY v;
INSERT INTO item_in VALUES (5, 2, 'late');
SELECT applied('item');
SELECT * FROM item ORDER BY v;
-- A row that is sent twice is there twice.
INSERT INTO item_in VALUES (5, 3, 'l1');
SELECT applied('item');
SELECT * FROM item ORDER BY v;
INSERT INTO item_in VALUES (5, 4, 'm1');
SELECT applied('item');
SELECT * FROM item ORDER BY v;
SELECT replace_flow.drop_flow('item');

-- The same in every order and cut, with the newest set and without.
CREATE TABLE sent (batch int, LIKE item);
INSERT INTO sent VALUES (1, 5, 3, 'l1'), (1, 5, 3, 'l2'), (2, 5, 3, 'l3'), (2, 5, 3, 'l1'), (3, 5, 2, 'late');
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's') $$, 'item', 'item_in');
SELECT * FROM outcome;
CREATE TABLE item_now (k int, v text);
CREATE INDEX ON item_now (k);
CALL arrange($$ SELECT replace_flow.create_using_flow('item_now', 'item_in', '{k}', 's') $$, 'item_now', 'item_in');
SELECT * FROM outcome;
INSERT INTO sent VALUES (4, 5, 4, 'm1');
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's') $$, 'item', 'item_in');
SELECT * FROM outcome;

-- The three policies, in a target that stores the sequence and in one that does
-- not.  Within one batch rows of one sequence are one set, whatever the policy.
CREATE FUNCTION try_policy(policy text, target text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    rows text := format('SELECT string_agg(k || v, '' '' ORDER BY k, v) FROM %s', target);
BEGIN
    EXECUTE 'TRUNCATE ' || target;
    PERFORM replace_flow.create_using_flow(target, 'item_in', '{k}', 's', on_tie => policy);
    -- a set; a part of it again, with something new; all of it again
    INSERT INTO item_in VALUES (1, 1, 'a'), (1, 1, 'b'), (1, 1, 'b'), (2, 1, 'x');
    RETURN NEXT applied(target);
    INSERT INTO item_in VALUES (1, 1, 'b'), (1, 1, 'c'), (2, 1, 'x');
    RETURN NEXT applied(target);
    RETURN QUERY EXECUTE rows;
    INSERT INTO item_in VALUES (1, 1, 'a'), (1, 1, 'b'), (1, 1, 'b'), (2, 1, 'x');
    RETURN NEXT applied(target);
    RETURN QUERY EXECUTE rows;
    -- a newer set wins, an older one is late
    INSERT INTO item_in VALUES (1, 2, 'new'), (2, 0, 'late');
    RETURN NEXT applied(target);
    RETURN QUERY EXECUTE rows;
    PERFORM replace_flow.drop_flow(target);
END $$;
SELECT try_policy('append', 'item');
SELECT try_policy('append', 'item_now');
SELECT try_policy('ignore', 'item');
SELECT try_policy('ignore', 'item_now');
SELECT try_policy('replace', 'item');
SELECT try_policy('replace', 'item_now');
SELECT refused($$
    SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', on_tie => 'Append') $$);
\i :finish
