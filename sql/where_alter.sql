\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A11: alter_flow with a new query adds the columns that the target lacks, and does
-- not touch history; a new predicate is another window from then on.
--
CREATE TABLE clicks (day int, user_id int);
CREATE TABLE daily (day int, n bigint);
INSERT INTO clicks SELECT day, u FROM generate_series(1, 6) AS day, generate_series(1, day) AS u;
CREATE FUNCTION definition() RETURNS text LANGUAGE sql AS
    $$ SELECT format('version %s: %s', definition_version, replace_where) FROM replace_flow.flow WHERE name = 'daily' $$;
CREATE FUNCTION last_reasons() RETURNS text LANGUAGE sql AS
    $$ SELECT array_to_string(reasons, '; ') FROM replace_flow.run ORDER BY run_id DESC LIMIT 1 $$;
SELECT replace_flow.create_where_flow('daily', 'SELECT day, count(*) AS n FROM clicks GROUP BY day', 'day >= 3');
SELECT refreshed('daily', 'true');
SELECT last_reasons() ~ 'FIRST_RUN' AS first;
SELECT refreshed('daily');
SELECT definition();

-- A metric is added: history holds NULL, the next run fills the window, and an
-- override fills what one wants of the rest.
SELECT replace_flow.alter_flow('daily', query => 'SELECT day, count(*) AS n, count(DISTINCT user_id) AS "Users", max(user_id)::numeric(5,1) AS top FROM clicks GROUP BY day');
SELECT definition();
SELECT attname, format_type(atttypid, atttypmod), attnotnull, atthasdef FROM pg_attribute WHERE attrelid = 'daily'::regclass AND attnum > 2;
SELECT * FROM daily ORDER BY day;
SELECT refreshed('daily');
SELECT last_reasons() ~ 'DEFINITION_CHANGED' AS changed;
SELECT * FROM daily ORDER BY day;
SELECT refreshed('daily', 'day = 1');
SELECT last_reasons() ~ 'DEFINITION_CHANGED' AS changed;
SELECT * FROM daily ORDER BY day;
-- A column that is no longer given stays, and keeps its values in rows that stay.
SELECT replace_flow.alter_flow('daily', query => 'SELECT day, count(*) AS n, count(DISTINCT user_id) AS "Users" FROM clicks GROUP BY day');
INSERT INTO clicks VALUES (4, 1);
SELECT refreshed('daily');
SELECT day, n, "Users", top IS NULL AS no_top FROM daily WHERE day <> 4 ORDER BY day;
SELECT day, n, "Users" FROM daily WHERE day = 4;

-- The predicate: wider, narrower, another one.
CREATE TABLE before AS TABLE daily;
UPDATE clicks SET user_id = user_id + 100;
DELETE FROM clicks WHERE user_id = 101;
SELECT replace_flow.alter_flow('daily', replace_where => 'day BETWEEN 5 AND 6');
SELECT definition();
SELECT same('TABLE before', 'TABLE daily');
SELECT refreshed('daily');
SELECT last_reasons() ~ 'DEFINITION_CHANGED' AS changed;
SELECT same('SELECT * FROM before WHERE day < 5', 'SELECT * FROM daily WHERE day < 5');
SELECT same('SELECT day, n, "Users" FROM daily WHERE day > 4', 'SELECT day, count(*), count(DISTINCT user_id) FROM clicks WHERE day > 4 GROUP BY day');
SELECT replace_flow.alter_flow('daily', replace_where => 'day >= 2 OR day IS NULL');
SELECT refreshed('daily');
SELECT same('SELECT day, n, "Users" FROM daily WHERE day > 1', 'SELECT day, count(*), count(DISTINCT user_id) FROM clicks WHERE day > 1 GROUP BY day');
SELECT definition();

-- Both at once: the new predicate may name a column that the new query adds.
SELECT replace_flow.alter_flow('daily', query => $$ SELECT day, count(*) AS n, count(DISTINCT user_id) AS "Users", NULL::numeric AS top, 'eu' AS region FROM clicks GROUP BY day $$,
    replace_where => $$ region = 'eu' AND day > 5 $$);
