\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B2: a batch with a row that the target refuses fails whole: target, stream,
-- floors and ledger stay exactly as they were, and after the row is mended the
-- batch is applied as if nothing had happened.
--
CREATE TABLE target (
    k int, s int, v varchar(5) CHECK (v <> 'bad'), n smallint NOT NULL, d date CHECK (d > '2000-01-01'),
    u int UNIQUE, CONSTRAINT sensible CHECK (n < 1000 OR v IS NULL));
CREATE INDEX ON target (k);
CREATE TABLE ledger_target (LIKE target INCLUDING CONSTRAINTS INCLUDING INDEXES);
ALTER TABLE ledger_target DROP COLUMN s;
CREATE TABLE stream (k int, s int, v text, n bigint, d date, u int, gone boolean);
CREATE TABLE ledger_stream (LIKE stream);
SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', delete_when => 'gone');
SELECT replace_flow.create_using_flow('ledger_target', 'ledger_stream', '{k}', 's', delete_when => 'gone');
-- Stage a row in both streams.
CREATE FUNCTION stage(k int, s int, v text DEFAULT 'v', n bigint DEFAULT 1, d date DEFAULT '2026-03-01',
    u int DEFAULT NULL, gone boolean DEFAULT false) RETURNS void LANGUAGE sql AS $$
    INSERT INTO stream VALUES (k, s, v, n, d, u, gone);
    INSERT INTO ledger_stream VALUES (k, s, v, n, d, u, gone);
$$;
-- All that a run may change, each row with its place and age.
CREATE VIEW state AS
    SELECT 'target' AS what, ctid::text || xmin::text || t::text AS "row" FROM target t
    UNION ALL SELECT 'ledger_target', ctid::text || xmin::text || t::text FROM ledger_target t
    UNION ALL SELECT 'stream', ctid::text || xmin::text || s::text FROM stream s
    UNION ALL SELECT 'ledger_stream', ctid::text || xmin::text || s::text FROM ledger_stream s
    UNION ALL SELECT 'floor of target', f::text FROM replace_flow.floors('target') f
    UNION ALL SELECT 'floor of ledger_target', f::text FROM replace_flow.floors('ledger_target') f
    UNION ALL SELECT 'run', run_id::text FROM replace_flow.run
    UNION ALL SELECT 'result', run_id::text FROM replace_flow.expectation_result;
CREATE TABLE state_before (what text, "row" text);

-- One bad row among good ones, in both flows; then it is mended.
CREATE PROCEDURE try_bad(mend text)
LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    COMMIT;
    DELETE FROM state_before;
    INSERT INTO state_before TABLE state;
    FOR line IN SELECT refused('SELECT replace_flow.apply(''target'')') LOOP
        RAISE WARNING '%', line;
    END LOOP;
    PERFORM refused('SELECT replace_flow.apply(''ledger_target'')');
    COMMIT;
    RAISE WARNING 'as it was: %', same('TABLE state', 'TABLE state_before');
    EXECUTE format('UPDATE stream SET %s', mend);
    EXECUTE format('UPDATE ledger_stream SET %s', mend);
    RAISE WARNING '%', applied('target');
    RAISE WARNING '%', applied('ledger_target');
    COMMIT;
END $$;
SELECT stage(1, 1, 'a'), stage(2, 1, 'b'), stage(3, 1, 'c', u => 3), stage(4, 1, gone => true);
SELECT applied('target');
SELECT applied('ledger_target');

-- Case O14: a value that is too long, and one that a constraint refuses.
SELECT stage(1, 2, 'ok'), stage(2, 2, 'toolong'), stage(4, 2, 'd'), stage(3, 2, gone => true);
CALL try_bad($$ v = 'fine' WHERE v = 'toolong' $$);
SELECT k, s, v FROM target ORDER BY k;
SELECT k, v FROM ledger_target ORDER BY k;
SELECT stage(1, 3, 'bad'), stage(2, 3, 'good');
CALL try_bad($$ v = 'fine' WHERE v = 'bad' $$);

