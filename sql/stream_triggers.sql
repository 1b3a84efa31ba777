\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B2, B12: a trigger or a rule of the stream that could keep rows from being
-- consumed, so that they would be applied again, is refused: when the flow is
-- created, and by each run.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE WHEN OLD.v <> 'kept' THEN OLD END;
END $$;
CREATE TRIGGER keep BEFORE DELETE ON item_in FOR EACH ROW EXECUTE FUNCTION keep();
INSERT INTO item_in VALUES (1, 1, 'kept'), (2, 1, 'not kept');
SELECT refused($$ SELECT replace_flow.apply('item') $$);
SELECT replace_flow.drop_flow('item');
SELECT refused($$ SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's') $$);
DROP TRIGGER keep ON item_in;
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
SELECT applied('item');
SELECT * FROM item ORDER BY k;

CREATE RULE keep AS ON DELETE TO item_in DO INSTEAD NOTHING;
INSERT INTO item_in VALUES (3, 1, 'kept');
SELECT refused($$ SELECT replace_flow.apply('item') $$);
DROP RULE keep ON item_in;
SELECT applied('item');
SELECT * FROM item ORDER BY k, v;

-- On a part of it too; triggers that come after do no harm.
CREATE TABLE part_in (k int, s int) PARTITION BY LIST (k);
CREATE TABLE part_in_1 PARTITION OF part_in FOR VALUES IN (1);
CREATE TRIGGER keep BEFORE DELETE ON part_in_1 FOR EACH ROW EXECUTE FUNCTION keep();
SELECT refused($$ SELECT replace_flow.create_using_flow('part', 'part_in', '{k}', 's') $$);
DROP TRIGGER keep ON part_in_1;
CREATE TABLE consumed (k int);
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.consumed VALUES (OLD.k);
    RETURN NULL;
END $$;
CREATE TRIGGER note_row AFTER DELETE ON part_in FOR EACH ROW EXECUTE FUNCTION note_row();
SELECT replace_flow.create_using_flow('part', 'part_in', '{k}', 's');
INSERT INTO part_in VALUES (1, 1);
SELECT applied('part');
TABLE consumed;
\i :finish
