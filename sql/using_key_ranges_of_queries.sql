\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B17: which queries let a stream be cut by key: those that make of the rows of
-- some keys, alone, what they make of them among all others.  For those, runs
-- over ranges come to what one run does, and a row that fails, in whatever part
-- of the query, fails its own range and no other.
--
SET client_min_messages = error;
CREATE TABLE item_in (k int, s int, v int, list int[]);
CREATE TABLE label (k int, name text);
INSERT INTO label SELECT i, 'label ' || i FROM generate_series(1, 9, 2) AS i;
CREATE VIEW plain AS SELECT s AS seq, k AS id, v FROM item_in WHERE v IS NOT NULL;
CREATE VIEW guarded WITH (security_barrier) AS SELECT seq, id, v FROM plain;
CREATE FUNCTION apply_one_by_one(flow text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    failed int := 0;
BEGIN
    FOR i IN -32 .. 31 LOOP
        BEGIN
            PERFORM replace_flow.apply_range(flow, f, f + 288230376151711743)
            FROM CAST(i * 288230376151711744 AS bigint) AS f;
        EXCEPTION WHEN division_by_zero THEN
            failed := failed + 1;
        END;
    END LOOP;
    RETURN failed;
END $$;

-- What comes of one run, and of ranges; then with a row that fails.
CREATE FUNCTION cut(query text, keys text[] DEFAULT '{k}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    failed int;
    left_over text;
BEGIN
    PERFORM replace_flow.create_using_flow('item', 'item_in', keys, 's', query => query, quarantine => true);
    CREATE TABLE whole (LIKE item);
    INSERT INTO item_in SELECT i % 10, 1, i, ARRAY[i, i + 1] FROM generate_series(1, 40) AS i;
    PERFORM applied('item');
    INSERT INTO whole SELECT * FROM item;
    DELETE FROM item;
    INSERT INTO item_in SELECT i % 10, 1, i, ARRAY[i, i + 1] FROM generate_series(1, 40) AS i;
    failed := apply_one_by_one('item');
    IF failed > 0 OR EXISTS (SELECT FROM item_in) OR NOT same('TABLE item', 'TABLE whole') THEN
        RETURN 'differs';
    END IF;
    DELETE FROM item;
    INSERT INTO item_in SELECT i % 10, 1, i, ARRAY[i, i + 1] FROM generate_series(1, 40) AS i;
    INSERT INTO item_in VALUES (1, 1, 0, '{0}');
    failed := apply_one_by_one('item');
    SELECT string_agg(DISTINCT k::text, ', ') INTO left_over FROM item_in;
    DELETE FROM item_in;
    PERFORM replace_flow.drop_flow('item', drop_target => true);
    DROP TABLE whole;
    RETURN format('the same; failed: %s, of key %s', failed, left_over);
END $$;

-- where nothing is between key and stream
SELECT cut('SELECT k, s, v, 1 / v AS w FROM item_in');
SELECT cut('SELECT k, s, v FROM item_in WHERE 1 / v < 2');
SELECT cut('SELECT k AS key, s, v, 1 / v AS w FROM item_in', '{key}');
SELECT cut('SELECT k, s, v, s * 2 AS key, 1 / v AS w FROM (SELECT * FROM item_in ORDER BY v) AS i');
-- joins
SELECT cut('SELECT k, s, v, name, 1 / v AS w FROM item_in JOIN label USING (k)');
SELECT cut('SELECT k, s, v, name, 1 / v AS w FROM item_in LEFT JOIN label USING (k)');
SELECT cut('SELECT k, s, v, name, 1 / v AS w FROM label RIGHT JOIN item_in USING (k)');
SELECT cut('SELECT k, s, v FROM item_in WHERE EXISTS (SELECT FROM label l WHERE l.k = item_in.k AND 1 / item_in.v < 2)');
SELECT cut('SELECT i.k, i.s, i.v, i.w, l.name FROM label l, LATERAL (SELECT *, 1 / v AS w FROM item_in WHERE item_in.k = l.k) i');
-- views, WITH queries
SELECT cut('SELECT id AS k, seq AS s, v, 1 / v AS w FROM plain');
SELECT cut('SELECT id AS k, seq AS s, v, 1 / v AS w FROM guarded');
SELECT cut('WITH i AS MATERIALIZED (SELECT k, s, v, 1 / v AS w FROM item_in) SELECT k, s, v, w FROM i');
SELECT cut('WITH i AS (SELECT k, s, v, 1 / v AS w FROM item_in) SELECT k, s, v, w FROM i');
-- rows that become several
SELECT cut('SELECT k, s, 1 / unnest(list) AS v FROM item_in');
SELECT cut('SELECT k, s, 1 / u AS v FROM item_in, unnest(list) AS u');
-- groups of one key
SELECT cut('SELECT k, max(s) AS s, sum(1 / v) AS v FROM item_in GROUP BY k');
SELECT cut('SELECT DISTINCT k, s, 1 / v AS v FROM item_in');
SELECT cut('SELECT DISTINCT ON (k) k, s, 1 / v AS v FROM item_in ORDER BY k, v');
SELECT cut('SELECT k, s, 1 / v AS v, row_number() OVER (PARTITION BY k ORDER BY v) AS place FROM item_in');
-- a volatile function keeps the server from filtering early
SELECT cut('SELECT k, s, v, 1 / v AS w, clock_timestamp() IS NULL AS t FROM (SELECT *, random() AS r FROM item_in) i WHERE r < 2');
\i :finish
