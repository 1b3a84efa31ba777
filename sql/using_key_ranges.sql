\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B17: a run that is bounded to a range of keys never cuts the rows of one key.
-- What makes two values one key is the target's type and collation (A7): 1.0 is
-- 1.00, -0 is 0, NULL is NULL.  Ranges that cover all keys consume each row once
-- and come to what one run would.
--
-- All rows of a key have one sequence, and ties are ignored: rows that come in
-- another run than the first of their key would be missing.
SELECT getdatabaseencoding() <> 'UTF8' OR
    NOT EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') OR
    NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') AS skip \gset
\if :skip
\i :finish
\quit
\endif
SET client_min_messages = error;
CREATE EXTENSION citext SCHEMA test;
CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b numeric);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN word AS varchar(3);

-- 64 ranges that cover all hashes.
CREATE FUNCTION applied_in_ranges(flow text) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(', ', 'staged ' || sum(r.rows_staged), 'keys ' || sum(r.keys_replaced),
        CASE WHEN count(*) FILTER (WHERE r.rows_staged > 0) < 2 THEN 'in one range' END)
    FROM generate_series(-32, 31) AS i,
        LATERAL (SELECT i * 288230376151711744) AS f (first),
        LATERAL replace_flow.apply_range(flow, f.first, f.first + 288230376151711743) AS r
$$;

