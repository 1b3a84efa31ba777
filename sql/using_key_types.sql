\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A3, A7: keys of every sortable type.  Two spellings of one value are one key,
-- by the type's default btree operator class; so is NULL, apart from all others.
--
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN posint AS int CHECK (value > 0);
CREATE TYPE pair AS (a int, b text);

CREATE TABLE value (type text, one text, one_again text, other text);
INSERT INTO value VALUES
    ('smallint', '1', '+1', '2'),
    ('integer', '1', '+1', '2'),
    ('bigint', '8589934592', '+8589934592', '4294967296'),
    ('numeric', '1.0', '1.00', '1.1'),
    ('numeric', 'NaN', 'NaN', '0'),
    ('numeric', 'Infinity', 'inf', '-Infinity'),
    ('numeric(6,2)', '1.001', '1.004', '1.01'),
    ('real', '0', '-0', '1e-30'),
    ('real', 'NaN', 'NaN', 'Infinity'),
    ('double precision', '0', '-0', '1e-300'),
    ('double precision', 'NaN', 'nan', 'Infinity'),
    ('boolean', 'true', 'on', 'false'),
    ('text', 'a', 'a', 'a '),
    ('text', '', '', ' '),
    ('varchar(3)', 'abc', 'abc   ', 'ab'),
    ('char(5)', 'ab', 'ab  ', ' ab'),
    ('"char"', 'a', 'a', 'A'),
    ('name', 'a', 'a', 'A'),
    ('bytea', '\x00ff', '\x00FF', '\x00'),
    ('bit(3)', '101', '101', '100'),
    ('varbit', '101', '101', '1010'),
    ('date', '2026-03-01', '20260301', 'infinity'),
    ('time', '10:00', '10:00:00.000', '22:00'),
    ('timetz', '10:00+00', '10:00:00+00:00', '11:00+01'),
    ('timestamp', '2026-03-01 00:00', '20260301', '-infinity'),
    ('timestamptz', '2026-03-01 10:00+00', '2026-03-01 12:00+02', '2026-03-01 10:00+02'),
    ('timestamptz(0)', '2026-03-01 10:00:00.1+00', '2026-03-01 10:00:00.2+00', '2026-03-01 10:00:01+00'),
    ('interval', '1 day', '24 hours', '25 hours'),
    ('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{A0EEBC999C0B4EF8BB6D6BB9BD380A11}',
     'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12'),
    ('inet', '10.0.0.1', '10.0.0.1/32', '10.0.0.1/8'),
    ('cidr', '10.0.0.0/8', '10/8', '10.0.0.0/9'),
    ('macaddr', '08:00:2b:01:02:03', '08-00-2B-01-02-03', '08:00:2b:01:02:04'),
    ('macaddr8', '08:00:2b:01:02:03', '08:00:2b:ff:fe:01:02:03', '08:00:2b:01:02:03:04:06'),
    ('money', '1', '1.00', '2'),
    ('oid', '1', '01', '2'),
    ('pg_lsn', '0/1', '0/01', '1/0'),
    ('tid', '(0,1)', '(0, 1)', '(1,0)'),
    ('xid8', '1', '01', '2'),
    ('integer[]', '{1,NULL}', '{1,null}', '{1}'),
    ('integer[]', '{}', '{}', '{NULL}'),
    ('numeric[]', '{1.0,2}', '{1.00,2.0}', '{1.0}'),
    ('text[]', '{a,NULL}', '{"a",null}', '{a,"NULL"}'),
    ('int4range', '[1,3)', '[1,2]', 'empty'),
    ('numrange', '[1.0,2)', '[1.00,2.0)', '[1,2]'),
    ('int4multirange', '{[1,3),[3,5)}', '{[1,4]}', '{}'),
    ('tsvector', 'a b', 'b a', 'a'),
    ('tsquery', 'a&b', 'a & b', 'b&a'),
    ('jsonb', '{"a": 1.0}', '{"a":1.00}', 'null'),
    ('test.mood', 'ok', 'ok', 'sad'),
    ('test.posint', '1', '+1', '2'),
    ('test.pair', '(1,)', '( 1,)', '(1,"")'),
    ('test.pair', '(,)', '(,)', '(1,)'),
    ('test.pair[]', '{"(1,a)"}', '{"( 1,a)"}', '{"(1,b)"}');

-- In a target without an index, with one, and with a ledger: the key's set is
-- replaced, the other key's and that of NULL are not; then an older set is late.
CREATE FUNCTION try_key(type text, one text, one_again text, other text, has_index boolean, stores boolean)
RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    rows text;
BEGIN
    EXECUTE format('CREATE TABLE target (k %s, v text%s)', type, CASE WHEN stores THEN ', s int' END);
    IF has_index THEN
        CREATE INDEX ON target (k);
    END IF;
    CREATE TABLE stream (k text, s int, v text);
    PERFORM set_config('client_min_messages', 'error', true);
    PERFORM replace_flow.create_using_flow('target', 'stream', '{k}', 's',
        query => format('SELECT k::%s AS k, s, v FROM stream', type));
    INSERT INTO stream VALUES (one, 1, 'old'), (other, 1, 'other'), (NULL, 1, 'null');
    PERFORM applied('target');
    INSERT INTO stream VALUES (one_again, 2, 'new');
    PERFORM applied('target');
    INSERT INTO stream VALUES (one, 1, 'late'), (NULL, 2, 'newer null'), (other, 0, 'late other');
    PERFORM applied('target');
    SELECT string_agg(v, ', ' ORDER BY v COLLATE "C") INTO rows FROM target;
    SELECT rows || '; floors ' || string_agg(floor, ' ' ORDER BY floor) INTO rows FROM replace_flow.floors('target');
    PERFORM replace_flow.drop_flow('target', drop_target => true);
    DROP TABLE stream;
    RETURN rows;
END $$;
SELECT outcome, count(*), string_agg(DISTINCT type, ', ') FILTER (WHERE outcome <> 'new, newer null, other; floors 1 2 2') AS wrong
FROM value, (VALUES (false, true), (true, true), (true, false)) AS variant (has_index, stores),
    try_key(type, one, one_again, other, has_index, stores) AS outcome
GROUP BY outcome;
\i :finish
