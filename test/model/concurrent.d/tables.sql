/*
 * What the concurrent test works on: flows of seven shapes, flow N from
 * stream_N to target_N, and a journal of all rows that were ever staged.
 *
 *		1	the target stores the sequence
 *		2	a ledger keeps it; an expectation drops rows; surrogate ids
 *		3	tombstones; the target stores the sequence
 *		4	tombstones and a ledger; the stream is partitioned
 *		5	the target is partitioned by the payload, so that sets move
 *		6	a ledger, and a primary key of which each set has the same values
 *		7	the same, and the target stores the sequence
 *
 * Ties add rows, which a primary key would refuse; so the sets of 6 and 7 have
 * sequences of their own.
 */
DROP SCHEMA IF EXISTS concurrent CASCADE;
CREATE SCHEMA concurrent;
SET search_path = concurrent;

CREATE TYPE staged_row AS (k int, line int, v text, size int, s bigint, op text, id bigint);
CREATE TABLE journal (flow int, k int, line int, v text, size int, s bigint, op text, id bigint);
CREATE INDEX ON journal (flow, k);
CREATE INDEX ON journal (id);

CREATE TABLE stream_1 OF staged_row;
CREATE TABLE target_1 (k int, line int, v text, s bigint);
CREATE INDEX ON target_1 (k);

CREATE TABLE stream_2 OF staged_row;
CREATE TABLE target_2 (id bigint GENERATED ALWAYS AS IDENTITY, k int, line int, v text);
CREATE INDEX ON target_2 (k);

CREATE TABLE stream_3 OF staged_row;
CREATE TABLE target_3 (k int, line int, v text, s bigint);
CREATE INDEX ON target_3 (k);

CREATE TABLE stream_4 OF staged_row PARTITION BY HASH (k);
CREATE TABLE stream_4_0 PARTITION OF stream_4 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE stream_4_1 PARTITION OF stream_4 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE target_4 (k int, line int, v text);
CREATE INDEX ON target_4 (k);

CREATE TABLE stream_5 OF staged_row;
CREATE TABLE target_5 (k int, line int, v text, s bigint) PARTITION BY LIST (v);
CREATE TABLE target_5_a PARTITION OF target_5 FOR VALUES IN ('a') PARTITION BY RANGE (line);
CREATE TABLE target_5_a_low PARTITION OF target_5_a FOR VALUES FROM (MINVALUE) TO (3);
CREATE TABLE target_5_a_high PARTITION OF target_5_a FOR VALUES FROM (3) TO (MAXVALUE);
CREATE TABLE target_5_b PARTITION OF target_5 FOR VALUES IN ('b');
CREATE TABLE target_5_other PARTITION OF target_5 DEFAULT;
CREATE INDEX ON target_5 (k);

CREATE TABLE stream_6 OF staged_row;
CREATE TABLE target_6 (k int, line int, v text, size int, PRIMARY KEY (k, line));

CREATE TABLE stream_7 OF staged_row;
CREATE TABLE target_7 (k int, line int, v text, size int, s bigint, PRIMARY KEY (k, line));

SELECT replace_flow.create_using_flow('target_1', 'stream_1', '{k}', 's', name => 'flow_1',
	query => 'SELECT k, line, v, s FROM stream_1'),
	replace_flow.create_using_flow('target_2', 'stream_2', '{k}', 's', name => 'flow_2',
	query => 'SELECT k, line, v, s FROM stream_2'),
	replace_flow.add_expectation('flow_2', 'positive', 'line > 0', 'drop'),
	replace_flow.create_using_flow('target_3', 'stream_3', '{k}', 's', name => 'flow_3',
	query => 'SELECT k, line, v, s, op FROM stream_3', delete_when => $$ op = 'delete' $$),
	replace_flow.create_using_flow('target_4', 'stream_4', '{k}', 's', name => 'flow_4',
	query => 'SELECT k, line, v, s, op FROM stream_4', delete_when => $$ op = 'delete' $$),
	replace_flow.create_using_flow('target_5', 'stream_5', '{k}', 's', name => 'flow_5',
	query => 'SELECT k, line, v, s FROM stream_5'),
	replace_flow.create_using_flow('target_6', 'stream_6', '{k}', 's', name => 'flow_6',
	query => 'SELECT k, line, v, size, s FROM stream_6'),
	replace_flow.create_using_flow('target_7', 'stream_7', '{k}', 's', name => 'flow_7',
	query => 'SELECT k, line, v, size, s FROM stream_7');

