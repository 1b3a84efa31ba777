\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B2, B14, B15, D9: a run of a where flow is one transaction's work, and works inside of
-- other things or is refused with a message that says why.
--
CREATE TABLE t (day int, v text);
CREATE TABLE s (LIKE t);
INSERT INTO s VALUES (1, 'a'), (2, 'b');
SELECT replace_flow.create_where_flow('t', 'TABLE s', 'day > 1', reset_allowed => true);
CREATE FUNCTION state() RETURNS text LANGUAGE sql AS
    $$ SELECT format('%s; %s runs', (SELECT string_agg(day || v, ' ' ORDER BY day, v) FROM t), (SELECT count(*) FROM replace_flow.run)) $$;

-- What the same transaction wrote is seen; rolled back, all is as before.
BEGIN;
INSERT INTO s VALUES (3, 'c');
SELECT refreshed('t');
SELECT state();
ROLLBACK;
SELECT state();
SELECT refreshed('t');
SELECT state();
-- Several runs in one transaction.
BEGIN;
UPDATE s SET v = 'bb' WHERE day = 2;
SELECT refreshed('t');
INSERT INTO s VALUES (4, 'd');
SELECT refreshed('t');
SELECT refreshed('t');
COMMIT;
SELECT state();

-- Case O15: a run that fails, and a retry behind a savepoint; a run that succeeded and
-- was undone, in a transaction, behind a savepoint, and twice in a block.
ALTER TABLE t ADD CHECK (v <> 'bad');
BEGIN;
INSERT INTO s VALUES (5, 'bad');
SAVEPOINT p;
SELECT status FROM replace_flow.refresh('t');
ROLLBACK TO p;
UPDATE s SET v = 'good' WHERE day = 5;
SAVEPOINT again;
SELECT refreshed('t');
ROLLBACK TO again;
SELECT state();
SELECT refreshed('t');
COMMIT;
SELECT state();
BEGIN;
UPDATE s SET v = 'undone' WHERE day = 5;
SELECT refreshed('t');
SELECT reset('t');
ROLLBACK;
SELECT refreshed('t');
SELECT state();
INSERT INTO s VALUES (6, 'bad');
DO $$
BEGIN
    FOR i IN 1 .. 3 LOOP
        BEGIN
            PERFORM replace_flow.refresh('t');
            IF i < 3 THEN
                RAISE SQLSTATE 'RF000';
            END IF;
        EXCEPTION
            WHEN check_violation THEN
                UPDATE test.s SET v = 'mended' WHERE v = 'bad';
            WHEN SQLSTATE 'RF000' THEN
                NULL;
        END;
    END LOOP;
END $$;
SELECT state();
SELECT refreshed('t');

-- From functions, procedures, triggers, cursors and prepared statements.
CREATE FUNCTION run_it() RETURNS text LANGUAGE sql AS $$ SELECT status FROM replace_flow.refresh('t') $$;
UPDATE s SET v = 'function' WHERE day = 6;
SELECT run_it();
CREATE PROCEDURE run_twice() LANGUAGE plpgsql AS $$
BEGIN
    UPDATE test.s SET v = 'procedure' WHERE day = 6;
    PERFORM replace_flow.refresh('t');
    COMMIT;
    UPDATE test.s SET v = 'undone' WHERE day = 6;
    PERFORM replace_flow.refresh('t');
    ROLLBACK;
END $$;
CALL run_twice();
SELECT state();
CREATE FUNCTION run_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM replace_flow.refresh('t'); RETURN NULL; END $$;
CREATE TRIGGER run AFTER INSERT OR UPDATE OR DELETE ON s FOR EACH STATEMENT EXECUTE FUNCTION run_trigger();
UPDATE s SET v = 'trigger' WHERE day = 6;
SELECT state();
DELETE FROM s WHERE day = 6;
SELECT state();
DROP TRIGGER run ON s;
PREPARE run_prepared AS SELECT status FROM replace_flow.refresh('t', $1);
UPDATE s SET v = 'prepared' WHERE day IN (1, 5);
EXECUTE run_prepared('day = 1');
EXECUTE run_prepared(NULL);
SELECT state();
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM t ORDER BY day;
FETCH 1 FROM c;
UPDATE s SET v = 'cursor' WHERE day = 5;
SELECT refreshed('t');
FETCH ALL FROM c;
COMMIT;
SELECT state();
SELECT (SELECT status FROM replace_flow.refresh('t')), state() IS NOT NULL AS in_a_query;

-- The definition, in the transaction of its run.
BEGIN;
SELECT replace_flow.drop_flow('t');
SELECT replace_flow.create_where_flow('t', 'SELECT day, upper(v) AS v FROM s', 'true');
SELECT refreshed('t');
ROLLBACK;
SELECT refreshed('t');
BEGIN;
CREATE TABLE made_in (k int);
INSERT INTO made_in VALUES (1);
SELECT replace_flow.create_where_flow('made', 'TABLE made_in', 'k > 0');
SELECT refreshed('made');
COMMIT;
SELECT refreshed('made');
BEGIN;
SELECT replace_flow.pause_flow('t');
SELECT refreshed('t');
ROLLBACK;
SELECT replace_flow.pause_flow('t');
SELECT refreshed('t'), refreshed('t', 'day = 1');
SELECT replace_flow.resume_flow('t');

-- A snapshot that is older than the run's locks could be stale: refused.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
SELECT refused($$ SELECT replace_flow.full_refresh('t') $$);
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
ROLLBACK;
BEGIN READ ONLY;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
ROLLBACK;

DEALLOCATE run_prepared;
\i :finish