-- Keys as texts; each is staged twice.
CREATE FUNCTION cut(stored text, staged text, VARIADIC keys text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
    whole text;
BEGIN
    FOR i IN 1 .. 2 LOOP
        EXECUTE format('CREATE TABLE item (k %s, s int, v int)', stored);
        EXECUTE format('CREATE TABLE item_in (k %s, s int, v int)', staged);
        PERFORM replace_flow.create_using_flow('item', 'item_in', '{k}', 's', on_tie => 'ignore', quarantine => true);
        EXECUTE format('INSERT INTO item_in SELECT k::%s, 1, v FROM unnest($1 || $1) WITH ORDINALITY AS u (k, v)',
                       regexp_replace(staged, ' COLLATE.*', '')) USING keys;
        IF i = 1 THEN
            whole := applied('item');
        ELSE
            result := applied_in_ranges('item');
        END IF;
        result := concat_ws(', ', result, 'left ' || (SELECT nullif(count(*), 0) FROM item_in),
                            'lost ' || (SELECT nullif(2 * cardinality(keys) - count(*), 0) FROM item));
        PERFORM replace_flow.drop_flow('item', drop_target => true);
        DROP TABLE item_in;
    END LOOP;
    IF whole NOT LIKE '%keys ' || substring(result FROM 'keys (\d+)') THEN
        result := result || ', but as a whole ' || whole;
    END IF;
    RETURN result;
END $$;

SELECT cut('int', 'int', '1', '2', '3', '4', NULL);
SELECT cut('bigint', 'smallint', '1', '2', '-1', NULL, '0');
SELECT cut('numeric', 'numeric', '1', '1.0', '1.00', '2', 'NaN', '0', '-0.0', NULL);
SELECT cut('numeric(8,2)', 'numeric(8,2)', '1', '1.004', '1.00', '2');
SELECT cut('numeric', 'numeric(8,2)', '1', '1.004', '1.00', '2');
SELECT cut('numeric', 'bigint', '1', '2', '3', '-4');
SELECT cut('float8', 'float8', '0', '-0', 'NaN', 'Infinity', '1', NULL);
SELECT cut('float8', 'float4', '0', '-0', 'NaN', '0.1', '1', NULL);
SELECT cut('text', 'varchar(9)', 'a', 'A', 'a ', 'b', '', NULL);
SELECT cut('citext', 'text', 'a', 'A', 'b', 'B ', 'B');
SELECT cut('citext', 'citext', 'a', 'A', 'b', 'B ', 'B');
SELECT cut('text', 'citext', 'a', 'A', 'b', 'B ', 'B');
SELECT cut('char(4)', 'text', 'a', 'a  ', 'a     ', 'b', 'B', '', ' ');
SELECT cut('char(4)', 'char(9)', 'a', 'a  ', 'b', 'B', '', ' ');
SELECT cut('text', 'char(9)', 'a', 'a  ', 'b', 'B', '', ' ');
SELECT cut('varchar(3)', 'text', 'abc', 'abc  ', 'abc   ', 'ab', 'b', 'c');
SELECT cut('word', 'text', 'abc', 'abc  ', 'abc   ', 'ab', 'b', 'c');
SELECT cut('positive', 'int', '1', '2', '3', '4');
SELECT cut('int', 'positive', '1', '2', '3', '4');
SELECT cut('text COLLATE folded', 'text', 'a', 'A', 'b', 'B', 'C', 'c ');
SELECT cut('text', 'text COLLATE folded', 'a', 'A', 'b', 'B', 'C', 'c ');
SELECT cut('text COLLATE "C"', 'text COLLATE "POSIX"', 'a', 'A', 'b', 'B', 'C', 'c ');
SELECT cut('char(4) COLLATE folded', 'text', 'a', 'A', 'a  ', 'b', 'B', 'C', 'c   ');
SELECT cut('date', 'date', '2030-01-01', '2030-01-02', 'infinity', '2030-01-03');
SELECT cut('interval', 'interval', '1 day', '24 hours', '1 mon', '30 days', '2 days');
SELECT cut('timetz', 'timetz', '10:00+00', '11:00+01', '10:00+00:00', '12:00+00');
SELECT cut('jsonb', 'jsonb', '{"a":1.0}', '{"a": 1.00}', '1', '[]', 'null');
SELECT cut('bytea', 'bytea', 'a', '', 'b', '\x00', '\x0000');
SELECT cut('uuid', 'uuid', repeat('0', 32), repeat('1', 32), repeat('2', 32));
SELECT cut('mood', 'mood', 'sad', 'ok', 'happy', NULL);
SELECT cut('numeric[]', 'numeric[]', '{1,NULL}', '{1.0,NULL}', '{NULL}', '{}', NULL);
SELECT cut('pair', 'pair', '(1,2)', '(1,2.0)', '(1,)', '(,)', NULL);
SELECT cut('int4range', 'int4range', '[1,3)', '[1,2]', 'empty', '(,)', '[2,3)');

-- A key of several columns: each counts, in its place.
CREATE TABLE item (a int, b float8, c text COLLATE folded, s int, v int);
CREATE TABLE item_in (v int, c text, b float4, a smallint, s int) PARTITION BY LIST (a);
CREATE TABLE item_in_1 PARTITION OF item_in FOR VALUES IN (1, NULL);
CREATE TABLE item_in_2 (s int, gone int, a smallint, b float4, c text, v int);
ALTER TABLE item_in_2 DROP COLUMN gone;
ALTER TABLE item_in ATTACH PARTITION item_in_2 DEFAULT;
SELECT replace_flow.create_using_flow('item', 'item_in', '{a,b,c}', 's', on_tie => 'ignore', quarantine => true);
CREATE VIEW batch AS
SELECT a, b, c, row_number() OVER () AS v
FROM unnest('{0,1,2,NULL}'::int[]) a, unnest('{0,-0,1,2,NULL}'::float8[]) b, unnest('{a,A,b,NULL}'::text[]) c;
INSERT INTO item_in (a, b, c, s, v) SELECT a, b, c, 1, v FROM batch;
SELECT applied_in_ranges('item');
SELECT count(*) FROM item_in;
SELECT same('SELECT a, b, c, v FROM item', 'SELECT * FROM batch');
-- the next sets replace these
INSERT INTO item_in (a, b, c, s, v) SELECT a, b, upper(c), 2, v + 1000 FROM batch;
SELECT applied_in_ranges('item');
SELECT count(*) FROM item_in;
SELECT same('SELECT a, b, c, v FROM item', 'SELECT a, b, upper(c), v + 1000 FROM batch');

-- A hash differs from that of the same values in another order.
SELECT count(DISTINCT replace_flow.key_hash(replace_flow.key_hash(0, a), b))
FROM unnest('{0,1,2,NULL}'::int[]) a, unnest('{0,1,2,NULL}'::int[]) b;
SELECT refused('SELECT replace_flow.key_hash(0, point(1, 1))');

-- A range without rows, and one that is upside down: nothing happens.
INSERT INTO item_in (a, s) VALUES (1, 3);
SELECT rows_staged, rows_read FROM replace_flow.apply_range('item', 5, 4);
SELECT rows_staged, rows_read FROM replace_flow.apply_range('item', 4, 4);
SELECT refused($$SELECT replace_flow.apply_range('item', NULL, 4)$$);
SELECT applied('item');
\i :finish
