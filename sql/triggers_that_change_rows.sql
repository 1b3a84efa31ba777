\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B7, B11: what a BEFORE trigger of the target makes of a row is what is stored,
-- and what later runs find: the sequence that it stores is the floor.
--
CREATE TABLE item (k text, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.s := CASE WHEN NEW.v LIKE '%raise%' THEN NEW.s + 10 WHEN NEW.v LIKE '%lower%' THEN NEW.s - 10
                  WHEN NEW.v LIKE '%null%' THEN NULL ELSE NEW.s END;
    RETURN NEW;
END $$;
CREATE TRIGGER change BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION change();

-- Raised, lowered, taken away.
INSERT INTO item_in VALUES ('raised', 1, 'raise'), ('lowered', 20, 'lower'), ('nulled', 1, 'null'), ('as it is', 1, 'x');
SELECT applied('item');
SELECT * FROM replace_flow.floors('item');
INSERT INTO item_in VALUES ('raised', 5, 'late'), ('lowered', 15, 'newer'), ('nulled', 0, 'newer'), ('as it is', 0, 'late');
SELECT applied('item');
SELECT * FROM item ORDER BY k COLLATE "C";
INSERT INTO item_in VALUES ('raised', 11, 'tie'), ('raised', 11, 'tie');
SELECT applied('item');
INSERT INTO item_in VALUES ('raised', 12, 'newer');
SELECT applied('item');
SELECT * FROM item ORDER BY k COLLATE "C";
-- In a set of which only some rows are changed, the highest one counts.
INSERT INTO item_in VALUES ('set', 1, 'a'), ('set', 1, 'raise'), ('set', 1, 'null');
SELECT applied('item');
INSERT INTO item_in VALUES ('set', 11, 'tie');
SELECT applied('item');
INSERT INTO item_in VALUES ('set', 12, 'all replaced');
SELECT applied('item');
SELECT * FROM item WHERE k = 'set';
\i :finish
