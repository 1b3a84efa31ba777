\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A3, A7, B3, B4: a sequence of every sortable type.  The highest is the one that
-- the order of the target's column puts last; two spellings of one value tie.
--
CREATE TYPE step AS ENUM ('new', 'paid', 'done', 'abandoned');
CREATE DOMAIN score AS numeric(6,2) CHECK (value < 1000);
CREATE DOMAIN scores AS int[] CHECK (cardinality(value) < 5);
CREATE TYPE version AS (major int, minor int);
CREATE DOMAIN good_version AS version CHECK ((value).major > 0);

CREATE TABLE value (type text, low text, low_again text, high text);
INSERT INTO value VALUES
    ('smallint', '9', '+9', '10'),
    ('bigint', '-9223372036854775808', '-9223372036854775808', '9223372036854775807'),
    ('numeric', '9.0', '9.000', '10'),
    ('numeric', '-Infinity', '-inf', '-1e100'),
    ('numeric', '1e100', '1e100', 'Infinity'),
    ('numeric', 'Infinity', 'inf', 'NaN'),
    ('numeric(6,2)', '1.001', '1.004', '1.01'),
    ('numeric(6,-2)', '149', '51', '151'),
    ('real', '-0', '0', '1e-30'),
    ('real', 'Infinity', 'inf', 'NaN'),
    ('double precision', '-1e300', '-1e300', '-0'),
    ('double precision', 'Infinity', 'inf', 'NaN'),
    ('boolean', 'false', 'off', 'true'),
    ('text COLLATE "C"', 'B', 'B', 'a'),
    ('text', '', '', ' '),
    ('varchar(3) COLLATE "C"', '10 ', '10    ', '9'),
    ('char(5) COLLATE "C"', 'ab', 'ab  ', 'ab!'),
    ('"char"', 'A', 'A', 'a'),
    ('name COLLATE "C"', 'A', 'A', 'a'),
    ('bytea', '\x00', '\x00', '\x0000'),
    ('bit(3)', '011', '011', '100'),
    ('varbit', '01', '01', '010'),
    ('date', '-infinity', '-infinity', '4713-01-01 BC'),
    ('date', '5874897-12-31', '5874897-12-31', 'infinity'),
    ('time', '23:59', '23:59:00.0', '24:00'),
    ('timetz', '10:00+00', '10:00:00+00:00', '10:00-01'),
    ('timetz', '10:00+01', '10:00:00+01', '09:00+00'),
    ('timestamp', '-infinity', '-infinity', '0044-03-15 BC'),
    ('timestamptz', '2026-03-01 10:00+00', '2026-03-01 12:00+02', '2026-03-01 09:00-02'),
    ('timestamptz', '2026-03-01', '2026-03-01', 'infinity'),
    ('timestamptz(0)', '2026-03-01 10:00:00.1+00', '2026-03-01 10:00:00.2+00', '2026-03-01 10:00:01+00'),
    ('interval', '29 days 23 hours', '29 days 22 hours 60 minutes', '1 month'),
    ('interval', '1 month', '30 days', '721 hours'),
    ('uuid', '0fffffff-ffff-ffff-ffff-ffffffffffff', '{0FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF}', '10000000-0000-0000-0000-000000000000'),
    ('inet', '9.255.255.255', '9.255.255.255/32', '10.0.0.0/8'),
    ('inet', '255.255.255.255', '255.255.255.255/32', '::1'),
    ('cidr', '10.0.0.0/8', '10/8', '10.0.0.0/9'),
    ('macaddr', '08:00:2b:01:02:03', '08-00-2B-01-02-03', '10:00:2b:01:02:03'),
    ('macaddr8', '08:00:2b:01:02:03', '08:00:2b:ff:fe:01:02:03', '08:00:2b:ff:ff:01:02:03'),
    ('money', '-1', '-1.00', '10'),
    ('oid', '9', ' 9', '4294967295'),
    ('pg_lsn', '0/FF', '0/0FF', '1/0'),
    ('tid', '(9,9)', '(9, 9)', '(10,1)'),
    ('xid8', '9', ' 9', '18446744073709551615'),
    ('integer[]', '{9}', '{ 9 }', '{9,NULL}'),
    ('integer[]', '{9,1000}', '{9, 1000}', '{10}'),
    ('numeric[]', '{1.0}', '{1.00}', '{NaN}'),
    ('int4range', 'empty', '[1,1)', '(,1)'),
    ('numrange', '[1.0,2)', '[1.00,2.0)', '[1,2]'),
    ('int4multirange', '{}', '{empty}', '{[1,2)}'),
    ('int4multirange', '{[1,3),[3,5)}', '{[1,4]}', '{[1,5),[7,8)}'),
    ('tsvector', '', ' ', 'a'),
    ('jsonb', '1.0', '1.00', '10'),
    ('oidvector', '9', ' 9', '1 2'),
    ('test.step', 'paid', 'paid', 'done'),
    ('test.step', 'done', 'done', 'abandoned'),
    ('test.step[]', '{new,done}', '{"new", "done"}', '{paid}'),
    ('test.score', '9.001', '9.004', '10'),
    ('test.scores', '{9}', '{ 9 }', '{10}'),
    ('test.version', '(1,9)', '( 1,9)', '(1,10)'),
    ('test.good_version', '(1,9)', '( 1,9)', '(1,)'),
    ('test.version[]', '{"(1,9)"}', '{"( 1,9)"}', '{"(1,10)"}');

