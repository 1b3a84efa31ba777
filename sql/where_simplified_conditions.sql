\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D3: what the server concludes of a condition, once it has simplified it, does
-- not filter some members of a group of equal values.
--

CREATE TABLE n (g numeric);
INSERT INTO n VALUES (1.0), (1.00);
CREATE TABLE k (k text);
INSERT INTO k VALUES ('1.0');
SELECT replace_flow.create_where_flow('t',
    'SELECT k.k, s.n FROM k JOIN (SELECT g::text AS g, count(*) AS n FROM n GROUP BY n.g) s ON s.g = k.k', 'true');
SELECT refreshed('t');
TABLE t;
SELECT refreshed('t', 'k = ''1.0''', technique => 'COMPLETE_REPLACE_WHERE');
SELECT refreshed('t', 'NOT (k <> ''1.0'')', technique => 'COMPLETE_REPLACE_WHERE');
SELECT refreshed('t', 'k = ''1.0'' OR false', technique => 'COMPLETE_REPLACE_WHERE');
SELECT refreshed('t', '(k = ''1.0'' AND n > 1) OR (k = ''1.0'' AND n > 0)', technique => 'COMPLETE_REPLACE_WHERE');
SELECT refreshed('t', '(k = ''1.0'') IS TRUE', technique => 'COMPLETE_REPLACE_WHERE');
TABLE t;
SELECT replace_flow.drop_flow('t', drop_target => true);

-- A subquery that the server makes a join of.
SELECT replace_flow.create_where_flow('t',
    'SELECT k FROM k WHERE k IN (SELECT g::text FROM n GROUP BY g HAVING count(*) > 1)', 'k = ''1.0''');
SELECT refreshed('t');
TABLE t;
SELECT replace_flow.drop_flow('t', drop_target => true);

-- A WITH query that is to be computed as it stands.
CREATE TABLE raw (id int, v text);
INSERT INTO raw VALUES (1, '5'), (2, 'abc'), (3, '9');
CREATE FUNCTION is_number(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1 ~ '^\d+$'; END $$;
SELECT replace_flow.create_where_flow('t',
    'WITH q AS MATERIALIZED (SELECT id, v FROM raw WHERE is_number(v)) SELECT id, v::int AS v FROM q', 'v > 5');
SELECT refreshed('t');
TABLE t;
SELECT line FROM replace_flow.explain('t') AS line WHERE line ~ '^  \S+.*: .*v.* > ';
\i :finish
