\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D4: the target's own name may qualify the columns of a predicate, and an alias of
-- the query may, where the query's output has that very column.
--
SET datestyle = ISO;
CREATE TABLE fact (date date, id int, n int);
CREATE TABLE dim (id int, label text, date date);
INSERT INTO fact VALUES ('2026-03-01', 1, 10), ('2026-03-02', 1, 11), ('2026-03-02', 2, 12), ('2026-03-03', 3, 13);
INSERT INTO dim VALUES (1, 'one', '2025-01-01'), (2, 'two', '2027-01-01'), (3, 'three', '2027-01-01');
CREATE SCHEMA test2;
-- Create the flow with each predicate, run it, and tell the rows, or why not.
CREATE FUNCTION try(predicate text, query text DEFAULT 'SELECT f.date, f.id, d.label FROM fact f JOIN dim d ON d.id = f.id') RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM replace_flow.create_where_flow('test2.wide', query, predicate, name => 'wide');
    PERFORM refreshed('wide');
    RETURN NEXT (SELECT coalesce(string_agg(w::text, ' ' ORDER BY w::text), 'no rows') FROM test2.wide w);
    PERFORM replace_flow.drop_flow('wide', drop_target => true);
EXCEPTION WHEN OTHERS THEN
    RETURN QUERY SELECT refused(format('SELECT replace_flow.create_where_flow(''test2.wide'', %L, %L, name => ''wide'')', query, predicate));
END $$;

-- The target's name, with and without its schema.
SELECT try($$ date >= '2026-03-02' $$);
SELECT try($$ wide.date >= '2026-03-02' $$);
SELECT try($$ test2.wide.date >= '2026-03-02' AND wide.id = 2 $$);
SELECT try($$ test.wide.date >= '2026-03-02' $$);
SELECT try($$ wide.nothing = 1 $$);
SELECT try($$ nowhere.wide.date >= '2026-03-02' $$);

-- An alias of the query, where the column that it names is in the output.
SELECT try($$ f.date >= '2026-03-02' $$);
SELECT try($$ f.date >= '2026-03-02' AND d.label = 'two' AND id = 2 $$);
SELECT try($$ f.date >= '2026-03-02' $$, 'SELECT f.date, count(*) AS n FROM fact f GROUP BY f.date');
SELECT try($$ fact.date >= '2026-03-02' $$, 'SELECT date, sum(n) AS n FROM fact GROUP BY date');
-- under whatever name
SELECT try($$ f.date >= '2026-03-02' $$, 'SELECT f.date AS day, f.id FROM fact f');
SELECT try($$ day >= '2026-03-02' $$, 'SELECT f.date AS day, f.id FROM fact f');
-- Two columns change names: each is what the query calls it, unless the alias says otherwise.
SELECT try($$ f.id > 11 $$, 'SELECT f.id AS n, f.n AS id FROM fact f');
SELECT try($$ f.n > 11 $$, 'SELECT f.id AS n, f.n AS id FROM fact f');
SELECT try($$ id > 11 $$, 'SELECT f.id AS n, f.n AS id FROM fact f');

-- Where it is not, the predicate would mean something else than the window.
SELECT try($$ f.n = 12 $$);
SELECT try($$ d.date >= '2026-03-02' $$);
SELECT try($$ d.id = 2 $$);
SELECT try($$ f.date >= '2026-03-02' $$, 'SELECT f.date + 1 AS date, f.id FROM fact f');
SELECT try($$ f.date >= '2026-03-02' $$, 'SELECT max(f.date) AS date, f.id FROM fact f GROUP BY f.id');
SELECT try($$ f.date >= '2026-03-02' $$, 'SELECT f.date::timestamp AS date, f.id FROM fact f');
SELECT try($$ d.label = 'two' $$, 'SELECT f.date, coalesce(d.label, ''x'') AS label FROM fact f LEFT JOIN dim d ON d.id = f.id');
SELECT try($$ g.date >= '2026-03-02' $$);
SELECT try($$ F.Date >= '2026-03-02' $$);
SELECT try($$ "F".date >= '2026-03-02' $$);
SELECT try($$ fact.date >= '2026-03-02' $$);
SELECT try($$ f.* IS NOT NULL $$);
SELECT try($$ f IS NOT NULL $$);
-- Aliases inside of subqueries, of branches of a UNION and of WITH are not the query's.
SELECT try($$ f.date >= '2026-03-02' $$, 'SELECT s.date FROM (SELECT f.date FROM fact f) AS s');
SELECT try($$ s.date >= '2026-03-02' $$, 'SELECT s.date FROM (SELECT f.date FROM fact f) AS s');
SELECT try($$ f.date >= '2026-03-02' $$, 'SELECT f.date FROM fact f UNION ALL SELECT d.date FROM dim d');
SELECT try($$ s.date >= '2026-03-02' $$, 'WITH s AS (SELECT date FROM fact) SELECT s.date FROM s');
-- The nullable side of a join: what the alias names is what the join gives.
SELECT try($$ d.label IS NULL $$, 'SELECT f.date, f.id, d.label FROM fact f LEFT JOIN dim d ON d.id = f.id AND d.id < 3');
-- Columns that JOIN USING merges are not the one side's or the other's, unless the query names one.
SELECT try($$ f.id = 2 $$, 'SELECT f.date, f.id, d.label FROM fact f JOIN dim d USING (id)');
SELECT try($$ id = 2 $$, 'SELECT f.date, id, d.label FROM fact f JOIN dim d USING (id)');

-- The target's name goes before an alias of the same name.
SELECT try($$ wide.date >= '2026-03-02' $$, 'SELECT wide.date + 1 AS date, wide.id FROM fact AS wide');
SELECT try($$ wide.date >= '2026-03-02' $$, 'SELECT wide.date, wide.id FROM fact AS wide');

-- An override is named in the same way.
SELECT replace_flow.create_where_flow('test2.wide', 'SELECT f.date, f.id, d.label FROM fact f JOIN dim d ON d.id = f.id', 'false', name => 'wide');
SELECT refreshed('wide', $$ f.date = '2026-03-01' $$);
SELECT refreshed('wide', $$ test2.wide.date = '2026-03-02' AND d.label = 'two' $$);
SELECT * FROM test2.wide ORDER BY date, id;
SELECT refused($$ SELECT replace_flow.refresh('wide', 'd.date > now()') $$);
-- The old name of a target that has another name now is nobody's.
ALTER TABLE test2.wide RENAME TO broad;
SELECT refreshed('wide', $$ broad.date = '2026-03-03' $$);
SELECT refused($$ SELECT replace_flow.refresh('wide', 'wide.id = 1') $$);
SELECT * FROM test2.broad ORDER BY date, id;
SELECT replace_flow.drop_flow('wide');
DROP SCHEMA test2 CASCADE;
\i :finish
