\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B1: what a trigger stages in the middle of a run is neither read nor consumed by
-- that run; it waits for the next one, whichever flow's stream it goes to.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');

-- Into the stream of the same flow, from each place in a run: the row of the
-- stream that is consumed; before and after a row of the target is written.
CREATE FUNCTION stage_next() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'DELETE' AND NEW.s < 5 THEN
        INSERT INTO test.item_in VALUES (NEW.k, NEW.s + 1, TG_NAME), (NEW.k % 10 + 10, NEW.s, TG_NAME);
    ELSIF TG_OP = 'DELETE' AND OLD.s < 5 THEN
        INSERT INTO test.item_in VALUES (OLD.k, OLD.s + 2, TG_NAME), (OLD.k % 10 + 10, OLD.s, TG_NAME);
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;
CREATE FUNCTION try_stage(event text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM item;
    INSERT INTO item VALUES (1, 1, 'old'), (2, 1, 'old');
    EXECUTE format('CREATE TRIGGER staged %s FOR EACH ROW EXECUTE FUNCTION stage_next()', event);
    INSERT INTO item_in VALUES (1, 2, 'a'), (2, 2, 'b');
    LOOP
        RETURN NEXT applied('item');
        RETURN NEXT '  item: ' || (SELECT string_agg(format('%s %s %s', k, s, v), ', ' ORDER BY k, v, s) FROM item);
        EXIT WHEN NOT EXISTS (SELECT FROM item_in);
        RETURN NEXT '  item_in: ' || (SELECT string_agg(format('%s %s %s', k, s, v), ', ' ORDER BY k, v, s) FROM item_in);
        EXIT WHEN (SELECT max(s) FROM item_in) > 4;
    END LOOP;
    TRUNCATE item_in;
    EXECUTE 'DROP TRIGGER staged ' || substring(event, 'ON .*');
END $$;
SELECT try_stage('AFTER DELETE ON item_in');
SELECT try_stage('BEFORE INSERT OR UPDATE ON item');
SELECT try_stage('AFTER INSERT OR UPDATE ON item');
-- With an index on the sequence the old row is deleted, not updated.
CREATE INDEX ON item (s);
SELECT try_stage('BEFORE DELETE ON item');
SELECT try_stage('AFTER DELETE ON item');

-- Into the stream of another flow, in its turn with triggers that stage for a
-- third: each row passes once, and a run that fails passes nothing on.
CREATE TABLE second_in (k int, s int, v text);
CREATE TABLE third_in (k int, s int, v text);
SELECT replace_flow.create_using_flow('second', 'second_in', '{k}', 's');
SELECT replace_flow.create_using_flow('third', 'third_in', '{k}', 's');
CREATE FUNCTION pass_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('INSERT INTO test.%I SELECT * FROM new_rows', TG_ARGV[0]);
    RETURN NULL;
END $$;
TRUNCATE item;
CREATE TRIGGER pass_on AFTER INSERT ON item REFERENCING NEW TABLE AS new_rows EXECUTE FUNCTION pass_on('second_in');
CREATE TRIGGER pass_on AFTER INSERT ON second REFERENCING NEW TABLE AS new_rows EXECUTE FUNCTION pass_on('third_in');
CREATE TRIGGER pass_on_update AFTER UPDATE ON item REFERENCING NEW TABLE AS new_rows EXECUTE FUNCTION pass_on('second_in');
CREATE TRIGGER pass_on_update AFTER UPDATE ON second REFERENCING NEW TABLE AS new_rows EXECUTE FUNCTION pass_on('third_in');
INSERT INTO item_in VALUES (1, 1, 'a'), (1, 1, 'a'), (2, 1, 'b');
SELECT applied('item'), (SELECT count(*) FROM second_in) AS second_in;
SELECT applied('second'), applied('third');
INSERT INTO item_in VALUES (1, 2, 'A');
BEGIN;
SELECT applied('item'), applied('second'), applied('third');
ROLLBACK;
SELECT (SELECT count(*) FROM item_in) AS item_in, (SELECT count(*) FROM second_in) AS second_in, (SELECT count(*) FROM third_in) AS third_in;
SELECT applied('item'), applied('second'), applied('third');
SELECT * FROM third ORDER BY k, v;
ALTER TABLE item ADD CONSTRAINT late_check CHECK (v <> 'bad');
INSERT INTO item_in VALUES (1, 3, 'B'), (2, 3, 'bad');
SELECT refused($$ SELECT replace_flow.apply('item') $$) LIMIT 1;
SELECT count(*) AS second_in FROM second_in;
UPDATE item_in SET v = 'good' WHERE v = 'bad';
SELECT applied('item'), applied('second'), applied('third');
SELECT same('TABLE item', 'TABLE second') AND same('TABLE item', 'TABLE third') AS all_alike;

-- A trigger of the stream that runs the flow at once, at each statement that stages.
CREATE TABLE now_in (k int, s int, v text);
CREATE TABLE now (k int, s int, v text);
CREATE INDEX ON now (k);
SELECT replace_flow.create_using_flow('now', 'now_in', '{k}', 's');
CREATE FUNCTION run_now() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM replace_flow.apply('now');
    RETURN NULL;
END $$;
CREATE TRIGGER run_now AFTER INSERT ON now_in EXECUTE FUNCTION run_now();
INSERT INTO now_in VALUES (1, 1, 'a'), (1, 1, 'b'), (2, 1, 'c');
INSERT INTO now_in VALUES (1, 2, 'A');
COPY now_in FROM STDIN (DELIMITER ' ');
2 1 d
1 1 late
\.
SELECT * FROM now ORDER BY k, v;
SELECT count(*) AS staged FROM now_in;
-- A stored sequence that the target refuses takes the staging statement with it.
ALTER TABLE now ADD CHECK (s < 100);
INSERT INTO now_in VALUES (3, 3, 'e'), (3, 100, 'f');
SELECT count(*) AS staged FROM now_in;
SELECT * FROM now ORDER BY k, v;
\i :finish
