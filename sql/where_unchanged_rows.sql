\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B10, D9: rows of the window that stay as they are are not written.
--
CREATE TABLE item (
    id int GENERATED ALWAYS AS IDENTITY, day int, v text, n numeric, loaded timestamptz DEFAULT clock_timestamp());
CREATE TABLE item_in (day int, v text, n numeric);
CREATE TABLE written (what text);
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.written VALUES (TG_OP || ' ' || coalesce(NEW.v, OLD.v));
    RETURN NULL;
END $$;
CREATE FUNCTION note_statement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.written VALUES (TG_OP);
    RETURN NULL;
END $$;
CREATE TRIGGER note_row AFTER INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION note_row();
CREATE TRIGGER note_statement BEFORE INSERT OR UPDATE OR DELETE ON item FOR EACH STATEMENT EXECUTE FUNCTION note_statement();
INSERT INTO item (day, v, n) VALUES (1, 'outside', 1), (1, 'outside', 1);
INSERT INTO item_in VALUES (2, 'a', 1.0), (2, 'b', 1.0), (2, 'b', 1.0), (2, NULL, NULL), (3, 'x', 1), (1, 'not read', 1);
SELECT replace_flow.create_where_flow('item', 'TABLE item_in', 'day > 1');
SELECT refreshed('item');

-- Which rows of now are in the place, and of the age, of rows of before.
CREATE TABLE before AS SELECT ctid AS place, xmin AS writer, * FROM item;
CREATE VIEW left_in_place AS
SELECT item.day, item.v, item.n, count(*) AS rows
FROM item JOIN before USING (id, day, loaded)
WHERE item.ctid = place AND item.xmin = writer AND item.v IS NOT DISTINCT FROM before.v
GROUP BY item.day, item.v, item.n;

-- Nothing changed: no row version, no trigger, no statement.  What the query does
-- not give, here id and time of loading, survives.
TRUNCATE written;
SELECT refreshed('item', technique => 'COMPLETE_REPLACE_WHERE');
SELECT * FROM left_in_place ORDER BY day, v;
TABLE written;
-- the same from another place in the source, in another order
TRUNCATE item_in;
INSERT INTO item_in VALUES (3, 'x', 1), (2, NULL, NULL), (2, 'b', 1.0), (2, 'a', 1.0), (2, 'b', 1.0);
SELECT refreshed('item');
SELECT * FROM left_in_place ORDER BY day, v;
TABLE written;

-- One row changes, and one goes: only they are written.
UPDATE item_in SET v = 'X' WHERE v = 'x';
DELETE FROM item_in WHERE v IS NULL;
SELECT refreshed('item');
SELECT * FROM left_in_place ORDER BY day, v;
SELECT count(*) FILTER (WHERE what ~* 'a|b') AS about_a_or_b, count(*) FILTER (WHERE what ~ 'outside') AS outside FROM written WHERE what ~ ' ';

-- Copies count: two identical new rows need two old ones.
DELETE FROM item_in WHERE ctid = (SELECT min(ctid) FROM item_in WHERE v = 'b');
INSERT INTO item_in VALUES (2, 'a', 1.0);
SELECT refreshed('item');
SELECT * FROM left_in_place ORDER BY day, v;
SELECT day, v, n, count(*) FROM item GROUP BY day, v, n ORDER BY day, v;

-- Equal is not identical: 1.00 is another row than 1.0, and '' than NULL.
TRUNCATE item_in;
INSERT INTO item_in VALUES (2, 'a', 1.00), (2, 'a', 1.0), (2, 'b', 1.0), (3, '', NULL);
SELECT refreshed('item');
SELECT * FROM left_in_place ORDER BY day, v;
SELECT day, v, n, count(*) FROM item GROUP BY day, v, n, n::text ORDER BY day, v, n::text;

-- The same rows under a wider and a narrower window: those of both are left.
CREATE TABLE part (k int, v text);
CREATE TABLE part_in AS SELECT i AS k, 'v' || i % 3 AS v FROM generate_series(1, 100) AS i;
SELECT replace_flow.create_where_flow('part', 'TABLE part_in', 'k <= 50');
SELECT refreshed('part');
CREATE TABLE part_before AS SELECT ctid AS place, xmin AS writer, * FROM part;
SELECT refreshed('part', 'k <= 70');
SELECT refreshed('part', 'k <= 20 OR v = ''v1''');
SELECT count(*) AS left_in_place FROM part p JOIN part_before ON p.ctid = place AND p.xmin = writer;
SELECT same('TABLE part', $$ SELECT * FROM part_in WHERE k <= 70 OR v = 'v1' $$);
-- a row by hand beside one that is the same: one of the two goes
INSERT INTO part VALUES (7, 'v1');
SELECT refreshed('part');
SELECT count(*) FROM part WHERE k = 7;

-- Large values, and types without an equality operator (case O21).
CREATE TABLE document (k int, j json, x xml, p point, arr json[], big text);
ALTER TABLE document ALTER big SET STORAGE EXTERNAL;
CREATE TABLE document_in (LIKE document);
INSERT INTO document_in VALUES (1, '{"a": 1}', '<a/>', '(1,2)', ARRAY['{"b": 2}'::json], repeat('x', 100000)), (2, NULL, NULL, NULL, NULL, NULL), (0, '{}', '<b/>', NULL, '{}', '');
SELECT replace_flow.create_where_flow('document', 'TABLE document_in', 'k > 0 AND (p IS NULL OR p[0] = 1)');
SELECT refreshed('document');
SELECT refreshed('document', technique => 'COMPLETE_REPLACE_WHERE');
UPDATE document_in SET j = '{"a":1}' WHERE k = 1;
SELECT refreshed('document');
UPDATE document_in SET big = repeat('x', 99999) || 'y' WHERE k = 1;
SELECT refreshed('document');
SELECT k, j, x, p, arr, right(big, 2) AS big FROM document ORDER BY k;
-- also as what the predicate asks for
SELECT refreshed('document', $$ j ->> 'a' = '1' $$);
SELECT refreshed('document', $$ j IS NULL $$);
\i :finish
