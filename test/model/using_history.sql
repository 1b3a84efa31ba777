/*
 * A random history of a using flow: a schema, a flow over it, and batches that
 * come late, tied, twice, cut and in any order; after each run the target is
 * compared with the model, and the run's record with what happened.
 *
 * CALL model.using_history(seed) raises an error when something differs.  The
 * same seed makes the same history.
 */

CREATE TABLE model.key_type (name text, type text, staged_as text, literals text[]);
INSERT INTO model.key_type VALUES
	('int', 'int', 'int', '{1,2,3}'),
	('bigint', 'bigint', 'int', '{1,2,3}'),
	('text', 'text', 'text', '{a,b,A}'),
	('folded', 'text COLLATE model.folded', 'text', '{a,b,A}'),
	('char', 'char(3)', 'text', '{"x","x ","y"}'),
	('varchar', 'varchar(4)', 'text', '{abc,abd,abcd}'),
	('numeric', 'numeric', 'numeric', '{1.0,1.00,2}'),
	('float8', 'float8', 'float8', '{0,-0,NaN}'),
	('date', 'date', 'timestamp', '{2026-01-01,2026-01-01 10:00,2026-01-02}'),
	('timestamptz', 'timestamptz', 'timestamptz', '{2026-01-01 00:00+00,2026-01-01 01:00+01,infinity}'),
	('uuid', 'uuid', 'uuid', '{00000000-0000-0000-0000-000000000001,00000000-0000-0000-0000-000000000002}'),
	('boolean', 'boolean', 'boolean', '{t,f}'),
	('array', 'int[]', 'int[]', '{"{1,NULL}","{1}","{}"}'),
	('enum', 'model.mood', 'model.mood', '{sad,ok,happy}'),
	('bytea', 'bytea', 'bytea', '{"\\x00","\\x01"}'),
	('domain', 'model.positive', 'int', '{1,2,3}'),
	('citext', 'model.citext', 'text', '{a,A,b}'),
	('range', 'int4range', 'int4range', '{"[1,3)","[1,2]","empty"}'),
	('composite', 'model.pair', 'model.pair', '{"(1,a)","(1,)","(,)"}');

CREATE TABLE model.sequence_type (type text, staged_as text, literals text[]);
INSERT INTO model.sequence_type VALUES
	('int', 'int', '{1,2,3,4,5}'),
	('bigint', 'int', '{1,2,3,4,5}'),
	('numeric', 'numeric', '{1,2.0,2.00,3,10}'),
	('timestamptz', 'timestamptz', '{2026-01-01,2026-01-02,2026-01-03,2026-01-04}'),
	('text', 'int', '{9,10,11,100}');

CREATE TABLE model.payload_type (type text, literals text[]);
INSERT INTO model.payload_type VALUES
	('int', '{1,2}'), ('text', '{p,q}'), ('json', '{"{\"a\":1}","{\"a\": 1}"}'),
	('numeric(8,2)', '{1,1.004,2}'), ('point', '{"(1,2)","(2,1)"}'),
	('text', NULL);		-- long ones, toasted

-- A number that stands for text too long to stay in its page.
CREATE FUNCTION model.long_text(n int) RETURNS text LANGUAGE sql IMMUTABLE AS
	$$ SELECT string_agg(md5(n::text || g), '') FROM generate_series(1, 100) g $$;

-- Keys that are equal may have several images (1.0 and 1.00, a and A where case
-- is folded), and either may stand for the key: make them one.
CREATE FUNCTION model.fold(t text) RETURNS text LANGUAGE sql IMMUTABLE AS
	$$ SELECT regexp_replace(regexp_replace(lower(t), '([0-9])\.0+(?![0-9])', '\1', 'g'), '-0(?![0-9-])', '0', 'g') $$;

-- One run after the other over random ranges that cover all keys (B17), each once;
-- what they did, together.
CREATE FUNCTION model.apply_in_ranges(flow text) RETURNS replace_flow.run LANGUAGE plpgsql AS $$
DECLARE
	total replace_flow.run;
