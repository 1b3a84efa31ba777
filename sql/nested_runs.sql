\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B14: two runs of a flow never overlap, not even in one session: a trigger in the
-- middle of a run can neither run the flow nor change or drop it.
--
CREATE TABLE item (k int, s int, v text);
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item);
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
CREATE FUNCTION run_again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.v = 'a' THEN
        INSERT INTO test.item_in VALUES (1, 2, 'b');
        PERFORM replace_flow.apply('item');
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER run_again BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION run_again();
INSERT INTO item_in VALUES (1, 1, 'a');
SELECT refused($$ SELECT replace_flow.apply('item') $$);
SELECT (SELECT count(*) FROM item) AS rows, (SELECT count(*) FROM item_in) AS staged;
DROP TRIGGER run_again ON item;
-- A run that was refused, or undone, leaves nothing in the way of the next one.
SELECT applied('item');
BEGIN;
INSERT INTO item_in VALUES (1, 2, 'b');
SELECT applied('item');
ROLLBACK;
INSERT INTO item_in VALUES (1, 3, 'c');
SELECT applied('item');
TABLE item;

-- Another flow may run in the middle of it: what the one writes, the next stages.
CREATE TABLE copy_in (k int, s int, v text);
SELECT replace_flow.create_using_flow('copy', 'copy_in', '{k}', 's');
CREATE FUNCTION pass_on() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.copy_in SELECT * FROM new_rows;
    PERFORM replace_flow.apply('copy');
    RETURN NULL;
END $$;
CREATE TRIGGER pass_on AFTER INSERT ON item REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION pass_on();
INSERT INTO item_in VALUES (2, 1, 'x'), (3, 1, 'y');
SELECT applied('item');
SELECT * FROM copy ORDER BY k;

CREATE TABLE part (k int, v text);
CREATE INDEX ON part (k);
CREATE TABLE part_in (k int, s int, v text);
SELECT replace_flow.create_using_flow('part', 'part_in', '{k}', 's');
CREATE FUNCTION do_it() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE TG_ARGV[0];
    RETURN NULL;
END $$;
INSERT INTO part_in VALUES (1, 1, 'a');
CREATE TRIGGER do_it AFTER INSERT ON part FOR EACH ROW EXECUTE FUNCTION do_it('SELECT replace_flow.drop_flow(''part'')');
SELECT refused($$ SELECT replace_flow.apply('part') $$);
CREATE OR REPLACE TRIGGER do_it AFTER INSERT ON part FOR EACH ROW
    EXECUTE FUNCTION do_it('SELECT replace_flow.add_expectation(''part'', ''e'', ''false'', ''fail'')');
SELECT refused($$ SELECT replace_flow.apply('part') $$);
DROP TRIGGER do_it ON part;
SELECT applied('part');
\i :finish
