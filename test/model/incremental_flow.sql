/*
 * Where flows for histories of incremental refresh, and what a refresh must have
 * done, however it did it (E1).
 *
 * The query is also a view of the test's, so it follows what is renamed.  It is
 * run as a whole after each refresh, in the same transaction; the second session
 * does nothing meanwhile, so it gives what the refresh had to read.  Its rows, as
 * the target would store them, are compared with the rows of the window.
 *
 * All that the test knows of a flow is in a table, so that it is undone with what
 * it is about.
 */

CREATE TABLE model.incremental_flow (
	name text PRIMARY KEY,
	target text,
	label text,					-- shape of the query
	names text[],				-- columns of the query
	types text[],
	stored text[],				-- their types in the target
	loose boolean[],			-- compare what equal values have in common
	predicate text,
	zone text,
	date_style text,
	valid text,					-- expectations, as in where_model.sql
	sound text,
	allow_empty boolean,
	is_paused boolean);

CREATE UNLOGGED TABLE model.flow_before (flow text, part oid, place tid, version xid, in_window boolean, given text, whole text);
CREATE UNLOGGED TABLE model.flow_after (LIKE model.flow_before);
CREATE UNLOGGED TABLE model.flow_wanted (given text, is_valid boolean, is_sound boolean);

-- What runs were, for the sums that test/model/run prints.
CREATE TABLE model.coverage (label text, technique text, reasons text[], error text);

