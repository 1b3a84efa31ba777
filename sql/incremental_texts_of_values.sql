\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set compare :source /sql/include/compare.sql
\i :compare
--
-- E1: functions that make a text of any value write labels of enums, names of tables
-- and of attributes, which can be changed while all rows stay.
--
CREATE TYPE color AS ENUM ('red', 'green');
CREATE TYPE pair AS (a int, b int);
CREATE TABLE source (k int, c color, p pair, n numeric, t timestamptz);
INSERT INTO source SELECT i, 'red', row(i, i)::pair, i, '2024-01-01' FROM generate_series(1, 20) AS i;

CREATE TABLE outcome_of_run (name text, number int, outcome text);
CREATE PROCEDURE try(name text, query text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM replace_flow.create_where_flow(name, query, 'k > 0', name => name);
    COMMIT;
    PERFORM replace_flow.refresh(name);
    COMMIT;
    INSERT INTO outcome_of_run VALUES (name, 1, ran(name, 'TABLE ' || name, query));
    ALTER TYPE color RENAME VALUE 'red' TO 'scarlet';
    ALTER TYPE pair RENAME ATTRIBUTE b TO c;
    COMMIT;
    INSERT INTO outcome_of_run VALUES (name, 2, ran(name, 'TABLE ' || name, query));
    ALTER TYPE color RENAME VALUE 'scarlet' TO 'red';
    ALTER TYPE pair RENAME ATTRIBUTE c TO b;
END $$;
SET client_min_messages = error;
CALL try('enum', 'SELECT k, concat(c) AS v FROM source');
CALL try('enum_array', 'SELECT k, concat(''of '', array[c, null]) AS v FROM source');
CALL try('enum_in_xml', 'SELECT k, xmlelement(name v, xmlattributes(k AS k), c)::text AS v FROM source');
CALL try('enum_cast', 'SELECT k, array[c]::text AS v FROM source');
CALL try('attribute', 'SELECT k, to_jsonb(p) AS v FROM source');
CALL try('attribute_of_row', 'SELECT k, to_jsonb(s) AS v FROM source s');
CALL try('enum_of_subquery', 'SELECT k, to_jsonb(s) AS v FROM (SELECT k, c FROM source) s');
CALL try('enum_of_row', 'SELECT k, row(k, c)::text AS v FROM source');
-- where there are no such names all is known
CALL try('subquery', 'SELECT k, to_jsonb(s) AS v FROM (SELECT k, n, t FROM source) s');
CALL try('with_query', 'WITH s AS (SELECT k, n, t FROM source) SELECT k, to_jsonb(s) AS v FROM s');
CALL try('row_of_values', 'SELECT k, row(k, n, array[t])::text AS v FROM source');
CALL try('object', 'SELECT k, jsonb_build_object(''k'', k, ''n'', array[n]) AS v FROM source');
CALL try('values_as_they_are', 'SELECT k, c, p FROM source');
SELECT name, number, outcome FROM outcome_of_run;

\i :finish
