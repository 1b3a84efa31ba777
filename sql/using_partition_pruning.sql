\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B13: stored rows of a partitioned target are found in their own partition, by
-- the columns of the partition keys at each level, and no less surely when these
-- are NULL, computed, equal but not alike, or not given by the flow.
--
CREATE FUNCTION try(partitions text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    statement text;
BEGIN
    CREATE TABLE item_in (k int, d numeric, c text, s int, v text);
    FOREACH statement IN ARRAY string_to_array(partitions, ';') LOOP
        EXECUTE statement;
    END LOOP;
    CREATE INDEX ON item (k);
    PERFORM replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
    INSERT INTO item_in SELECT k, nullif(d, 9), nullif(chr(97 + d), 'c'), 1, 'old' FROM generate_series(1, 20) AS k, generate_series(0, 9) AS d;
    RETURN NEXT applied('item');
    INSERT INTO item_in SELECT k, nullif(d, 8) + 0.0, nullif(chr(97 + d), 'd'), 2, 'new' FROM generate_series(11, 30) AS k, generate_series(1, 9) AS d;
    RETURN NEXT applied('item');
    RETURN NEXT (SELECT string_agg(format('%s %s', n, v), ', ' ORDER BY v) FROM (SELECT v, count(*) AS n FROM item GROUP BY v) AS t);
    -- sets that vanish in part
    INSERT INTO item_in SELECT k, 3, 'x', 3, 'last' FROM generate_series(1, 30) AS k WHERE k % 2 = 0;
    RETURN NEXT applied('item');
    RETURN NEXT (SELECT string_agg(format('%s %s', n, v), ', ' ORDER BY v) FROM (SELECT v, count(*) AS n FROM item GROUP BY v) AS t);
    PERFORM replace_flow.drop_flow('item');
    DROP TABLE item, item_in;
END $$;
SELECT try($$ CREATE TABLE item (k int, d numeric, c text, s int, v text) PARTITION BY LIST (d);
    CREATE TABLE item_1 PARTITION OF item FOR VALUES IN (1, 2, 3, NULL); CREATE TABLE item_rest PARTITION OF item DEFAULT $$);
SELECT try($$ CREATE TABLE item (k int, d numeric, c text, s int, v text) PARTITION BY RANGE (k);
    CREATE TABLE item_1 PARTITION OF item FOR VALUES FROM (0) TO (12) PARTITION BY LIST (c);
    CREATE TABLE item_1_a PARTITION OF item_1 FOR VALUES IN ('a', 'b', NULL); CREATE TABLE item_1_rest PARTITION OF item_1 DEFAULT;
    CREATE TABLE item_2 (v text, gone int, c text, k int, s int, d numeric) PARTITION BY HASH (d, k);
    ALTER TABLE item_2 DROP COLUMN gone; ALTER TABLE item ATTACH PARTITION item_2 FOR VALUES FROM (12) TO (100);
    CREATE TABLE item_2_0 PARTITION OF item_2 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE item_2_1 PARTITION OF item_2 FOR VALUES WITH (MODULUS 2, REMAINDER 1) $$);
SELECT try($$ CREATE TABLE item (k int, d numeric, c text, s int, v text) PARTITION BY RANGE (lower(c), k);
    CREATE TABLE item_1 PARTITION OF item FOR VALUES FROM (MINVALUE, MINVALUE) TO ('d', 15);
    CREATE TABLE item_rest PARTITION OF item DEFAULT $$);
SELECT try($$ CREATE TABLE item (k int, d numeric, c text, s int, v text, area int NOT NULL DEFAULT 1) PARTITION BY LIST (area);
    CREATE TABLE item_1 PARTITION OF item FOR VALUES IN (1); CREATE TABLE item_rest PARTITION OF item DEFAULT $$);

-- Key and partition key together.
CREATE TABLE item (k int, d int, s int, v text, PRIMARY KEY (k, d)) PARTITION BY RANGE (d);
SELECT format('CREATE TABLE item_%s PARTITION OF item FOR VALUES FROM (%s) TO (%s)', i, i, i + 1) FROM generate_series(1, 20) AS i \gexec
CREATE TABLE item_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k, d}', 's');
INSERT INTO item_in SELECT k, 1 + k % 20, 1, 'old' FROM generate_series(1, 1000) AS k;
SELECT applied('item');
INSERT INTO item_in SELECT k, 1 + k % 20, 2, 'new' FROM generate_series(1, 200) AS k;
SELECT applied('item');
SELECT v, count(*) FROM item GROUP BY v ORDER BY v;
\i :finish
