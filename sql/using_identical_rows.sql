\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B10: rows that stay as they are are not written.
--
CREATE TABLE item (
    id int GENERATED ALWAYS AS IDENTITY, k int, v text, n numeric, loaded timestamptz DEFAULT clock_timestamp());
CREATE INDEX ON item (k);
CREATE TABLE item_in (k int, s int, v text, n numeric);
CREATE TABLE written (what text);
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO test.written VALUES (TG_OP || ' ' || coalesce(NEW.v, OLD.v));
    RETURN NULL;
END $$;
CREATE TRIGGER note_row AFTER INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION note_row();
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
INSERT INTO item_in VALUES (1, 1, 'a', 1.0), (1, 1, 'b', 1.0), (1, 1, 'b', 1.0), (1, 1, NULL, NULL), (2, 1, 'x', 1);
SELECT applied('item');

-- Which rows of now are in the place, and of the age, of rows of before.
CREATE TABLE before AS SELECT ctid AS place, xmin AS writer, * FROM item;
CREATE VIEW left_in_place AS
SELECT item.v, item.n, count(*) AS rows
FROM item JOIN before USING (id, k, loaded)
WHERE item.ctid = place AND item.xmin = writer
GROUP BY item.v, item.n;

-- The same set at a newer sequence: no row version, no trigger.  What the query
-- does not give, here id and time of loading, survives.
TRUNCATE written;
INSERT INTO item_in VALUES (1, 2, 'b', 1.0), (1, 2, NULL, NULL), (1, 2, 'a', 1.0), (1, 2, 'b', 1.0), (2, 2, 'x', 1);
SELECT applied('item');
SELECT * FROM left_in_place ORDER BY v;
SELECT * FROM written;

-- Copies count: two identical new rows need two old ones.
INSERT INTO item_in VALUES (1, 3, 'a', 1.0), (1, 3, 'a', 1.0), (1, 3, 'b', 1.0), (1, 3, NULL, NULL);
SELECT applied('item');
SELECT * FROM left_in_place ORDER BY v;
SELECT k, v, n, count(*) FROM item GROUP BY k, v, n ORDER BY k, v;

-- Equal is not identical: 1.00 is another row than 1.0, and '' than NULL.
INSERT INTO item_in VALUES (1, 4, 'a', 1.00), (1, 4, 'a', 1.0), (1, 4, 'b', 1.0), (1, 4, '', NULL);
SELECT applied('item');
SELECT * FROM left_in_place ORDER BY v;
SELECT k, v, n, count(*) FROM item GROUP BY k, v, n, n::text ORDER BY k, v, n::text;

-- A replayed batch, of a flow that replaces on ties, writes nothing at all.
CREATE TABLE part (k int, s int, v text);
CREATE INDEX ON part (k);
CREATE TABLE part_in (LIKE part);
SELECT replace_flow.create_using_flow('part', 'part_in', '{k}', 's', on_tie => 'replace');
INSERT INTO part_in SELECT i % 10, 1, i / 2 FROM generate_series(1, 100) AS i;
SELECT applied('part');
CREATE TABLE part_before AS SELECT ctid AS place, xmin AS writer, * FROM part;
INSERT INTO part_in SELECT k, s, v FROM part;
SELECT applied('part');
SELECT count(*) AS left_in_place FROM part p JOIN part_before ON p.ctid = place AND p.xmin = writer;
-- With one row of a key more, only that row is written.
INSERT INTO part_in SELECT k, s, v FROM part WHERE k = 3 UNION ALL VALUES (3, 1, 'more');
SELECT applied('part');

-- Large values are compared as values, however they are stored.
CREATE TABLE document (k int, v text, w text);
ALTER TABLE document ALTER w SET STORAGE EXTERNAL;
CREATE INDEX ON document (k);
CREATE TABLE document_in (k int, s int, v text, w text);
SELECT replace_flow.create_using_flow('document', 'document_in', '{k}', 's');
INSERT INTO document_in VALUES (1, 1, repeat('x', 100000), repeat('y', 10000));
SELECT applied('document');
INSERT INTO document_in VALUES (1, 2, repeat('x', 100000), repeat('y', 10000));
SELECT applied('document');
INSERT INTO document_in VALUES (1, 3, repeat('x', 100000), repeat('y', 9999) || 'z');
SELECT applied('document');
SELECT k, length(v), right(w, 2) AS w FROM document;
\i :finish
