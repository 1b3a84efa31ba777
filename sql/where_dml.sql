\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B11, B12, D9: what a where flow writes is written as the user's own INSERT, UPDATE
-- and DELETE.
--
-- Uniqueness is judged on the result: within the window values move from row to row.
CREATE FUNCTION try_unique(constraint_sql text, index_sql text DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE item (ord int, line int, v text, %s)', constraint_sql);
    CREATE TABLE item_in (ord int, line int, v text);
    INSERT INTO item_in SELECT i, j, 'a' || j FROM generate_series(1, 500) AS i, generate_series(1, 3) AS j;
    PERFORM replace_flow.create_where_flow('item', 'TABLE item_in', 'ord > 1');
    RETURN NEXT refreshed('item');
    IF index_sql IS NOT NULL THEN
        EXECUTE index_sql;
    END IF;
    -- lines change places, one goes, one comes
    UPDATE item_in SET line = line % 3 + 1;
    DELETE FROM item_in WHERE line = 3 AND ord > 400;
    INSERT INTO item_in VALUES (7, 4, 'new');
    PERFORM refreshed('item');
    RETURN NEXT CASE WHEN same('TABLE item', 'SELECT * FROM item_in WHERE ord > 1') THEN 'same' ELSE 'DIFFERENT' END;
    -- a clash in the query's rows, and one with a row out of the window
    INSERT INTO item_in VALUES (7, 4, 'again');
    RETURN NEXT (SELECT left(line, 5) FROM refused($r$ SELECT replace_flow.refresh('item') $r$) AS line LIMIT 1);
    RETURN NEXT (SELECT left(line, 5) FROM refused($r$ SELECT replace_flow.refresh('item', 'v = ''again''') $r$) AS line LIMIT 1);
    DELETE FROM item_in WHERE v = 'new';
    -- the window takes the row that holds the value, and gives it anew
    RETURN NEXT refreshed('item', 'line = 4');
    PERFORM replace_flow.drop_flow('item', drop_target => true);
    DROP TABLE item_in;
END $$;
SELECT try_unique('UNIQUE (ord, line)');
SELECT try_unique('PRIMARY KEY (ord, line)');
SELECT try_unique('CHECK (true)', 'CREATE UNIQUE INDEX ON item ((ord * 10 + line))');
SELECT try_unique('EXCLUDE USING gist (box(point(ord, line), point(ord, line)) WITH &&)');

-- Triggers of every kind; a run that has nothing of a kind to do issues no such
-- statement, and rows out of the window are seen by none.
CREATE TABLE item (day int, v text);
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
INSERT INTO item VALUES (1, 'outside');
INSERT INTO item_in VALUES (2, 'a'), (2, 'b'), (1, 'not read');
TRUNCATE log;
SELECT replace_flow.create_where_flow('item', 'TABLE item_in', 'day > 1');
SELECT refreshed('item');
SELECT what FROM log ORDER BY n;
TRUNCATE log;
SELECT refreshed('item');
SELECT what FROM log ORDER BY n;
DELETE FROM item_in WHERE v = 'a';
SELECT refreshed('item');
SELECT what FROM log ORDER BY n;
DROP TRIGGER a ON item;
DROP TRIGGER b ON item;
DROP TRIGGER c ON item;
DROP TRIGGER d ON item;
DROP TRIGGER e ON item;
DROP TRIGGER z ON item;

-- A row that a BEFORE trigger changes is as it makes it, where it stays in the window;
-- it is written anew by each run that recomputes it.
CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.v := upper(NEW.v); RETURN NEW; END $$;
CREATE TRIGGER shout BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION shout();
INSERT INTO item_in VALUES (3, 'loud');
SELECT refreshed('item');
SELECT * FROM item ORDER BY day;
SELECT refreshed('item', technique => 'COMPLETE_REPLACE_WHERE');
SELECT * FROM item ORDER BY day;
DROP TRIGGER shout ON item;
-- One that takes the row out of the window fails the run whole: the next run would not
-- find it, and write it once more.
CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.v = 'moves' THEN NEW.day := 0; END IF; RETURN NEW; END $$;
CREATE TRIGGER move BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION move();
INSERT INTO item_in VALUES (4, 'moves'), (4, 'stays');
SELECT count(*) FILTER (WHERE line ~ '^27000') AS refused, count(*) FILTER (WHERE line ~ 'sequence|floor') AS about_sequences
FROM refused($$ SELECT replace_flow.refresh('item') $$) AS line;
SELECT * FROM item ORDER BY day;
UPDATE item_in SET v = 'stays too' WHERE v = 'moves';
SELECT refreshed('item');
SELECT * FROM item ORDER BY day, v;
DROP TRIGGER move ON item;

-- A trigger or rule that swallows what is written fails the run whole (B12).
CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER swallow BEFORE INSERT ON item FOR EACH ROW WHEN (NEW.v = 'gone') EXECUTE FUNCTION swallow();
INSERT INTO item_in VALUES (5, 'gone'), (5, 'here');
SELECT refused($$ SELECT replace_flow.refresh('item') $$);
DELETE FROM item_in WHERE v = 'gone';
DROP TRIGGER swallow ON item;
CREATE TRIGGER swallow BEFORE DELETE ON item FOR EACH ROW EXECUTE FUNCTION swallow();
DELETE FROM item_in WHERE v = 'b';
SELECT refused($$ SELECT replace_flow.refresh('item', 'day = 2') $$);
DROP TRIGGER swallow ON item;
CREATE RULE turn AS ON INSERT TO item WHERE NEW.day = 5 DO INSTEAD NOTHING;
SELECT refused($$ SELECT replace_flow.refresh('item') $$);
DROP RULE turn ON item;
SELECT refreshed('item');
SELECT same('SELECT * FROM item WHERE day > 1', 'SELECT * FROM item_in WHERE day > 1');

-- Foreign keys of the target, and of others to it: a row that agrees in what they
-- reference is updated in place, and its children survive.
CREATE TABLE region (region text PRIMARY KEY);
CREATE TABLE sale (id int PRIMARY KEY, region text REFERENCES region, v text);
CREATE TABLE child (sale int REFERENCES sale, deferred int REFERENCES sale DEFERRABLE INITIALLY DEFERRED, restricted int REFERENCES sale ON DELETE RESTRICT);
CREATE TABLE sale_in (id int, region text, v text);
INSERT INTO region VALUES ('eu');
INSERT INTO sale_in VALUES (1, 'eu', 'a'), (2, 'eu', 'b'), (3, NULL, 'c');
SELECT replace_flow.create_where_flow('sale', 'TABLE sale_in', 'id < 10');
SELECT refreshed('sale');
INSERT INTO child VALUES (1, 2, 3);
UPDATE sale_in SET v = upper(v);
SELECT refreshed('sale');
SELECT * FROM sale ORDER BY id;
DELETE FROM sale_in WHERE id = 1;
SELECT left(line, 5) AS state FROM refused($$ SELECT replace_flow.refresh('sale') $$) AS line LIMIT 1;
SELECT * FROM sale ORDER BY id;
TABLE child;
UPDATE child SET sale = NULL;
SELECT refreshed('sale');
INSERT INTO sale_in VALUES (4, 'us', 'd');
SELECT left(line, 5) AS state FROM refused($$ SELECT replace_flow.refresh('sale') $$) AS line LIMIT 1;
INSERT INTO region VALUES ('us');
SELECT refreshed('sale');
SELECT same('TABLE sale', 'TABLE sale_in');

-- Checks, domains and NOT NULL of the target: all or nothing.
CREATE DOMAIN short AS text CHECK (length(VALUE) < 5);
CREATE TABLE strict (day int, v short, n int NOT NULL, CHECK (n < 100));
CREATE TABLE strict_in (day int, v text, n int);
INSERT INTO strict_in VALUES (1, 'a', 1), (2, 'b', 2);
SELECT replace_flow.create_where_flow('strict', 'TABLE strict_in', 'true');
SELECT refreshed('strict');
UPDATE strict_in SET v = 'changed' WHERE day = 1;
SELECT refused($$ SELECT replace_flow.refresh('strict') $$);
UPDATE strict_in SET v = 'c', n = NULL WHERE day = 1;
SELECT refused($$ SELECT replace_flow.refresh('strict') $$);
UPDATE strict_in SET n = 100 WHERE day = 1;
SELECT left(line, 5) AS state FROM refused($$ SELECT replace_flow.refresh('strict') $$) AS line LIMIT 1;
SELECT * FROM strict ORDER BY day;
UPDATE strict_in SET n = 99 WHERE day = 1;
SELECT refreshed('strict');

-- A trigger on the target may run another flow, and not this one.
CREATE TABLE summary (n bigint);
SELECT replace_flow.create_where_flow('summary', 'SELECT count(*) AS n FROM strict', 'true');
CREATE FUNCTION run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM replace_flow.refresh(TG_ARGV[0]); RETURN NULL; END $$;
CREATE TRIGGER run AFTER INSERT ON strict FOR EACH STATEMENT EXECUTE FUNCTION run('summary');
INSERT INTO strict_in VALUES (3, 'd', 3);
SELECT refreshed('strict');
TABLE summary;
CREATE OR REPLACE TRIGGER run AFTER INSERT ON strict FOR EACH STATEMENT EXECUTE FUNCTION run('strict');
INSERT INTO strict_in VALUES (4, 'e', 4);
SELECT refused($$ SELECT replace_flow.refresh('strict') $$);
DROP TRIGGER run ON strict;
SELECT refreshed('strict');
-- What a trigger puts into source or target in the middle of a run is not read by it (D1).
CREATE FUNCTION more() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.strict_in SELECT NEW.day + 10, NEW.v, NEW.n WHERE NEW.day < 10;
    RETURN NULL;
END $$;
CREATE TRIGGER more AFTER INSERT ON strict FOR EACH ROW EXECUTE FUNCTION more();
INSERT INTO strict_in VALUES (5, 'f', 5), (6, 'g', 6);
SELECT refreshed('strict');
SELECT max(day) FROM strict;
SELECT refreshed('strict');
SELECT max(day) FROM strict;
\i :finish
