\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A6, B10: tables as wide as they can be, and tables that have lost hundreds of
-- columns: values land under their names, and rows that stay are not written.
--
-- 1,600 columns in target and stream, in another order.
DO $$
BEGIN
    EXECUTE (SELECT format('CREATE TABLE wide (k int, s int, %s)', string_agg(format('c%s int', i), ', ' ORDER BY i)) FROM generate_series(1, 1598) AS i);
    EXECUTE (SELECT format('CREATE TABLE wide_in (%s, s int, k int)', string_agg(format('c%s int', i), ', ' ORDER BY i DESC)) FROM generate_series(1, 1598) AS i);
END $$;
CREATE INDEX ON wide (k);
-- What the columns hold, as sums that tell them apart.
CREATE VIEW content AS
SELECT k, s, count(*) AS given, sum(substr(key, 2)::int) AS numbers, bool_and(value::int = substr(key, 2)::int + c1 - 1) AS each_in_its_place
FROM wide w, jsonb_each_text(to_jsonb(w))
WHERE key ~ '^c'
GROUP BY k, s, w.ctid;
CREATE FUNCTION stage(k int, s int, base int) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE (SELECT format('INSERT INTO wide_in (k, s, %s) VALUES (%s, %s, %s)', string_agg('c' || i, ', ' ORDER BY i), k, s,
                           string_agg((i + base)::text, ', ' ORDER BY i)) FROM generate_series(1, 1598) AS i);
END $$;
SELECT replace_flow.create_using_flow('wide', 'wide_in', '{k}', 's', on_tie => 'replace');
SELECT FROM stage(1, 1, 0) AS one, stage(1, 1, 1000) AS two, stage(2, 1, 5) AS three;
SELECT applied('wide');
SELECT * FROM content ORDER BY k, s;
CREATE TABLE places AS SELECT ctid AS place, k, c1 FROM wide;
SELECT FROM stage(1, 1, 1000) AS one, stage(1, 1, 7) AS two, stage(2, 1, 5) AS three;
SELECT applied('wide');
SELECT * FROM content ORDER BY k, s;
SELECT count(*) AS stayed FROM wide w JOIN places p ON (w.ctid, w.k, w.c1) = (p.place, p.k, p.c1);
-- A unique index far to the right, so that rows are updated in place.
CREATE UNIQUE INDEX ON wide (c1598);
SELECT FROM stage(1, 2, 1000) AS one, stage(1, 2, 7) AS two, stage(2, 2, 6) AS three;
SELECT applied('wide');
SELECT * FROM content ORDER BY k, s;
SELECT replace_flow.drop_flow('wide');
-- Each column as the key is too many, and 32 of them at the end are not.
SELECT left(line, 5) AS state FROM refused(format($$ SELECT replace_flow.create_using_flow('wide', 'wide_in', %L, 's') $$,
    (SELECT array_agg('c' || i ORDER BY i) FROM generate_series(1, 33) AS i))) AS line LIMIT 1;
SET client_min_messages = error;
SELECT replace_flow.create_using_flow('wide', 'wide_in', (SELECT array_agg('c' || i ORDER BY i) FROM generate_series(1567, 1598) AS i), 's', on_tie => 'replace');
SET client_min_messages = warning;
SELECT FROM stage(9, 3, 7) AS one, stage(9, 3, 2000) AS two;
SELECT applied('wide');
SELECT * FROM content ORDER BY k, s, numbers;
-- A sequence of its own, a tombstone or an expectation needs one more column in a
-- view; there is room for none.
SELECT left(line, 5) AS state FROM refused($$ SELECT replace_flow.add_expectation('wide', 'e', 'k > 0', 'warn') $$) AS line LIMIT 1;
SELECT replace_flow.drop_flow('wide');
SELECT left(line, 5) AS state FROM refused($$ SELECT replace_flow.create_using_flow('wide', 'wide_in', '{k}', 's + 1') $$) AS line LIMIT 1;
DROP TABLE wide CASCADE;
DROP TABLE wide_in;

-- Hundreds of columns dropped, between those that are left, on both sides and in a
-- part; more come and go while the flow is there.
DO $$
BEGIN
    EXECUTE (SELECT format('CREATE TABLE item (%s) PARTITION BY LIST (c1)', string_agg(format('c%s int', i), ', ' ORDER BY i)) FROM generate_series(1, 400) AS i);
    EXECUTE (SELECT format('CREATE TABLE item_1 (%s)', string_agg(format('c%s int', i), ', ' ORDER BY i DESC)) FROM generate_series(1, 400) AS i);
    EXECUTE (SELECT format('CREATE TABLE item_in (%s)', string_agg(format('c%s int', i), ', ' ORDER BY i % 7, i)) FROM generate_series(1, 400) AS i);
    EXECUTE (SELECT 'ALTER TABLE item ' || string_agg(format('DROP c%s', i), ', ') FROM generate_series(1, 400) AS i WHERE i % 50 <> 1);
    EXECUTE (SELECT 'ALTER TABLE item_1 ' || string_agg(format('DROP c%s', i), ', ') FROM generate_series(1, 400) AS i WHERE i % 50 <> 1);
    EXECUTE (SELECT 'ALTER TABLE item_in ' || string_agg(format('DROP c%s', i), ', ') FROM generate_series(1, 400) AS i WHERE i % 50 <> 1);
END $$;
ALTER TABLE item ATTACH PARTITION item_1 FOR VALUES IN (1);
CREATE TABLE item_rest PARTITION OF item DEFAULT;
CREATE INDEX ON item (c1);
SELECT replace_flow.create_using_flow('item', 'item_in', '{c1}', 'c351');
INSERT INTO item_in (c1, c51, c101, c151, c201, c251, c301, c351) VALUES (1, 2, 3, 4, 5, 6, 7, 1), (2, 3, 4, 5, 6, 7, 8, 1);
SELECT applied('item');
SELECT tableoid::regclass AS part, * FROM item ORDER BY c1;
DO $$
BEGIN
    FOR i IN 1 .. 20 LOOP
        ALTER TABLE item ADD more int DEFAULT 1;
        ALTER TABLE item DROP more;
        ALTER TABLE item_in ADD more int DEFAULT 1;
        ALTER TABLE item_in DROP more;
    END LOOP;
END $$;
INSERT INTO item_in (c1, c51, c101, c151, c201, c251, c301, c351) VALUES (1, 20, 30, 40, 50, 60, 70, 2), (2, 3, 4, 5, 6, 7, 8, 0);
SELECT applied('item');
SELECT tableoid::regclass AS part, * FROM item ORDER BY c1;
\i :finish
