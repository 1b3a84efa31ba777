\set ECHO none
-- What every test begins with: a schema of its own, and helpers in it.
--
--   applied(flow)              run a using flow; its counts in words, and they must add up (G1)
--   refreshed(flow, ...)       the same of a where flow; what follows is as in refresh()
--   reset(flow)                the same of its full refresh
--   refused(statement)         the error of a statement: SQLSTATE, message, detail, hint,
--                              and the lines of the context that name a flow
--   same(query, query)         whether two queries give the same rows, copies counted
--   arrange(define, ...)       send batches in every order and cut; see there
\set finish :source /sql/include/finish.sql
\set SHOW_CONTEXT never
\pset null null
SET client_min_messages = warning;
-- to compile the query for arrangements takes a second
SET jit = off;
CREATE SCHEMA test;
SET search_path = test;

-- Runs whose counts do not add up (G1).
CREATE VIEW unaccounted AS
SELECT *
FROM replace_flow.run
WHERE rows_read <> rows_rejected + rows_superseded + rows_late + rows_tie_ignored
        + rows_tombstone + rows_inserted + rows_updated + rows_unchanged
    OR finished_at < started_at
    OR status <> 'succeeded' AND rows_staged + rows_read + rows_deleted + keys_replaced > 0
    OR kind = 'where' AND rows_staged + rows_superseded + rows_late + rows_tie_ignored
        + rows_tombstone + keys_replaced > 0
    OR rows_reset > CASE kind WHEN 'where' THEN rows_deleted + rows_updated ELSE 0 END
    OR kind = 'where' AND status = 'succeeded' AND num_nulls(technique, reasons, predicate) > 0;

-- An old and a new row may be written as one update or as a delete and an
-- insert.  So the new rows that were written "came", and the old ones "went".
CREATE FUNCTION in_words(run replace_flow.run) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM test.unaccounted u WHERE u.run_id = run.run_id) THEN
        RAISE EXCEPTION 'the counts of a run do not add up: %', run;
    END IF;
    IF run.status <> 'succeeded' THEN
        RETURN run.status;
    END IF;
    RETURN (SELECT string_agg(word || ' ' || number, ', ' ORDER BY place)
            FROM (VALUES
                (1, 'staged', CASE run.kind WHEN 'using' THEN nullif(run.rows_staged, run.rows_read) END),
                (2, 'read', run.rows_read),
                (3, 'rejected', nullif(run.rows_rejected, 0)),
                (4, 'superseded', nullif(run.rows_superseded, 0)),
                (5, 'late', nullif(run.rows_late, 0)),
                (6, 'tie ignored', nullif(run.rows_tie_ignored, 0)),
                (7, 'tombstone', nullif(run.rows_tombstone, 0)),
                (8, 'came', nullif(run.rows_inserted + run.rows_updated, 0)),
                (9, 'stayed', nullif(run.rows_unchanged, 0)),
                (10, 'went', nullif(run.rows_deleted + run.rows_updated, 0)),
                (11, 'keys', nullif(run.keys_replaced, 0)),
                (12, 'reset', nullif(run.rows_reset, 0))) AS c (place, word, number));
END $$;
CREATE FUNCTION applied(flow text) RETURNS text
LANGUAGE sql AS 'SELECT test.in_words(replace_flow.apply(flow))';
CREATE FUNCTION refreshed(flow text, predicate_override text DEFAULT NULL, technique text DEFAULT NULL,
    allow_empty boolean DEFAULT NULL) RETURNS text
LANGUAGE sql AS 'SELECT test.in_words(replace_flow.refresh(flow, predicate_override, technique, allow_empty))';
CREATE FUNCTION reset(flow text) RETURNS text
LANGUAGE sql AS 'SELECT test.in_words(replace_flow.full_refresh(flow))';

