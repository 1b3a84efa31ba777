\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B4, B7, B12: a run finds the rows of a key by the key that is sent, and takes
-- the stored sequence for the floor.  A trigger that stores a row under another
-- key would double it or keep it for ever, and one that changes the sequence would
-- let an older set replace a newer one, so the run fails whole.  What else a
-- trigger makes of a row is the user's business.
--
CREATE FUNCTION lower_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.k := lower(NEW.k);
    NEW.v := upper(NEW.v);
    RETURN NEW;
END $$;
CREATE TABLE item (k text, n int, s int, v text, PRIMARY KEY (k, n));
CREATE TABLE item_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
CREATE TRIGGER lower_key BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION lower_key();
INSERT INTO item_in VALUES ('ann', 1, 1, 'a'), ('ann', 2, 1, 'b'), ('bob', 1, 1, 'c');
SELECT applied('item');
-- an insert, among others that are as they should be
INSERT INTO item_in VALUES ('bob', 1, 2, 'd'), ('Carl', 1, 1, 'e'), ('dora', 1, 1, 'f');
SELECT refused($$ SELECT replace_flow.apply('item') $$);
TABLE item;
SELECT count(*) AS pending FROM item_in;
UPDATE item_in SET k = lower(k);
SELECT applied('item');
-- an update
CREATE OR REPLACE FUNCTION lower_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        NEW.k := 'moved';
    END IF;
    RETURN NEW;
END $$;
INSERT INTO item_in VALUES ('ann', 1, 2, 'g');
SELECT refused($$ SELECT replace_flow.apply('item') $$);
DROP TRIGGER lower_key ON item;
SELECT applied('item');
SELECT * FROM item ORDER BY k, n;

-- The sequence, raised, lowered and taken away.
CREATE FUNCTION change_sequence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.s := CASE NEW.v WHEN 'raise' THEN NEW.s + 10 WHEN 'lower' THEN NEW.s - 10 WHEN 'null' THEN NULL ELSE NEW.s END;
    RETURN NEW;
END $$;
CREATE TRIGGER change_sequence BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION change_sequence();
CREATE FUNCTION try_change(k text, v text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO item_in VALUES (k, 1, 20, v), (k, 2, 20, 'as it is');
    RETURN QUERY SELECT r FROM refused($r$ SELECT replace_flow.apply('item') $r$) AS r LIMIT 1;
    DELETE FROM item_in;
END $$;
SELECT try_change(k, v) FROM unnest('{ann,new}'::text[]) AS k, unnest('{raise,lower,null,plain}'::text[]) AS v;
DROP TRIGGER change_sequence ON item;

-- Equal is enough: the trigger may store 1.0 as 1.00.  So it is in a partition
-- and with a ledger.
CREATE TABLE price (p numeric, v text) PARTITION BY RANGE (p);
CREATE TABLE price_1 PARTITION OF price FOR VALUES FROM (0) TO (10);
CREATE TABLE price_2 (v text, p numeric);
ALTER TABLE price ATTACH PARTITION price_2 FOR VALUES FROM (10) TO (100);
CREATE INDEX ON price (p);
CREATE TABLE price_in (p numeric, s int, v text);
CREATE FUNCTION round_price() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.p := round(NEW.p, 2);
    RETURN NEW;
END $$;
CREATE TRIGGER round_price BEFORE INSERT OR UPDATE ON price_2 FOR EACH ROW EXECUTE FUNCTION round_price();
SELECT replace_flow.create_using_flow('price', 'price_in', '{p}', 's');
INSERT INTO price_in VALUES (1.123, 1, 'a'), (11.1, 1, 'b');
SELECT applied('price');
INSERT INTO price_in VALUES (1.124, 1, 'a'), (11.10, 2, 'c');
SELECT applied('price');
SELECT * FROM price ORDER BY p;
INSERT INTO price_in VALUES (11.123, 1, 'd');
SELECT refused($$ SELECT replace_flow.apply('price') $$);
SELECT * FROM price ORDER BY p;
SELECT * FROM replace_flow.floors('price');
\i :finish
