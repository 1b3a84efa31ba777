\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B10: big values, compressed or stored out of line: rows that stay are not written,
-- nor are their values, in whatever form the same value comes.
--
CREATE FUNCTION random_text(seed int, parts int) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(md5(seed || ' ' || i), '' ORDER BY i) FROM generate_series(1, parts) AS i
$$;
CREATE TYPE pair AS (a text, b text[]);
CREATE TABLE item (
    k int, line int, outside text, inside text, compressed text, packed text, main text,
    list text[], doc jsonb, two pair, raw bytea);
ALTER TABLE item ALTER outside SET STORAGE EXTERNAL, ALTER main SET STORAGE MAIN, ALTER packed SET STORAGE PLAIN;
CREATE INDEX ON item (k);
CREATE TABLE item_in (LIKE item, s int);
-- The stream stores the same values in other ways.
ALTER TABLE item_in ALTER outside SET STORAGE MAIN, ALTER compressed SET STORAGE EXTERNAL, ALTER list SET STORAGE EXTERNAL,
    ALTER packed SET STORAGE EXTERNAL, ALTER doc SET STORAGE MAIN;
SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
CREATE FUNCTION stage(k int, s int, lines int, changed int DEFAULT 0) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO item_in
    SELECT k, i, random_text(seed, 300), random_text(seed, 50), repeat('ab', 20000 + seed), repeat('x', 1000 + seed), repeat('y', 30000 + seed),
        ARRAY[random_text(seed, 200), NULL, repeat('z', 9000)], jsonb_build_object('a', random_text(seed, 200), 'b', repeat('q', 9000)),
        ROW(random_text(seed, 100), ARRAY[repeat('p', 9000)])::pair, convert_to(random_text(seed, 100), 'UTF8'), s
    FROM generate_series(1, lines) AS i, LATERAL (SELECT i + CASE WHEN i <= changed THEN 1000 * s ELSE 0 END) AS seeds (seed)
$$;
SELECT FROM stage(1, 1, 20);
SELECT applied('item');
CREATE VIEW sizes AS
SELECT pg_relation_size('item') AS heap, pg_relation_size(reltoastrelid) AS toast FROM pg_class WHERE oid = 'item'::regclass;
CREATE TABLE before AS SELECT ctid AS place, xmin::text AS age, * FROM item;
CREATE TABLE sizes_before AS TABLE sizes;
SELECT toast > 300000 AS is_big FROM sizes_before;
-- All of the set again, from values that were stored, that a query makes, and that
-- the target itself has.
SELECT FROM stage(1, 2, 20);
SELECT applied('item');
INSERT INTO item_in SELECT *, 3 FROM item;
SELECT applied('item');
SELECT count(*) AS stayed FROM item i JOIN before b ON (i.ctid, i.xmin::text, i.line) = (b.place, b.age, b.line);
SELECT same('TABLE sizes', 'TABLE sizes_before') AS nothing_grew;
-- Only the rows that changed are written.
SELECT FROM stage(1, 4, 20, changed => 3);
SELECT applied('item');
SELECT count(*) AS stayed FROM item i JOIN before b ON (i.ctid, i.xmin::text, i.line) = (b.place, b.age, b.line);
SELECT (SELECT toast FROM sizes) - toast BETWEEN 1 AND toast / 20 * 6 AS grew_little FROM sizes_before;
SELECT count(*) AS rows, count(*) FILTER (WHERE outside = random_text(line + CASE WHEN line <= 3 THEN 4000 ELSE 0 END, 300)
    AND list[1] = random_text(line + CASE WHEN line <= 3 THEN 4000 ELSE 0 END, 200) AND length(main) = 30000 + line + CASE WHEN line <= 3 THEN 4000 ELSE 0 END
    AND (two).b[1] = repeat('p', 9000)) AS right FROM item;
-- Values that differ in their last character only, of the same length.
INSERT INTO item_in SELECT k, line, overlay(outside PLACING '#' FROM length(outside)), inside, compressed, packed, main, list, doc, two, raw, 5
    FROM item WHERE line <= 10 UNION ALL SELECT *, 5 FROM item WHERE line > 10;
SELECT applied('item');
SELECT count(*) FROM item WHERE outside LIKE '%#';
-- In place, where a unique index says that it is the same row; the values that did
-- not change are right afterwards.
ALTER TABLE item ADD PRIMARY KEY (k, line), ADD own text DEFAULT 'own';
UPDATE item SET own = random_text(line, 300);
INSERT INTO item_in SELECT k, line, outside, 'changed', compressed, packed, main, list, doc, two, raw, 6 FROM item;
SELECT applied('item');
SELECT count(*) FROM item WHERE inside = 'changed' AND own = random_text(line, 300) AND md5(list[1]) = md5((SELECT b.list[1] FROM before b WHERE b.line = item.line AND b.line > 3))
    AND length(compressed) = 2 * (20000 + line);

-- As key and as sequence: compressed values that fit an index, and bigger ones where
-- there is no index.
CREATE TABLE note (k text, s text COLLATE "C", v text);
CREATE TABLE note_in (LIKE note);
SET client_min_messages = error;
SELECT replace_flow.create_using_flow('note', 'note_in', '{k}', 's');
SET client_min_messages = warning;
INSERT INTO note_in VALUES (random_text(1, 500), random_text(1, 500) || 'a', 'old'), (random_text(1, 500), random_text(1, 500) || 'b', 'new'),
    (random_text(1, 500) || ' ', repeat('x', 100000), 'other');
SELECT applied('note');
INSERT INTO note_in VALUES (random_text(1, 500), random_text(1, 500) || 'c', 'newer'), (random_text(1, 500) || ' ', repeat('x', 99999), 'late');
SELECT applied('note');
SELECT v FROM note ORDER BY v;
SELECT replace_flow.drop_flow('note');
TRUNCATE note;
CREATE INDEX ON note (k);
SELECT replace_flow.create_using_flow('note', 'note_in', '{k}', 's');
INSERT INTO note_in VALUES (repeat('k', 100000), '1', 'a'), (repeat('k', 100001), '1', 'b');
SELECT applied('note');
INSERT INTO note_in VALUES (repeat('k', 100000), '2', 'A'), (repeat('k', 100001), '0', 'late');
SELECT applied('note');
SELECT v FROM note ORDER BY lower(v);
-- One that does not fit fails the run whole.
INSERT INTO note_in VALUES (random_text(1, 500), '1', 'too big'), (repeat('k', 100000), '3', 'c');
SELECT left(line, 5) AS state FROM refused($$ SELECT replace_flow.apply('note') $$) AS line LIMIT 1;
SELECT count(*) AS staged FROM note_in;
\i :finish
