\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set zones :source /sql/include/zones.sql
\i :zones
--
-- D3: what a condition on local times and dates says of the source's timestamps is
-- right in every time zone, also where clocks are set back past midnight, or a day
-- is left out or lived twice.
--
CREATE TABLE function (expression text);
INSERT INTO function VALUES
    ('date_trunc(''day'', at)'), ('date_trunc(''hour'', at)'), ('date_trunc(''week'', at)'),
    ('date_trunc(''day'', at, ''America/Havana'')'), ('at::date'), ('at::date::timestamptz'),
    ('at AT TIME ZONE ''Pacific/Apia'''), ('(at - interval ''5 hours'')::date'),
    ('at + interval ''1 day 1 hour'''), ('extract(julian FROM at)'), ('local_at::timestamptz'),
    ('(local_at AT TIME ZONE ''America/St_Johns'')::date');

-- Rows around a change, in the zone's time.
CREATE TABLE source (at timestamptz, local_at timestamp);
CREATE FUNCTION fill_source(middle timestamptz) RETURNS void LANGUAGE sql AS $$
    TRUNCATE test.source;
    INSERT INTO test.source SELECT moment, moment FROM moments(middle) AS moment;
$$;

-- For each function and several bounds: predicates for which the target is not
-- what the finished rows give.
CREATE FUNCTION wrong_predicates(query text, middle timestamptz) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    bound text;
    predicate text;
    is_same boolean;
BEGIN
    PERFORM replace_flow.create_where_flow('result', query, 'value IS NOT NULL');
    FOR bound, predicate IN EXECUTE format(
        'SELECT DISTINCT value::text, p
         FROM (%s WHERE at IN ($1, $1 + interval ''23 h'', $1 - interval ''25 h 1 microsecond'')) q,
              unnest(ARRAY[''value >= %%L'', ''value < %%L'']) p', query) USING middle LOOP
        predicate := format(predicate, bound);
        DELETE FROM result;
        INSERT INTO test.tried SELECT rows_read FROM replace_flow.refresh('result', predicate);
        EXECUTE format('SELECT test.same(''TABLE result'', %L)',
                       format('SELECT * FROM (%s OFFSET 0) q WHERE %s', query, predicate)) INTO is_same;
        IF is_same IS NOT TRUE THEN
            RETURN NEXT predicate;
        END IF;
    END LOOP;
    PERFORM replace_flow.drop_flow('result', drop_target => true);
END $$;
CREATE TABLE tried (rows_read bigint);
CREATE TABLE wrong (zone text, expression text, predicate text);
CREATE PROCEDURE try_zones() LANGUAGE plpgsql AS $$
DECLARE
    change record;
    function record;
BEGIN
    FOR change IN SELECT * FROM test.change LOOP
        PERFORM set_config('TimeZone', change.zone, false), test.fill_source(change.at);
        FOR function IN SELECT * FROM test.function LOOP
            INSERT INTO test.wrong
            SELECT change.zone, function.expression,
                test.wrong_predicates(format('SELECT *, %s AS value FROM source', function.expression), change.at);
            COMMIT;
        END LOOP;
    END LOOP;
END $$;
CALL try_zones();
SELECT * FROM wrong;
SELECT count(*) > 250 AS tried_many FROM tried WHERE rows_read > 0;
\i :finish
