\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A8, D2, D4: what cannot be a predicate.  It is exactly one boolean expression
-- over the target's columns that the query gives, and it has one value per row and
-- run.
--
CREATE TABLE sale (day int, v text, at timestamptz, extra int);
CREATE TABLE sale_in (day int, v text, at timestamptz, other int);
CREATE TABLE victim (k int);
INSERT INTO sale VALUES (1, 'a', '2026-03-01', 1);
INSERT INTO sale_in VALUES (1, 'A', '2026-03-01', 2);
CREATE FUNCTION volatile_day() RETURNS int LANGUAGE sql VOLATILE AS 'SELECT 1';
CREATE FUNCTION volatile_same(int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE FUNCTION many_days() RETURNS SETOF int LANGUAGE sql IMMUTABLE AS 'VALUES (1), (2)';
CREATE OPERATOR === (RIGHTARG = int, FUNCTION = volatile_same);
CREATE FUNCTION try(predicate text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT refused(format('SELECT replace_flow.create_where_flow(''sale'', ''SELECT day, v, at, other AS extra FROM sale_in'', %L)', predicate))
$$;

-- D2: what may be another value for each row or each time.  Case O25.
SELECT try('random() < 0.5');
SELECT try('day >= random() * 10');
SELECT try('at > clock_timestamp()');
SELECT try('at > statement_timestamp() - (clock_timestamp() - now())');
SELECT try('day = volatile_day()');
SELECT try('volatile_same(day) = 1');
SELECT try('=== day > 0');
SELECT try('day = 1 OR (day = 2 AND CASE WHEN v = ''x'' THEN random() > 0 ELSE true END)');
SELECT try('day = nextval(''victim'')');
SELECT try('v = gen_random_uuid()::text');
SELECT try('at > timeofday()::timestamptz');
SELECT try('day = ANY (ARRAY[volatile_day()])');

-- D2: subqueries, of every kind.
SELECT try('day >= (SELECT max(day) FROM sale)');
SELECT try('day IN (SELECT 1)');
SELECT try('day = ANY (SELECT day FROM sale_in)');
SELECT try('day = ANY (ARRAY(SELECT day FROM sale_in))');
SELECT try('EXISTS (SELECT FROM sale_in s WHERE s.day = sale.day)');
SELECT try('NOT EXISTS (SELECT FROM victim)');
SELECT try('(day, v) = (SELECT 1, ''a'')');
SELECT try('day > (WITH d AS (DELETE FROM victim RETURNING k) SELECT k FROM d)');

-- D2: aggregates, window functions, functions that give sets.
SELECT try('day = max(day)');
SELECT try('count(*) > 0');
SELECT try('bool_and(day > 0)');
SELECT try('row_number() OVER () = 1');
SELECT try('max(day) OVER (ORDER BY at) = day');
SELECT try('day = generate_series(1, 2)');
SELECT try('day = many_days()');
SELECT try('unnest(ARRAY[true])');
SELECT try('GROUPING(day) = 0');

-- D4: columns that are none, with a hint where a name is near; and a target's
-- column that the query does not give.
SELECT try('dai = 1');
SELECT try('"DAY" = 1');
SELECT try('other = 1');
SELECT try('nothing_like_it = 1');
SELECT try('nothing_like_it(day)');
SELECT try('sale_in.nothing = 1');
SELECT try('sales.day = 1');
SELECT try('test.sale_in.nothing = 1');
SELECT refused($$ SELECT replace_flow.create_where_flow('sale', 'SELECT day, v FROM sale_in', 'extra = 1') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('sale', 'SELECT day, v FROM sale_in', 'day = 1 AND at > now()') $$);
-- also of a target that does not exist yet
SELECT refused($$ SELECT replace_flow.create_where_flow('made', 'SELECT day, v FROM sale_in', 'dai = 1') $$);
SELECT refused($$ SELECT replace_flow.create_where_flow('made', 'SELECT day, v FROM sale_in', 'at > now()') $$);

-- Whole rows and system columns are no columns of the query.
SELECT try('sale IS NOT NULL');
SELECT try('sale = ROW(1, ''a'', NULL, 1)::sale');
SELECT try('sale.* IS NOT NULL');
SELECT try('(sale).day = 1');
SELECT try('sale_in IS NOT NULL');
SELECT try('q IS NOT NULL');
SELECT try('to_jsonb(sale) ->> ''day'' = ''1''');
SELECT try('ctid = ''(0,1)''');
SELECT try('sale.xmin IS NOT NULL');
SELECT try('tableoid = ''sale''::regclass');
SELECT try('*');

-- Parameters have no value here.
SELECT try('day = $1');
SELECT try('$1');
SELECT try('day = :day');

-- A8: one expression, of type boolean.
SELECT try('');
SELECT try(' ');
SELECT try('-- nothing');
SELECT try('day');
SELECT try('v');
SELECT try('1');
SELECT try('''true''::text');
SELECT try('day = 1, day = 2');
SELECT try('day = 1 day = 2');
SELECT try('day = 1;');
SELECT try('day = 1; DROP TABLE victim');
SELECT try('day = 1; DROP TABLE victim; --');
SELECT try('true) OR (true');
SELECT try('day = 1) OR (day = 2');
SELECT try('(day = 1');
SELECT try('day = 1)');
SELECT try('day = 1 OR');
SELECT try('day = 1 AS x');
SELECT try('day = 1 x');
SELECT try('day = 1 /* open');
SELECT try('day = ''open');
SELECT try('day = 1 ORDER BY day');
SELECT try('day = 1 GROUP BY day');
SELECT try('day = 1 LIMIT 1');
SELECT try('day = 1 FOR UPDATE');
SELECT try('day = 1 UNION SELECT true');
SELECT try('day = 1 FROM victim');
SELECT try('day = 1 WHERE true');
SELECT try('DISTINCT true');
SELECT try('WHERE day = 1');
SELECT try('DEFAULT');
SELECT try('SELECT true');
SELECT try('CURRENT OF c');
SELECT try('day = ''x''');
SELECT try('day || ''x''');
SELECT refused($$ SELECT replace_flow.create_where_flow('sale', 'SELECT day, v, at FROM sale_in', NULL) $$);

-- What is refused at creation is refused in ALTER and for one run, and leaves the
-- flow as it is; nothing is left of what was refused at creation.
SELECT count(*) AS flows FROM replace_flow.flow;
SELECT to_regclass('made') IS NULL AS not_made;
SELECT replace_flow.create_where_flow('sale', 'SELECT day, v, at FROM sale_in', 'day = 1');
CREATE FUNCTION try_later(predicate text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT refused(format('SELECT replace_flow.alter_flow(''sale'', replace_where => %L)', predicate)) UNION ALL
    SELECT refused(format('SELECT replace_flow.refresh(''sale'', %L)', predicate)) UNION ALL
    SELECT refused(format('SELECT replace_flow.preview(''sale'', %L)', predicate))
$$;
SELECT try_later('random() < 0.5');
SELECT try_later('day = (SELECT 1)');
SELECT try_later('max(day) = 1');
SELECT try_later('extra = 1');
SELECT try_later('dai = 1');
SELECT try_later('day');
SELECT try_later('true) OR (true');
SELECT try_later('day = 1; DROP TABLE victim');
SELECT try_later('');
SELECT definition_version, (SELECT count(*) FROM replace_flow.run) AS runs FROM replace_flow.flow;
TABLE sale;
SELECT refreshed('sale');
\i :finish
