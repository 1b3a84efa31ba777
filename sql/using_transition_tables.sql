\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B11: what the triggers of the target see is the net change of the run.  Two
-- copies of each target are kept by nothing but its triggers, one by statement
-- triggers with transition tables and one by row triggers; both equal the target
-- after each run.  A statement is issued once for a kind of change, and not at all
-- where there is nothing of that kind.
--
CREATE TABLE copy_by_statement (name text, "row" text);
CREATE TABLE copy_by_row (name text, "row" text);
CREATE TABLE fired (what text);
CREATE FUNCTION note_statement() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    gone text[];
BEGIN
    INSERT INTO test.fired VALUES (TG_WHEN || ' ' || TG_OP);
    IF TG_WHEN = 'BEFORE' THEN
        RETURN NULL;
    END IF;
    IF TG_OP IN ('UPDATE', 'DELETE') THEN
        SELECT array_agg(to_jsonb(o)::text) INTO gone FROM old_rows o;
        -- one row for each, however many are alike
        DELETE FROM test.copy_by_statement c USING (
            SELECT ctid, row_number() OVER (PARTITION BY "row") AS n, "row" FROM test.copy_by_statement
            WHERE name = TG_TABLE_NAME) AS numbered
        WHERE c.ctid = numbered.ctid
            AND numbered.n <= (SELECT count(*) FROM unnest(gone) AS g WHERE g = numbered."row");
    END IF;
    IF TG_OP IN ('UPDATE', 'INSERT') THEN
        INSERT INTO test.copy_by_statement SELECT TG_TABLE_NAME, to_jsonb(n)::text FROM new_rows n;
    END IF;
    RETURN NULL;
END $$;
-- As jsonb, since a row trigger sees a row of a part as that part has it.
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP IN ('UPDATE', 'DELETE') THEN
        DELETE FROM test.copy_by_row WHERE ctid = (
            SELECT min(ctid) FROM test.copy_by_row WHERE name = TG_ARGV[0] AND "row" = to_jsonb(OLD)::text);
    END IF;
    IF TG_OP IN ('UPDATE', 'INSERT') THEN
        INSERT INTO test.copy_by_row VALUES (TG_ARGV[0], to_jsonb(NEW)::text);
    END IF;
    RETURN NULL;
