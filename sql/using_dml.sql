\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B11: what is written is written as the user's own INSERT, UPDATE and DELETE.
--

-- Case O11: uniqueness is judged on the result.  With a unique constraint, a
-- primary key, a unique index that was made later, an exclusion constraint.
CREATE FUNCTION try_unique(constraint_sql text, index_sql text DEFAULT NULL, orders int DEFAULT 500) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE item (ord int, line int, s int, v text%s)', ', ' || constraint_sql);
    CREATE INDEX ON item (ord);
    CREATE TABLE item_in (ord int, line int, s int, v text);
    PERFORM replace_flow.create_using_flow('item', 'item_in', '{ord}', 's');
    INSERT INTO item_in VALUES (1, 1, 1, 'a'), (1, 2, 1, 'b');
    RETURN NEXT applied('item');
    IF index_sql IS NOT NULL THEN
        EXECUTE index_sql;
    END IF;
    INSERT INTO item_in VALUES (1, 1, 2, 'A'), (1, 2, 2, 'B');
    RETURN NEXT applied('item');
    -- lines change places
    INSERT INTO item_in VALUES (1, 2, 3, 'A'), (1, 1, 3, 'B'), (1, 3, 3, 'C');
    RETURN NEXT applied('item');
    RETURN QUERY SELECT i::text FROM item i ORDER BY 1;
    -- a clash in the set itself
    INSERT INTO item_in VALUES (1, 1, 4, 'p'), (1, 1, 4, 'q');
    RETURN QUERY SELECT refused($r$ SELECT replace_flow.apply('item') $r$) LIMIT 1;
    RETURN QUERY SELECT i::text FROM item i ORDER BY 1;
    DELETE FROM item_in;
    -- many orders at once, then all of their lines renumbered
    INSERT INTO item_in SELECT i, j, 5, 'x' FROM generate_series(1, orders) AS i, generate_series(1, 2) AS j;
    RETURN NEXT applied('item');
    INSERT INTO item_in SELECT i, 3 - j, 6, 'y' || j FROM generate_series(1, orders) AS i, generate_series(1, 2) AS j;
    RETURN NEXT applied('item');
    RETURN NEXT (SELECT count(*) || ' rows, ' || count(*) FILTER (WHERE v = 'y' || 3 - line AND s = 6) || ' right' FROM item);
    PERFORM replace_flow.drop_flow('item', drop_target => true);
    DROP TABLE item_in;
END $$;
SELECT try_unique('UNIQUE (ord, line)', orders => 5000);
SELECT try_unique('PRIMARY KEY (ord, line)');
SELECT try_unique('CHECK (true)', 'CREATE UNIQUE INDEX ON item (ord, line)');
SELECT try_unique('CHECK (true)', 'CREATE UNIQUE INDEX ON item ((ord * 10 + line))');
SELECT try_unique('EXCLUDE USING btree (ord WITH =, line WITH =)');
SELECT try_unique('EXCLUDE USING gist (box(point(ord, line), point(ord, line)) WITH &&)');

-- Unique values that move from one key to another.
CREATE TABLE seat (k int, seat int UNIQUE, s int);
CREATE INDEX ON seat (k);
CREATE TABLE seat_in (LIKE seat);
SELECT replace_flow.create_using_flow('seat', 'seat_in', '{k}', 's');
INSERT INTO seat_in VALUES (1, 1, 1), (2, 2, 1), (3, 3, 1);
SELECT applied('seat');
INSERT INTO seat_in VALUES (1, 2, 2), (2, 3, 2), (3, 1, 2);
SELECT applied('seat');
SELECT * FROM seat ORDER BY k;

-- Row and statement triggers, with transition tables.  What is deleted and what
-- comes may be an update or not; a run that has nothing of a kind to do issues
-- no such statement.
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
CREATE TABLE log (n int GENERATED ALWAYS AS IDENTITY, what text);
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.log (what) VALUES (format('%s row %s %s -> %s', TG_WHEN, TG_OP, OLD.v, NEW.v));
    RETURN coalesce(NEW, OLD);
END $$;
CREATE FUNCTION note_statement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.log (what) VALUES (format('%s statement %s', TG_WHEN, TG_OP));
    RETURN NULL;
END $$;
CREATE FUNCTION note_old() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.log (what) SELECT format('%s old rows %s', TG_OP, string_agg(v, ' ' ORDER BY v)) FROM old_rows;
    RETURN NULL;