-- A condition for a flow's target: often one that moves with the clock.
CREATE FUNCTION model.moving_predicate(names text[], types text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int := (SELECT o FROM unnest(types) WITH ORDINALITY x (name, o) WHERE name IN ('date', 'timestamp', 'timestamptz') ORDER BY random() LIMIT 1);
BEGIN
	RETURN format(model.pick('{%1$s >= model.today() - %2$s,%1$s >= model.today() - %2$s,%1$s >= model.today() - %2$s,%1$s > model.today() - %2$s,
		%1$s < model.today() + %2$s,%1$s BETWEEN model.today() - %2$s AND model.today(),%1$s >= model.today() - %2$s AND %1$s < model.today() + %2$s,
		%1$s = model.today(),%1$s >= ''2010-11-06'',%1$s >= ''2010-11-05'',%1$s BETWEEN ''2010-11-05'' AND ''2010-11-08'',
		%1$s >= ''2010-11-05'' AND %1$s < ''2010-11-08'',%1$s IS NOT NULL,%1$s < ''2010-11-07'' OR %1$s IS NULL,%1$s::date >= ''2010-11-06'',
		history.inside(%1$s::date),history.inside(%1$s::date),"%1$s IN (''2010-11-06'', ''2010-11-07'')","date_trunc(''day'', %1$s) >= ''2010-11-06''",%1$s > now() - interval ''50 years'',
		model.is_recent(%1$s::date),CASE WHEN %1$s IS NULL THEN false ELSE %1$s >= model.today() END,"coalesce(%1$s, model.today()) >= ''2010-11-06''",
		%1$s >= current_setting(''model.now'')::date - 1}'), quote_ident(names[n]), model.between(0, 3));
END $$;

CREATE FUNCTION model.flow_predicate(names text[], types text[], loose boolean[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	firm int[] := (SELECT array_agg(n) FROM generate_subscripts(names, 1) n WHERE NOT loose[n]);
	firm_names text[] := (SELECT array_agg(names[n]) FROM unnest(firm) n);
	firm_types text[] := (SELECT array_agg(types[n]) FROM unnest(firm) n);
	n int := model.between(1, cardinality(names));
	chosen float8 := random();
BEGIN
	IF chosen < 0.05 THEN
		RETURN 'true';
	ELSIF chosen < 0.7 AND types && '{date,timestamp,timestamptz}' THEN
		RETURN model.moving_predicate(names, types);
	ELSIF (chosen < 0.85 OR firm IS NULL) AND types[n] <> 'json' THEN
		RETURN format(model.pick('{%1$I = %2$s,%1$I = %2$s,%1$I >= %2$s,%1$I < %2$s,"%1$I IN (%2$s, %3$s)",%1$I IS NULL,%1$I IS NOT NULL,%1$I <> %2$s OR %1$I IS NULL}'),
			names[n], model.fact_literal(types[n]), model.fact_literal(types[n]));
	ELSIF firm IS NULL THEN
		RETURN format('%I IS NOT NULL', names[n]);
	END IF;
	RETURN model.predicate('', firm_names, firm_types);
END $$;

-- The rows of one flow's target, and whether they are in the window.
CREATE PROCEDURE model.look_at(seen text, f model.incremental_flow, predicate text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DELETE FROM model.%s WHERE flow = %L', seen, f.name);
	EXECUTE format('INSERT INTO model.%s SELECT %L, tableoid, ctid, xmin, (%s), row(%s)::text, t::text FROM %I t', seen, f.name, predicate,
		model.compared_columns(f), f.target);
END $$;

-- The columns that the query gives, as they are compared.
CREATE FUNCTION model.compared_columns(f model.incremental_flow) RETURNS text LANGUAGE sql STABLE AS $$
	SELECT string_agg(CASE WHEN f.loose[n] THEN (SELECT format(x.pattern, quote_ident(f.names[n])) FROM model.exact x WHERE x.type = f.types[n])
		ELSE quote_ident(f.names[n]) END, ', ' ORDER BY n) FROM generate_subscripts(f.names, 1) n
$$;

CREATE PROCEDURE model.make_fresh_for(f model.incremental_flow) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DROP TABLE IF EXISTS fresh_%1$s; CREATE TABLE fresh_%1$s AS SELECT %2$s, true AS is_valid, true AS is_sound FROM %3$s WITH NO DATA',
		f.name, model.list(f.names), f.target);
END $$;

-- What the query gives for this window.
CREATE PROCEDURE model.want(f model.incremental_flow, predicate text) LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM flow_wanted;
	EXECUTE format('DELETE FROM fresh_%s', f.name);
	EXECUTE format('INSERT INTO fresh_%1$s (%2$s, is_valid, is_sound) SELECT %2$s, (%3$s) IS TRUE, (%4$s) IS TRUE FROM expected_%1$s',
		f.name, model.list(f.names), f.valid, f.sound);
	EXECUTE format('INSERT INTO flow_wanted SELECT row(%s)::text, is_valid, is_sound FROM fresh_%s WHERE %s', model.compared_columns(f), f.name, predicate);
END $$;

CREATE PROCEDURE model.use_settings_of(f model.incremental_flow) LANGUAGE plpgsql AS $$
BEGIN
	CALL model.use_settings(f.zone, f.date_style);
	PERFORM set_config('extra_float_digits', '1', false);
END $$;

-- Partitions of a target, by day; there may be none for NULL.
CREATE PROCEDURE model.make_target_days(target text, columns text) LANGUAGE plpgsql AS $$
BEGIN
	IF model.chance(0.4) THEN
		EXECUTE format('CREATE TABLE %1$s_rest PARTITION OF %1$s DEFAULT', target);
	ELSE
		EXECUTE format('CREATE TABLE %1$s_4 PARTITION OF %1$s FOR VALUES FROM (MINVALUE) TO (''2010-11-05'');'
			'CREATE TABLE %1$s_9 PARTITION OF %1$s FOR VALUES FROM (''2010-11-09'') TO (MAXVALUE)', target);
	END IF;
	FOR day IN 5..8 LOOP
		IF day = 6 THEN
			EXECUTE format('CREATE TABLE %s_%s (junk int, %s); ALTER TABLE %1$s_%2$s DROP COLUMN junk;'
				'ALTER TABLE %1$s ATTACH PARTITION %1$s_%2$s FOR VALUES FROM (''2010-11-06'') TO (''2010-11-07'')', target, day, columns);
		ELSE
			EXECUTE format('CREATE TABLE %1$s_%2$s PARTITION OF %1$s FOR VALUES FROM (''2010-11-%3$s'') TO (''2010-11-%4$s'')', target, day,
				to_char(day, 'FM00'), to_char(day + 1, 'FM00'));
		END IF;
	END LOOP;
END $$;

CREATE PROCEDURE model.make_target_for(INOUT f model.incremental_flow) LANGUAGE plpgsql AS $$
DECLARE
	columns text[];
	other text;
	day int;
BEGIN
	FOR i IN 1..cardinality(f.names) LOOP
		IF NOT f.loose[i] AND model.chance(0.3) THEN
			other := (SELECT model.pick(stored_as) FROM model.where_type WHERE name = f.types[i]);
			-- what the other flow makes of numbers and times may be long
			f.stored[i] := CASE WHEN other IS NULL OR f.name <> 'f' AND other IN ('varchar', 'char20', 'numeric2', 'int') THEN f.types[i] ELSE other END;
		END IF;
		columns := columns || format('%I %s', f.names[i], model.type_of(f.stored[i]));
	END LOOP;
	SELECT o INTO day FROM unnest(f.stored) WITH ORDINALITY x (name, o) WHERE name IN ('date', 'timestamp', 'timestamptz') AND model.chance(0.5) LIMIT 1;
	IF model.chance(0.2) THEN
		columns := columns || 'extra text DEFAULT ''x'''::text;
	END IF;
	IF model.chance(0.2) AND day IS NULL THEN
		columns := columns || 'number bigint GENERATED ALWAYS AS IDENTITY'::text;
	END IF;
	columns := (SELECT array_agg(c ORDER BY random()) FROM unnest(columns) c);
	EXECUTE format('CREATE TABLE %I (%s)%s', f.target, array_to_string(columns, ', '),
		CASE WHEN day IS NOT NULL THEN format(' PARTITION BY RANGE (%I)', f.names[day]) WHEN model.chance(0.3) THEN ' WITH (fillfactor = 50)' ELSE '' END);
	IF day IS NOT NULL THEN
		CALL model.make_target_days(f.target, array_to_string(columns, ', '));
	END IF;
	day := model.between(1, cardinality(f.names));
	IF model.chance(0.4) AND f.stored[day] <> 'json' THEN
		EXECUTE format('CREATE INDEX ON %I (%I)', f.target, f.names[day]);
	END IF;
END $$;

-- Whether runs may fail: as an expectation says, as the window would be empty, or as
-- there is no partition for a row.
CREATE FUNCTION model.may_fail(f model.incremental_flow) RETURNS boolean LANGUAGE sql STABLE AS
	$$ SELECT f.sound <> 'true' OR NOT f.allow_empty OR pg_get_partkeydef(to_regclass(f.target)) IS NOT NULL AND to_regclass(f.target || '_rest') IS NULL $$;

-- A window that is some partitions of the target, if it has any.
CREATE FUNCTION model.partition_predicate(target text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	day text := substring(pg_get_partkeydef(to_regclass(target)) FROM '\((.*)\)');
BEGIN
	IF day IS NULL OR model.chance(0.4) THEN
		RETURN NULL;
	END IF;
	RETURN format(model.pick('{%1$s >= ''2010-11-05'' AND %1$s < ''2010-11-09'',%1$s >= ''2010-11-05'' AND %1$s < ''2010-11-07'',
		%1$s >= ''2010-11-06'' AND %1$s < ''2010-11-07'',%1$s >= model.today() - 1 AND %1$s < model.today() + 1,%1$s >= model.today() AND %1$s < ''2010-11-09''}'), day);
END $$;

-- A query of which one column comes out of a user's function.
CREATE FUNCTION model.with_function(q model.query) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	n int := (SELECT i FROM generate_subscripts(q.exprs, 1) i WHERE q.types[i] IN ('int', 'numeric', 'text') AND q.exprs[i] NOT LIKE '%/*%' ORDER BY random() LIMIT 1);
BEGIN
	IF n IS NOT NULL THEN
		q.exprs[n] := format(CASE q.types[n] WHEN 'int' THEN '((%s) OPERATOR(history.###) 1)' WHEN 'numeric' THEN 'history.bump(%s)' ELSE 'history.spell(%s)' END, q.exprs[n]);
	END IF;
	RETURN q;
END $$;

-- A flow with a random query; on a base, if there is one, and else on the tables.
CREATE PROCEDURE model.make_incremental_flow(name text, target text, base model.relation) LANGUAGE plpgsql AS $$
DECLARE
	f model.incremental_flow;
	q model.named_query;
	has_rows boolean;
BEGIN
	f.name := name;
	f.target := target;
	f.zone := model.random_zone();
	f.date_style := model.random_style();
	CALL model.use_settings_of(f);
	FOR try IN 1..2 LOOP
		q := model.shaped_query(base, true, 1);
		IF model.chance(0.35) THEN
			q.query := model.with_function(q.query);
		END IF;
		f.label := q.label;
		f.types := (q.query).types;
		f.names := (SELECT array_agg(n ORDER BY o) FROM unnest('{day,k,"Mixed Case",a1,"select",b2,b3,b4,b5,b6,b7,b8,b9,c1,c2,c3,c4,c5,c6,c7,c8}'::text[]) WITH ORDINALITY x (n, o)
			WHERE o <= cardinality(f.types));
		f.loose := (SELECT array_agg(e LIKE '%/* loose */' ORDER BY o) FROM unnest((q.query).exprs) WITH ORDINALITY x (e, o));
		EXECUTE format('CREATE VIEW expected_%s AS %s', name, model.text(q.query, f.names));
		EXECUTE format('SELECT EXISTS (SELECT FROM expected_%s)', name) INTO has_rows;
		EXIT WHEN has_rows OR try = 2;
		EXECUTE format('DROP VIEW expected_%s', name);
	END LOOP;
	f.stored := f.types;
	IF model.chance(0.85) THEN
		CALL model.make_target_for(f);
	END IF;
	f.predicate := coalesce(model.partition_predicate(f.target), model.flow_predicate(f.names, f.stored, f.loose));
	f.valid := 'true';
	f.sound := 'true';
	f.allow_empty := model.chance(0.85);
	f.is_paused := false;
	CALL model.tell(format('flow %s (%s), "%s" stored as %s: %s', name, f.label, f.types, f.stored, model.text(q.query, f.names)));
	PERFORM replace_flow.create_where_flow(target, model.text(q.query, f.names), f.predicate, name => name, reset_allowed => true,
		allow_empty => f.allow_empty);
	CALL model.make_fresh_for(f);
	INSERT INTO incremental_flow SELECT f.*;
END $$;

CREATE PROCEDURE model.drop_incremental_flow(flow text) LANGUAGE plpgsql AS $$
DECLARE
	f model.incremental_flow;
BEGIN
	SELECT * INTO f FROM incremental_flow WHERE name = flow;
	PERFORM replace_flow.drop_flow(flow);
	EXECUTE format('DROP TABLE %I, fresh_%s; DROP VIEW expected_%2$s', f.target, flow);
	DELETE FROM incremental_flow WHERE name = flow;
END $$;

-- Another predicate, another query, or an expectation more or less.
CREATE PROCEDURE model.alter_incremental_flow(flow text) LANGUAGE plpgsql AS $$
DECLARE
	f model.incremental_flow;
	query text;
	n int;
BEGIN
	SELECT * INTO f FROM incremental_flow WHERE name = flow;
	CALL model.use_settings_of(f);
	CASE model.pick('{predicate,predicate,filter,column,valid,valid,sound,pause,empty}')
		WHEN 'predicate' THEN
			f.predicate := format(model.pick('{(%s) AND (%s),(%s) OR (%s),%2$s}'), f.predicate, model.flow_predicate(f.names, f.stored, f.loose));
			PERFORM replace_flow.alter_flow(flow, replace_where => f.predicate);
		WHEN 'filter', 'column' THEN
			EXECUTE format('ALTER VIEW expected_%s RENAME TO old_%1$s_%s', flow, (SELECT count(*) FROM pg_views WHERE viewname LIKE 'old_%'));
			query := format('SELECT %s%s FROM (%s) q WHERE %s', model.list(f.names, 'q.'),
				CASE WHEN 'added' = ANY (f.names) THEN '' ELSE ', 7 AS added' END,
				pg_get_viewdef((SELECT max(oid) FROM pg_class WHERE relname LIKE format('old_%s_%%', flow))), format(model.pick('{q.%I IS NOT NULL,true}'), f.names[1]));
			query := replace(query, ';) q', ') q');
			EXECUTE format('CREATE VIEW expected_%s AS %s', flow, query);
			PERFORM replace_flow.alter_flow(flow, query => query);
			IF NOT 'added' = ANY (f.names) THEN
				f.names := f.names || 'added'::text;
				f.types := f.types || 'int'::text;
				f.stored := f.stored || 'int'::text;
				f.loose := f.loose || false;
			END IF;
			CALL model.make_fresh_for(f);
		WHEN 'pause' THEN
			f.is_paused := NOT f.is_paused;
			PERFORM CASE WHEN f.is_paused THEN replace_flow.pause_flow(flow) ELSE replace_flow.resume_flow(flow) END;
		WHEN 'empty' THEN
			f.allow_empty := NOT f.allow_empty;
			PERFORM replace_flow.alter_flow(flow, allow_empty => f.allow_empty);
		ELSE
			CALL model.alter_expectations(f);
	END CASE;
	DELETE FROM incremental_flow WHERE name = flow;
	INSERT INTO incremental_flow SELECT f.*;
END $$;

-- They are about columns that the target stores as they are.
CREATE PROCEDURE model.alter_expectations(INOUT f model.incremental_flow) LANGUAGE plpgsql AS $$
DECLARE
	n int := (SELECT i FROM generate_subscripts(f.names, 1) i WHERE f.types[i] = f.stored[i] AND NOT f.loose[i] AND f.types[i] NOT IN ('char3', 'json')
		ORDER BY f.types[i] IN ('date', 'int') DESC, random() LIMIT 1);
	condition text;
	action text := CASE WHEN model.chance(0.2) THEN 'fail' ELSE 'drop' END;
BEGIN
	IF (action = 'drop' AND f.valid <> 'true') THEN
		PERFORM replace_flow.drop_expectation(f.name, 'valid');
		f.valid := 'true';
	ELSIF f.sound <> 'true' THEN
		PERFORM replace_flow.drop_expectation(f.name, 'sound');
		f.sound := 'true';
	ELSIF n IS NOT NULL THEN
		condition := format(CASE f.types[n] WHEN 'date' THEN model.pick('{%I <= model.today(),history.inside(%I),%I <> ''2010-11-07''}')
			WHEN 'int' THEN model.pick('{history.good(%I),%I < 5}') ELSE model.pick('{%I IS NOT NULL,"%I NOT IN (%s, %s)"}') END,
			f.names[n], model.fact_literal(f.types[n]), model.fact_literal(f.types[n]));
		PERFORM replace_flow.add_expectation(f.name, CASE action WHEN 'fail' THEN 'sound' ELSE 'valid' END, condition, action);
		IF action = 'fail' THEN
			f.sound := condition;
		ELSE
			f.valid := condition;
		END IF;
	END IF;
END $$;

-- DML by others on the target (D6), in the window and outside.
CREATE PROCEDURE model.change_target_of(flow text) LANGUAGE plpgsql AS $$
DECLARE
	f model.incremental_flow;
	n int;
	statement text;
	is_replica boolean := model.chance(0.2);
BEGIN
	SELECT * INTO f FROM incremental_flow WHERE name = flow;
	n := model.between(1, cardinality(f.names));
	CASE model.pick(CASE model.second_state() WHEN 'idle' THEN '{insert,insert,double,update,update,delete,delete,truncate,type}'
			ELSE '{insert,update,delete}' END::text[])
		WHEN 'insert' THEN
			statement := format('INSERT INTO %s (%I) VALUES (%s)', f.target, f.names[n], model.fact_value(f.stored[n]));
		WHEN 'double' THEN
			statement := format('INSERT INTO %1$s (%2$s) SELECT %2$s FROM %1$s LIMIT 5', f.target, model.list(f.names));
		WHEN 'update' THEN
			statement := format('UPDATE %s SET %I = %s WHERE %s', f.target, f.names[n], model.fact_value(f.stored[n]),
				CASE WHEN model.chance(0.5) THEN f.predicate ELSE model.flow_predicate(f.names, f.stored, f.loose) END);
		WHEN 'delete' THEN
			statement := format('DELETE FROM %s WHERE %s', f.target, model.flow_predicate(f.names, f.stored, f.loose));
		WHEN 'truncate' THEN
			statement := CASE WHEN model.chance(0.4) THEN format('TRUNCATE %s', f.target) ELSE 'SELECT 1' END;
		ELSE
			CALL model.change_target_type(f);
			RETURN;
	END CASE;
	CALL model.tell(statement);
	PERFORM set_config('session_replication_role', CASE WHEN is_replica THEN 'replica' ELSE 'origin' END, true);
	BEGIN
		EXECUTE statement;
	EXCEPTION WHEN check_violation THEN
		NULL;
	END;
	PERFORM set_config('session_replication_role', 'origin', true);
END $$;

-- Another type for a column of the target, which rewrites it.
CREATE PROCEDURE model.change_target_type(f model.incremental_flow) LANGUAGE plpgsql AS $$
DECLARE
	n int := (SELECT i FROM generate_subscripts(f.names, 1) i WHERE f.stored[i] IN ('int', 'numeric2', 'varchar') AND NOT f.loose[i] ORDER BY random() LIMIT 1);
	other text;
BEGIN
	IF n IS NULL OR position(f.names[n] IN concat(f.predicate, f.valid, f.sound)) > 0
		OR EXISTS (SELECT FROM incremental_flow o WHERE o.name > f.name) THEN
		RETURN;
	END IF;
	other := CASE f.stored[n] WHEN 'int' THEN 'bigint' WHEN 'numeric2' THEN 'numeric' ELSE 'text' END;
	EXECUTE format('ALTER TABLE %s ALTER COLUMN %I TYPE %s', f.target, f.names[n], model.type_of(other));
	f.stored[n] := other;
	UPDATE incremental_flow SET stored = f.stored WHERE name = f.name;
	CALL model.make_fresh_for(f);
END $$;

-- What must be true of a refresh, whatever it did.
CREATE PROCEDURE model.check_refresh(f model.incremental_flow, rec replace_flow.run, predicate text, is_full boolean) LANGUAGE plpgsql AS $$
DECLARE
	before text := format('flow_before WHERE flow = %L', f.name);
	after text := format('flow_after WHERE flow = %L', f.name);
	same bigint;
	stayed bigint;
BEGIN
	CALL model.use_settings_of(f);
	CALL model.look_at('flow_after', f, predicate);
	INSERT INTO coverage VALUES (f.label, rec.technique, (SELECT array_agg(DISTINCT split_part(r, ':', 1)) FROM unnest(rec.reasons) r), NULL);
	IF NOT is_full THEN
		CALL model.compare('rows outside of the window', 'SELECT part, place, version, whole FROM ' || before || ' AND in_window IS NOT TRUE',
			'SELECT part, place, version, whole FROM ' || after || ' AND in_window IS NOT TRUE');
	END IF;
	CALL model.want(f, predicate);
	CALL model.compare('the window', 'SELECT given FROM flow_wanted WHERE is_valid', 'SELECT given FROM ' || after || CASE WHEN is_full THEN '' ELSE ' AND in_window' END);
	IF EXISTS (SELECT FROM flow_wanted WHERE NOT is_sound) THEN
		RAISE EXCEPTION 'an expectation should have failed the run';
	ELSIF NOT f.allow_empty AND NOT EXISTS (SELECT FROM flow_wanted WHERE is_valid) AND EXISTS (SELECT FROM flow_before WHERE flow = f.name AND (is_full OR in_window)) THEN
		RAISE EXCEPTION 'a run that empties the window should have failed';
	ELSIF rec.kind <> 'where' OR rec.status <> 'succeeded' OR rec.technique IS NULL OR rec.rows_read <> rec.rows_rejected + rec.rows_inserted + rec.rows_updated + rec.rows_unchanged THEN
		RAISE EXCEPTION 'odd record';
	END IF;
	-- B10: no row is written but for a difference
	SELECT count(*) INTO stayed FROM (SELECT part, place, version FROM flow_before WHERE flow = f.name AND in_window
		INTERSECT SELECT part, place, version FROM flow_after WHERE flow = f.name) z;
	SELECT count(*) INTO same FROM (SELECT given FROM flow_before WHERE flow = f.name AND in_window INTERSECT ALL SELECT given FROM flow_wanted WHERE is_valid) z;
	IF true = ANY (f.loose) THEN
		RETURN;
	ELSIF rec.technique = 'PARTITION_OVERWRITE' THEN
		same := 0;
	END IF;
	PERFORM model.check_equal('row versions that stay', same, stayed, rec),
		model.check_equal('rows inserted and updated', (SELECT count(*) FROM flow_wanted WHERE is_valid) - same, rec.rows_inserted + rec.rows_updated, rec),
		model.check_equal('rows deleted and updated', (SELECT count(*) FROM flow_before WHERE flow = f.name AND (is_full OR in_window)) - same, rec.rows_deleted + rec.rows_updated, rec);
	CALL model.check_technique(rec, same);
END $$;

-- What a technique promises of the record.
CREATE PROCEDURE model.check_technique(rec replace_flow.run, same bigint) LANGUAGE plpgsql AS $$
BEGIN
	IF (CASE rec.technique
		WHEN 'COMPLETE_REPLACE_WHERE' THEN rec.rows_unchanged <> same OR rec.reasons IS NULL OR rec.reasons = '{}'
		WHEN 'PARTITION_OVERWRITE' THEN rec.rows_unchanged <> 0
		WHEN 'NO_OP' THEN rec.rows_read <> 0 OR rec.rows_deleted <> 0
		WHEN 'APPEND_ONLY' THEN rec.rows_unchanged > same
		WHEN 'ROW_BASED' THEN rec.rows_unchanged > same
		ELSE true END) THEN
		RAISE EXCEPTION 'this is not what % is', rec.technique USING DETAIL = rec::text;
	END IF;
END $$;

-- A refresh that failed: nothing has changed, and one that computes all must fail
-- as well.
CREATE PROCEDURE model.check_failure(f model.incremental_flow, error text, override text, is_full boolean) LANGUAGE plpgsql AS $$
DECLARE
	other text := 'none';
BEGIN
	CALL model.use_settings_of(f);
	CALL model.look_at('flow_after', f, 'true');
	CALL model.compare('target after a failed run', format('SELECT part, place, version, whole FROM flow_before WHERE flow = %L', f.name),
		format('SELECT part, place, version, whole FROM flow_after WHERE flow = %L', f.name));
	INSERT INTO coverage VALUES (f.label, NULL, NULL, error);
	BEGIN
		PERFORM replace_flow.refresh(f.name, override, 'COMPLETE_REPLACE_WHERE');
		RAISE SQLSTATE 'UNDO0';
	EXCEPTION WHEN others THEN
		GET STACKED DIAGNOSTICS other = RETURNED_SQLSTATE;
	END;
	IF other = 'UNDO0' AND NOT is_full THEN
		RAISE EXCEPTION 'only the incremental run fails, with %', error;
	END IF;
END $$;

-- One run, by one of the functions that do it.
CREATE FUNCTION model.run_flow(flow text, override text, manner text) RETURNS replace_flow.run LANGUAGE plpgsql AS $$
DECLARE
	rec replace_flow.run;
	planned text;
BEGIN
	CASE manner
		WHEN 'planning' THEN
			SELECT technique INTO STRICT planned FROM replace_flow.planning(flow, override) WHERE chosen;
			rec := replace_flow.refresh(flow, override);
			IF planned <> rec.technique THEN
				RAISE EXCEPTION 'planned %, and done %', planned, rec.technique;
			END IF;
		WHEN 'full' THEN rec := replace_flow.full_refresh(flow);
		WHEN 'update' THEN SELECT * INTO STRICT rec FROM replace_flow.start_update(ARRAY[flow]);
		WHEN 'preview' THEN
			PERFORM replace_flow.preview(flow, override);
			rec := replace_flow.refresh(flow, override);
		WHEN 'run' THEN rec := replace_flow.refresh(flow, override);
		ELSE rec := replace_flow.refresh(flow, override, manner);
	END CASE;
	RETURN rec;
END $$;

-- One refresh of a flow, and all that can be said about it.
CREATE PROCEDURE model.refresh_and_check(flow text, override text, manner text) LANGUAGE plpgsql AS $$
DECLARE
	f model.incremental_flow;
	predicate text;
	rec replace_flow.run;
	error text := '';
	message text;
BEGIN
	SELECT * INTO f FROM incremental_flow WHERE name = flow;
	predicate := coalesce(override, f.predicate);
	CALL model.tell(format('refresh of %s, %s: %s', flow, manner, predicate));
	CALL model.use_settings_of(f);
	CALL model.look_at('flow_before', f, predicate);
	CALL model.use_settings(model.random_zone(), model.random_style());
	IF manner ~ '^[A-Z]' OR model.may_fail(f) THEN
		BEGIN
			rec := model.run_flow(flow, override, manner);
		EXCEPTION WHEN others THEN
			GET STACKED DIAGNOSTICS error = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
		END;
	ELSE
		rec := model.run_flow(flow, override, manner);
	END IF;
	CALL model.tell(coalesce(rec::text, message));
	IF error = '' AND f.is_paused THEN
		IF rec.status <> 'skipped' THEN
			RAISE EXCEPTION 'a paused flow ran';
		END IF;
	ELSIF error = '' THEN
		CALL model.check_refresh(f, rec, predicate, manner = 'full');
	ELSIF error IN ('23514', '21000') THEN
		CALL model.check_failure(f, error, override, manner = 'full');
	ELSIF manner ~ '^[A-Z]' AND error = '55000' THEN
		-- it would give another result now
		INSERT INTO coverage VALUES (f.label, NULL, NULL, 'refusal of ' || manner);
		CALL model.refresh_and_check(flow, override, 'run');
	ELSE
		RAISE EXCEPTION '%: %', error, message;
	END IF;
END $$;
