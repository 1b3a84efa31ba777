/*
 * A random history of where flows that are refreshed incrementally: tables, one
 * or two where flows over them, perhaps a using flow that fills one; then refreshes,
 * with anything between them that changes what a query gives.  After each refresh
 * the target is compared with a complete recompute.
 *
 * CALL model.incremental_history(seed) raises an error when something differs.  The
 * same seed makes the same history.
 */

CREATE PROCEDURE model.start_incremental_history(seed int) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM setseed((seed % 1000003) / 1000003.0);
	PERFORM model.end_second();
	PERFORM replace_flow.drop_flow(name) FROM replace_flow.flow;
	DROP SCHEMA IF EXISTS history CASCADE;
	TRUNCATE model.incremental_flow;
	CREATE SCHEMA history;
	SET search_path = history, model, public;
	SET lock_timeout = '5s';
	CALL model.set_clock('2010-11-06 12:00+00');
	PERFORM set_config('model.infinite', 'off', false), set_config('model.has_stream', CASE WHEN model.chance(0.15) THEN 'on' ELSE 'off' END, false),
		set_config('model.is_large', CASE WHEN model.chance(0.12) THEN 'on' ELSE 'off' END, false);
	CALL model.use_settings('UTC', 'ISO, MDY');
	PERFORM set_config('extra_float_digits', '1', false);
	CALL model.make_sources_of_changes(current_setting('model.has_stream') = 'on');
	CALL model.make_incremental_flow('f', 't', NULL);
	IF model.chance(0.5) THEN
		CALL model.make_second_flow();
	END IF;
	IF model.chance(0.1) THEN
		CALL model.make_refreshing_trigger('s', 'f');
	ELSIF model.chance(0.2) AND EXISTS (SELECT FROM incremental_flow WHERE name = 'g') THEN
		CALL model.make_refreshing_trigger('t', 'g');
	END IF;
	IF current_setting('model.has_stream') = 'on' THEN
		CREATE TABLE e_stream AS SELECT a1, a2, a3, a4, a5, a6, a7 FROM e WITH NO DATA;
		PERFORM replace_flow.create_using_flow('e', 'e_stream', '{a3}', 'a4', name => 'x', auto_apply => false);
	END IF;
END $$;

-- On the same tables, or on the target of the first.
CREATE PROCEDURE model.make_second_flow() LANGUAGE plpgsql AS $$
DECLARE
	f model.incremental_flow;
	base model.relation;
BEGIN
	SELECT * INTO f FROM incremental_flow WHERE name = 'f';
	IF model.chance(0.5) THEN
		base := (format('(SELECT %s FROM t)', (SELECT string_agg(format('%I AS a%s', f.names[n], n), ', ') FROM generate_subscripts(f.names, 1) n)), f.stored);
		-- which of a key's equal values t holds is for the run of f to choose
		IF true = ANY (f.loose) OR 'json' = ANY (f.stored) THEN
			base := NULL;
		END IF;
	END IF;
	CALL model.make_incremental_flow('g', 'u', base);
END $$;

-- What changes before the next refresh.
CREATE PROCEDURE model.make_changes(number int) LANGUAGE plpgsql AS $$
DECLARE
	table_name text;
	runnable text;
