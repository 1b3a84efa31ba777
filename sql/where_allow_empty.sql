\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D12: with allow_empty => false a run whose query gives no row for a window in
-- which the target has rows fails, with both counts and the way to insist.
--
CREATE TABLE t (day int, v text);
CREATE TABLE s (LIKE t);
INSERT INTO s SELECT i, 'v' FROM generate_series(1, 10) AS i;
SELECT replace_flow.create_where_flow('t', 'TABLE s', 'day > 5', allow_empty => false, reset_allowed => true);
-- An empty window of an empty target is nothing to lose.
SELECT refreshed('t', 'day > 100');
SELECT refreshed('t');
INSERT INTO t VALUES (1, 'outside');
-- One row is enough.
DELETE FROM s WHERE day BETWEEN 6 AND 9;
SELECT refreshed('t');
-- A source that vanished does not wipe history.
DELETE FROM s;
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
SELECT refused($$ SELECT replace_flow.refresh('t', 'day = 10') $$);
SELECT refused($$ SELECT replace_flow.refresh('t', 'true') $$);
SELECT * FROM t ORDER BY day;
SELECT count(*) AS runs FROM replace_flow.run;
-- An override where the target has none.
SELECT refreshed('t', 'day > 10');
-- What the query gives outside the window does not count, on both sides.
INSERT INTO s VALUES (2, 'outside'), (NULL, 'outside');
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
-- A full refresh is a run too.
SELECT refused($$ SELECT replace_flow.full_refresh('t') $$);
SELECT * FROM t ORDER BY day;

-- To insist: in the call.
BEGIN;
SELECT refreshed('t', allow_empty => true);
SELECT * FROM t ORDER BY day;
ROLLBACK;
-- It was for this call.
SELECT refused($$ SELECT replace_flow.refresh('t') $$);
SELECT allow_empty FROM replace_flow.flow;
-- Or for good.
SELECT replace_flow.alter_flow('t', allow_empty => true);
SELECT refreshed('t');
SELECT * FROM t ORDER BY day;
-- The other way round.
INSERT INTO s VALUES (7, 'v');
SELECT refreshed('t');
DELETE FROM s;
SELECT refused($$ SELECT replace_flow.refresh('t', allow_empty => false) $$);
SELECT * FROM t ORDER BY day;
SELECT refreshed('t');

-- Rows that an expectation drops are no rows of the window: what they leave is empty.
SELECT replace_flow.alter_flow('t', allow_empty => false);
SELECT replace_flow.add_expectation('t', 'good', $$ v <> 'bad' $$, 'drop');
INSERT INTO s VALUES (7, 'v'), (8, 'bad');
SELECT refreshed('t');
DELETE FROM s WHERE v = 'v';
SELECT line !~ '^RF000' AS refused FROM refused($$ SELECT replace_flow.refresh('t') $$) AS line LIMIT 1;
SELECT * FROM t ORDER BY day;
SELECT count(*) AS rejected FROM replace_flow.rejected;

-- The default is to allow it.
CREATE TABLE u (LIKE t);
INSERT INTO u VALUES (9, 'v');
SELECT replace_flow.create_where_flow('u', 'TABLE s', 'day > 8');
SELECT refreshed('u');
TABLE u;
\i :finish