END $$;
CREATE FUNCTION note_new() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.log (what) SELECT format('%s new rows %s', TG_OP, string_agg(v, ' ' ORDER BY v)) FROM new_rows;
    RETURN NULL;
END $$;
CREATE TRIGGER a BEFORE INSERT OR UPDATE OR DELETE ON item FOR EACH STATEMENT EXECUTE FUNCTION note_statement();
CREATE TRIGGER b BEFORE INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION note_row();
CREATE TRIGGER c AFTER INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION note_row();
CREATE TRIGGER d AFTER DELETE ON item REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION note_old();
CREATE TRIGGER e AFTER INSERT ON item REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION note_new();
CREATE TRIGGER z AFTER INSERT OR UPDATE OR DELETE ON item FOR EACH STATEMENT EXECUTE FUNCTION note_statement();
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's', delete_when => 'v IS NULL', on_tie => 'replace');
-- only inserts
INSERT INTO item_in VALUES (1, 1, 'a'), (1, 1, 'b');
SELECT applied('item');
SELECT what FROM log ORDER BY n;
-- only deletes
TRUNCATE log;
INSERT INTO item_in VALUES (1, 2, NULL);
SELECT applied('item');
SELECT what FROM log ORDER BY n;
-- nothing at all: a late row, a set that stays, an empty stream
INSERT INTO item_in VALUES (2, 1, 'x');
SELECT applied('item');
TRUNCATE log;
INSERT INTO item_in VALUES (1, 1, 'late'), (2, 1, 'x');
SELECT applied('item');
SELECT applied('item');
SELECT what FROM log ORDER BY n;
-- a row that a BEFORE trigger changes is as it makes it
CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.v := upper(NEW.v);
    RETURN NEW;
END $$;
CREATE TRIGGER shout BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION shout();
INSERT INTO item_in VALUES (3, 1, 'loud');
SELECT applied('item');
SELECT * FROM item ORDER BY k;

-- Foreign keys of the target, generated columns and checks of them, defaults.
CREATE TABLE parent (id int PRIMARY KEY);
INSERT INTO parent VALUES (1);
CREATE TABLE part (
    k int, parent int REFERENCES parent ON DELETE CASCADE, s int,
    double int GENERATED ALWAYS AS (k * 2) STORED, serial serial, CHECK (double < 100));
CREATE INDEX ON part (k);
CREATE TABLE part_in (k int, parent int, s int);
SELECT replace_flow.create_using_flow('part', 'part_in', '{k}', 's');
INSERT INTO part_in VALUES (1, 1, 1);
SELECT applied('part');
INSERT INTO part_in VALUES (1, 1, 2), (2, NULL, 1);
SELECT applied('part');
SELECT k, parent, s, double FROM part ORDER BY k;
INSERT INTO part_in VALUES (3, 2, 1);
SELECT refused($$ SELECT replace_flow.apply('part') $$);
UPDATE part_in SET parent = 1, k = 60;
SELECT left(line, 5) AS state FROM refused($$ SELECT replace_flow.apply('part') $$) AS line LIMIT 1;
UPDATE part_in SET k = 3;
SELECT applied('part');

-- A rule that turns writes of the target elsewhere makes the run fail whole (B12).
CREATE TABLE elsewhere (LIKE seat);
CREATE RULE turn AS ON INSERT TO seat WHERE NEW.k = 9 DO INSTEAD INSERT INTO elsewhere VALUES (NEW.*);
INSERT INTO seat_in VALUES (9, 9, 1), (1, 5, 3);
SELECT refused($$ SELECT replace_flow.apply('seat') $$);
SELECT * FROM seat ORDER BY k;
SELECT count(*) AS elsewhere FROM elsewhere;
DROP RULE turn ON seat;
SELECT applied('seat');

-- A trigger on the stream sees its rows consumed.
CREATE TABLE watched_in (k int, s int, v text);
SELECT replace_flow.create_using_flow('watched', 'watched_in', '{k}', 's');
CREATE TRIGGER c AFTER DELETE ON watched_in FOR EACH ROW EXECUTE FUNCTION note_row();
TRUNCATE log;
INSERT INTO watched_in VALUES (1, 1, 'w');
SELECT applied('watched');
SELECT what FROM log ORDER BY n;
\i :finish
