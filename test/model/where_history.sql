/*
 * A random history of a where flow: source tables, a query over them, a target
 * and a predicate; then runs, with DML on sources and target between them, and
 * after each run the target is compared with the model.
 *
 * CALL model.where_history(seed) raises an error when something differs.  The
 * same seed makes the same history.  The last act is the caller's: a backfill has
 * to be called on its own.  The command is in table model.backfill, and
 * model.check_backfill() compares what it did.
 */

-- A condition for an expectation; on columns that the target stores as they are,
-- so it does not matter when it is evaluated.
CREATE FUNCTION model.expectation(f model.where_flow, p float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	same int[] := (SELECT array_agg(i) FROM generate_subscripts(f.names, 1) i WHERE f.types[i] = f.stored[i] AND f.types[i] <> 'char3');
	n int := same[1 + floor(random() * cardinality(same))::int];
BEGIN
	IF n IS NOT NULL AND model.chance(p) THEN
		RETURN model.condition('', ARRAY[f.names[n]], ARRAY[f.types[n]]);
	END IF;
	RETURN 'true';
END $$;

-- A predicate, if possible for some of the query's rows and not for all.
CREATE FUNCTION model.random_predicate(f model.where_flow) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	predicate text;
	is_useful boolean;
BEGIN
	FOR try IN 1..4 LOOP
		predicate := model.predicate(model.pick('{"","",target.}'), f.names, f.stored);
		EXECUTE format('SELECT count(*) > 0 AND count(*) < (SELECT count(*) FROM fresh) FROM fresh target WHERE %s', predicate)
			INTO is_useful;
		EXIT WHEN is_useful;
	END LOOP;
	RETURN predicate;
END $$;

-- A query, most of the time one that gives rows.
CREATE PROCEDURE model.make_query(INOUT f model.where_flow, tables model.relation[]) LANGUAGE plpgsql AS $$
DECLARE
	q model.query;
	has_rows boolean;
BEGIN
	FOR try IN 1..3 LOOP
		q := model.random_query(tables, (model.pick('{1,1,2,2,3}'))::int);
		f.names := (SELECT (array_agg(n ORDER BY random()))[:cardinality(q.types)]
			FROM unnest('{a1,a2,a3,a4,a5,a6,b1,b2,day,"Mixed Case","select"}'::text[]) n);
		f.query := model.text(q, f.names);
		IF model.chance(0.15) THEN
			f.query := format('WITH x AS MATERIALIZED (%s) SELECT * FROM x', f.query);
		END IF;
		EXECUTE format('SELECT EXISTS (%s)', f.query) INTO has_rows;
		EXIT WHEN has_rows;
	END LOOP;
	f.types := q.types;
	f.stored := q.types;
END $$;

CREATE PROCEDURE model.make_where_flow(INOUT f model.where_flow, tables model.relation[]) LANGUAGE plpgsql AS $$
BEGIN
	CALL model.make_query(f, tables);
	f.valid := 'true';
	f.plausible := 'true';
	f.sound := 'true';
	f.reset_allowed := model.chance(0.5);
	f.allow_empty := model.chance(0.8);
	f.has_id := false;
	f.reason := 'FIRST_RUN';
	IF model.chance(0.85) THEN
		CALL model.make_target(f);
	ELSE
		EXECUTE format('CREATE TABLE fresh AS %s', f.query);
	END IF;
	f.predicate := model.random_predicate(f);
	PERFORM replace_flow.create_where_flow('target', f.query, f.predicate, name => 'f',
		reset_allowed => f.reset_allowed, allow_empty => f.allow_empty,
		settings => CASE WHEN model.chance(0.3) THEN '{"work_mem": "64kB"}'::jsonb ELSE '{}' END);
	CALL model.make_fresh(f);
END $$;

CREATE PROCEDURE model.add_expectations(INOUT f model.where_flow) LANGUAGE plpgsql AS $$
BEGIN
	f.valid := model.expectation(f, 0.3);
	f.plausible := model.expectation(f, 0.2);
	f.sound := model.expectation(f, 0.1);
	PERFORM replace_flow.add_expectation('f', name, condition, action)
	FROM (VALUES ('valid', f.valid, 'drop'), ('plausible', f.plausible, 'warn'), ('sound', f.sound, 'fail')) e (name, condition, action)
	WHERE condition <> 'true';
END $$;

-- Another predicate, wider, narrower or any.
CREATE PROCEDURE model.alter_predicate(INOUT f model.where_flow) LANGUAGE plpgsql AS $$
BEGIN
	f.predicate := format(model.pick('{(%s) AND (%s),(%s) OR (%s),%2$s}'), f.predicate, model.random_predicate(f));
	PERFORM replace_flow.alter_flow('f', replace_where => f.predicate);
	f.reason := coalesce(f.reason, 'DEFINITION_CHANGED');
END $$;

-- A query with one more column (A11): older rows hold NULL, where they are.
CREATE PROCEDURE model.add_column(INOUT f model.where_flow) LANGUAGE plpgsql AS $$
DECLARE
	e model.expression;
	types text[] := f.types;
BEGIN
	IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'target'::regclass AND attname = 'added') THEN
		RETURN;
	END IF;
	CALL model.look_at_target('before', f, 'true');
	e := model.expression('q', types);
	-- the expression speaks of a1, a2, ...
	f.query := format('SELECT q.*, %s AS added FROM (%s) q', (SELECT format('(SELECT %s FROM (SELECT %s) q)', e.value,
		string_agg(format('q.%I AS a%s', n, o), ', ')) FROM unnest(f.names) WITH ORDINALITY x (n, o)), f.query);
	f.names := f.names || 'added'::text;
	f.types := f.types || e.type;
	f.stored := f.stored || e.type;
	PERFORM replace_flow.alter_flow('f', query => f.query);
	f.reason := coalesce(f.reason, 'DEFINITION_CHANGED');
	CALL model.look_at_target('after', f, 'added IS NULL');
	CALL model.compare('row versions after a new column', 'SELECT part, place, version, true FROM before',
		'SELECT part, place, version, in_window FROM after');
	CALL model.make_fresh(f);
