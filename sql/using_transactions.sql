\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B1, B2: a run consumes exactly the rows that are visible at one moment, all in
-- one transaction.  B14, B15: it works inside other things.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');

-- Rows that the same transaction staged are seen; rolled back, all is as before.
BEGIN;
INSERT INTO item_in VALUES (1, 1, 'a');
SELECT applied('item');
TABLE item;
ROLLBACK;
SELECT (SELECT count(*) FROM item) AS rows, (SELECT count(*) FROM item_in) AS staged, (SELECT count(*) FROM replace_flow.run) AS runs;
INSERT INTO item_in VALUES (1, 1, 'a');
BEGIN;
SELECT applied('item');
ROLLBACK;
SELECT (SELECT count(*) FROM item) AS rows, (SELECT count(*) FROM item_in) AS staged, (SELECT count(*) FROM replace_flow.run) AS runs;
SELECT applied('item');
TABLE item;

-- Several runs in one transaction, each over what was staged since.
BEGIN;
INSERT INTO item_in VALUES (1, 2, 'b');
SELECT applied('item');
INSERT INTO item_in VALUES (1, 3, 'c'), (2, 1, 'x');
SELECT applied('item');
SELECT applied('item');
COMMIT;
SELECT * FROM item ORDER BY k;

-- O15: a failed run and a retry behind a savepoint; a run that succeeded and was undone.
BEGIN;
INSERT INTO item_in VALUES (1, NULL, 'no sequence'), (2, 2, 'y');
SAVEPOINT before;
SELECT status FROM replace_flow.apply('item');
ROLLBACK TO before;
UPDATE item_in SET s = 4, v = 'd' WHERE s IS NULL;
SAVEPOINT again;
SELECT applied('item');
ROLLBACK TO again;
SELECT count(*) AS staged FROM item_in;
SELECT applied('item');
COMMIT;
SELECT * FROM item ORDER BY k;

-- From functions, DO blocks with an exception clause, procedures and triggers.
CREATE FUNCTION run_it() RETURNS text LANGUAGE sql AS $$ SELECT status FROM replace_flow.apply('item') $$;
INSERT INTO item_in VALUES (3, 1, 'from a function');
SELECT run_it();
INSERT INTO item_in VALUES (4, NULL, 'from a block');
DO $$
BEGIN
    FOR i IN 1 .. 2 LOOP
        BEGIN
            PERFORM replace_flow.apply('item');
        EXCEPTION WHEN not_null_violation THEN
            RAISE WARNING 'not yet';
            UPDATE test.item_in SET s = 1;
        END;
    END LOOP;
END $$;
CREATE PROCEDURE run_twice() LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO item_in VALUES (5, 1, 'from a procedure');
    PERFORM replace_flow.apply('item');
    COMMIT;
    INSERT INTO item_in VALUES (5, 2, 'from a procedure');
    PERFORM replace_flow.apply('item');
    ROLLBACK;
END $$;
CALL run_twice();
CREATE FUNCTION run_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM replace_flow.apply('item');
    RETURN NULL;
END $$;
CREATE TRIGGER run AFTER INSERT ON item_in FOR EACH STATEMENT EXECUTE FUNCTION run_trigger();
INSERT INTO item_in VALUES (6, 1, 'from a trigger');
DROP TRIGGER run ON item_in;
SELECT * FROM item ORDER BY k;
SELECT count(*) AS staged FROM item_in;

-- Rows that a trigger stages in the middle of a run stay for the next one (B1).
CREATE FUNCTION stage_more() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.item_in VALUES (NEW.k + 100, NEW.s, 'staged by a trigger');
    RETURN NULL;
END $$;
CREATE TRIGGER stage_more AFTER INSERT ON item FOR EACH ROW WHEN (NEW.k < 100) EXECUTE FUNCTION stage_more();
INSERT INTO item_in VALUES (7, 1, 'staged by hand'), (8, 1, 'staged by hand');
SELECT applied('item');
SELECT count(*) AS staged FROM item_in;
SELECT applied('item');
SELECT * FROM item WHERE k > 6 ORDER BY k;
DROP TRIGGER stage_more ON item;

-- And so do rows that a function in the query stages.
CREATE FUNCTION stage_again(k int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO test.again_in VALUES (k + 10, 1);
    RETURN 'v';
END $$;
CREATE TABLE again_in (k int, s int);
SELECT replace_flow.create_using_flow('again', 'again_in', '{k}', 's',
    query => $$ SELECT k, s, CASE WHEN k < 10 THEN stage_again(k) END AS v FROM again_in $$);
INSERT INTO again_in VALUES (1, 1);
SELECT applied('again');
SELECT * FROM again_in ORDER BY k;
SELECT * FROM again ORDER BY k;

-- A snapshot that is older than the run's locks could be stale: refused (B14).
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT refused($$ SELECT replace_flow.apply('item') $$);
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT refused($$ SELECT replace_flow.apply('item') $$);
ROLLBACK;
BEGIN READ ONLY;
SELECT refused($$ SELECT replace_flow.apply('item') $$);
ROLLBACK;
SELECT count(*) AS staged FROM item_in;

-- A definition can be rolled back, and a flow dropped and defined anew in one
-- transaction.
BEGIN;
SELECT replace_flow.drop_flow('item');
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', on_tie => 'ignore');
INSERT INTO item_in VALUES (6, 1, 'tie');
SELECT applied('item');
ROLLBACK;
INSERT INTO item_in VALUES (6, 1, 'tie');
SELECT applied('item');
SELECT * FROM item WHERE k = 6 ORDER BY v;
\i :finish
