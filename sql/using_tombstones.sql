\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B8: a row for which delete_when is true contributes no row, but claims its
-- key at its sequence.
--

-- A change feed.
CREATE TABLE account (id int PRIMARY KEY, owner text, s int);
CREATE TABLE account_in (id int, owner text, s int, op text);
SELECT replace_flow.create_using_flow('account', 'account_in', '{id}', 's', delete_when => $$ op = 'delete' $$);
INSERT INTO account_in VALUES (1, 'ann', 1, 'insert'), (2, 'bob', 1, 'insert'), (3, 'cat', 1, NULL);
SELECT applied('account');
INSERT INTO account_in VALUES (1, 'anna', 2, 'update'), (2, NULL, 2, 'delete');
SELECT applied('account');
SELECT * FROM account ORDER BY id;
-- The floor of the key stays, although it has no rows: an older row is late.
SELECT * FROM replace_flow.floors('account');
INSERT INTO account_in VALUES (2, 'bob', 1, 'insert');
SELECT applied('account');
SELECT * FROM account ORDER BY id;
-- A newer one brings it back, and then the row has the floor.
INSERT INTO account_in VALUES (2, 'bobby', 3, 'insert');
SELECT applied('account');
SELECT * FROM account ORDER BY id;
SELECT * FROM replace_flow.floors('account');
DELETE FROM account WHERE id = 2;
SELECT * FROM replace_flow.floors('account');
-- In one batch: inserted and deleted, deleted and inserted, deleted twice, a key
-- that never was.
INSERT INTO account_in VALUES
    (4, 'dan', 1, 'insert'), (4, NULL, 2, 'delete'),
    (5, NULL, 1, 'delete'), (5, 'eve', 2, 'insert'),
    (6, NULL, 1, 'delete'), (6, NULL, 2, 'delete'),
    (7, NULL, 5, 'delete');
SELECT applied('account');
SELECT * FROM account ORDER BY id;
SELECT * FROM replace_flow.floors('account');
-- The same again changes nothing.
INSERT INTO account_in VALUES (4, NULL, 2, 'delete'), (6, NULL, 2, 'delete'), (6, NULL, 1, 'delete'), (7, NULL, 5, 'delete');
SELECT applied('account');
SELECT * FROM replace_flow.floors('account');

-- A set that has rows besides: the tombstone adds nothing, whichever comes first.
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (k int, s int, v text, gone boolean);
CREATE TABLE sent (batch int, LIKE item_in);
INSERT INTO sent VALUES
    (1, 1, 1, 'a', false), (1, 2, 1, 'x', false), (1, 3, 1, 'y', NULL),
    (2, 1, 2, 'b', false), (2, 2, 2, NULL, true), (2, 3, 3, NULL, true),
    (3, 1, 2, NULL, true), (3, 2, 1, 'late', false), (3, 3, 3, 'z', false), (3, 3, 2, 'late', false);
CALL arrange($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', delete_when => 'gone') $$,
             'item', 'item_in');
SELECT * FROM outcome;
-- The same with all floors in the ledger.
CREATE TABLE item_now (k int, v text);
CREATE INDEX ON item_now (k);
CALL arrange($$ SELECT replace_flow.create_using_flow('item_now', 'item_in', '{k}', 's', delete_when => 'gone') $$,
             'item_now', 'item_in');
SELECT * FROM outcome;

-- A feed of changes in every order and cut.
CREATE TABLE sent_changes (batch int, LIKE account_in);
INSERT INTO sent_changes VALUES
    (1, 1, 'a', 1, 'insert'), (1, 2, 'b', 2, 'insert'),
    (2, 1, NULL, 3, 'delete'), (2, 2, 'bb', 4, 'update'),
    (3, 1, 'aa', 5, 'insert'), (3, 3, 'c', 6, 'insert'),
    (4, 2, NULL, 7, 'delete'), (4, 3, 'cc', 8, 'update');
SELECT replace_flow.drop_flow('account');
CALL arrange($$ SELECT replace_flow.create_using_flow('account', 'account_in', '{id}', 's',
                    delete_when => $d$ op = 'delete' $d$) $$,
             'account', 'account_in', 'sent_changes');
SELECT * FROM outcome;

-- The three policies for a tombstone that ties with rows, and rows that tie with
-- a tombstone.
CREATE FUNCTION try_policy(policy text, first text, second text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    counts text;
    rows text;
BEGIN
    TRUNCATE item;
    PERFORM replace_flow.create_using_flow('item', 'item_in', '{k}', 's', delete_when => 'gone', on_tie => policy);
    INSERT INTO item_in VALUES (1, 1, first, first = 'gone');
    PERFORM applied('item');
    INSERT INTO item_in VALUES (1, 1, second, second = 'gone');
    counts := applied('item');
    SELECT string_agg(v, ' ' ORDER BY v) INTO rows FROM item;
    SELECT concat_ws(' | ', counts, coalesce(rows, 'no rows'), 'floor ' || floor) INTO rows FROM replace_flow.floors('item');
    PERFORM replace_flow.drop_flow('item');
    RETURN rows;
END $$;
SELECT policy, first, second, try_policy(policy, first, second)
FROM unnest('{append, ignore, replace}'::text[]) WITH ORDINALITY AS p (policy, i),
    (VALUES ('row', 'gone'), ('gone', 'row'), ('gone', 'gone')) AS o (first, second)
ORDER BY i, first DESC, second;

-- The condition may be NULL: that is no tombstone.  A tombstone's other columns
-- need not be such as the target would take.
CREATE TABLE strict (k int, v text NOT NULL CHECK (v <> 'bad'), s int);
CREATE INDEX ON strict (k);
CREATE TABLE strict_in (k int, v text, s int);
SELECT replace_flow.create_using_flow('strict', 'strict_in', '{k}', 's', delete_when => $$ v IS NULL OR v = 'bad' $$);
INSERT INTO strict_in VALUES (1, 'good', 1), (2, 'good', 1), (3, 'good', 1);
SELECT applied('strict');
INSERT INTO strict_in VALUES (1, NULL, 2), (2, 'bad', 2);
SELECT applied('strict');
SELECT * FROM strict;
\i :finish