END $$;

-- A query with one column less, which stays in the target.
CREATE PROCEDURE model.drop_column(INOUT f model.where_flow) LANGUAGE plpgsql AS $$
DECLARE
	n int := cardinality(f.names);
BEGIN
	IF n = 1 OR position(f.names[n] IN concat(f.predicate, f.valid, f.plausible, f.sound, f.unique_by)) > 0 THEN
		RETURN;
	END IF;
	f.names := f.names[:n - 1];
	f.types := f.types[:n - 1];
	f.stored := f.stored[:n - 1];
	f.query := format('SELECT %s FROM (%s) q', model.list(f.names, 'q.'), f.query);
	PERFORM replace_flow.alter_flow('f', query => f.query);
	f.reason := coalesce(f.reason, 'DEFINITION_CHANGED');
	CALL model.make_fresh(f);
END $$;

-- What preview() says (D13).
CREATE FUNCTION model.preview(override text) RETURNS replace_flow.run LANGUAGE plpgsql AS $$
DECLARE
	rec replace_flow.run;
BEGIN
	CALL model.use_settings(model.random_zone(), model.random_style());
	SELECT p.rows_inserted, p.rows_updated, p.rows_deleted, p.rows_unchanged
		INTO STRICT rec.rows_inserted, rec.rows_updated, rec.rows_deleted, rec.rows_unchanged
	FROM replace_flow.preview('f', override) p;
	RETURN rec;
END $$;

-- Many windows at one moment: preview() must give the model's numbers.
CREATE PROCEDURE model.preview_windows(f model.where_flow, number int) LANGUAGE plpgsql AS $$
DECLARE
	predicate text;
BEGIN
	CALL model.read_query(f);
	FOR i IN 1..number LOOP
		predicate := model.random_predicate(f);
		IF model.errors(f, predicate, false, f.allow_empty) <@ '{23505}' THEN
			PERFORM model.check_counts(model.preview(predicate), false);
		END IF;
		CALL model.use_settings(f.zone, f.date_style);
	END LOOP;
END $$;

-- One run, by one of the functions that do it.
CREATE FUNCTION model.run(override text, is_full boolean, insist boolean) RETURNS replace_flow.run LANGUAGE plpgsql AS $$
DECLARE
	rec replace_flow.run;
