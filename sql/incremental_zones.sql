\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set zones :source /sql/include/zones.sql
\i :zones
--
-- E1: the rows of an affected group are looked for by the range of the time that its
-- value is computed from.  Where local time jumps, rows of another group can lie in it.
--
CREATE TABLE function (expression text);
INSERT INTO function VALUES
    ('date_trunc(''day'', at)'), ('date_trunc(''hour'', at)'), ('date_trunc(''month'', at)'),
    ('date_trunc(''day'', at, ''America/St_Johns'')'), ('at::date'), ('at::date::timestamptz'),
    ('(at - interval ''5 hours'')::date'), ('(at AT TIME ZONE ''Pacific/Apia'')::date'),
    ('date_trunc(''day'', local_at)'), ('date_trunc(''day'', local_at)::timestamptz'), ('local_at::timestamptz'),
    ('date_trunc(''day'', local_at::timestamptz)'), ('n / 10'), ('(n / 10)::bigint');

-- Rows around a change, with the zone's time.
CREATE TABLE source (n int, at timestamptz, local_at timestamp, part int, weight int DEFAULT 0);
CREATE INDEX ON source (at);
CREATE FUNCTION fill_source(middle timestamptz) RETURNS void LANGUAGE sql AS $$
    TRUNCATE test.source;
    INSERT INTO test.source SELECT n, at, at, n % 2 FROM moments(middle) WITH ORDINALITY AS moment (at, n);
$$;

-- Whether each refresh after a change is right, of one group and of many.
CREATE TABLE tried (zone text, expression text, changed interval, technique text, is_right boolean);
CREATE PROCEDURE try_function(zone text, expression text, middle timestamptz) LANGUAGE plpgsql AS $$
DECLARE
    query text := format('SELECT %s AS value, part, count(*) AS rows, sum(weight) AS weight, max(n) AS last
                          FROM source GROUP BY 1, 2', expression);
    technique text;
    distance interval;
    many boolean;
    everywhere boolean;
BEGIN
    PERFORM replace_flow.create_where_flow('result', query, 'true');
    COMMIT;
    PERFORM replace_flow.refresh('result');
    FOR distance, many, everywhere IN
        VALUES ('0'::interval, false, false), ('-1 microsecond', false, false), ('-30 min', false, false), ('23 h', false, false),
            ('-25 h 1 microsecond', false, false), ('-30 h', true, false), ('-31 h', true, true)
    LOOP
        COMMIT;
        UPDATE source SET weight = weight + 1
        WHERE at = middle + distance OR many AND n % 7 = 0 AND at > '1800-01-01' AND isfinite(at)
            OR everywhere AND (at < '1800-01-01' OR at = 'infinity' OR at IS NULL);
        SELECT run.technique INTO technique FROM replace_flow.refresh('result', technique => 'ROW_BASED') AS run;
        INSERT INTO test.tried VALUES (zone, expression, distance, technique, test.same('TABLE result', query));
    END LOOP;
    PERFORM replace_flow.drop_flow('result', drop_target => true);
END $$;
CREATE PROCEDURE try_zones() LANGUAGE plpgsql AS $$
DECLARE
    change record;
    function record;
BEGIN
    FOR change IN SELECT * FROM test.change LOOP
        PERFORM set_config('TimeZone', change.zone, false), test.fill_source(change.at);
        FOR function IN SELECT * FROM test.function LOOP
            CALL test.try_function(change.zone, function.expression, change.at);
        END LOOP;
    END LOOP;
END $$;
CALL try_zones();
SELECT * FROM tried WHERE is_right IS NOT TRUE;
SELECT technique, count(*) FROM tried GROUP BY 1;
\i :finish
