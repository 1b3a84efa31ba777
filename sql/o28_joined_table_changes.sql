\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set compare :source /sql/include/compare.sql
\i :compare
--
-- Case O28, E5: only a table changes that is joined.  Another tool tracked the main
-- table alone, and left the refresh out.
--
-- After each step the window has the labels of today (ran says so), and the row before
-- it the one that it was written with.
CREATE TABLE f (day int, id int);
CREATE TABLE d (id int, label text);
INSERT INTO f VALUES (5, 1), (10, 1), (11, 2);
INSERT INTO d VALUES (1, 'a'), (2, 'b');
CREATE TABLE target (day int, id int, label text);
SELECT replace_flow.create_where_flow('target', 'SELECT f.day, f.id, d.label FROM f f JOIN d d USING (id)', 'day >= 10', name => 'flow');
CREATE FUNCTION ran(technique text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT ran('flow', 'SELECT * FROM test.target WHERE day >= 10',
        'SELECT day, id, label FROM test.f JOIN test.d USING (id) WHERE day >= 10', technique)
$$;
CREATE FUNCTION rows() RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(t::text, ' ' ORDER BY t) FROM test.target AS t
$$;
-- the first load is of everything
SELECT refreshed('flow', 'day >= 1');
SELECT ran(), rows();
SELECT ran();

-- a label is another one
UPDATE d SET label = 'aa' WHERE id = 1;
SELECT ran(), rows();
-- goes
DELETE FROM d WHERE id = 2;
SELECT ran(), rows();
-- and comes, with nobody to have it at first
INSERT INTO d VALUES (3, 'c');
SELECT ran(), rows();
INSERT INTO d VALUES (2, 'bb');
SELECT ran(), rows();
-- is there twice
INSERT INTO d VALUES (2, 'bb');
SELECT ran(), rows();
DELETE FROM d WHERE ctid = (SELECT max(ctid) FROM d WHERE id = 2);
SELECT ran(), rows();
-- changes hands
UPDATE d SET id = 4 - id WHERE id IN (1, 3);
SELECT ran(), rows();
UPDATE d SET id = 4 - id WHERE id IN (1, 3);
SELECT ran(), rows();
-- nothing that matters
UPDATE d SET label = label;
SELECT ran(), rows();
ALTER TABLE d ADD note text;
SELECT ran(), rows();
UPDATE d SET note = 'not read';
SELECT ran(), rows();
-- both tables
INSERT INTO f VALUES (12, 3), (4, 3);
UPDATE d SET label = 'cc' WHERE id = 3;
SELECT ran(), rows();
-- all are gone
TRUNCATE d;
SELECT ran(), rows();
INSERT INTO d VALUES (1, 'a'), (2, 'b'), (3, 'c');
SELECT ran(), rows();

-- The joined table is replaced by a view over one that changes.
CREATE TABLE name (id int, first text, last text);
INSERT INTO name SELECT id, label, 'x' FROM d;
CREATE VIEW d_view AS SELECT id, first || last AS label FROM name;
SELECT replace_flow.alter_flow('flow', query => 'SELECT f.day, f.id, d.label FROM f f JOIN d_view d USING (id)');
CREATE OR REPLACE FUNCTION ran(technique text DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT ran('flow', 'SELECT * FROM test.target WHERE day >= 10',
        'SELECT day, id, label FROM test.f JOIN test.d_view USING (id) WHERE day >= 10', technique)
$$;
SELECT ran(), rows();
SELECT ran();
UPDATE name SET last = 'y' WHERE id = 1;
SELECT ran(), rows();
UPDATE name SET last = NULL WHERE id = 2;
SELECT ran(), rows();
DELETE FROM name WHERE id = 1;
SELECT ran(), rows();
INSERT INTO name VALUES (1, 'a', 'z');
SELECT ran(), rows();
-- what the view read before does not matter any more
UPDATE d SET label = 'unread';
SELECT ran(), rows();
CREATE OR REPLACE VIEW d_view AS SELECT id, last || first AS label FROM name;
SELECT ran(), rows();
-- a table under the view takes another's place
CREATE TABLE name_2 (LIKE name);
INSERT INTO name_2 VALUES (1, 'one', '!'), (2, 'two', '!');
CREATE OR REPLACE VIEW d_view AS SELECT id, first || last AS label FROM name_2;
SELECT ran(), rows();
UPDATE name_2 SET first = 'uno' WHERE id = 1;
SELECT ran(), rows();
SELECT ran(), rows();
UPDATE name_2 SET first = 'due' WHERE id = 2;
SELECT ran(), rows();
SELECT ran('COMPLETE_REPLACE_WHERE'), rows();

\i :finish
