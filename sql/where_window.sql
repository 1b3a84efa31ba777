\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D1: the rows of the target for which the predicate is true are replaced by the
-- rows of the query for which it is true; all others stay, on both sides.
--
SET datestyle = ISO;
CREATE TABLE sale (day int, amount int);
CREATE TABLE sale_in (LIKE sale);
INSERT INTO sale VALUES (1, 100), (2, 200), (2, 200);
INSERT INTO sale_in VALUES (1, 5), (2, 6), (3, 7), (3, 7);
SELECT replace_flow.create_where_flow('sale', 'SELECT day, amount FROM sale_in', 'day >= 2');
SELECT refreshed('sale');
SELECT * FROM sale ORDER BY day, amount;
-- Copies count, and what the source no longer has goes.
DELETE FROM sale_in WHERE ctid = (SELECT max(ctid) FROM sale_in);
INSERT INTO sale_in VALUES (2, 6), (4, 8);
SELECT refreshed('sale');
SELECT * FROM sale ORDER BY day, amount;
-- A row that leaves the window in the source leaves it in the target; it does not
-- come back on the other side.
UPDATE sale_in SET day = 0 WHERE day = 4;
UPDATE sale_in SET amount = 9 WHERE day = 3;
SELECT refreshed('sale');
SELECT * FROM sale ORDER BY day, amount;
TRUNCATE sale_in;
SELECT refreshed('sale');
SELECT refreshed('sale');
TABLE sale;

