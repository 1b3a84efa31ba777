\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A11: a new query adds the columns that the target lacks, and leaves what is
-- there as it is.
--
CREATE DOMAIN small AS int CHECK (VALUE < 10);
CREATE FUNCTION columns_of(relation regclass) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT format('%s %s%s%s', quote_ident(attname), format_type(atttypid, atttypmod),
        (SELECT ' collate ' || collname FROM pg_collation c WHERE c.oid = attcollation AND collname <> 'default'),
        CASE WHEN attnotnull OR atthasdef THEN ', not plain' END)
    FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped ORDER BY attnum
$$;
CREATE FUNCTION version_of(text) RETURNS int LANGUAGE sql AS
    $$ SELECT definition_version FROM replace_flow.flow WHERE name = $1 $$;

CREATE TABLE item_in (k int, s int, v text);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', query => 'SELECT k, s, v FROM item_in');
INSERT INTO item_in VALUES (1, 1, 'a'), (2, 1, 'b');
SELECT applied('item');
SELECT replace_flow.alter_flow('item', query => $$
    SELECT k, s, v, length(v) AS "Long ""Name""", v::varchar(7) AS short, 1.5::numeric(6, 3) AS n,
        v COLLATE "POSIX" AS other, v COLLATE "C" AS plain, 3::small AS small, ARRAY[k] AS "select" FROM item_in $$);
SELECT version_of('item');
SELECT * FROM columns_of('item');
-- history is not touched, and the next run fills the columns of what comes
TABLE item;
INSERT INTO item_in VALUES (2, 2, 'B'), (3, 1, 'c'), (1, 0, 'late');
SELECT applied('item');
SELECT * FROM item ORDER BY k;

-- A column that is no longer given stays; rows that stay keep its values.
SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, v, v COLLATE "POSIX" AS other FROM item_in');
INSERT INTO item_in VALUES (2, 3, 'bb'), (3, 1, 'c too');
SELECT applied('item');
SELECT k, s, v, other, plain, small FROM item ORDER BY k, v;
-- and is given again
SELECT replace_flow.alter_flow('item', query => 'SELECT k, s, v, v COLLATE "POSIX" AS other, 9::small AS small FROM item_in');
INSERT INTO item_in VALUES (2, 4, 'bbb');
SELECT applied('item');
SELECT k, s, v, other, plain, small FROM item ORDER BY k, v;
SELECT version_of('item');

-- Without a query, all columns of the stream are given: those that it has now.
ALTER TABLE item_in ADD COLUMN extra text DEFAULT 'x';
SELECT replace_flow.alter_flow('item', query => '');
SELECT query IS NULL AS all_columns, version_of('item') FROM replace_flow.flow;
INSERT INTO item_in VALUES (2, 5, 'b5');
SELECT applied('item');
SELECT k, s, v, extra FROM item ORDER BY k, v;
SELECT replace_flow.drop_flow('item', drop_target => true);

-- A type change that needs a cast is refused; one that needs none is not.
CREATE TABLE typed_in (k int, s int, v text, n numeric(10, 2), x int, at timestamp);
SELECT replace_flow.create_using_flow('typed', 'typed_in', '{k}', 's', query => 'SELECT k, s, v, n, x, at FROM typed_in');
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'SELECT k, s, v, n, x::bigint AS x, at FROM typed_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'SELECT k, s, v, n, x::text AS x, at FROM typed_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'SELECT k, s, v, n, x, at::timestamptz AS at FROM typed_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'SELECT k::bigint AS k, s, v, n, x, at FROM typed_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'SELECT k, s::numeric AS s, v, n, x, at FROM typed_in') $$);
SELECT * FROM columns_of('typed');
SELECT replace_flow.alter_flow('typed', query => 'SELECT k, s, v::varchar(3) AS v, n::numeric(4, 1) AS n, x, at FROM typed_in');
-- the target's column has another type first
ALTER TABLE typed ALTER COLUMN x TYPE bigint;
SELECT replace_flow.alter_flow('typed', query => 'SELECT k, s, v, n, x::bigint + 1 AS x, at FROM typed_in');
INSERT INTO typed_in VALUES (1, 1, 'abc', 12.34, 2147483647, '2026-01-01');
SELECT applied('typed');
TABLE typed;
SELECT version_of('typed');

-- A new column that the target has already is given as at creation.
ALTER TABLE typed ADD COLUMN more smallint, ADD COLUMN made int GENERATED ALWAYS AS (s * 2) STORED, ADD COLUMN odd point;
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'SELECT k, s, 1 AS made FROM typed_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'SELECT k, s, 1 AS odd FROM typed_in') $$);
SELECT replace_flow.alter_flow('typed', query => 'SELECT k, s, v, 3 AS more FROM typed_in');
INSERT INTO typed_in VALUES (1, 2, 'abc');
SELECT applied('typed');
SELECT k, s, v, more, made, odd FROM typed;

-- Queries are refused as at creation, and leave nothing: no column either.
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'SELECT k, s, 1 AS added, 2 AS odd FROM typed_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'SELECT k, s, 1 AS added, nothing FROM typed_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'SELECT 1 AS k, 2 AS s, 1 AS added') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'SELECT s, 1 AS added FROM typed_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'SELECT k, 1 AS added FROM typed_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'SELECT k, s, 1 AS added, 2 AS added FROM typed_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'SELECT a.k, a.s, 1 AS added FROM typed_in a, typed_in b') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('typed', query => 'DELETE FROM typed_in') $$);
SELECT * FROM columns_of('typed');
SELECT version_of('typed'), (SELECT query FROM replace_flow.flow);
INSERT INTO typed_in VALUES (1, 3, 'abd');
SELECT applied('typed');
SELECT k, s, v, more, made, odd FROM typed;

-- A partitioned target, with partitions of another shape.
CREATE TABLE parted (gone int, k int, s int, v text) PARTITION BY LIST (k);
ALTER TABLE parted DROP COLUMN gone;
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_2 (v text, s int, dropped int, k int);
ALTER TABLE parted_2 DROP COLUMN dropped;
ALTER TABLE parted ATTACH PARTITION parted_2 DEFAULT;
CREATE INDEX ON parted (k);
CREATE TABLE parted_in (k int, s int, v text, w text);
SELECT replace_flow.create_using_flow('parted', 'parted_in', '{k}', 's', query => 'SELECT k, s, v FROM parted_in');
INSERT INTO parted_in VALUES (1, 1, 'a', 'A'), (2, 1, 'b', 'B'), (3, 1, 'c', 'C');
SELECT applied('parted');
SELECT replace_flow.alter_flow('parted', query => 'SELECT * FROM parted_in');
INSERT INTO parted_in VALUES (1, 2, 'a', 'A'), (2, 2, 'b', 'B');
SELECT applied('parted');
SELECT tableoid::regclass, * FROM parted ORDER BY k;
\i :finish