BEGIN
	FOR i IN 1..number LOOP
		CALL model.be_anybody();
		CASE model.pick('{dml,dml,dml,dml,dml,dml,dml,dml,dml,dml,dml,dml,dml,dml,dml,dml,ddl,ddl,ddl,ddl,second,second,second,second,second,second,target,target,stream,stream,vacuum,vacuum,much}')
			WHEN 'dml' THEN
				CALL model.execute_somehow(model.dml(model.table_to_change(), model.second_state() = 'idle'));
			WHEN 'ddl' THEN
				IF model.second_state() = 'idle' THEN
					CALL model.change_definitions(model.pick('{truncate,truncate,parts,parts,parts,parts,triggers,triggers,view,function,function,add,drop,type,swap,copy,rename,key}'));
				END IF;
			WHEN 'much' THEN
				IF model.second_state() = 'idle' THEN
					CALL model.change_much();
				END IF;
			WHEN 'second' THEN
				COMMIT;
				-- a run that is skipped holds a lock on the flow that second_runs does not see
				SELECT name INTO runnable FROM incremental_flow o WHERE NOT is_paused AND NOT model.may_fail(o) ORDER BY name DESC LIMIT 1;
				CALL model.change_in_second_session(runnable);
			WHEN 'target' THEN
				SELECT name INTO runnable FROM incremental_flow WHERE NOT model.second_runs(target) ORDER BY random() LIMIT 1;
				IF runnable IS NOT NULL THEN
					CALL model.change_target_of(runnable);
				END IF;
			WHEN 'stream' THEN
				IF current_setting('model.has_stream') = 'on' THEN
					EXECUTE replace(model.insertion('e', 2), 'INSERT INTO e ', 'INSERT INTO e_stream ');
					UPDATE e_stream SET a4 = 0 WHERE a4 IS NULL;
					PERFORM replace_flow.apply('x');
				END IF;
			ELSE
				COMMIT;
				IF model.second_state() = 'idle' THEN
					PERFORM model.second('ROLLBACK');
					PERFORM model.second(model.pick('{VACUUM,VACUUM,VACUUM FULL,ANALYZE}') || model.pick('{" s"," d"," t"}'));
				END IF;
		END CASE;
		IF model.chance(0.4) THEN
			COMMIT;
		ELSIF model.chance(0.05) THEN
			ROLLBACK;
		END IF;
	END LOOP;
END $$;

-- Nothing but a definition changes, and is to be noticed.
CREATE PROCEDURE model.change_one_definition() LANGUAGE plpgsql AS $$
BEGIN
	IF model.second_state() = 'idle' THEN
		CALL model.refresh_some();
		CALL model.be_anybody();
		CALL model.change_definitions(model.pick('{function,function,function,function,view,view,triggers,triggers,parts,truncate,add,swap}'));
	END IF;
END $$;

-- What changes of the flows themselves.
CREATE PROCEDURE model.change_flows() LANGUAGE plpgsql AS $$
DECLARE
	flow text := (SELECT name FROM incremental_flow ORDER BY random() LIMIT 1);
BEGIN
	IF model.second_state() <> 'idle' OR model.chance(0.75) THEN
		RETURN;
	END IF;
	IF model.chance(0.7) THEN
		CALL model.alter_incremental_flow(flow);
	ELSIF EXISTS (SELECT FROM incremental_flow WHERE name = 'g') THEN
		CALL model.drop_incremental_flow('g');
	ELSE
		CALL model.make_second_flow();
	END IF;
END $$;

-- All flows in one update, each checked.
CREATE PROCEDURE model.update_and_check() LANGUAGE plpgsql AS $$
DECLARE
	f model.incremental_flow;
	rec replace_flow.run;
	since bigint := (SELECT coalesce(max(run_id), 0) FROM replace_flow.run);
BEGIN
	FOR f IN SELECT * FROM incremental_flow LOOP
		CALL model.use_settings_of(f);
		CALL model.look_at('flow_before', f, f.predicate);
	END LOOP;
	CALL model.use_settings(model.random_zone(), model.random_style());
	PERFORM replace_flow.start_update();
	FOR f IN SELECT * FROM incremental_flow LOOP
		SELECT * INTO STRICT rec FROM replace_flow.run r WHERE r.flow = f.name AND run_id > since;
		CALL model.tell('update: ' || rec::text);
		CALL model.check_refresh(f, rec, f.predicate, false);
	END LOOP;
END $$;

CREATE PROCEDURE model.refresh_some() LANGUAGE plpgsql AS $$
DECLARE
	f model.incremental_flow;
	manner text;