BEGIN
	IF insist IS NULL AND model.chance(0.2) THEN
		SELECT * INTO STRICT rec FROM replace_flow.start_update(CASE WHEN is_full THEN '{}' ELSE '{f}' END::text[],
			CASE WHEN is_full THEN '{f}' ELSE '{}' END::text[],
			CASE WHEN override IS NULL THEN '[]' ELSE jsonb_build_array(jsonb_build_object('flow_name', 'f', 'predicate_override', override)) END);
	ELSIF is_full THEN
		rec := replace_flow.full_refresh('f');
	ELSE
		rec := replace_flow.refresh('f', override, allow_empty => insist);
	END IF;
	RETURN rec;
END $$;

-- One run, with all that can be said about it.  A predicate that may divide by
-- zero may do so for a row of which the model never hears.
CREATE PROCEDURE model.try_run(INOUT f model.where_flow, override text, is_full boolean, may_divide boolean) LANGUAGE plpgsql AS $$
DECLARE
	predicate text := coalesce(override, f.predicate);
	insist boolean := CASE WHEN NOT is_full THEN model.pick('{NULL,NULL,t,f}')::boolean END;
	errors text[];
	error text := '';
	previewed replace_flow.run;
	runs bigint := (SELECT count(*) FROM replace_flow.run);
	rec replace_flow.run;
BEGIN
	CALL model.read_query(f);
	errors := model.errors(f, predicate, is_full, coalesce(insist, f.allow_empty));
	IF errors = '{}' AND insist IS NULL AND NOT is_full AND NOT may_divide THEN
		previewed := model.preview(override);
		CALL model.check_untouched('target after preview()', f);
		PERFORM model.check_equal('runs after preview()', runs, (SELECT count(*) FROM replace_flow.run), rec);
	END IF;
	CALL model.use_settings(model.random_zone(), model.random_style());
	BEGIN
		rec := model.run(override, is_full, insist);
	EXCEPTION WHEN others THEN
		GET STACKED DIAGNOSTICS error = RETURNED_SQLSTATE;
		IF NOT (error = ANY (errors) OR may_divide AND error = '22012') THEN
			RAISE;
		END IF;
	END;
	IF error <> '' THEN
		CALL model.check_untouched('target after a failed run', f);
		RETURN;
	ELSIF errors <> '{}' THEN
		RAISE EXCEPTION 'no error, where % should be', errors USING DETAIL = rec::text;
	END IF;
	CALL model.check_run(rec, rec.run_id - 1, f, predicate, is_full);
	IF model.is_complete(rec) THEN
		PERFORM model.check_equal('rows_updated by preview()', rec.rows_updated, coalesce(previewed.rows_updated, rec.rows_updated), rec);
	END IF;
	-- a run with a predicate of its own leaves that to the next one
	IF override IS NULL THEN
		f.reason := NULL;
	END IF;
END $$;

-- A predicate for one run; some divide by zero when they meet a certain value.
CREATE PROCEDURE model.override(INOUT f model.where_flow) LANGUAGE plpgsql AS $$
DECLARE
	p text := model.random_predicate(f);
BEGIN
	IF model.chance(0.2) THEN
		CALL model.try_run(f, format('1 / CASE WHEN %s THEN 0 ELSE 1 END = 1', p), false, true);
	ELSE
		CALL model.try_run(f, format(model.pick('{(%s) AND (%s),(%s) OR (%s),%2$s,%2$s}'), f.predicate, p), false, false);
	END IF;
END $$;

-- A range to be recomputed in slices, each a run (D11), which together do what
-- one run would.
CREATE TABLE model.backfill (command text, predicate text, flow model.where_flow, last_run bigint);

CREATE PROCEDURE model.plan_backfill(f model.where_flow) LANGUAGE plpgsql AS $$
DECLARE
	n int;
	step text;
	low text;
	high text;
	command text;
	predicate text := 'true';