BEGIN
	WITH cut (first) AS (
		SELECT -9223372036854775808
		UNION SELECT floor((random() - 0.5) * 18446744073709551615)::numeric FROM generate_series(1, 1 + floor(random() * 6)::int)
	), key_range (first, last) AS MATERIALIZED (
		SELECT first, lead(first - 1, 1, 9223372036854775807) OVER (ORDER BY first) FROM cut ORDER BY random()
	)
	SELECT min(r.run_id), sum(r.rows_staged), sum(r.rows_read), sum(r.rows_rejected), sum(r.rows_superseded),
		sum(r.rows_late), sum(r.rows_tie_ignored), sum(r.rows_tombstone), sum(r.rows_inserted),
		sum(r.rows_updated), sum(r.rows_deleted), sum(r.rows_unchanged)
	INTO total.run_id, total.rows_staged, total.rows_read, total.rows_rejected, total.rows_superseded,
		total.rows_late, total.rows_tie_ignored, total.rows_tombstone, total.rows_inserted,
		total.rows_updated, total.rows_deleted, total.rows_unchanged
	FROM key_range k, LATERAL replace_flow.apply_range(flow, k.first::bigint, k.last::bigint) r;
	RETURN total;
END $$;

CREATE PROCEDURE model.using_history(seed int) LANGUAGE plpgsql AS $$
DECLARE
	nkeys int;
	key_literals text[];			-- per key: its type's name
	keys text[] := '{}';
	target_columns text[] := '{}';	-- definitions
	stream_columns text[] := '{}';
	given text[] := '{}';			-- columns that the query gives and the target stores
	payload_literals text[] := '{}';
	key_not_null boolean[] := '{}';
	k model.key_type;
	p model.payload_type;
	seq model.sequence_type;
	stored boolean := model.chance(0.5);
	is_expression boolean := false;
	sequence_by text := 's';
	on_tie text;
	delete_when text;
	has_drop boolean;
	has_fail boolean;
	query text;
	source_query text;
	partitioned boolean := false;
	stream_partitioned boolean;
	has_id boolean;
	run int := 0;
	nruns int;
	nrows int;
	staged bigint;
	rec replace_flow.run;
	before_rows bigint;
	after_rows bigint;
	kept bigint;
	number bigint;
	cols text;
	key_list text;
	values_list text;
	one_row text;
