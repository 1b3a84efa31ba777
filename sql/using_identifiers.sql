\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A12: any identifier works.
--

-- Case O18: quotes, mixed case, reserved words, letters beyond ASCII; a stream
-- whose name differs from the target's only in case; a flow's name that is
-- dangerous to paste.
CREATE SCHEMA "My Schema";
CREATE TABLE "My Schema"."Order" ("User Id" int, "select" int, "v""q" text, "é" text);
CREATE INDEX ON "My Schema"."Order" ("User Id");
CREATE TABLE "My Schema"."order" ("é" text, "v""q" text, "User Id" int, "select" int, "where" text);
SELECT replace_flow.create_using_flow('"My Schema"."Order"', '"My Schema"."order"', ARRAY['User Id'], '"select"',
    name => $$it's; DROP "all" --$$,
    query => 'SELECT "é", "v""q", "User Id", "select", "where" FROM "My Schema"."order"',
    delete_when => $$ "where" = 'gone' $$);
SELECT replace_flow.add_expectation($$it's; DROP "all" --$$, $$"a" 'b';$$, $$ "v""q" <> 'bad' $$, 'drop');
INSERT INTO "My Schema"."order" VALUES
    ('e', 'v', 1, 1, NULL), ('f', 'w', 1, 1, NULL), ('g', 'x', 2, 1, NULL), ('h', 'bad', 3, 1, NULL);
SELECT applied($$it's; DROP "all" --$$);
INSERT INTO "My Schema"."order" VALUES ('é', '"', 1, 2, NULL), (NULL, NULL, 2, 2, 'gone');
SELECT applied($$it's; DROP "all" --$$);
SELECT * FROM "My Schema"."Order";
SELECT * FROM replace_flow.floors($$it's; DROP "all" --$$);
SELECT flow, expectation, "row" FROM replace_flow.rejected;
SELECT count(*) AS staged FROM "My Schema"."order";

-- The target is created under such names too (A1).
CREATE TABLE "Stock in" ("from" int, "To" text);
SELECT replace_flow.create_using_flow('"My Schema"."Stock, new"', '"Stock in"', '{from}', '"To"');
INSERT INTO "Stock in" VALUES (1, 'x');
SELECT applied('"My Schema"."Stock, new"');
TABLE "My Schema"."Stock, new";
SELECT replace_flow.drop_flow('"My Schema"."Stock, new"', drop_target => true);

-- The target is a name, not a text to look into.
SELECT refused($$ SELECT replace_flow.create_using_flow('a; DROP TABLE b', '"Stock in"', '{from}', '"To"') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('a.b.c.d', '"Stock in"', '{from}', '"To"') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('', '"Stock in"', '{from}', '"To"') $$);
SELECT refused($$ SELECT replace_flow.create_using_flow('nowhere.b', '"Stock in"', '{from}', '"To"') $$);

-- Case O19: names of 63 bytes that differ only in the last one, and the same
-- name in two schemas.  The flows do not meet.
SELECT repeat('x', 62) || '1' AS one, repeat('x', 62) || '2' AS two,
    repeat('x', 60) || '_in' AS one_in, repeat('y', 60) || '_in' AS two_in,
    repeat('z', 61) || 'é' AS wide \gset
CREATE TABLE :one (k int, v text);
CREATE TABLE :two (k int, v text);
CREATE INDEX ON :one (k);
CREATE INDEX ON :two (k);
CREATE TABLE :one_in (k int, s int, v text);
CREATE TABLE :two_in (k int, s int, v text);
SELECT replace_flow.create_using_flow(:'one', :'one_in', '{k}', 's') = :'one' AS named;
SELECT replace_flow.create_using_flow(:'two', :'two_in', '{k}', 's') = :'two' AS named;
SELECT replace_flow.add_expectation(:'one', 'odd', 'k % 2 = 1', 'drop');
SELECT replace_flow.add_expectation(:'two', 'even', 'k % 2 = 0', 'drop');
INSERT INTO :one_in VALUES (1, 1, 'one'), (2, 1, 'one');
INSERT INTO :two_in VALUES (1, 5, 'two'), (2, 5, 'two');
SELECT applied(:'one');
SELECT applied(:'two');
TABLE :one;
TABLE :two;
SELECT * FROM replace_flow.floors(:'one');
SELECT * FROM replace_flow.floors(:'two');
CREATE TABLE "My Schema".:one (k int, v text);
CREATE INDEX ON "My Schema".:one (k);
CREATE TABLE three_in (k int, s int, v text);
SELECT refused(format($$ SELECT replace_flow.create_using_flow('test.%s', 'three_in', '{k}', 's') $$, repeat('x', 62) || '1'));
SELECT replace_flow.create_using_flow('"My Schema".' || :'one', 'three_in', '{k}', 's') AS flow \gset
SELECT octet_length(:'flow');
INSERT INTO three_in VALUES (1, 3, 'three');
SELECT applied(:'flow');
TABLE "My Schema".:one;
TABLE :one;
-- A two-byte letter at the end of 63 bytes, as target, column and flow.
CREATE TABLE wide_in (:wide int, s int);
SELECT replace_flow.create_using_flow(:'wide', 'wide_in', ARRAY[:'wide'], 's') = :'wide' AS named;
INSERT INTO wide_in VALUES (1, 1);
SELECT applied(:'wide');
SELECT * FROM :wide;

-- Columns may have the names of the flow's own things.
CREATE TABLE own_in (
    sequence int, tombstone boolean, expectation int, key int, key_1 int, key_group int, c1 int, c2 int, q int, w int, t int,
    k int, s int, f int, k1 int, hash int, rf_write_set int, tableoid_ int);
SELECT replace_flow.create_using_flow('own', 'own_in', '{sequence, tombstone, key_1, c2, k, k1}', 'c1 + 1',
    delete_when => 'tombstone AND q > 0');
SELECT replace_flow.add_expectation('own', 'expectation', 'expectation > 0', 'drop');
INSERT INTO own_in (sequence, tombstone, expectation, key_1, c1, c2, q, k, k1) VALUES
    (1, true, 1, 2, 3, 4, 5, 6, 7), (1, false, 1, 2, 3, 4, 5, 6, 7), (1, false, 0, 2, 99, 4, 5, 6, 7);
SELECT applied('own');
INSERT INTO own_in (sequence, tombstone, expectation, key_1, c1, c2, q, k, k1) VALUES (1, false, 1, 2, 4, 4, 5, 6, 7);
SELECT applied('own');
SELECT sequence, tombstone, expectation, key_1, c1, c2, q, k, k1 FROM own;
SELECT * FROM replace_flow.floors('own') ORDER BY floor;

-- A flow's name is as it was given: in another case, or with a schema, it is
-- another name.
SELECT replace_flow.create_using_flow('Item', '"Stock in"', '{from}', '"To"');
SELECT name, target FROM replace_flow.flow WHERE name = 'Item';
SELECT refused($$ SELECT replace_flow.apply('item') $$);
SELECT refused($$ SELECT replace_flow.apply('test."Item"') $$);
SELECT refused($$ SELECT replace_flow.drop_flow('"Item"') $$);
SELECT refused($$ SELECT replace_flow.add_expectation('ITEM', 'x', 'true', 'warn') $$);

SELECT count(replace_flow.drop_flow(name)) AS flows FROM replace_flow.flow;
DROP SCHEMA "My Schema" CASCADE;
\i :finish