-- Low, then high, then low again; and all in one batch; where the target stores the
-- sequence, where a ledger keeps it, and where only emptied keys are in the ledger.
CREATE FUNCTION try_sequence(type text, low text, low_again text, high text, kind text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    outcome text;
BEGIN
    EXECUTE format('CREATE TABLE target (k int, v text%s)', CASE WHEN kind <> 'ledger' THEN ', s ' || type END);
    CREATE INDEX ON target (k);
    CREATE TABLE stream (k int, s text, v text);
    PERFORM replace_flow.create_using_flow('target', 'stream', '{k}', 's',
        query => format('SELECT k, CAST(s AS %s)%s AS s, v FROM stream', regexp_replace(type, 'COLLATE.*', ''), substring(type, 'COLLATE.*')),
        delete_when => CASE WHEN kind = 'emptied' THEN $e$ v = 'gone' $e$ END);
    INSERT INTO stream VALUES (1, low, 'a'), (2, low, 'a'), (2, high, 'c'), (2, low_again, 'b'), (3, high, 'gone');
    PERFORM applied('target');
    INSERT INTO stream VALUES (1, low_again, 'b'), (2, low_again, 'late');
    PERFORM applied('target');
    SELECT string_agg(k || v, ' ' ORDER BY k, v) INTO outcome FROM target;
    INSERT INTO stream VALUES (1, high, 'c'), (3, low, 'late');
    PERFORM applied('target');
    INSERT INTO stream VALUES (1, low, 'late'), (1, low_again, 'late'), (1, high, 'd');
    PERFORM applied('target');
    SELECT outcome || ', then ' || string_agg(k || v, ' ' ORDER BY k, v) INTO outcome FROM target;
    PERFORM replace_flow.drop_flow('target', drop_target => true);
    DROP TABLE stream;
    RETURN outcome;
END $$;
SELECT kind, outcome, count(*),
    string_agg(DISTINCT type, ', ') FILTER (WHERE replace(outcome, ' 3gone', '') <> '1a 1b 2c, then 1c 1d 2c') AS wrong
FROM value, unnest('{stored, ledger, emptied}'::text[]) AS kind, try_sequence(type, low, low_again, high, kind) AS outcome
WHERE kind <> 'emptied' OR type ~ '^(numeric|interval|text|test)'
GROUP BY kind, outcome ORDER BY kind, outcome;
\i :finish