-- Whatever the predicate, true, false or NULL: the right rows are those that the
-- server's own WHERE finds.
CREATE TABLE item (day int, open boolean, v text);
CREATE TABLE item_in (LIKE item);
CREATE TABLE item_before (LIKE item);
CREATE FUNCTION same_as_where(predicate text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    counts text;
BEGIN
    TRUNCATE item, item_before, item_in;
    INSERT INTO item SELECT day, open, 'target' FROM unnest('{NULL, 4, 5, 6}'::int[]) AS day, unnest('{NULL, t, f}'::boolean[]) AS open;
    INSERT INTO item_in SELECT day, NOT open, 'source' FROM item;
    INSERT INTO item_before TABLE item;
    PERFORM replace_flow.create_where_flow('test.item', 'SELECT * FROM test.item_in', predicate, name => 'item');
    counts := refreshed('item');
    PERFORM refreshed('item');
    PERFORM replace_flow.drop_flow('item');
    RETURN CASE WHEN same('TABLE item', format(E'SELECT * FROM item_before WHERE (%1$s\n) IS NOT TRUE UNION ALL SELECT * FROM item_in WHERE (%1$s\n)', predicate))
        THEN 'same' ELSE 'DIFFERENT' END || ': ' || counts;
END $$;
SELECT predicate, same_as_where(predicate)
FROM unnest(ARRAY[
    'true', 'false', 'NULL::boolean', 'open', 'NOT open', 'open IS NULL', 'open IS NOT TRUE', 'open IS UNKNOWN', 'day IS NULL', 'day IS NOT NULL',
    'day < 5', 'NOT (day < 5)', 'NOT (NOT (day < 5))', '(day < 5) IS NOT TRUE', '(day < 5) IS UNKNOWN', 'coalesce(day < 5, true)',
    'day = NULL', 'day IN (6, NULL)', 'day NOT IN (6, NULL)', 'NOT (day IN (4, NULL))', 'day = ANY (''{5,6,NULL}'')', 'day <> ALL (''{5,6,NULL}'')',
    'day IS DISTINCT FROM 4', 'day IS NOT DISTINCT FROM NULL', 'day BETWEEN 5 AND NULL', 'day NOT BETWEEN 5 AND NULL', 'day > 4 AND open', 'day > 4 OR open',
    'NOT (day > 4 AND open)', 'NOT (day > 4 OR open)', 'CASE WHEN day > 4 THEN open ELSE day IS NULL END', 'nullif(day, 5) > 4', '(day, open) > (4, true)',
    '(day, v) IS NULL', 'ROW(day, open) IS NOT NULL', '(day > 4) = open', 'v = ''target''', 'v = ''source''', 'day = 5 -- AND open', 'day = 5 /* OR */ OR day = 6'])
    WITH ORDINALITY AS p (predicate, place)
ORDER BY place;

-- Case O23: an OR in the predicate binds no further than the predicate, also
-- beside a condition in the query; and a comment at its end ends with it.
CREATE FUNCTION same_after(predicate text, times int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE sale, sale_in;
    INSERT INTO sale_in VALUES (1, 5), (1, -5), (2, 6), (2, -6), (3, 7);
    INSERT INTO sale VALUES (3, 700), (2, 999);
    PERFORM replace_flow.drop_flow('sale');
    PERFORM replace_flow.create_where_flow('sale', 'SELECT day, amount FROM sale_in WHERE amount > 0', predicate);
    PERFORM refreshed('sale') FROM generate_series(1, times);
    RETURN (SELECT string_agg(format('%s %s', day, amount), ', ' ORDER BY day) FROM sale);
END $$;
SELECT predicate, same_after(predicate, 1) AS once, same_after(predicate, 10) AS ten_times
FROM unnest(ARRAY['day = 1 OR day = 2', 'NOT (day = 3)', 'day IN (1, 2)', 'day = 1 OR day = 2 -- two days', E'day = 1 -- one\nOR day = 2 -- two\n']) AS predicate;

-- Case O24: rows whose predicate is neither true nor false are left alone, on
-- both sides.
CREATE TABLE mark (day int, v text);
CREATE TABLE mark_in (LIKE mark);
INSERT INTO mark VALUES (NULL, 'legacy'), (4, 'old4'), (6, 'old6');
INSERT INTO mark_in VALUES (NULL, 'srcnull'), (6, 'new6');
SELECT replace_flow.create_where_flow('mark', 'SELECT * FROM mark_in', 'NOT (day < 5)');
SELECT refreshed('mark');
SELECT refreshed('mark');
SELECT * FROM mark ORDER BY day NULLS FIRST;

-- D2: what is stable has one value in a run.  Case O25: a window that is found by
-- looking at the target is found once, before anything is written.
CREATE FUNCTION newest() RETURNS int LANGUAGE sql STABLE AS 'SELECT max(day) FROM test.mark';
CREATE FUNCTION is_newest(int) RETURNS boolean LANGUAGE plpgsql STABLE AS 'BEGIN RETURN $1 >= (SELECT max(day) FROM test.mark); END';
SELECT replace_flow.drop_flow('mark');
TRUNCATE mark, mark_in;
INSERT INTO mark VALUES (1, 'a'), (2, 'b'), (3, 'c1'), (3, 'c2');
INSERT INTO mark_in VALUES (2, 'b'), (3, 'C1'), (3, 'C2'), (4, 'd');
SELECT replace_flow.create_where_flow('mark', 'SELECT * FROM mark_in', 'day >= newest()');
BEGIN;
SELECT refreshed('mark');
SELECT * FROM mark ORDER BY day, v;
ROLLBACK;
-- also where it looks at the target for each row
SELECT replace_flow.alter_flow('mark', replace_where => 'is_newest(day)');
SELECT refreshed('mark');
SELECT * FROM mark ORDER BY day, v;
-- the next run has the next window
SELECT refreshed('mark');

-- A window that moves with the clock: rows that it leaves stay as they are.
CREATE TABLE clock (today date);
INSERT INTO clock VALUES ('2026-03-10');
CREATE FUNCTION today() RETURNS date LANGUAGE sql STABLE AS 'SELECT today FROM test.clock';
CREATE TABLE daily (day date, n bigint);
CREATE TABLE event (at timestamp);
INSERT INTO event SELECT generate_series('2026-03-08'::timestamp, '2026-03-10 23:00', '6 hours');
SELECT replace_flow.create_where_flow('daily', 'SELECT at::date AS day, count(*) AS n FROM event GROUP BY 1', 'day > today() - 2');
SELECT refreshed('daily');
SELECT * FROM daily ORDER BY day;
UPDATE clock SET today = '2026-03-11';
DELETE FROM event WHERE at < '2026-03-10 12:00';
INSERT INTO event VALUES ('2026-03-11 07:00');
SELECT refreshed('daily');
SELECT * FROM daily ORDER BY day;
SELECT predicate FROM replace_flow.run WHERE flow = 'daily' ORDER BY run_id;
-- today, as the server has it
BEGIN;
SELECT replace_flow.create_where_flow('recent', 'SELECT current_date - i AS day FROM generate_series(0, 9) AS i', 'day >= current_date - 3');
SELECT refreshed('recent');
SELECT min(current_date - day) AS newest, max(current_date - day) AS oldest FROM recent;
SELECT predicate = format('(day >= %L::date)', current_date - 3) AS evaluated FROM replace_flow.run WHERE flow = 'recent';
COMMIT;
-- now() is the transaction's, on both sides.
CREATE TABLE instant (at timestamptz, v text);
SELECT replace_flow.create_where_flow('instant', $$ SELECT now() AS at, 'now' AS v $$, 'at = now()');
BEGIN;
SELECT refreshed('instant');
SELECT refreshed('instant');
COMMIT;
SELECT refreshed('instant');
SELECT count(*) FROM instant;

-- D2: the predicate is judged on what the query gives, not on what an expression
-- of the same name in the source would give.
CREATE TABLE shifted (day int, v text);
SELECT replace_flow.create_where_flow('shifted', 'SELECT day + 10 AS day, v FROM mark_in', 'day BETWEEN 12 AND 13');
SELECT refreshed('shifted');
SELECT * FROM shifted ORDER BY day, v;
\i :finish
