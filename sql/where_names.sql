\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A12: any identifier works in a where flow.
--
-- Case O18: quotes, mixed case, reserved words, letters beyond ASCII; a source whose
-- name differs from the target's only in case; a flow's name that is dangerous to paste.
CREATE SCHEMA "My Schema";
CREATE TABLE "My Schema"."Order" ("User Id" int, "select" int, "v""q" text, "é" text);
CREATE TABLE "My Schema"."order" ("é" text, "v""q" text, "User Id" int, "select" int);
INSERT INTO "My Schema"."order" VALUES ('e', 'v', 1, 1), ('f', 'w', 2, 1), ('g', 'bad', 2, 2);
INSERT INTO "My Schema"."Order" VALUES (1, 0, 'old', 'old'), (2, 0, 'old', 'old');
SELECT replace_flow.create_where_flow('"My Schema"."Order"', 'SELECT "é", "v""q", "User Id", "select" FROM "My Schema"."order"', '"User Id" > 1',
    name => $$it's; DROP "all" --$$, reset_allowed => true);
SELECT replace_flow.add_expectation($$it's; DROP "all" --$$, $$"a" 'b';$$, $$ "v""q" <> 'bad' $$, 'drop');
SELECT refreshed($$it's; DROP "all" --$$);
SELECT * FROM "My Schema"."Order" ORDER BY 1;
SELECT refreshed($$it's; DROP "all" --$$, $$ "My Schema"."Order"."select" = 0 OR "order"."é" = 'e' $$);
SELECT * FROM "My Schema"."Order" ORDER BY 1;
SELECT flow, expectation, "row" FROM replace_flow.rejected ORDER BY rejected_id LIMIT 1;
SELECT predicate FROM replace_flow.run ORDER BY run_id;
SELECT refused($$ SELECT replace_flow.refresh('it''s; DROP "all" --', '"user id" = 1') $$);
SELECT reset($$it's; DROP "all" --$$);
CALL replace_flow.backfill($$it's; DROP "all" --$$, 'User Id', 1, 3, 1);
SELECT key, rows_unchanged FROM replace_flow.preview($$it's; DROP "all" --$$, '"select" >= 0');
SELECT flow, status FROM replace_flow.start_update(ARRAY[$$it's; DROP "all" --$$], '{}',
    jsonb_build_array(jsonb_build_object('flow_name', $$it's; DROP "all" --$$, 'predicate_override', '"User Id" = 2')));
SELECT * FROM "My Schema"."Order" ORDER BY 1;
SELECT replace_flow.alter_flow($$it's; DROP "all" --$$, query => 'SELECT *, 1 AS "From", 2 AS "x;--" FROM "My Schema"."order"', replace_where => '"From" = 1 AND "x;--" = 2');
SELECT refreshed($$it's; DROP "all" --$$, 'true');
SELECT * FROM "My Schema"."Order" ORDER BY 1;
-- The target is created under such names too.
SELECT replace_flow.create_where_flow('"My Schema"."Stock, new"', 'SELECT 1 AS "from", 2 AS "To"', '"To" = 2');
SELECT refreshed('"My Schema"."Stock, new"');
TABLE "My Schema"."Stock, new";

-- Case O19: names of 63 bytes that differ only in the last one, and the same name in two
-- schemas: the flows do not meet.
SELECT repeat('x', 62) || '1' AS one, repeat('x', 62) || '2' AS two, repeat('z', 61) || 'é' AS wide \gset
CREATE TABLE :one (k int, v text);
CREATE TABLE :two (k int, v text);
CREATE TABLE "My Schema".:one (k int, v text);
SELECT replace_flow.create_where_flow(:'one', $$ SELECT 1 AS k, 'one' AS v $$, 'k = 1') = :'one' AS named;
SELECT replace_flow.create_where_flow(:'two', $$ SELECT 1 AS k, 'two' AS v $$, 'k = 1') = :'two' AS named;
SELECT replace_flow.create_where_flow('"My Schema".' || :'one', $$ SELECT 1 AS k, 'three' AS v $$, 'k = 1') AS flow \gset
SELECT replace_flow.add_expectation(:'two', 'none', 'false', 'drop');
SELECT refreshed(:'one');
SELECT refreshed(:'two');
SELECT refreshed(:'flow', 'k = 1 AND ' || :'one' || '.v <> ''none''');
TABLE :one;
TABLE :two;
TABLE "My Schema".:one;
SELECT count(*) FROM replace_flow.start_update();
-- A two-byte letter at the end of 63 bytes, as target, column and flow.
SELECT replace_flow.create_where_flow(:'wide', 'SELECT 1 AS ' || :'wide', :'wide' || ' = 1') = :'wide' AS named;
SELECT refreshed(:'wide');
SELECT refreshed(:'wide', :'wide' || ' = 1 OR ' || :'wide' || '.' || :'wide' || ' = 2');
SELECT * FROM :wide;

-- Columns may have the names of the flow's own things.
CREATE TABLE own AS SELECT 1 AS "window", 2 AS predicate, 3 AS inside, 4 AS q, 5 AS w, 6 AS t, 7 AS k, 8 AS f, 9 AS c1, 10 AS c2, 11 AS hash, 12 AS expectation,
    13 AS sequence, 14 AS flow, 15 AS old, 16 AS new, 17 AS target, 18 AS query, 19 AS "row", 20 AS n, 21 AS s;
CREATE TABLE own_in AS TABLE own;
INSERT INTO own_in ("window", predicate, w, t) VALUES (2, 3, 4, 5);
SELECT refused($$ SELECT replace_flow.create_where_flow('own', 'TABLE own_in', 'own.own_in IS NOT NULL') $$);
SELECT replace_flow.create_where_flow('own', 'TABLE own_in', '"window" + predicate + w + t > coalesce(q + f + c1, 0) - 100');
SELECT replace_flow.add_expectation('own', 'expectation', 'expectation > 0', 'warn');
SELECT refreshed('own');
SELECT refreshed('own', 'inside IS NULL OR "row" = 19');
SELECT same('TABLE own', 'TABLE own_in');
-- A function in a predicate may be named like a column, and be in any schema.
CREATE FUNCTION "My Schema"."Inside"(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 > 1';
SELECT refreshed('own', '"My Schema"."Inside"("window")');
SELECT same('TABLE own', 'TABLE own_in');
SELECT count(replace_flow.drop_flow(name)) AS flows FROM replace_flow.flow;
DROP SCHEMA "My Schema" CASCADE;
\i :finish
