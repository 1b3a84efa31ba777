\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D13: preview gives the exact numbers of what a run would do, without writing, for
-- both kinds of flow, and the keys that a using flow would touch.
--
-- Preview, then run: the numbers must agree.  What preview must leave as it is, is
-- compared before and after.
CREATE FUNCTION traces() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN format('%s runs, %s rejected, %s results, sequence %s, written %s',
        (SELECT count(*) FROM replace_flow.run), (SELECT count(*) FROM replace_flow.rejected), (SELECT count(*) FROM replace_flow.expectation_result),
        (SELECT last_value FROM test.item_id_seq), (SELECT count(*) FROM test.written));
END $$;
CREATE FUNCTION foreseen(flow text, predicate_override text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before text := traces();
    kind text := (SELECT f.kind FROM replace_flow.flow f WHERE name = flow);
    seen record;
    run replace_flow.run;
BEGIN
    SELECT * INTO STRICT seen FROM replace_flow.preview(flow, predicate_override) p WHERE p.key IS NULL;
    IF traces() <> before THEN
        RETURN format('WROTE: %s -> %s', before, traces());
    END IF;
    IF kind = 'using' THEN
        run := replace_flow.apply(flow);
    ELSE
        run := replace_flow.refresh(flow, predicate_override, technique => 'COMPLETE_REPLACE_WHERE');
    END IF;
    IF (seen.rows_inserted, seen.rows_updated, seen.rows_deleted, seen.rows_unchanged)
        IS DISTINCT FROM (run.rows_inserted, run.rows_updated, run.rows_deleted, run.rows_unchanged) THEN
        RETURN format('FORESAW %s, CAME %s', seen, run);
    END IF;
    RETURN 'as foreseen: ' || in_words(run);
END $$;

-- A where flow, on a target with a sequence, a trigger and an index.
CREATE TABLE item (id serial, day int, v text, n int);
CREATE INDEX ON item (v);
CREATE TABLE item_in (day int, v text, n int);
CREATE TABLE written (what text);
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.written VALUES (TG_OP);
    RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER note_row BEFORE INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION note_row();
CREATE TRIGGER note_statement AFTER INSERT OR UPDATE OR DELETE ON item FOR EACH STATEMENT EXECUTE FUNCTION note_row();
INSERT INTO item_in SELECT i % 10, 'v' || i, i FROM generate_series(1, 100) AS i;
SELECT replace_flow.create_where_flow('item', 'TABLE item_in', 'day > 5');
SELECT * FROM replace_flow.preview('item');
SELECT foreseen('item');
SELECT * FROM replace_flow.preview('item');
SELECT foreseen('item');
UPDATE item_in SET n = -n WHERE n < 20;
DELETE FROM item_in WHERE n BETWEEN 30 AND 40;
INSERT INTO item_in VALUES (7, 'v7', -7), (9, 'new', 1), (1, 'outside', 1);
SELECT rows_inserted + rows_updated AS come, rows_deleted + rows_updated AS go, rows_unchanged FROM replace_flow.preview('item');
SELECT foreseen('item');
SELECT foreseen('item', 'day < 3');
SELECT foreseen('item', 'day < 4');
SELECT foreseen('item', 'false');
TRUNCATE item_in;
SELECT foreseen('item');
SELECT same('SELECT DISTINCT day FROM item', 'SELECT * FROM generate_series(0, 3) AS day');
-- With an expectation: what is dropped does not come.
SELECT replace_flow.add_expectation('item', 'small', 'n < 100', 'drop');
INSERT INTO item_in VALUES (6, 'x', 99), (6, 'y', 100), (6, 'z', NULL);
SELECT foreseen('item');
-- In a transaction that may not write, and at any isolation, preview writes nothing.
SELECT replace_flow.alter_flow('item', replace_where => 'day > 2');
BEGIN READ ONLY;
SELECT * FROM replace_flow.preview('item');
COMMIT;
-- What a run would refuse, preview refuses as well.
SELECT refused($$ SELECT * FROM replace_flow.preview('item', 'random() < 1') $$);
SELECT refused($$ SELECT * FROM replace_flow.preview('item', '1 / (n - 99) = 0') $$);
SELECT replace_flow.add_expectation('item', 'no x', $$ v <> 'x' $$, 'fail');
SELECT refused($$ SELECT * FROM replace_flow.preview('item') $$);
SELECT replace_flow.drop_expectation('item', 'no x');
SELECT replace_flow.alter_flow('item', allow_empty => false);
TRUNCATE item_in;
SELECT refused($$ SELECT * FROM replace_flow.preview('item') $$);
SELECT replace_flow.drop_flow('item');

-- A partitioned target, and one with copies.
CREATE TABLE parted (day int, v text) PARTITION BY LIST (day);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_2 PARTITION OF parted DEFAULT;
INSERT INTO parted VALUES (1, 'a'), (1, 'a'), (2, 'b'), (3, 'c'), (3, 'c');
INSERT INTO item_in VALUES (1, 'a', 1), (2, 'a', 1), (3, 'c', 1), (3, 'c', 2), (3, 'c', 3);
SELECT replace_flow.create_where_flow('parted', 'SELECT day, v FROM item_in', 'true');
SELECT foreseen('parted');
SELECT * FROM parted ORDER BY day, v;

-- A using flow: its keys too.
TRUNCATE item, item_in;
CREATE TABLE stock (k int, l text, s int, v text);
CREATE INDEX ON stock (k);
CREATE TABLE stock_in (k int, l text, s int, v text);
SELECT replace_flow.create_using_flow('stock', 'stock_in', '{k, l}', 's', delete_when => 'v IS NULL');
SELECT * FROM replace_flow.preview('stock');
INSERT INTO stock_in VALUES (1, 'a', 1, 'x'), (1, 'a', 1, 'y'), (1, NULL, 1, 'z'), (2, 'b', 1, 'x'), (3, 'c', 1, NULL);
SELECT * FROM replace_flow.preview('stock') ORDER BY key::text COLLATE "C" NULLS FIRST;
SELECT foreseen('stock');
-- A set replaced, one late, one that ties, one emptied, one that stays empty.
INSERT INTO stock_in VALUES (1, 'a', 2, 'x'), (1, 'a', 1, 'superseded'), (1, NULL, 0, 'late'), (2, 'b', 1, 'tie'), (3, 'c', 2, NULL), (4, 'd', 1, 'new');
SELECT key, rows_inserted + rows_updated AS come, rows_deleted + rows_updated AS go, rows_unchanged
FROM replace_flow.preview('stock') ORDER BY key::text COLLATE "C" NULLS FIRST;
SELECT count(*) AS staged FROM stock_in;
SELECT foreseen('stock');
INSERT INTO stock_in VALUES (1, 'a', 3, NULL), (2, 'b', 0, 'late');
SELECT key, rows_inserted + rows_updated AS come, rows_deleted + rows_updated AS go, rows_unchanged
FROM replace_flow.preview('stock') ORDER BY key::text COLLATE "C" NULLS FIRST;
SELECT foreseen('stock');
SELECT * FROM stock ORDER BY k, l, s, v;
SELECT key, floor FROM replace_flow.floors('stock') ORDER BY key::text COLLATE "C";
-- Rows that a newer set gives again as they are.
CREATE TABLE line (ord int, item text, quantity int);
CREATE INDEX ON line (ord);
CREATE TABLE line_in (ord int, item text, quantity int, s int);
SELECT replace_flow.create_using_flow('line', 'line_in', '{ord}', 's', on_tie => 'replace');
INSERT INTO line_in SELECT i / 3, 'item' || i, i, 1 FROM generate_series(1, 300) AS i;
SELECT foreseen('line');
INSERT INTO line_in SELECT ord, item, CASE WHEN quantity % 10 = 0 THEN 0 ELSE quantity END, 2 FROM line;
SELECT count(*) - 1 AS keys, sum(rows_inserted + rows_updated) FILTER (WHERE key IS NOT NULL) AS come, max(rows_inserted + rows_updated) FILTER (WHERE key IS NULL) AS of_all
FROM replace_flow.preview('line');
SELECT foreseen('line');
SELECT foreseen('line');
SELECT refused($$ SELECT * FROM replace_flow.preview('line', 'ord = 1') $$);
INSERT INTO line_in VALUES (1, 'x', 1, NULL);
SELECT refused($$ SELECT * FROM replace_flow.preview('line') $$);
SELECT refused($$ SELECT * FROM replace_flow.preview('lines') $$);
SELECT refused($$ SELECT * FROM replace_flow.preview(NULL) $$);
\i :finish