-- Sequences rise slowly and are drawn from a few values around now: so sets tie,
-- come late, and come twice.
CREATE SEQUENCE moment;
CREATE SEQUENCE ticket;

-- Some random sets, each of a key of its own.
CREATE FUNCTION made(flow int, seed int) RETURNS SETOF staged_row LANGUAGE plpgsql AS $$
DECLARE
	has_primary_key boolean := flow IN (6, 7);
	now bigint := nextval('concurrent.moment') / 20;
	key int;
	number int;
	sequence bigint;
BEGIN
	PERFORM setseed(seed / 1000000.0);
	FOR key IN SELECT DISTINCT floor(random() * 200)::int FROM generate_series(1, 1 + floor(random() ^ 3 * 8)::int) LOOP
		sequence := now + floor(random() * 7);
		number := 1 + floor(random() * 6);
		IF has_primary_key THEN
			sequence := sequence * 1000000000 + nextval('concurrent.ticket');
			RETURN QUERY SELECT key, line, chr(97 + (key + line) % 3 + (random() < 0.2)::int), number,
				sequence, 'set', NULL::bigint
			FROM generate_series(1, number) line;
		ELSE
			RETURN QUERY SELECT nullif(key, 0), line, chr(97 + (key + line) % 3 + (random() < 0.2)::int), number,
				sequence, CASE WHEN random() < 0.2 THEN 'delete' ELSE 'set' END, NULL::bigint
			FROM (SELECT floor(random() * 6)::int FROM generate_series(1, number)) l (line);
		END IF;
	END LOOP;
END $$;

-- Stage the rows of a query, and write them down in the same transaction.
CREATE PROCEDURE stage_query(flow int, query text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('WITH staged AS (INSERT INTO concurrent.stream_%1$s
						SELECT k, line, v, size, s, op, nextval(''concurrent.ticket'') FROM (%2$s) q RETURNING *)
					INSERT INTO concurrent.journal SELECT %1$s, * FROM staged', flow, query);
END $$;

CREATE PROCEDURE stage(flow int, seed int) LANGUAGE plpgsql AS $$
BEGIN
	CALL concurrent.stage_query(flow, format('SELECT * FROM concurrent.made(%s, %s)', flow, seed));
END $$;

-- The same in more subtransactions than a snapshot has room for; every third is
-- rolled back.
CREATE PROCEDURE stage_in_pieces(flow int, seed int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 100 LOOP
		BEGIN
			CALL concurrent.stage(flow, (seed + i) % 1000000);
			IF i % 3 = 0 THEN
				RAISE SQLSTATE 'RF000';
			END IF;
		EXCEPTION WHEN SQLSTATE 'RF000' THEN
			NULL;
		END;
	END LOOP;
END $$;

-- Change or withdraw some rows that others have staged, in the journal too; only
-- such as nobody else is at, so that this waits for no run.
CREATE PROCEDURE edit(flow int, withdraw boolean) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('WITH chosen AS MATERIALIZED (SELECT id FROM concurrent.stream_%1$s LIMIT 3 FOR UPDATE SKIP LOCKED), edited AS ('
		|| CASE WHEN withdraw THEN 'DELETE FROM concurrent.stream_%1$s s USING chosen c'
				WHEN flow IN (6, 7) THEN 'UPDATE concurrent.stream_%1$s s SET v = ''edited'' FROM chosen c'
				ELSE 'UPDATE concurrent.stream_%1$s s SET v = ''edited'', s = s.s + 1 FROM chosen c' END
		|| ' WHERE s.id = c.id RETURNING s.id, s.v, s.s)'
		|| CASE WHEN withdraw THEN 'DELETE FROM concurrent.journal j USING edited e'
				ELSE 'UPDATE concurrent.journal j SET v = e.v, s = e.s FROM edited e' END
		|| ' WHERE j.id = e.id', flow);
END $$;

-- B17: every set of the targets with a primary key knows its size, so a reader
-- can tell whether it sees a whole one.
CREATE PROCEDURE find_torn_sets() LANGUAGE plpgsql AS $$
DECLARE
	torn text;
BEGIN
	SELECT string_agg(DISTINCT k::text, ', ') INTO torn
	FROM (SELECT k FROM concurrent.target_6 GROUP BY k HAVING count(*) <> max(size) OR min(size) <> max(size)
		  UNION ALL
		  SELECT k FROM concurrent.target_7 GROUP BY k, s HAVING count(*) <> max(size) OR min(size) <> max(size)) t;
	IF torn IS NOT NULL THEN
		RAISE EXCEPTION 'a reader sees torn sets' USING DETAIL = 'keys ' || torn;
	END IF;
END $$;