END $$;
CREATE PROCEDURE watch(target name)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TRIGGER a BEFORE INSERT OR UPDATE OR DELETE ON %I EXECUTE FUNCTION note_statement()', target);
    EXECUTE format('CREATE TRIGGER b AFTER INSERT ON %I REFERENCING NEW TABLE AS new_rows EXECUTE FUNCTION note_statement()', target);
    EXECUTE format('CREATE TRIGGER c AFTER UPDATE ON %I REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
                    EXECUTE FUNCTION note_statement()', target);
    EXECUTE format('CREATE TRIGGER d AFTER DELETE ON %I REFERENCING OLD TABLE AS old_rows EXECUTE FUNCTION note_statement()', target);
    EXECUTE format('CREATE TRIGGER e AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION note_row(%1$L)', target);
END $$;

-- Targets of different shapes: rows alike and no index that makes one unique;
-- a natural key, so that rows are updated; with columns that the flow does not
-- give; with parts; and with the sequence stored.
CREATE TABLE plain (k int, line int, v text);
CREATE INDEX ON plain (k);
CREATE TABLE natural_key (k int, line int, v text, PRIMARY KEY (k, line));
CREATE TABLE more_columns (id int GENERATED ALWAYS AS IDENTITY, k int, line int, v text, twice int GENERATED ALWAYS AS (2 * k) STORED,
    UNIQUE (k, line));
CREATE TABLE parts (k int, line int, v text) PARTITION BY LIST (k);
CREATE TABLE parts_1 (v text, gone int, line int, k int);
ALTER TABLE parts_1 DROP COLUMN gone;
ALTER TABLE parts ATTACH PARTITION parts_1 FOR VALUES IN (1, 2);
CREATE TABLE parts_rest PARTITION OF parts DEFAULT PARTITION BY HASH (line);
CREATE TABLE parts_rest_0 PARTITION OF parts_rest FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_rest_1 PARTITION OF parts_rest FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE INDEX ON parts (k);
CREATE TABLE stores (k int, line int, v text, s int, UNIQUE (k, line));

-- Each run, with what fired in it.
CREATE FUNCTION watched(target name, VARIADIC sets text[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    line text;
    run replace_flow.run;
BEGIN
    FOREACH line IN ARRAY sets LOOP
        IF line <> '' THEN
            EXECUTE format('INSERT INTO %I (k, line, v, s) VALUES %s', target || '_in', line);
        END IF;
        DELETE FROM fired;
        run := replace_flow.apply(target);
        IF NOT same(format('SELECT to_jsonb(t)::text FROM %I t', target), format('SELECT "row" FROM copy_by_statement WHERE name = %L', target)) OR
            NOT same(format('SELECT to_jsonb(t)::text FROM %I t', target), format('SELECT "row" FROM copy_by_row WHERE name = %L', target)) THEN
            RETURN NEXT 'the triggers saw something else than the change';
        END IF;
        -- the counts say which statements are due, each of them once
        IF NOT same($q$ SELECT what FROM fired $q$, format($q$
                SELECT place || ' ' || kind
                FROM (VALUES ('DELETE', %s), ('UPDATE', %s), ('INSERT', %s)) AS due (kind, rows), (VALUES ('BEFORE'), ('AFTER')) AS p (place)
                WHERE rows > 0 $q$, run.rows_deleted, run.rows_updated, run.rows_inserted)) THEN
            RETURN NEXT 'fired: ' || (SELECT string_agg(what, ', ') FROM fired);
        END IF;
        RETURN NEXT format('%s came, %s stayed, %s went', run.rows_inserted + run.rows_updated, run.rows_unchanged,
                           run.rows_deleted + run.rows_updated);
    END LOOP;
END $$;
DO $$
DECLARE
    target text;
BEGIN
    FOREACH target IN ARRAY '{plain, natural_key, more_columns, parts, stores}'::text[] LOOP
        EXECUTE format('CREATE TABLE %I (k int, line int, v text, s int)', target || '_in');
        PERFORM replace_flow.create_using_flow(target, (target || '_in')::regclass, '{k}', 's',
                                               on_tie => 'replace', delete_when => 'v IS NULL');
        CALL watch(target);
    END LOOP;
END $$;
-- Only inserts; one of each kind; only deletes; a late row, an empty stream and a
-- set that stays, with nothing fired; a key that becomes another's neighbour.
SELECT target, watched(target,
    $$ (1, 1, 'a', 1), (1, 2, 'b', 1), (1, 3, 'c', 1), (2, 1, 'd', 1), (3, 1, 'e', 1), (3, 2, 'f', 1) $$,
    $$ (1, 1, 'a', 2), (1, 2, 'B', 2), (1, 4, 'g', 2), (3, 1, 'E', 2), (3, 2, 'f', 2) $$,
    $$ (2, 0, NULL, 2) $$,
    $$ (1, 1, 'late', 1) $$, '', $$ (3, 1, 'E', 2), (3, 2, 'f', 2) $$,
    $$ (1, 1, 'E', 3), (3, 1, 'a', 3), (2, 1, 'd', 2), (4, 1, 'h', 3) $$)
FROM unnest('{plain, natural_key, more_columns, parts, stores}'::text[]) AS target;
-- Rows that are alike, as many as there are.
SELECT target, watched(target,
    $$ (9, 1, 'x', 1), (9, 1, 'x', 1), (9, 1, 'x', 1), (9, 1, 'y', 1) $$,
    $$ (9, 1, 'x', 2), (9, 1, 'y', 2), (9, 1, 'y', 2) $$,
    $$ (9, 1, 'x', 3), (9, 1, 'x', 3) $$)
FROM unnest('{plain, parts}'::text[]) AS target;
-- Many keys, with all kinds of changes.
SELECT target, watched(target,
    (SELECT string_agg(format('(%s, %s, %L, 1)', k, line, 'v' || (k * line) % 7), ', ') FROM generate_series(10, 59) AS k, generate_series(1, 1 + k % 4) AS line),
    (SELECT string_agg(format('(%s, %s, %L, 2)', k, line, 'v' || (k * line) % 5), ', ') FROM generate_series(10, 59) AS k, generate_series(1, 1 + k % 3) AS line),
    (SELECT string_agg(format('(%s, 1, %s, 3)', k, CASE WHEN k % 2 = 0 THEN quote_literal('w') ELSE 'NULL' END), ', ') FROM generate_series(10, 59) AS k))
FROM unnest('{plain, natural_key, more_columns, parts, stores}'::text[]) AS target;
SELECT count(*) AS rows, count(DISTINCT name) AS targets FROM copy_by_row;
\i :finish