-- A value out of range, a NULL, a date, a constraint over two columns, a set that
-- clashes with itself, and with the row of another key.
SELECT stage(1, 4, n => 100000), stage(2, 4);
CALL try_bad('n = 100 WHERE n > 1000');
SELECT stage(1, 5, n => NULL), stage(2, 5);
CALL try_bad('n = 1 WHERE n IS NULL');
SELECT stage(1, 6, d => '1999-01-01'), stage(2, 6);
CALL try_bad($$ d = '2026-01-01' WHERE d < '2000-01-01' $$);
SELECT stage(1, 7, n => 5000), stage(2, 7);
CALL try_bad('v = NULL WHERE n = 5000');
SELECT stage(1, 8, u => 8), stage(1, 8, u => 8), stage(2, 8);
CALL try_bad('u = 9 WHERE ctid = (SELECT max(ctid) FROM stream WHERE u = 8) AND u = 8');
SELECT FROM stage(2, 9, u => 8);
CALL try_bad('u = 10 WHERE u = 8');

-- A foreign key.
CREATE TABLE parent (n smallint PRIMARY KEY);
INSERT INTO parent SELECT n FROM target UNION SELECT n FROM ledger_target;
ALTER TABLE target ADD FOREIGN KEY (n) REFERENCES parent;
ALTER TABLE ledger_target ADD FOREIGN KEY (n) REFERENCES parent;
SELECT stage(1, 10, n => 77), stage(2, 10);
CALL try_bad('n = 1 WHERE n = 77');

-- A trigger that raises an error, and one that swallows a row (B12).
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.v = 'no' THEN
        RAISE EXCEPTION 'the trigger says no';
    ELSIF NEW.v = 'eat' THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON target FOR EACH ROW EXECUTE FUNCTION refuse();
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON ledger_target FOR EACH ROW EXECUTE FUNCTION refuse();
SELECT stage(1, 12, 'no'), stage(2, 12);
CALL try_bad($$ v = 'yes' WHERE v = 'no' $$);
SELECT stage(5, 1, 'eat'), stage(2, 13);
CALL try_bad($$ v = 'keep' WHERE v = 'eat' $$);

-- An error in the query.
CREATE TABLE ratio_in (k int, s int, a int, b int);
SELECT replace_flow.create_using_flow('ratio', 'ratio_in', '{k}', 's', query => 'SELECT k, s, a / b AS r FROM ratio_in');
INSERT INTO ratio_in VALUES (1, 1, 4, 2), (2, 1, 4, 0);
SELECT refused($$ SELECT replace_flow.apply('ratio') $$);
UPDATE ratio_in SET b = 4 WHERE b = 0;
SELECT applied('ratio');
SELECT * FROM ratio ORDER BY k;

-- Stopped by statement_timeout in the middle (case O14): the same.
CREATE TABLE slow_in (k int, s int);
SELECT replace_flow.create_using_flow('slow', 'slow_in', '{k}', 's');
CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.k = 1000 THEN
        PERFORM pg_sleep(600);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER be_slow BEFORE INSERT ON slow FOR EACH ROW EXECUTE FUNCTION be_slow();
INSERT INTO slow_in SELECT i, 1 FROM generate_series(1, 2000) AS i;
SET statement_timeout = '200ms';
SELECT status FROM replace_flow.apply('slow');
\echo :LAST_ERROR_SQLSTATE
RESET statement_timeout;
SELECT (SELECT count(*) FROM slow) AS rows, (SELECT count(*) FROM slow_in) AS staged;
ALTER TABLE slow DISABLE TRIGGER be_slow;
SELECT applied('slow');

-- In the end nothing is doubled and nothing is missed.
SELECT k, s, v, n, d = '2026-03-01' AS d, u FROM target ORDER BY k, u;
SELECT same('SELECT k, v, n, d, u FROM target', 'SELECT k, v, n, d, u FROM ledger_target');
\i :finish
