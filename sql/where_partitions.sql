\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B13, D9: partitioned targets work like plain ones.
--
CREATE TABLE s (day int, region text, v text);
INSERT INTO s SELECT day, region, format('%s %s', day, region) FROM generate_series(1, 12) AS day, unnest('{eu,us}'::text[]) AS region;
-- Make a target, fill it, change the source, and compare after each refresh.
CREATE FUNCTION try(definition text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    predicate text;
BEGIN
    EXECUTE definition;
    INSERT INTO t SELECT day, region, 'history' FROM s;
    PERFORM replace_flow.create_where_flow('t', 'SELECT v, region, day FROM s', 'day > 4');
    RETURN NEXT refreshed('t');
    RETURN NEXT refreshed('t');
    UPDATE s SET v = v || '!' WHERE day IN (4, 5, 12) AND region = 'eu';
    -- rows that go to another partition
    UPDATE s SET day = 15 - day WHERE region = 'us' AND day IN (5, 10);
    DELETE FROM s WHERE day = 9;
    RETURN NEXT refreshed('t');
    CREATE TABLE expected AS SELECT day, region, 'history' AS v FROM generate_series(1, 4) AS day, unnest('{eu,us}'::text[]) AS region
        UNION ALL SELECT * FROM s WHERE day > 4;
    RETURN NEXT CASE WHEN same('SELECT day, region, v FROM t', 'TABLE expected') THEN 'same' ELSE 'DIFFERENT' END;
    FOREACH predicate IN ARRAY ARRAY['day BETWEEN 1 AND 3 AND region = ''eu''', 'region = ''us''', 'false', 'day % 2 = 0'] LOOP
        EXECUTE format('DELETE FROM expected WHERE %1$s; INSERT INTO expected SELECT * FROM s WHERE %1$s', predicate);
        PERFORM refreshed('t', predicate);
        IF NOT same('SELECT day, region, v FROM t', 'TABLE expected') THEN
            RETURN NEXT 'DIFFERENT after ' || predicate;
        END IF;
    END LOOP;
    PERFORM replace_flow.drop_flow('t', drop_target => true);
    DROP TABLE expected;
    RAISE SQLSTATE 'RF000';
EXCEPTION WHEN SQLSTATE 'RF000' THEN
    -- with the source as it was
    RETURN;
END $$;
SELECT try('CREATE TABLE t (day int, region text, v text)');
SELECT try($$ CREATE TABLE t (day int, region text, v text) PARTITION BY RANGE (day);
    CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (MINVALUE) TO (5);
    CREATE TABLE t_2 PARTITION OF t FOR VALUES FROM (5) TO (9);
    CREATE TABLE t_3 PARTITION OF t FOR VALUES FROM (9) TO (MAXVALUE) $$);
SELECT try($$ CREATE TABLE t (day int, region text, v text) PARTITION BY LIST (region);
    CREATE TABLE t_1 PARTITION OF t FOR VALUES IN ('eu');
    CREATE TABLE t_2 PARTITION OF t DEFAULT $$);
SELECT try($$ CREATE TABLE t (day int, region text, v text) PARTITION BY HASH (day);
    CREATE TABLE t_1 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE t_2 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 1) $$);
-- sub-partitions, of other shapes, with a unique index
SELECT try($$ CREATE TABLE t (gone int, day int, region text, v text, UNIQUE (day, region)) PARTITION BY LIST (region);
    ALTER TABLE t DROP COLUMN gone;
    CREATE TABLE t_1 PARTITION OF t FOR VALUES IN ('eu');
    CREATE TABLE t_2 (v text, gone text, region text, day int) PARTITION BY RANGE (day);
    ALTER TABLE t_2 DROP COLUMN gone;
    ALTER TABLE t ATTACH PARTITION t_2 DEFAULT;
    CREATE TABLE t_2_1 (region text, day int, v text);
    ALTER TABLE t_2 ATTACH PARTITION t_2_1 FOR VALUES FROM (0) TO (6);
    CREATE TABLE t_2_2 PARTITION OF t_2 DEFAULT $$);

-- A row without a partition fails the run whole; one without that is out of the window
-- does not matter.
CREATE TABLE t (day int, region text, v text) PARTITION BY RANGE (day);
CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (1) TO (6);
CREATE TABLE t_2 PARTITION OF t FOR VALUES FROM (6) TO (11);
SELECT replace_flow.create_where_flow('t', 'TABLE s', 'day < 11');
SELECT refreshed('t');
UPDATE s SET v = 'changed';
SELECT line FROM refused($$ SELECT replace_flow.refresh('t', 'day > 3') $$) AS line LIMIT 1;
SELECT count(*) FROM t WHERE v = 'changed';
-- Unchanged rows stay in their place (B10); only parts with changes have new versions.
CREATE TABLE before AS SELECT tableoid AS part, ctid AS place, xmin AS writer FROM t;
UPDATE s SET v = format('%s %s', day, region) WHERE day <> 7;
SELECT refreshed('t');
SELECT count(*) AS written FROM t WHERE NOT EXISTS (SELECT FROM before WHERE part = t.tableoid AND place = t.ctid AND writer = t.xmin);
-- A partition is attached, detached, and is a target by itself.
ALTER TABLE t DETACH PARTITION t_2;
SELECT line FROM refused($$ SELECT replace_flow.refresh('t') $$) AS line LIMIT 1;
SELECT refreshed('t', 'day < 6');
CREATE TABLE t_3 PARTITION OF t FOR VALUES FROM (6) TO (13);
SELECT refreshed('t', 'true');
SELECT same('TABLE t', 'TABLE s');
SELECT count(*) FROM t_2;
SELECT replace_flow.drop_flow('t');
SELECT replace_flow.create_where_flow('t_3', 'TABLE s', 'day > 8');
UPDATE s SET v = 'as a part';
SELECT refreshed('t_3');
SELECT line FROM refused($$ SELECT replace_flow.refresh('t_3', 'day < 8') $$) AS line LIMIT 1;
SELECT v = 'as a part' AS written, count(*), min(day) FROM t GROUP BY 1 ORDER BY 1;
\i :finish
