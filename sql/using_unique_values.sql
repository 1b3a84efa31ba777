\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- B11: constraints are judged on the result of the run.  Values that must be unique
-- change places, within a set and between keys, whichever constraint guards them.
--
CREATE FUNCTION try_swap(column_sql text, constraint_sql text, VARIADIC indexes text[] DEFAULT '{}') RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    statement text;
BEGIN
    EXECUTE format('CREATE TABLE seat (k int, line int, seat int, v text%s, CONSTRAINT guard %s)', column_sql, constraint_sql);
    CREATE INDEX ON seat (k);
    FOREACH statement IN ARRAY indexes LOOP
        EXECUTE statement;
    END LOOP;
    CREATE TABLE seat_in (k int, line int, seat int, v text, s int);
    PERFORM replace_flow.create_using_flow('seat', 'seat_in', '{k}', 's', delete_when => 'seat IS NULL');
    INSERT INTO seat_in VALUES (1, 1, 10, 'a', 1), (1, 2, 20, 'b', 1), (2, 1, 30, 'c', 1), (2, 2, 40, 'd', 1);
    RETURN NEXT applied('seat');
    -- within a set
    INSERT INTO seat_in VALUES (1, 1, 20, 'a', 2), (1, 2, 10, 'b', 2);
    RETURN NEXT applied('seat');
    -- between two keys, in a ring, and with rows that stay
    INSERT INTO seat_in VALUES (1, 1, 30, 'a', 3), (1, 2, 10, 'b', 3), (2, 1, 40, 'c', 3), (2, 2, 20, 'd', 3);
    RETURN NEXT applied('seat');
    -- taken over from a key that is emptied, and from one that gives it up
    INSERT INTO seat_in VALUES (1, 1, 40, 'a', 4), (2, NULL, NULL, NULL, 4), (3, 1, 10, 'e', 4), (3, 2, 30, 'f', 4);
    RETURN NEXT applied('seat');
    RETURN QUERY SELECT format('%s %s %s %s', k, line, seat, v) FROM seat ORDER BY k, line;
    -- a clash with a key that is not in the batch, and one in the set itself
    INSERT INTO seat_in VALUES (1, 1, 30, 'a', 5), (4, 1, 40, 'g', 5);
    RETURN QUERY SELECT left(line, 5) FROM refused($r$ SELECT replace_flow.apply('seat'); SET CONSTRAINTS ALL IMMEDIATE $r$) AS line LIMIT 1;
    UPDATE seat_in SET seat = 50;
    RETURN QUERY SELECT left(line, 5) FROM refused($r$ SELECT replace_flow.apply('seat'); SET CONSTRAINTS ALL IMMEDIATE $r$) AS line LIMIT 1;
    RETURN NEXT (SELECT count(*) FROM seat) || ' rows, ' || (SELECT count(*) FROM seat_in) || ' staged';
    PERFORM replace_flow.drop_flow('seat', drop_target => true);
    DROP TABLE seat_in;
END $$;
CREATE TABLE outcome_of_swap (number int, name text, lines text);
CREATE PROCEDURE swap(name text, column_sql text, constraint_sql text, VARIADIC indexes text[] DEFAULT '{}')
LANGUAGE sql AS $$
    INSERT INTO outcome_of_swap SELECT (SELECT count(*) FROM outcome_of_swap), name, string_agg(line, E'\n')
    FROM try_swap(column_sql, constraint_sql, VARIADIC indexes) AS line
$$;
CALL swap('unique', '', 'UNIQUE (seat)');
CALL swap('primary key', '', 'PRIMARY KEY (seat)');
CALL swap('with more columns included', '', 'UNIQUE (seat) INCLUDE (k, v)');
CALL swap('nulls not distinct', '', 'UNIQUE NULLS NOT DISTINCT (seat)');
CALL swap('deferrable', '', 'UNIQUE (seat) DEFERRABLE');
CALL swap('deferred', '', 'UNIQUE (seat) DEFERRABLE INITIALLY DEFERRED');
CALL swap('exclusion, btree', '', 'EXCLUDE (seat WITH =)');
CALL swap('exclusion, hash', '', 'EXCLUDE USING hash (seat WITH =)');
CALL swap('exclusion, gist', '', 'EXCLUDE USING gist (int4range(seat, seat + 5) WITH &&)');
CALL swap('exclusion, deferred', '', 'EXCLUDE USING gist (int4range(seat, seat + 5) WITH &&) DEFERRABLE INITIALLY DEFERRED');
CALL swap('exclusion, of some rows', '', 'EXCLUDE USING gist (box(point(seat, 0), point(seat, 0)) WITH &&) WHERE (v <> ''no'')');
CALL swap('unique index', '', 'CHECK (true)', 'CREATE UNIQUE INDEX ON seat (seat)');
CALL swap('unique expression', '', 'CHECK (true)', 'CREATE UNIQUE INDEX ON seat ((seat / 2), (''x''::text))');
CALL swap('unique for some rows', '', 'CHECK (true)', 'CREATE UNIQUE INDEX ON seat (seat) WHERE v <> ''no''');
CALL swap('generated column', ', double int GENERATED ALWAYS AS (seat * 2) STORED', 'UNIQUE (double)');
CALL swap('two, and one over lines', ', double int GENERATED ALWAYS AS (seat * 2) STORED', 'UNIQUE (seat)',
          'CREATE UNIQUE INDEX ON seat (double DESC)', 'CREATE UNIQUE INDEX ON seat (k, line)');
CALL swap('with an identity', ', id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY', 'UNIQUE (seat)');
SELECT lines, string_agg(name, E'\n' ORDER BY number) AS constraints FROM outcome_of_swap GROUP BY lines ORDER BY lines COLLATE "C";
\i :finish
