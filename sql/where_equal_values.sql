\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- D3: a predicate that tells apart what GROUP BY and the like take for equal is
-- about the finished rows; groups stay whole.
--
CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE source (id int, number numeric, float float8, word text COLLATE any_case, padded bpchar,
    span interval, list numeric[]);
INSERT INTO source VALUES
    (1, 1.0, 0, 'a', 'a', '1 day', '{1}'), (2, 1.00, '-0', 'A', 'a ', '24 hours', '{1.0}'),
    (3, 1.0, 0, 'a', 'a', '1 day', '{1}'), (4, 2, 1, 'b', 'b', '1 mon', '{2}'),
    (5, NULL, NULL, NULL, NULL, NULL, NULL);

-- For queries that put equal values together: how many source rows the rows of the
-- window stand for, when the predicate is a comparison, when it looks closer at the
-- one value that the group shows, and when at the other.
CREATE FUNCTION members(query text, comparison text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    shown text;
    counts text[];
    predicate text;
    members int;
BEGIN
    PERFORM replace_flow.create_where_flow('result', query, comparison);
    FOREACH predicate IN ARRAY ARRAY[comparison, 'value::text = %L', 'value::text <> %L'] LOOP
        EXECUTE format('SELECT value::text FROM (%s) q WHERE %s', query, comparison) INTO shown;
        TRUNCATE result;
        PERFORM replace_flow.refresh('result', format(predicate || ' AND ' || comparison, shown));
        SELECT sum(n) FROM result INTO members;
        counts := counts || coalesce(members::text, 'none');
    END LOOP;
    PERFORM replace_flow.drop_flow('result', drop_target => true);
    RETURN array_to_string(counts, ', ');
END $$;
SELECT value, members(format('SELECT %s AS value, count(*) AS n FROM source GROUP BY 1', value), comparison) AS grouped,
    members(format('WITH s AS (SELECT %s AS value, count(*) AS n FROM source GROUP BY 1) SELECT * FROM s', value), comparison) AS with_query,
    members(format('SELECT s.value, s.n FROM (SELECT %s AS value, count(*) AS n FROM source GROUP BY 1) s JOIN (SELECT DISTINCT %1$s AS value FROM source) t ON s.value = t.value', value), comparison) AS joined
FROM (VALUES ('number', 'value = 1'), ('float', 'value <= 0'), ('word', 'value = ''A'''), ('padded', 'value IN (''a'', ''c'')'),
             ('span', 'value < ''25 hours'''), ('list', 'value = ''{1.000}''')) AS v(value, comparison);

-- The windows of a window function: each row has its own value, and the others count.
SELECT replace_flow.create_where_flow('ranked', 'SELECT id, number, count(*) OVER (PARTITION BY number) AS n FROM source', 'number::text = ''1.00''');
SELECT rows_read FROM replace_flow.refresh('ranked');
TABLE ranked;
-- From word = '1.0' the server would conclude that number::text = '1.0'.
SELECT replace_flow.create_where_flow('concluded', $$
    SELECT w.word, g.n
    FROM (VALUES ('1.0'), ('1.00')) AS w(word)
    JOIN (SELECT number, count(*) AS n FROM source GROUP BY 1) g ON g.number::text = w.word
$$, 'word = ''1.0''');
SELECT rows_read FROM replace_flow.refresh('concluded');
SELECT replace_flow.create_where_flow('finished', $$
    SELECT w.word, g.n
    FROM (VALUES ('1.0'), ('1.00')) AS w(word)
    JOIN (SELECT number, count(*) AS n FROM source GROUP BY 1) g ON g.number::text = w.word
$$, 'word IS NOT NULL');
SELECT rows_read FROM replace_flow.refresh('finished');
SELECT same('TABLE concluded', 'SELECT * FROM finished WHERE word = ''1.0''');
\i :finish