BEGIN
	SELECT o, t.range_step INTO n, step FROM unnest(f.stored) WITH ORDINALITY x (name, o) JOIN model.where_type t USING (name)
	WHERE t.range_step IS NOT NULL ORDER BY random() LIMIT 1;
	-- one slice may break a unique index, or find no row, where all of them do not
	IF n IS NOT NULL AND f.unique_by IS NULL AND f.allow_empty THEN
		PERFORM set_config('model.infinite', 'off', false);
		low := model.literal(f.stored[n]);
		high := model.literal(f.stored[n]);
		predicate := format('%1$I >= %2$s AND %1$I < %3$s', f.names[n], low, high);
		CALL model.read_query(f);
		IF model.errors(f, predicate, false, true) = '{}' THEN
			command := format('CALL replace_flow.backfill(''f'', %L, %s, %s, %s, %L)', f.names[n], low, high, step, model.chance(0.5));
		END IF;
	END IF;
	INSERT INTO model.backfill VALUES (command, predicate, f, (SELECT coalesce(max(run_id), 0) FROM replace_flow.run));
	CALL model.use_settings(model.random_zone(), model.random_style());
END $$;

-- The end of a history; nothing if it failed.
CREATE PROCEDURE model.check_backfill(seed int, has_failed boolean) LANGUAGE plpgsql AS $$
DECLARE
	b model.backfill;
BEGIN
	SELECT * INTO b FROM model.backfill;
	IF NOT FOUND OR has_failed THEN
		RETURN;
	END IF;
	IF EXISTS (SELECT FROM replace_flow.run WHERE run_id > b.last_run) THEN
		CALL model.check_run(model.sum_of_runs(b.last_run), b.last_run, b.flow, b.predicate, false);
	ELSIF b.command IS NOT NULL THEN
		CALL model.check_untouched('target after an empty range', b.flow);
	END IF;
	INSERT INTO model.passed VALUES (seed);
END $$;

CREATE PROCEDURE model.start_where_history(seed int, INOUT f model.where_flow, INOUT tables model.relation[]) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM setseed((seed % 1000003) / 1000003.0);
	TRUNCATE model.wanted, model.before, model.after, model.backfill;
	DROP SCHEMA IF EXISTS history CASCADE;
	PERFORM replace_flow.drop_flow(name) FROM replace_flow.flow;
	CREATE SCHEMA history;
	SET search_path = history, model, public;
	PERFORM set_config('model.now', '2010-11-06 12:00+00', false);
	PERFORM set_config('model.infinite', model.pick('{on,off,off}'), false);
	f.zone := model.random_zone();
	f.date_style := model.random_style();
	CALL model.use_settings('UTC', 'ISO, MDY');
	CALL model.make_sources(tables);
	CALL model.use_settings(f.zone, f.date_style);
END $$;

CREATE PROCEDURE model.where_history(seed int) LANGUAGE plpgsql AS $$
DECLARE
	f model.where_flow;
	tables model.relation[];
BEGIN
	CALL model.start_where_history(seed, f, tables);
	CALL model.make_where_flow(f, tables);
	CALL model.add_expectations(f);
	COMMIT;
	FOR run IN 1..model.between(3, 6) LOOP
		-- literals of these statements are of style ISO
		CALL model.use_settings(f.zone, 'ISO, MDY');
		IF run > 1 THEN
			CALL model.change_sources(tables);
		END IF;
		CALL model.change_target(f);
		COMMIT;
		IF model.chance(0.5) THEN
			PERFORM set_config('model.now', (current_setting('model.now')::timestamptz + model.between(1, 18) * interval '1 hour')::text, false);
		END IF;
		CALL model.use_settings(f.zone, f.date_style);
		CASE model.pick('{none,none,none,none,predicate,add,drop}')
			WHEN 'predicate' THEN CALL model.alter_predicate(f);
			WHEN 'add' THEN CALL model.add_column(f);
			WHEN 'drop' THEN CALL model.drop_column(f);
			ELSE NULL;
		END CASE;
		COMMIT;
		CASE model.pick('{run,run,run,run,run,override,override,full}')
			WHEN 'run' THEN CALL model.try_run(f, NULL, false, false);
			WHEN 'override' THEN CALL model.override(f);
			ELSE CALL model.try_run(f, NULL, true, false);
		END CASE;
		COMMIT;
		CALL model.preview_windows(f, 3);
	END LOOP;
	CALL model.plan_backfill(f);
	COMMIT;
END $$;
