\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B12, O22: where an old and a new row agree in the columns that a foreign key of
-- another table references, the row is updated in place: the rows that
-- reference it survive, whatever the key does on DELETE.
--
CREATE FUNCTION stage(stream regclass, VARIADIC lines text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('INSERT INTO %s SELECT (l::%1$s).* FROM unnest($1) AS l', stream) USING lines;
END $$;

CREATE FUNCTION attempted(flow text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    counts text;
BEGIN
    counts := applied(flow);
    SET CONSTRAINTS ALL IMMEDIATE;
    RETURN counts;
EXCEPTION WHEN integrity_constraint_violation THEN
    -- servers tell RESTRICT from NO ACTION since 18
    RETURN regexp_replace(SQLERRM, 'violates.*foreign key', 'violates foreign key');
END $$;

-- One target of each kind of key: by action, and by when it is checked.
CREATE TABLE item_in (k int, line int, s int, v text);
CREATE PROCEDURE try(action text)
LANGUAGE plpgsql AS $$
BEGIN
    CREATE TABLE item (k int, line int, s int, v text, PRIMARY KEY (k, line));
    EXECUTE 'CREATE TABLE child (id int, k int, line int, FOREIGN KEY (k, line) REFERENCES item ' || action || ')';
    PERFORM replace_flow.create_using_flow('item', 'item_in', '{k}', 's');
    PERFORM stage('item_in', '(1,1,1,a)', '(1,2,1,b)', '(2,1,1,c)');
    PERFORM applied('item');
    INSERT INTO child VALUES (10, 1, 1), (11, 2, 1);
    -- the referenced rows stay, with other values; another one goes
    PERFORM stage('item_in', '(1,1,2,A)', '(1,3,2,B)', '(2,1,2,C)');
    RAISE NOTICE '%: %, %, %', coalesce(nullif(action, ''), 'no action'), applied('item'),
        (SELECT string_agg(i::text, ' ' ORDER BY k, line) FROM item i), (SELECT string_agg(c::text, ' ' ORDER BY id) FROM child c);
    -- a referenced row goes
    PERFORM stage('item_in', '(1,3,3,B)');
    RAISE NOTICE '%, %, pending %', attempted('item'),
        (SELECT string_agg(c::text, ' ' ORDER BY id) FROM child c), (SELECT count(*) FROM item_in);
    DELETE FROM item_in;
    PERFORM replace_flow.drop_flow('item');
    DROP TABLE child, item;
END $$;
SET client_min_messages = notice;
CALL try('');
CALL try('ON DELETE RESTRICT ON UPDATE RESTRICT');
CALL try('ON DELETE CASCADE ON UPDATE CASCADE');
CALL try('ON DELETE SET NULL');
CALL try('ON DELETE SET DEFAULT');
CALL try('DEFERRABLE INITIALLY DEFERRED');
SET client_min_messages = warning;

-- A warning names the keys that change other tables.
CREATE TABLE item (k int, s int, v text, UNIQUE (k));
CREATE TABLE child (k int CONSTRAINT child_follows REFERENCES item (k) ON DELETE CASCADE,
    k2 int CONSTRAINT child_forgets REFERENCES item (k) ON DELETE SET NULL,
    k3 int CONSTRAINT child_stays REFERENCES item (k) ON DELETE RESTRICT);
CREATE TABLE stream (k int, s int, v text);
SELECT replace_flow.create_using_flow('item', 'stream', '{k}', 's');
SELECT replace_flow.drop_flow('item');
DROP TABLE child, item, stream;

-- Columns are compared as the key compares them: 1.0 and 1.00 are one row.
CREATE TABLE price (p numeric PRIMARY KEY, s int, v text);
CREATE TABLE price_in (p numeric, s int, v text);
CREATE TABLE bid (p numeric REFERENCES price ON UPDATE CASCADE ON DELETE CASCADE);
SET client_min_messages = error;
SELECT replace_flow.create_using_flow('price', 'price_in', '{p}', 's');
SET client_min_messages = warning;
SELECT stage('price_in', '(1.0,1,a)', '(2.0,1,b)');
SELECT applied('price');
INSERT INTO bid VALUES (1.0);
SELECT stage('price_in', '(1.00,2,a)', '(2.00,2,b)');
SELECT applied('price');
TABLE price;
TABLE bid;

-- A surrogate key that the flow does not give is kept by the rows that agree
-- in a unique key that it gives; the index on the changed column is no obstacle.
CREATE TABLE line (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, o int NOT NULL, n int NOT NULL, qty int, s int, UNIQUE (o, n));
CREATE INDEX ON line (qty);
CREATE TABLE note (line int REFERENCES line ON DELETE CASCADE, t text);
CREATE TABLE line_in (o int, n int, qty int, s int);
SET client_min_messages = error;
SELECT replace_flow.create_using_flow('line', 'line_in', '{o}', 's');
SET client_min_messages = warning;
SELECT stage('line_in', '(1,1,5,1)', '(1,2,6,1)', '(1,3,7,1)');
SELECT applied('line');
INSERT INTO note SELECT id, 'note on ' || n FROM line;
SELECT stage('line_in', '(1,1,50,2)', '(1,3,70,2)', '(1,4,80,2)');
SELECT applied('line');
SELECT n, qty, s, (SELECT t FROM note WHERE line = id) FROM line ORDER BY n;

-- Without such a key the creator is warned: nobody can tell which row is which.
CREATE TABLE loose (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, o int, n int, s int, UNIQUE (o, n));
CREATE TABLE loose_note (line int CONSTRAINT of_line REFERENCES loose);
CREATE TABLE loose_in (o int, n int, s int);
SELECT replace_flow.create_using_flow('loose', 'loose_in', '{o}', 's');
ALTER TABLE loose ALTER o SET NOT NULL, ALTER n SET NOT NULL;
SELECT replace_flow.drop_flow('loose');
SELECT replace_flow.create_using_flow('loose', 'loose_in', '{o}', 's');

-- So it is without a stored sequence, where rows may be identical.
CREATE TABLE plain (k int, n int, v text, PRIMARY KEY (n, k));
CREATE TABLE plain_child (k int, n int, FOREIGN KEY (n, k) REFERENCES plain (n, k) ON DELETE CASCADE);
CREATE TABLE plain_in (k int, n int, v text, s int);
SET client_min_messages = error;
SELECT replace_flow.create_using_flow('plain', 'plain_in', '{k}', 's + 0', query => 'SELECT k, n, v, s FROM plain_in');
SET client_min_messages = warning;
INSERT INTO plain_in SELECT i % 3, i, 'v' || i, 1 FROM generate_series(1, 300) AS i;
SELECT applied('plain');
INSERT INTO plain_child SELECT k, n FROM plain;
INSERT INTO plain_in SELECT i % 3, i, CASE WHEN i % 5 = 0 THEN 'new' ELSE 'v' || i END, 2 FROM generate_series(11, 310) AS i;
SELECT applied('plain');
SELECT count(*) AS children, count(*) FILTER (WHERE n > 10) AS of_rows_that_stayed FROM plain_child;

-- A partitioned target, referenced as a whole and in a part.
CREATE TABLE part (k int, d int, s int, v text, PRIMARY KEY (k, d)) PARTITION BY LIST (d);
CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1);
CREATE TABLE part_2 (v text, gone int, s int, d int NOT NULL, k int NOT NULL);
ALTER TABLE part_2 DROP COLUMN gone;
ALTER TABLE part ATTACH PARTITION part_2 FOR VALUES IN (2);
CREATE TABLE part_child (id int, k int, d int, FOREIGN KEY (k, d) REFERENCES part ON DELETE CASCADE);
CREATE TABLE part_2_child (id int, k int, d int, FOREIGN KEY (k, d) REFERENCES part_2 ON DELETE CASCADE);
CREATE TABLE part_in (k int, d int, s int, v text);
SET client_min_messages = error;
SELECT replace_flow.create_using_flow('part', 'part_in', '{k}', 's');
SET client_min_messages = warning;
SELECT stage('part_in', '(1,1,1,a)', '(1,2,1,b)', '(2,1,1,c)', '(3,2,1,d)');
SELECT applied('part');
INSERT INTO part_child VALUES (10, 1, 1), (11, 1, 2), (12, 2, 1), (13, 3, 2);
INSERT INTO part_2_child VALUES (20, 1, 2), (21, 3, 2);
-- key 2 moves to the other partition, so its child goes
SELECT stage('part_in', '(1,1,2,A)', '(1,2,2,B)', '(2,2,2,C)', '(3,2,2,D)');
SELECT applied('part');
SELECT tableoid::regclass, k, d, s, v FROM part ORDER BY k, d;
SELECT id FROM part_child UNION ALL SELECT id FROM part_2_child ORDER BY id;

-- A target that references itself.
CREATE TABLE tree (root int, id int PRIMARY KEY, parent int REFERENCES tree, s int);
CREATE TABLE tree_in (root int, id int, parent int, s int);
CREATE INDEX ON tree (root);
SELECT replace_flow.create_using_flow('tree', 'tree_in', '{root}', 's');
SELECT stage('tree_in', '(1,1,,1)', '(1,2,1,1)', '(1,3,2,1)');
SELECT applied('tree');
SELECT stage('tree_in', '(1,1,,2)', '(1,2,1,2)', '(1,4,2,2)');
SELECT applied('tree');
TABLE tree ORDER BY id;

-- The whole change is one to a foreign key: a row may reference a new one, and
-- one that is referenced by a row that changes too may go.
SELECT stage('tree_in', '(1,1,,3)', '(1,5,,3)', '(1,2,5,3)', '(1,4,2,3)');
SELECT applied('tree');
SELECT stage('tree_in', '(1,2,,4)', '(1,4,2,4)');
SELECT applied('tree');
TABLE tree ORDER BY id;

-- Values of another unique index change places: a key that only checks does not
-- mind that rows are deleted and inserted.  Rows that a key would take along are
-- updated in place, and then the run fails whole (B2).
CREATE TABLE code (id int PRIMARY KEY, k int, c text UNIQUE, s int);
CREATE INDEX ON code (k);
CREATE TABLE code_child (id int REFERENCES code);
CREATE TABLE code_in (id int, k int, c text, s int);
SELECT replace_flow.create_using_flow('code', 'code_in', '{k}', 's');
SELECT stage('code_in', '(1,1,a,1)', '(2,1,b,1)', '(3,1,c,1)');
SELECT applied('code');
INSERT INTO code_child VALUES (1), (3);
SELECT stage('code_in', '(1,1,b,2)', '(2,1,a,2)', '(3,1,c,2)');
SELECT applied('code');
SELECT rows_updated FROM replace_flow.run ORDER BY run_id DESC LIMIT 1;
TABLE code ORDER BY id;
ALTER TABLE code_child DROP CONSTRAINT code_child_id_fkey, ADD FOREIGN KEY (id) REFERENCES code ON DELETE CASCADE;
SELECT stage('code_in', '(1,1,a,3)', '(2,1,b,3)', '(3,1,c,3)');
SELECT line FROM refused($$ SELECT applied('code') $$) AS line WHERE line !~ '^DETAIL';
TABLE code ORDER BY id;
TABLE code_child;
SELECT count(*) AS pending FROM code_in;

-- A line that is put in at the top moves all others down.
CREATE TABLE placed (k int, id int PRIMARY KEY, line int, s int, UNIQUE (k, line));
CREATE TABLE shipment (id int REFERENCES placed);
CREATE TABLE placed_in (LIKE placed);
SELECT replace_flow.create_using_flow('placed', 'placed_in', '{k}', 's');
INSERT INTO placed_in SELECT 1, id, id, 1 FROM generate_series(1, 8) AS id;
SELECT applied('placed');
INSERT INTO shipment SELECT id FROM placed;
INSERT INTO placed_in SELECT 1, id, id + 1, 2 FROM generate_series(0, 8) AS id;
SELECT applied('placed');
SELECT string_agg(id || ':' || line, ' ' ORDER BY line) FROM placed;

-- Nobody references a NULL, so it makes no pair: the note on A does not pass to B.
CREATE TABLE loose_code (k int, id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, code text UNIQUE, name text);
CREATE INDEX ON loose_code (k);
CREATE TABLE by_code (code text REFERENCES loose_code (code));
CREATE TABLE by_id (id int REFERENCES loose_code ON DELETE CASCADE, note text);
CREATE TABLE loose_code_in (k int, code text, name text, s int);
SET client_min_messages = error;
SELECT replace_flow.create_using_flow('loose_code', 'loose_code_in', '{k}', 's');
SET client_min_messages = warning;
INSERT INTO loose_code_in VALUES (1, NULL, 'A', 1), (1, 'c', 'C', 1);
SELECT applied('loose_code');
INSERT INTO by_id SELECT id, 'note on ' || name FROM loose_code;
INSERT INTO loose_code_in VALUES (1, NULL, 'B', 2), (1, 'c', 'D', 2);
SELECT applied('loose_code');
SELECT name, note FROM loose_code LEFT JOIN by_id USING (id) ORDER BY name;

-- A unique column may be of a type that only its operator class can compare.
CREATE TABLE odd (k int, c json[] NOT NULL UNIQUE, v text);
CREATE INDEX ON odd (k);
CREATE TABLE odd_child (c json[] REFERENCES odd (c));
CREATE TABLE odd_in (k int, c json[], v text, s int);
SELECT replace_flow.create_using_flow('odd', 'odd_in', '{k}', 's');
INSERT INTO odd_in VALUES (1, '{}', 'a', 1);
SELECT applied('odd');
INSERT INTO odd_in VALUES (1, '{}', 'b', 2);
SELECT applied('odd');
SELECT k, c::text, v FROM odd;
\i :finish