BEGIN
	IF model.chance(0.1) AND model.second_state() = 'idle' AND to_regproc('refresh_g') IS NULL
		AND NOT EXISTS (SELECT FROM incremental_flow o WHERE is_paused OR model.may_fail(o)) THEN
		CALL model.update_and_check();
		RETURN;
	END IF;
	FOR f IN SELECT * FROM incremental_flow o WHERE NOT model.second_runs(o.target) AND model.chance(0.75) ORDER BY name LOOP
		manner := model.pick('{run,run,run,run,run,run,run,run,run,run,planning,planning,update,preview,override,override,full,NO_OP,APPEND_ONLY,ROW_BASED,ROW_BASED,ROW_BASED,ROW_BASED,ROW_BASED,PARTITION_OVERWRITE,PARTITION_OVERWRITE,COMPLETE_REPLACE_WHERE}');
		IF manner = 'PARTITION_OVERWRITE' AND model.second_state() <> 'idle' THEN
			-- it would wait for who reads the target
			manner := 'run';
		END IF;
		IF f.is_paused AND model.second_state() = 'idle' THEN
			PERFORM replace_flow.resume_flow(f.name);
			UPDATE incremental_flow SET is_paused = false WHERE name = f.name;
		END IF;
		IF manner = 'override' THEN
			CALL model.refresh_and_check(f.name, model.flow_predicate(f.names, f.stored, f.loose), 'run');
		ELSIF model.chance(0.05) THEN
			-- a refresh that is undone
			BEGIN
				CALL model.refresh_and_check(f.name, NULL, manner);
				RAISE SQLSTATE 'UNDO0';
			EXCEPTION WHEN SQLSTATE 'UNDO0' THEN
				NULL;
			END;
		ELSE
			CALL model.refresh_and_check(f.name, NULL, manner);
		END IF;
	END LOOP;
END $$;

-- Nothing is kept that all flows have seen.
CREATE PROCEDURE model.check_log() LANGUAGE plpgsql AS $$
DECLARE
	entries text := (SELECT string_agg(DISTINCT relid::regclass::text, ', ') FROM replace_flow.change
		WHERE EXISTS (SELECT FROM replace_flow.seen WHERE relid = ANY (relids)));
BEGIN
	-- a flow that fails has seen nothing
	IF entries IS NOT NULL AND NOT EXISTS (SELECT FROM incremental_flow o WHERE is_paused OR model.may_fail(o)) THEN
		RAISE EXCEPTION 'changes of % that all flows have seen are kept', entries;
	END IF;
END $$;

CREATE PROCEDURE model.incremental_history(seed int) LANGUAGE plpgsql AS $$
DECLARE
	flow text;
BEGIN
	CALL model.start_incremental_history(seed);
	COMMIT;
	CALL model.refresh_some();
	COMMIT;
	FOR round IN 1..model.between(4, 8) LOOP
		IF model.chance(0.25) THEN
			CALL model.change_one_definition();
		ELSE
			CALL model.make_changes(model.between(0, 3));
		END IF;
		IF model.chance(0.35) THEN
			CALL model.move_clock();
		END IF;
		CALL model.change_flows();
		CALL model.refresh_some();
		IF model.chance(0.6) THEN
			COMMIT;
		END IF;
	END LOOP;
	COMMIT;
	-- what was open is over, and is seen (E6)
	IF model.second_state() = 'prepared' THEN
		PERFORM model.second('COMMIT PREPARED ''history''');
	END IF;
	PERFORM model.second('COMMIT');
	FOR again IN 1..3 LOOP
		FOR flow IN SELECT name FROM incremental_flow WHERE NOT is_paused ORDER BY name LOOP
			CALL model.refresh_and_check(flow, NULL, 'run');
		END LOOP;
		COMMIT;
	END LOOP;
	CALL model.check_log();
	INSERT INTO model.passed VALUES (seed);
	COMMIT;
END $$;
