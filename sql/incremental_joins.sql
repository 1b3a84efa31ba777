\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
\set compare :source /sql/include/compare.sql
\i :compare
--
-- E1: which equalities tell the group that a row of a joined table has a part in, and
-- which ones only seem to.
--
CREATE TABLE a (k int, x int);
CREATE TABLE b (k int, n int);
CREATE TABLE c (k int, m int);
INSERT INTO a SELECT i, i FROM generate_series(1, 3) AS i;
INSERT INTO b SELECT i, 10 * i FROM generate_series(1, 3) AS i;
INSERT INTO c SELECT i, 100 * i FROM generate_series(1, 3) AS i;

-- A flow by k, and for each table what a refresh comes to after one of its rows changed.
CREATE TABLE outcome_of_change (query text, changed text, ran text);
CREATE PROCEDURE try(query text) LANGUAGE plpgsql AS $$
DECLARE
    changed text;
BEGIN
    PERFORM replace_flow.create_where_flow('target', query, 'true', name => 'flow');
    COMMIT;
    PERFORM replace_flow.refresh('flow');
    COMMIT;
    FOREACH changed IN ARRAY ARRAY['a SET x = x + 1', 'b SET n = n + 1', 'c SET m = m + 1'] LOOP
        EXECUTE format('UPDATE test.%s WHERE k = 2', changed);
        INSERT INTO test.outcome_of_change
        VALUES (query, left(changed, 1), test.ran('flow', 'TABLE test.target', query));
        COMMIT;
    END LOOP;
    PERFORM replace_flow.drop_flow('flow', drop_target => true);
END $$;
CREATE FUNCTION outcomes() RETURNS SETOF text LANGUAGE sql AS $$
    WITH gone AS (DELETE FROM outcome_of_change RETURNING *)
    SELECT string_agg(changed || ': ' || ran, '; ' ORDER BY changed) FROM gone GROUP BY query ORDER BY query COLLATE "C"
$$;

-- The condition of an inner join holds for all rows of both.
CALL try('SELECT a.k, sum(x) AS x, sum(n) AS n FROM a JOIN b ON a.k = b.k GROUP BY a.k');
SELECT outcomes();
-- That of a LEFT JOIN holds for the rows of its right side.
CALL try('SELECT a.k, sum(x) AS x, sum(n) AS n, sum(m) AS m FROM a LEFT JOIN b ON a.k = b.k LEFT JOIN c ON c.k = a.k GROUP BY a.k');
SELECT outcomes();
-- Not for those of its left side: each row of b is in each group, whether c is found or not.
CALL try('SELECT a.k, sum(x) AS x, sum(n) AS n, sum(m) AS m FROM a CROSS JOIN b LEFT JOIN c ON a.k = b.k AND c.k = a.k GROUP BY a.k');
SELECT outcomes();
CALL try('SELECT a.k, sum(x) AS x, sum(n) AS n, sum(m) AS m FROM c RIGHT JOIN (a JOIN b ON true) ON a.k = b.k AND c.k = a.k GROUP BY a.k');
SELECT outcomes();
-- It says something of b again where WHERE does.
CALL try('SELECT a.k, sum(x) AS x, sum(n) AS n, sum(m) AS m FROM a CROSS JOIN b LEFT JOIN c ON c.k = a.k AND c.k = b.k WHERE b.k = a.k GROUP BY a.k');
SELECT outcomes();
CALL try('SELECT a.k, sum(x) AS x, sum(n) AS n, sum(m) AS m FROM a FULL JOIN b ON a.k = b.k LEFT JOIN c ON c.k = a.k GROUP BY a.k');
SELECT outcomes();

-- Another equality than that of the group's type: 12 and 2 are one for the join, and two
-- groups.
CREATE FUNCTION same_digit(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1 % 10 = $2 % 10';
CREATE FUNCTION lower_digit(int, int) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1 % 10 < $2 % 10';
CREATE FUNCTION compare_digits(int, int) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1 % 10 - $2 % 10';
CREATE OPERATOR ~=~ (LEFTARG = int, RIGHTARG = int, FUNCTION = same_digit, COMMUTATOR = ~=~, MERGES);
CREATE OPERATOR ~<~ (LEFTARG = int, RIGHTARG = int, FUNCTION = lower_digit);
CREATE OPERATOR CLASS by_digit FOR TYPE int USING btree AS
    OPERATOR 1 ~<~, OPERATOR 3 ~=~, FUNCTION 1 compare_digits(int, int);
INSERT INTO a VALUES (12, 12);
INSERT INTO b VALUES (22, 220);
CALL try('SELECT a.k, sum(x) AS x, sum(n) AS n FROM a JOIN b ON a.k OPERATOR(test.~=~) b.k GROUP BY a.k');
SELECT outcomes();
CALL try('SELECT a.k, sum(x) AS x, sum(n) AS n FROM a JOIN b ON a.k = b.k AND a.k OPERATOR(test.~=~) b.k GROUP BY a.k');
SELECT outcomes();

-- Aggregates whose parts are not immutable.
CREATE TABLE factor (f int);
INSERT INTO factor VALUES (1);
CREATE FUNCTION add_times(bigint, int) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT $1 + $2 * f FROM test.factor';
CREATE FUNCTION times(bigint) RETURNS bigint LANGUAGE sql STABLE AS 'SELECT $1 * f FROM test.factor';
CREATE FUNCTION add(bigint, int) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2';
CREATE FUNCTION noise(bigint) RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT $1 + 0 * (random() * 10)::int';
CREATE AGGREGATE sum_of_products (int) (SFUNC = add_times, STYPE = bigint, INITCOND = 0);
CREATE AGGREGATE product_of_sum (int) (SFUNC = add, STYPE = bigint, INITCOND = 0, FINALFUNC = times);
CREATE AGGREGATE moving_sum (int) (SFUNC = add, STYPE = bigint, INITCOND = 0,
    MSFUNC = add_times, MINVFUNC = add, MSTYPE = bigint, MINITCOND = 0);
CREATE AGGREGATE noisy_sum (int) (SFUNC = add, STYPE = bigint, INITCOND = 0, FINALFUNC = noise);
CREATE AGGREGATE plain_sum (int) (SFUNC = add, STYPE = bigint, INITCOND = 0);
CREATE PROCEDURE try_aggregate(name text) LANGUAGE plpgsql AS $$
DECLARE
    query text := format('SELECT k, test.%s(x) AS x FROM a GROUP BY k', name);
BEGIN
    PERFORM replace_flow.create_where_flow('target', query, 'true', name => 'flow');
    COMMIT;
    PERFORM replace_flow.refresh('flow');
    COMMIT;
    UPDATE factor SET f = f + 1;
    INSERT INTO test.outcome_of_change VALUES (name, name, test.ran('flow', 'TABLE test.target', query));
    COMMIT;
    UPDATE a SET x = x + 1 WHERE k = 2;
    INSERT INTO test.outcome_of_change VALUES (name, name || ', after a change', test.ran('flow', 'TABLE test.target', query));
    PERFORM replace_flow.drop_flow('flow', drop_target => true);
END $$;
CALL try_aggregate('sum_of_products');
CALL try_aggregate('product_of_sum');
CALL try_aggregate('moving_sum');
CALL try_aggregate('noisy_sum');
CALL try_aggregate('plain_sum');
SELECT outcomes();
\i :finish