SELECT definition();
SELECT refreshed('daily');
SELECT day, n, region FROM daily WHERE day > 4 ORDER BY day, region;
SELECT refused($$ SELECT replace_flow.alter_flow('daily', replace_where => 'missing = 1', query => 'SELECT day, 1::bigint AS n, 2 AS missed FROM clicks') $$);
-- A query that no longer gives what the predicate names.
SELECT refused($$ SELECT replace_flow.alter_flow('daily', query => 'SELECT day, 1::bigint AS n FROM clicks') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('daily', query => 'SELECT 1::bigint AS n, ''x'' AS region FROM clicks') $$);
SELECT definition();

-- Queries are refused as at creation: with a type that needs a cast, or that read
-- the target.
SELECT refused($$ SELECT replace_flow.alter_flow('daily', query => 'SELECT day::text AS day, 1::bigint AS n, ''x'' AS region FROM clicks') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('daily', query => 'SELECT day, n::int AS n, region FROM daily') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('daily', query => 'SELECT day, 1::bigint AS n, ''x'' AS region, day FROM clicks') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('daily', query => '') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('daily', replace_where => '') $$);
SELECT definition();

-- What is nothing to a where flow, and what is nothing to a using flow.
CREATE TABLE u_in (k int, s int);
SELECT replace_flow.create_using_flow('u', 'u_in', '{k}', 's');
SELECT refused($$ SELECT replace_flow.alter_flow('daily', source => 'u_in') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('daily', replace_using => '{day}') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('daily', sequence_by => 'n') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('daily', delete_when => 'n = 0') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('daily', delete_when => '') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('daily', on_tie => 'ignore') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('daily', auto_apply => false) $$);
SELECT refused($$ SELECT replace_flow.alter_flow('daily', quarantine => true) $$);
SELECT refused($$ SELECT replace_flow.alter_flow('u', replace_where => 'k = 1') $$);
SELECT refused($$ SELECT replace_flow.alter_flow('u', reset_allowed => true) $$);
SELECT refused($$ SELECT replace_flow.alter_flow('u', allow_empty => false) $$);
SELECT refused($$ SELECT replace_flow.alter_flow('u', refresh_on_change => true) $$);
SELECT refused($$ SELECT replace_flow.alter_flow('u', min_interval => '1 min') $$);
SELECT definition();

-- The rest of the definition, which does not make history old.
SELECT replace_flow.alter_flow('daily', name => 'by day', comment => 'clicks', settings => '{"work_mem": "1MB"}', keep_rejected => false,
    reset_allowed => true, allow_empty => false, refresh_on_change => true, min_interval => '10 s');
SELECT name, comment, settings, keep_rejected, reset_allowed, allow_empty, refresh_on_change, min_interval FROM replace_flow.flow WHERE kind = 'where';
SELECT refused($$ SELECT replace_flow.refresh('daily') $$);
SELECT refreshed('by day');
SELECT replace_flow.alter_flow('by day', name => 'daily', min_interval => '0', refresh_on_change => false, allow_empty => true);
SELECT line !~ '^RF000' AS refused FROM refused($$ SELECT replace_flow.alter_flow('daily', min_interval => '-1 s') $$) AS line LIMIT 1;
-- A change that was rolled back, or that comes to a run of the same transaction.
SELECT definition_version FROM replace_flow.flow WHERE name = 'daily' \gset
BEGIN;
SELECT replace_flow.alter_flow('daily', replace_where => 'day = 3');
SELECT refreshed('daily');
ROLLBACK;
SELECT definition_version = :definition_version AS same_version, replace_where FROM replace_flow.flow WHERE name = 'daily';
BEGIN;
SELECT replace_flow.alter_flow('daily', query => 'SELECT day, -count(*) AS n, ''eu'' AS region FROM clicks GROUP BY day', replace_where => 'day = 3');
SELECT refreshed('daily');
COMMIT;
SELECT day, n FROM daily WHERE day = 3;
\i :finish