CREATE FUNCTION refused(statement text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    state text;
    message text;
    detail text;
    hint text;
    context text;
BEGIN
    EXECUTE statement;
    RAISE SQLSTATE 'RF000' USING MESSAGE = 'not refused, and rolled back';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
        detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT;
    -- the numbers of runs and of the flow's own objects are any numbers
    RETURN QUERY
    SELECT regexp_replace(line, '\m(run |flow_|floor_|window_|pg_temp_)\d+', '\1N', 'g')
    FROM (
        SELECT state || ': ' || message
        UNION ALL SELECT 'DETAIL: ' || detail WHERE detail <> ''
        UNION ALL SELECT 'HINT: ' || hint WHERE hint <> ''
        UNION ALL SELECT 'CONTEXT: ' || part FROM string_to_table(context, E'\n') AS part
        WHERE part ~ '^(run|preview|parameter|converting) .* flow '
    ) AS report (line);
END $$;

CREATE FUNCTION same(query1 text, query2 text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    differs boolean;
BEGIN
    EXECUTE format('SELECT EXISTS ((%1$s) EXCEPT ALL (%2$s)) OR EXISTS ((%2$s) EXCEPT ALL (%1$s))',
                   query1, query2) INTO differs;
    RETURN NOT differs;
END $$;

-- arrange(define, target, stream, sent): send the rows of table sent, which has
-- a column "batch" and the stream's columns, in many arrangements, each to an
-- empty target and a flow that "define" creates.  What the target then holds is
-- in outcome: one row, where the rules promise that order and cuts of batches do
-- not matter.
CREATE TABLE arrange_line (number int, batch int, place tid);

-- An arrangement is a list of steps, and a step is a list of lines to stage:
-- the batches in each order (in each rotation, forward and backward, if there
-- are many), neighbours merged in each way, and line by line.
CREATE FUNCTION arrangements() RETURNS TABLE (steps text[])
LANGUAGE sql AS $$
    WITH RECURSIVE
    batch (id, number) AS (SELECT batch, count(*) OVER () FROM arrange_line GROUP BY batch),
    permutation AS (
        SELECT ARRAY[]::int[] AS ids
        UNION ALL
        SELECT ids || id FROM permutation, batch WHERE id <> ALL (ids) AND number <= 4
    ),
    arrangement (name, ids) AS (
        SELECT 'order ' || ids::text, ids FROM permutation
        WHERE cardinality(ids) = (SELECT count(*) FROM batch)
        UNION ALL
        SELECT 'forward from ' || a.id, array_agg(b.id ORDER BY b.id < a.id, b.id)
        FROM batch a, batch b WHERE a.number > 4 GROUP BY a.id
        UNION ALL
        SELECT 'backward from ' || a.id, array_agg(b.id ORDER BY b.id > a.id, b.id DESC)
        FROM batch a, batch b WHERE a.number > 4 GROUP BY a.id
    ),
    step (name, step, line) AS (
        SELECT name, i.step, line.number
        FROM arrangement, unnest(ids) WITH ORDINALITY AS i (id, step), arrange_line line
        WHERE batch = id
        UNION ALL
        SELECT 'merged ' || cuts,
            (SELECT count(*) FROM generate_series(2, line.batch) AS i WHERE cuts & (1 << i) > 0), line.number
        FROM arrange_line line, generate_series(0, (4 << (SELECT max(batch) - 1 FROM arrange_line)) - 1, 4) AS cuts
        UNION ALL
        SELECT 'line by line', number, number FROM arrange_line
        UNION ALL
        SELECT 'line by line, backward', -number, number FROM arrange_line
    ),
    staged (name, step, lines) AS (
        SELECT name, step, array_agg(line)::text FROM step GROUP BY name, step
    )
    SELECT array_agg(lines ORDER BY step) FROM staged GROUP BY name
$$;

CREATE TABLE arrange_result (rows text);
CREATE VIEW outcome AS
SELECT rows, count(*) AS arrangements FROM arrange_result GROUP BY rows ORDER BY rows COLLATE "C";

CREATE PROCEDURE arrange(define text, target regclass, stream regclass, sent text DEFAULT 'sent')
LANGUAGE plpgsql AS $$
DECLARE
    columns text := (SELECT string_agg(quote_ident(attname), ', ')
                     FROM pg_attribute
                     WHERE attrelid = stream AND attnum > 0 AND NOT attisdropped);
    all_steps text[];
    lines text;
    flow text;
BEGIN
    DELETE FROM arrange_line;
    EXECUTE format('INSERT INTO arrange_line SELECT row_number() OVER (ORDER BY batch, ctid), batch, ctid FROM %s', sent);
    DELETE FROM arrange_result;
    FOR all_steps IN SELECT steps FROM arrangements() LOOP
        EXECUTE 'TRUNCATE ' || target;
        EXECUTE define INTO flow;
        FOREACH lines IN ARRAY all_steps LOOP
            EXECUTE format('INSERT INTO %s (%s) SELECT %2$s FROM %s s JOIN arrange_line ON place = s.ctid
                            WHERE number = ANY (%L)', stream, columns, sent, lines);
            COMMIT;
            PERFORM applied(flow);
            COMMIT;
        END LOOP;
        EXECUTE format('INSERT INTO arrange_result
                        SELECT string_agg(t::text, '' '' ORDER BY t::text COLLATE "C") FROM %s t', target);
        PERFORM replace_flow.drop_flow(flow);
    END LOOP;
END $$;
\set ECHO all
