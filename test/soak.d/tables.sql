/*
 * What the soak works on: flows of several shapes, flow NAME from NAME_in to NAME,
 * and a journal of all rows that were ever staged.
 *
 *		parts		stream and target are partitioned; partitions of the stream come and go
 *		changes		tombstones; a ledger keeps the sequences
 *		grown		stream and target get more and more columns
 *		strict		the target refuses some rows, which are put aside
 *		summary		a where flow that is refreshed when its source changes
 *		come_N		flows that come and go
 *
 * Each transaction stages with a sequence of its own, so there are no ties.
 */
CREATE SCHEMA soak;
SET search_path = soak;

CREATE SEQUENCE moment;
CREATE TABLE journal (flow text, k int, line int, v text, s bigint, op text);

-- The partitions of a stream; none has the value of one that was there before, since
-- somebody may just be about to stage a row for that one.  The function is stable: one
-- that is attached while a statement runs is not yet for its rows.
CREATE SEQUENCE next_part;
CREATE TABLE part AS SELECT 0 AS part;
CREATE FUNCTION some_part() RETURNS int LANGUAGE sql STABLE AS
	'SELECT part FROM soak.part ORDER BY random() LIMIT 1';
CREATE TABLE parts_in (part int DEFAULT soak.some_part(), k int, line int, v text, s bigint, op text)
	PARTITION BY LIST (part);
CREATE TABLE parts_in_0 PARTITION OF parts_in FOR VALUES IN (0);
CREATE TABLE parts_in_other PARTITION OF parts_in DEFAULT;
CREATE TABLE parts (k int, line int, v text, s bigint) PARTITION BY HASH (k);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE INDEX ON parts (k);

CREATE TABLE changes_in (k int, line int, v text, s bigint, op text);
CREATE TABLE changes (k int, line int, v text);
CREATE INDEX ON changes (k);

CREATE TABLE grown_in (k int, line int, v text, s bigint, op text);
CREATE TABLE grown (k int, line int, v text, s bigint, op text, PRIMARY KEY (k, line));

CREATE TABLE strict_in (k int, line int, v text, s bigint, op text);
CREATE TABLE strict (k int, line int, v text CHECK (v <> 'bad'), s bigint);
CREATE INDEX ON strict (k);

CREATE TABLE fact (id int PRIMARY KEY, day date, amount int);
INSERT INTO fact SELECT n, '2026-01-01'::date + n % 20, 1 FROM generate_series(1, 1000) AS n;
CREATE TABLE summary (day date, number bigint, amount bigint);
INSERT INTO summary VALUES ('2025-01-01', 1, 1);		-- outside the window

SELECT replace_flow.create_using_flow('parts', 'parts_in', '{k}', 's', query => 'SELECT k, line, v, s FROM parts_in'),
	replace_flow.create_using_flow('changes', 'changes_in', '{k}', 's', delete_when => $$ op = 'delete' $$,
		query => 'SELECT k, line, v, s, op FROM changes_in'),
	replace_flow.create_using_flow('grown', 'grown_in', '{k}', 's'),
	replace_flow.create_using_flow('strict', 'strict_in', '{k}', 's', quarantine => true,
		query => 'SELECT k, line, v, s FROM strict_in'),
	replace_flow.create_where_flow('summary', replace_where => 'day >= ''2026-01-06''', refresh_on_change => true,
		min_interval => '200 ms', query => 'SELECT day, count(*) AS number, sum(amount) AS amount FROM fact GROUP BY day');

CREATE FUNCTION flow(n int) RETURNS text LANGUAGE sql IMMUTABLE AS
	$$ SELECT ('{parts,changes,grown,strict,summary}'::text[])[n] $$;

-- Stage sets of some keys in one statement, and write them down.
CREATE PROCEDURE stage_keys(flow text, keys int[]) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('WITH staged AS (
			INSERT INTO soak.%1$I (k, line, v, s, op)
			SELECT k, line, CASE WHEN k %% 40 = 0 THEN ''bad'' ELSE ''v'' || $2 END, $2,
				CASE WHEN line = 0 THEN ''delete'' ELSE ''set'' END
			FROM unnest($1) AS k,
				LATERAL generate_series(CASE WHEN k %% 7 = 3 AND $3 THEN 0 ELSE 1 END, ($2 + k) %% 6) AS line
			RETURNING k, line, v, s, op)
		INSERT INTO soak.journal SELECT %2$L, * FROM staged', flow || '_in', flow)
	USING keys, nextval('soak.moment'), flow = 'changes';
END $$;

-- Of some keys that no target refuses.
CREATE PROCEDURE stage(flow text) LANGUAGE plpgsql AS $$
DECLARE
	keys int[] := ARRAY(SELECT DISTINCT 1 + k + k / 39
		FROM (SELECT floor(random() * 195)::int AS k FROM generate_series(1, 1 + floor(random() * 5)::int)) AS r);
BEGIN
	CALL soak.stage_keys(flow, keys);
END $$;

-- Of more keys than one run of the worker takes.
CREATE PROCEDURE stage_many() LANGUAGE plpgsql AS $$
DECLARE
	keys int[] := ARRAY(SELECT k FROM generate_series(1, 4000) AS k WHERE k % 40 <> 0);
BEGIN
	CALL soak.stage_keys('grown', keys);
END $$;

-- A call by hand.  It may come upon rows that the worker has not put aside yet, or
-- upon a partition that is just being attached.
CREATE PROCEDURE run(call text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE call;
EXCEPTION WHEN check_violation OR serialization_failure THEN
	NULL;
END $$;

-- How many rows wait in all streams.
CREATE FUNCTION waiting() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	stream regclass;
	rows bigint;
	total bigint := 0;
BEGIN
	FOR stream IN SELECT source FROM replace_flow.flow WHERE kind = 'using' LOOP
		EXECUTE format('SELECT count(*) FROM %s', stream) INTO rows;
		total := total + rows;
	END LOOP;
	RETURN total;
END $$;

-- Rows that the summary lacks, or has and should not have.
CREATE VIEW summary_difference AS
WITH expected AS (
	SELECT day, count(*) AS number, sum(amount) AS amount FROM fact WHERE day >= '2026-01-06' GROUP BY day
	UNION ALL
	SELECT '2025-01-01', 1, 1
)
(TABLE expected EXCEPT ALL TABLE summary) UNION ALL (TABLE summary EXCEPT ALL TABLE expected);
