\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B9: a NULL sequence is an error that names the flow, with the key in the
-- detail; nothing is consumed.  An expectation can drop such rows.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');

-- Case O08: whatever comes with it, and in whatever order, the batch is refused.
INSERT INTO item_in VALUES (1, 5, 'five');
SELECT applied('item');
INSERT INTO item_in VALUES (1, NULL, 'n1');
SELECT refused($$ SELECT replace_flow.apply('item') $$);
INSERT INTO item_in VALUES (2, NULL, 'n2'), (2, 1, 'one'), (3, NULL, 'n3'), (3, 7, 'seven');
SELECT status FROM replace_flow.apply('item');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM item;
SELECT count(*) AS staged FROM item_in;
SELECT count(*) AS runs FROM replace_flow.run WHERE flow = 'item';

-- It is mended in the stream.
UPDATE item_in SET s = 0 WHERE s IS NULL;
SELECT applied('item');
SELECT * FROM item ORDER BY k;

-- Or dropped, before anything else is done with it (C2).
SELECT replace_flow.add_expectation('item', 'has a sequence', 's IS NOT NULL', 'drop');
INSERT INTO item_in VALUES (1, NULL, 'n1'), (1, 6, 'six');
SELECT applied('item');
SELECT * FROM item WHERE k = 1;

-- The key in the detail: several columns, NULL, any type; here the sequence is
-- an expression, and kept in the ledger.
CREATE TABLE place (region text, "on" date, n numeric(4,1));
CREATE INDEX ON place (region, "on");
CREATE TABLE place_in (region text, "on" date, n numeric, a int, b int);
SELECT replace_flow.create_using_flow('place', 'place_in', '{region, on}', 'a + b', name => 'the place''s "flow"',
    query => 'SELECT region, "on", n, a, b FROM place_in');
INSERT INTO place_in VALUES ('it''s, here', '2026-03-01', 1, 1, NULL);
SELECT refused($$ SELECT replace_flow.apply('the place''s "flow"') $$);
UPDATE place_in SET region = NULL, "on" = NULL;
SELECT refused($$ SELECT replace_flow.apply('the place''s "flow"') $$);

-- A tombstone needs a sequence too.
CREATE TABLE gone (k int, s int);
CREATE INDEX ON gone (k);
CREATE TABLE gone_in (k int, s int, op text);
SELECT replace_flow.create_using_flow('gone', 'gone_in', '{k}', 's', delete_when => $$ op = 'delete' $$);
INSERT INTO gone_in VALUES (1, NULL, 'delete');
SELECT refused($$ SELECT replace_flow.apply('gone') $$);
\i :finish
