\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D7: full_refresh empties the target and runs the query for the current predicate,
-- in one transaction, and tells how many rows outside the window it deleted.  D8:
-- only where that is allowed.
--
CREATE TABLE t (day int, v text);
CREATE TABLE s (LIKE t);
INSERT INTO t VALUES (1, 'old'), (2, 'old'), (2, 'old'), (NULL, 'old'), (9, 'old');
INSERT INTO s VALUES (1, 'a'), (9, 'b'), (10, 'c');
SELECT replace_flow.create_where_flow('t', 'TABLE s', 'day > 5');

-- D8: by default it fails before anything happens, and says which call would allow it.
SELECT refused($$ SELECT replace_flow.full_refresh('t') $$);
TABLE t;
SELECT count(*) AS runs FROM replace_flow.run;
SELECT replace_flow.alter_flow('t', reset_allowed => true);

-- D7
SELECT flow, kind, status, technique, rows_read, rows_inserted + rows_updated AS came, rows_deleted + rows_updated AS went, rows_unchanged, rows_reset, definition_version
FROM replace_flow.full_refresh('t');
SELECT * FROM t ORDER BY day;
SELECT reset('t');
SELECT * FROM t ORDER BY day;
-- A row that is outside the window of now, and inside that of before.
SELECT replace_flow.alter_flow('t', replace_where => 'day > 9');
SELECT reset('t');
SELECT * FROM t ORDER BY day;
-- Overrides of before do not count.
SELECT refreshed('t', 'day = 1');
SELECT * FROM t ORDER BY day;
SELECT reset('t');
SELECT * FROM t ORDER BY day;
-- No row in the window, then an empty target, then a source without rows.
INSERT INTO t SELECT i, 'by hand' FROM generate_series(1, 100) AS i;
DELETE FROM s WHERE day > 9;
SELECT reset('t');
SELECT reset('t');
SELECT count(*) FROM t;

-- What does not fit fails it whole.
INSERT INTO t VALUES (1, 'by hand'), (20, 'by hand');
ALTER TABLE t ADD CHECK (v <> 'bad');
INSERT INTO s VALUES (20, 'bad'), (21, 'good');
SELECT refused($$ SELECT replace_flow.full_refresh('t') $$);
SELECT * FROM t ORDER BY day;
DELETE FROM s WHERE v = 'bad';
BEGIN;
SELECT reset('t');
ROLLBACK;
SELECT * FROM t ORDER BY day;
SELECT reset('t');
SELECT * FROM t ORDER BY day;

-- It is DML (B11): triggers see the rows, and rows that others refer to are kept or refused.
CREATE TABLE parent (day int PRIMARY KEY, v text);
CREATE TABLE child (day int REFERENCES parent);
CREATE TABLE written (what text);
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.written VALUES (format('%s %s', TG_OP, coalesce(NEW.day, OLD.day)));
    RETURN NULL;
END $$;
CREATE TRIGGER note_row AFTER INSERT OR UPDATE OR DELETE ON parent FOR EACH ROW EXECUTE FUNCTION note_row();
INSERT INTO parent VALUES (1, 'old'), (6, 'old');
INSERT INTO child VALUES (6);
TRUNCATE written;
SELECT replace_flow.create_where_flow('parent', $$ SELECT * FROM (VALUES (6, 'new'), (7, 'new'), (1, 'new')) AS v (day, v) $$, 'day > 5', reset_allowed => true);
SELECT reset('parent');
SELECT * FROM parent ORDER BY day;
SELECT what FROM written WHERE what ~ '1|7' ORDER BY what;
INSERT INTO parent VALUES (2, 'referenced');
INSERT INTO child VALUES (2);
SELECT left(line, 5) AS state FROM refused($$ SELECT replace_flow.full_refresh('parent') $$) AS line LIMIT 1;
SELECT * FROM parent ORDER BY day;
SELECT * FROM child ORDER BY day;

-- A partitioned target is emptied in all of its parts.
CREATE TABLE parted (day int, v text) PARTITION BY RANGE (day);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10) TO (100);
INSERT INTO parted SELECT i, 'old' FROM generate_series(1, 20) AS i;
SELECT replace_flow.create_where_flow('parted', 'TABLE s', 'day > 19', reset_allowed => true);
SELECT reset('parted');
SELECT tableoid::regclass, * FROM parted;

-- A paused flow is run by nobody; a flow that does not exist has nothing to empty.
SELECT replace_flow.pause_flow('t');
SELECT reset('t');
SELECT replace_flow.resume_flow('t');
SELECT refused($$ SELECT replace_flow.full_refresh('nothing') $$);
SELECT refused($$ SELECT replace_flow.full_refresh(NULL) $$);
-- Forbidden again.
SELECT replace_flow.alter_flow('t', reset_allowed => false);
SELECT refused($$ SELECT replace_flow.full_refresh('t') $$);
\i :finish
