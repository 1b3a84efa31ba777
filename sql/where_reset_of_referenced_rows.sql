\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D7, B12: in a full refresh, too, a row that other tables reference and that
-- stays what it is to them is updated in place; it may come from outside the window.
--

CREATE TABLE s (id int, day date, v text);
INSERT INTO s VALUES (1, '2020-01-01', 'a'), (2, '2026-01-01', 'b'), (3, '2020-01-01', 'c');
CREATE TABLE t (id int PRIMARY KEY, day date, v text);
CREATE TABLE child (id int REFERENCES t ON DELETE CASCADE);
CREATE TABLE strict_child (id int REFERENCES t ON DELETE RESTRICT);
SELECT replace_flow.create_where_flow('t', 'SELECT * FROM s', 'day >= ''2000-01-01''', reset_allowed => true);
SELECT refreshed('t');
INSERT INTO child VALUES (1), (2), (3);
INSERT INTO strict_child VALUES (1);
SELECT replace_flow.alter_flow('t', replace_where => 'day >= ''2025-01-01''');
UPDATE s SET day = '2026-02-02' WHERE id = 1;
SELECT rows_inserted, rows_updated, rows_deleted, rows_unchanged, rows_reset FROM replace_flow.full_refresh('t');
TABLE t ORDER BY id;
TABLE child ORDER BY id;
TABLE strict_child;
\i :finish