BEGIN
	PERFORM setseed((seed % 1000003) / 1000003.0);
	DROP SCHEMA IF EXISTS history CASCADE;
	PERFORM replace_flow.drop_flow(name) FROM replace_flow.flow;
	DROP SCHEMA IF EXISTS history CASCADE;
	CREATE SCHEMA history;
	SET search_path = history, model, public;

	-- the schema
	nkeys := 1 + floor(random() * 4);
	FOR i IN 1..nkeys LOOP
		SELECT * INTO k FROM model.key_type ORDER BY random() LIMIT 1;
		keys := keys || ('k' || i);
		key_literals := key_literals || k.name;
		key_not_null := key_not_null || model.chance(0.3);
		target_columns := target_columns || format('k%s %s%s', i, k.type, CASE WHEN key_not_null[i] THEN ' NOT NULL' ELSE '' END);
		stream_columns := stream_columns || format('k%s %s', i, k.staged_as);
		IF i = 1 AND k.name IN ('int', 'bigint', 'text', 'char', 'numeric', 'uuid') THEN
			partitioned := model.chance(0.3);
		END IF;
	END LOOP;
	given := keys;
	FOR i IN 1..floor(random() * 4)::int LOOP
		SELECT * INTO p FROM model.payload_type ORDER BY random() LIMIT 1;
		target_columns := target_columns || format('p%s %s', i, p.type);
		stream_columns := stream_columns || format('p%s %s', i, CASE p.type WHEN 'numeric(8,2)' THEN 'numeric' ELSE p.type END);
		payload_literals := payload_literals || coalesce(p.literals::text, '');
		given := given || ('p' || i);
	END LOOP;
	target_columns := target_columns || 'amount int'::text;
	stream_columns := stream_columns || 'amount int'::text;
	given := given || 'amount'::text;
	SELECT * INTO seq FROM model.sequence_type ORDER BY random() LIMIT 1;
	stream_columns := stream_columns || format('s %s', seq.staged_as);
	IF stored THEN
		target_columns := target_columns || format('s %s', seq.type);
		given := given || 's'::text;
	ELSIF seq.staged_as IN ('int', 'numeric') AND model.chance(0.4) THEN
		is_expression := true;
		sequence_by := 's * 2 + 1';
	END IF;
	IF model.chance(0.4) THEN
		stream_columns := stream_columns || 'op text'::text;
		delete_when := $q$op = 'd'$q$;
	END IF;
	on_tie := model.pick('{append,append,ignore,replace}');
	has_id := NOT partitioned AND model.chance(0.4);
	has_drop := model.chance(0.4);
	has_fail := model.chance(0.2);

	EXECUTE format('CREATE TABLE target (%s)%s', (SELECT string_agg(c, ', ' ORDER BY random()) FROM unnest(
		target_columns || CASE WHEN model.chance(0.4) THEN '{junk bytea}'::text[] ELSE '{}' END
		|| CASE WHEN has_id THEN ARRAY['id bigint GENERATED ALWAYS AS IDENTITY'] ELSE '{}' END
		|| CASE WHEN model.chance(0.3) THEN ARRAY['made text DEFAULT ''now''']::text[] ELSE '{}' END) c),
		CASE WHEN partitioned THEN ' PARTITION BY HASH (k1)'
			WHEN model.chance(0.5) THEN ' WITH (fillfactor = 50)' ELSE '' END);
	IF partitioned THEN
		CREATE TABLE part_0 PARTITION OF target FOR VALUES WITH (modulus 2, remainder 0);
		CREATE TABLE part_1 PARTITION OF target FOR VALUES WITH (modulus 2, remainder 1);
	END IF;
	stream_partitioned := model.chance(0.3);
	EXECUTE format('CREATE TABLE stream (%s)%s', (SELECT string_agg(c, ', ' ORDER BY random()) FROM unnest(
		stream_columns || CASE WHEN model.chance(0.4) THEN '{junk bytea}'::text[] ELSE '{}' END) c),
		CASE WHEN stream_partitioned THEN ' PARTITION BY HASH (s)' ELSE '' END);
	IF stream_partitioned THEN
		CREATE TABLE stream_0 PARTITION OF stream FOR VALUES WITH (modulus 2, remainder 0);
		CREATE TABLE stream_1 PARTITION OF stream FOR VALUES WITH (modulus 2, remainder 1);
	END IF;
	ALTER TABLE target DROP COLUMN IF EXISTS junk;
	ALTER TABLE stream DROP COLUMN IF EXISTS junk;
	key_list := array_to_string(keys, ', ');
	IF model.chance(0.6) THEN
		EXECUTE format('CREATE INDEX ON target (%s)', key_list);
	END IF;
	IF model.chance(0.3) THEN
		CREATE INDEX ON target (amount);
	END IF;
	cols := array_to_string(given, ', ');

	-- what is there before the flow
	CREATE TABLE original AS TABLE target WITH NO DATA;
	ALTER TABLE original ADD COLUMN IF NOT EXISTS s text;
	CREATE TABLE log AS TABLE stream WITH NO DATA;
	ALTER TABLE log ADD COLUMN run int;

	-- the flow
	source_query := 'SELECT * FROM stream';
	IF model.chance(0.4) THEN
		CREATE TABLE filter AS SELECT 7 AS amount;
		source_query := 'SELECT x.* FROM stream x LEFT JOIN filter f ON f.amount = x.amount WHERE f.amount IS NULL';
		query := source_query;
	END IF;
	PERFORM replace_flow.create_using_flow('target', 'stream', keys, sequence_by, name => 'f',
		query => query, delete_when => delete_when, on_tie => on_tie,
		settings => CASE WHEN model.chance(0.3) THEN '{"work_mem": "64kB"}'::jsonb ELSE '{}' END);
	IF has_drop THEN
		PERFORM replace_flow.add_expectation('f', 'positive', 'amount > 0', 'drop');
		PERFORM replace_flow.add_expectation('f', 'small', 'amount < 50', 'warn');
	END IF;
	IF has_fail THEN
		PERFORM replace_flow.add_expectation('f', 'sound', 'amount IS DISTINCT FROM -999', 'fail');
	END IF;
	EXECUTE format('CREATE TABLE received AS SELECT %s FROM target t WITH NO DATA',
		(SELECT string_agg(format('t.%I', g), ', ') FROM unnest(given) g));
	EXECUTE format('ALTER TABLE received ADD COLUMN run int, ADD COLUMN run_sequence %s, ADD COLUMN run_tombstone boolean',
		CASE WHEN stored THEN seq.type WHEN is_expression THEN CASE seq.staged_as WHEN 'int' THEN 'int' ELSE 'numeric' END ELSE seq.staged_as END);
	COMMIT;

	nruns := 3 + floor(random() * 5);
	FOR run IN 0..nruns LOOP
		-- stage: some transactions of new rows, or an earlier batch again
		FOR cut IN 1..1 + floor(random() * 3)::int LOOP
			IF run > 1 AND model.chance(0.2) THEN
				EXECUTE format('INSERT INTO stream (%1$s) SELECT %1$s FROM log WHERE run = $1',
					(SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
					 WHERE attrelid = 'stream'::regclass AND attnum > 0 AND NOT attisdropped))
				USING 1 + floor(random() * (run - 1))::int;
			ELSE
				values_list := NULL;
				FOR i IN 1..floor(random() * 12)::int LOOP
					one_row := '';
					FOR n IN 1..nkeys LOOP
						SELECT * INTO k FROM model.key_type t WHERE t.name = key_literals[n];
						one_row := one_row || CASE WHEN NOT key_not_null[n] AND model.chance(0.15) THEN 'NULL'
							ELSE format('%L::%s', model.pick(k.literals), k.staged_as) END || ', ';
					END LOOP;
					FOR n IN 1..cardinality(payload_literals) LOOP
						one_row := one_row || CASE WHEN model.chance(0.2) THEN 'NULL'
							WHEN payload_literals[n] = '' THEN format('model.long_text(%s)', floor(random() * 3))
							ELSE quote_literal(model.pick(payload_literals[n]::text[])) END || ', ';
					END LOOP;
					one_row := one_row || model.pick('{1,2,7,60,-5,"NULL"}') || format(', %L::%s', model.pick(seq.literals), seq.staged_as);
					IF delete_when IS NOT NULL THEN
						one_row := one_row || ', ' || model.pick('{''u'',''u'',''u'',''d'',"NULL"}');
					END IF;
					values_list := concat_ws(', ', values_list, '(' || one_row || ')');
					IF model.chance(0.2) THEN
						values_list := values_list || ', (' || one_row || ')';
					END IF;
				END LOOP;
				IF values_list IS NOT NULL THEN
					EXECUTE format('INSERT INTO stream (%s) VALUES %s',
						(SELECT string_agg(split_part(c, ' ', 1), ', ') FROM unnest(stream_columns) c), values_list);
				END IF;
			END IF;
			COMMIT;
		END LOOP;

		-- rows that were there before all runs
		IF run = 0 THEN
			IF model.chance(0.4) THEN
				EXECUTE format('INSERT INTO target (%1$s) SELECT %1$s FROM stream', cols);
				EXECUTE format('INSERT INTO original (%1$s) SELECT %1$s FROM target', cols);
			END IF;
			TRUNCATE stream;
			COMMIT;
			CONTINUE;
		END IF;

		-- a row that stops the run, until it is removed
		IF has_fail AND model.chance(0.5) THEN
			EXECUTE format('CREATE TABLE unchanged AS SELECT * FROM target');
			EXECUTE format('INSERT INTO stream (k1, amount, s) VALUES (%L::%s, -999, %L::%s)',
				(SELECT literals[1] FROM model.key_type t WHERE t.name = key_literals[1]),
				(SELECT staged_as FROM model.key_type t WHERE t.name = key_literals[1]), seq.literals[1], seq.staged_as);
			SELECT count(*) INTO staged FROM stream;
			BEGIN
				PERFORM replace_flow.apply('f');
				RAISE EXCEPTION 'a violated expectation did not stop the run';
			EXCEPTION WHEN check_violation THEN
				NULL;
			END;
			CALL model.compare('target after a failed run', 'TABLE unchanged', 'TABLE target');
			IF staged <> (SELECT count(*) FROM stream) THEN
				RAISE EXCEPTION 'a failed run consumed rows';
			END IF;
			DELETE FROM stream WHERE amount = -999;
			DROP TABLE unchanged;
		END IF;

		-- what the model learns
		EXECUTE format('INSERT INTO log SELECT s.*, %s FROM stream s', run);
		EXECUTE format('INSERT INTO received (%1$s, run, run_sequence, run_tombstone) SELECT %1$s, %2$s, %3$s, coalesce(%4$s, false) FROM (%5$s) q%6$s',
			cols, run, sequence_by, coalesce(delete_when, 'false'), source_query,
			CASE WHEN has_drop THEN ' WHERE amount > 0' ELSE '' END);
		SELECT count(*) INTO staged FROM stream;
		EXECUTE format('CREATE TABLE dropped AS SELECT to_jsonb(q) AS "row" FROM (%s) q WHERE %s',
			source_query, CASE WHEN has_drop THEN '(amount > 0) IS NOT TRUE' ELSE 'false' END);
		CREATE TABLE before AS TABLE target;
		COMMIT;

		-- a date is made of a time: then the stream cannot be cut
		IF 'date' <> ALL (key_literals) AND model.chance(0.4) THEN
			rec := model.apply_in_ranges('f');
		ELSE
			rec := replace_flow.apply('f');
		END IF;
		COMMIT;

		CALL model.compare(format('target after run %s', run), model.expected(keys, given, on_tie, stored),
			format('SELECT %s FROM target', cols));
		IF rec.rows_staged <> staged OR EXISTS (SELECT FROM stream) THEN
			RAISE EXCEPTION 'run % consumed % of % rows', run, rec.rows_staged, staged;
		END IF;
		IF rec.rows_read <> rec.rows_rejected + rec.rows_superseded + rec.rows_late + rec.rows_tie_ignored
			+ rec.rows_tombstone + rec.rows_inserted + rec.rows_updated + rec.rows_unchanged THEN
			RAISE EXCEPTION 'the counts of run % do not add up', run USING DETAIL = rec::text;
		END IF;
		SELECT count(*) INTO before_rows FROM before;
		SELECT count(*) INTO after_rows FROM target;
		IF rec.rows_inserted - rec.rows_deleted <> after_rows - before_rows THEN
			RAISE EXCEPTION 'run % grew the target by % rows, not %', run, after_rows - before_rows,
				rec.rows_inserted - rec.rows_deleted USING DETAIL = rec::text;
		END IF;
		-- B10: as many rows stay, surrogate id included, as the two states share
		EXECUTE format('SELECT count(*) FROM (SELECT x::text FROM (SELECT %1$s FROM before) x INTERSECT ALL SELECT x::text FROM (SELECT %1$s FROM target) x) z', cols)
			INTO number;
		SELECT count(*) INTO kept FROM (SELECT b::text FROM before b INTERSECT ALL SELECT t::text FROM target t) z;
		IF kept <> number THEN
			RAISE EXCEPTION 'run % kept % rows in place, not %', run, kept, number;
		END IF;
		IF before_rows - rec.rows_deleted - rec.rows_updated <> number THEN
			RAISE EXCEPTION 'run % wrote rows that stay as they are', run
				USING DETAIL = format('%s of %s rows stay; %s', number, before_rows, rec);
		END IF;
		CALL model.compare(format('floors after run %s', run),
			format('SELECT model.fold(key::text), model.fold(floor) FROM (%s) m', model.floors(keys, stored)),
			$q$SELECT model.fold(key::text), model.fold(floor) FROM replace_flow.floors('f')$q$);
		-- C4: the dropped rows are kept, whole
		CALL model.compare(format('rejected rows of run %s', run), 'SELECT "row" FROM dropped',
			format('SELECT "row" FROM replace_flow.rejected WHERE run_id >= %s', rec.run_id));
		DROP TABLE before, dropped;
		COMMIT;
	END LOOP;

	-- with append neither the order of batches nor their cuts matter
	IF on_tie = 'append' THEN
		TRUNCATE target;
		EXECUTE format('INSERT INTO target (%1$s) SELECT %1$s FROM original', cols);
		PERFORM replace_flow.drop_flow('f');
		PERFORM replace_flow.create_using_flow('target', 'stream', keys, sequence_by, name => 'f',
			query => query, delete_when => delete_when);
		IF has_drop THEN
			PERFORM replace_flow.add_expectation('f', 'positive', 'amount > 0', 'drop');
		END IF;
		ALTER TABLE log ADD COLUMN cut int;
		UPDATE log SET cut = floor(random() * 4);
		FOR i IN 0..3 LOOP
			EXECUTE format('INSERT INTO stream (%1$s) SELECT %1$s FROM log WHERE cut = $1 ORDER BY random()',
				(SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
				 WHERE attrelid = 'stream'::regclass AND attnum > 0 AND NOT attisdropped)) USING i;
			PERFORM replace_flow.apply('f');
		END LOOP;
		CALL model.compare('target after another order', model.expected(keys, given, on_tie, stored),
			format('SELECT %s FROM target', cols));
	END IF;
	INSERT INTO model.passed VALUES (seed);
	COMMIT;
END $$;
