/*
 * The model of a where flow's run: what its target must hold, worked out the
 * slow and obvious way.
 *
 * The query runs as it is into table fresh, which has the target's types, so
 * its rows are there as the target would store them (A7).  The predicate is
 * evaluated on fresh and on the target (D2), under the settings of the flow's
 * creator (A9).  Nothing can be pushed anywhere, and nothing here is shared with
 * the extension.  Then
 *
 *		wanted		rows of fresh for which the predicate is true
 *		before		all row versions of the target, and whether it is true for them
 *		after		the same after the run
 *
 * Rows are compared as text, so 1.0 and 1.00 are two (B10).
 */

-- What the test knows of the flow.
CREATE TYPE model.where_flow AS (
	query text,
	names text[],				-- columns of the query
	types text[],				-- their types
	stored text[],				-- those of the target
	predicate text,
	zone text,					-- of the creator's session
	date_style text,
	valid text,					-- the expectation that drops, or true
	plausible text,				-- the one that warns
	sound text,					-- the one that fails
	reset_allowed boolean,
	allow_empty boolean,
	unique_by text,				-- columns of a unique index on the target
	has_id boolean,				-- the target has an identity column
	reason text);				-- the next run must name

CREATE FUNCTION model.list(names text[], prefix text DEFAULT '') RETURNS text LANGUAGE sql IMMUTABLE AS
	$$ SELECT string_agg(format('%s%I', prefix, n), ', ' ORDER BY o) FROM unnest(names) WITH ORDINALITY x (n, o) $$;

-- The session's settings, those of the flow's creator or any.
CREATE PROCEDURE model.use_settings(zone text, date_style text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('TimeZone', zone, false), set_config('DateStyle', date_style, false),
		set_config('IntervalStyle', CASE WHEN date_style LIKE 'SQL%' THEN 'sql_standard' ELSE 'postgres' END, false);
END $$;

CREATE UNLOGGED TABLE model.wanted (given text, is_valid boolean, is_plausible boolean, is_sound boolean, whole jsonb);
CREATE UNLOGGED TABLE model.before (part oid, place tid, version xid, in_window boolean, given text, whole text, id bigint);
CREATE UNLOGGED TABLE model.after (LIKE model.before);

-- The query's rows as the target would store them.
CREATE PROCEDURE model.make_fresh(f model.where_flow) LANGUAGE plpgsql AS $$
BEGIN
	DROP TABLE IF EXISTS fresh;
	EXECUTE format('CREATE TABLE fresh AS SELECT %1$s, true AS is_valid, true AS is_plausible, true AS is_sound, NULL::jsonb AS whole FROM target WITH NO DATA',
		model.list(f.names));
END $$;

CREATE PROCEDURE model.look_at_target(seen regclass, f model.where_flow, predicate text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DELETE FROM %s', seen);
	EXECUTE format('INSERT INTO %s SELECT tableoid, ctid, xmin, (%s), row(%s)::text, target::text, %s FROM target',
		seen, predicate, model.list(f.names), CASE WHEN f.has_id THEN 'id' ELSE 'NULL' END);
END $$;

-- Run the query.
CREATE PROCEDURE model.read_query(f model.where_flow) LANGUAGE plpgsql AS $$
BEGIN
	CALL model.use_settings(f.zone, f.date_style);
	DELETE FROM fresh;
	EXECUTE format('INSERT INTO fresh (%1$s, is_valid, is_plausible, is_sound, whole) SELECT %1$s, (%2$s) IS TRUE, (%3$s) IS TRUE, (%4$s) IS TRUE, row_to_json(q)::jsonb FROM (%5$s) q',
		model.list(f.names), f.valid, f.plausible, f.sound, f.query);
END $$;

-- Find out what a run with this predicate has to do.
CREATE PROCEDURE model.foresee(f model.where_flow, predicate text) LANGUAGE plpgsql AS $$
BEGIN
	CALL model.use_settings(f.zone, f.date_style);
	DELETE FROM wanted;
	EXECUTE format('INSERT INTO wanted SELECT row(%s)::text, is_valid, is_plausible, is_sound, whole FROM fresh target WHERE %s',
		model.list(f.names), predicate);
	CALL model.look_at_target('before', f, predicate);
END $$;

-- Whether the state after the run would break the target's unique index.
CREATE FUNCTION model.breaks_index(f model.where_flow, predicate text, is_full boolean) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	IF f.unique_by IS NOT NULL THEN
		TRUNCATE result;
		EXECUTE format('INSERT INTO result SELECT %1$s FROM fresh target WHERE (%2$s) AND is_valid', f.unique_by, predicate);
		IF NOT is_full THEN
			EXECUTE format('INSERT INTO result SELECT %1$s FROM target WHERE (%2$s) IS NOT TRUE', f.unique_by, predicate);
		END IF;
	END IF;
	RETURN false;
EXCEPTION WHEN unique_violation THEN
	RETURN true;
END $$;

-- Foresee a run; the errors of which it must raise one, or none if it must succeed.
-- The query has been read.
CREATE FUNCTION model.errors(f model.where_flow, predicate text, is_full boolean, allow_empty boolean) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	errors text[] := '{}';
BEGIN
	CALL model.foresee(f, predicate);
	IF is_full AND NOT f.reset_allowed THEN
		RETURN '{55000}';
	END IF;
	IF EXISTS (SELECT FROM wanted WHERE NOT is_sound) THEN
		errors := errors || '23514'::text;
	END IF;
	IF NOT allow_empty AND NOT EXISTS (SELECT FROM wanted WHERE is_valid) AND EXISTS (SELECT FROM before WHERE in_window OR is_full) THEN
		errors := errors || '21000'::text;
	END IF;
	IF model.breaks_index(f, predicate, is_full) THEN
		errors := errors || '23505'::text;
	END IF;
	RETURN errors;
EXCEPTION WHEN division_by_zero THEN
	CALL model.look_at_target('before', f, 'true');
	RETURN '{22012,23514,21000}';
END $$;

CREATE FUNCTION model.check_equal(what text, expected bigint, actual bigint, rec replace_flow.run) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF expected IS DISTINCT FROM actual THEN
		RAISE EXCEPTION '%: % instead of %', what, actual, expected USING DETAIL = rec::text;
	END IF;
END $$;

-- The target, row versions included, is what it was.
CREATE PROCEDURE model.check_untouched(what text, f model.where_flow) LANGUAGE plpgsql AS $$
BEGIN
	CALL model.use_settings(f.zone, f.date_style);
	CALL model.look_at_target('after', f, 'true');
	CALL model.compare(what, 'SELECT part, place, version, whole FROM before', 'SELECT part, place, version, whole FROM after');
END $$;

-- Whether a run computed all of its window.  Another one counts only the rows that it had
-- to look at.
CREATE FUNCTION model.is_complete(rec replace_flow.run) RETURNS boolean LANGUAGE sql IMMUTABLE AS
	$$ SELECT coalesce(rec.technique, 'COMPLETE_REPLACE_WHERE') = 'COMPLETE_REPLACE_WHERE' $$;

-- Equal, or for a run that did not compute all no more than that.
CREATE FUNCTION model.check_at_most(what text, limit_of_all bigint, actual bigint, rec replace_flow.run) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF model.is_complete(rec) THEN
		PERFORM model.check_equal(what, limit_of_all, actual, rec);
	ELSIF actual > limit_of_all THEN
		RAISE EXCEPTION '%: % instead of at most %', what, actual, limit_of_all USING DETAIL = rec::text;
	END IF;
END $$;

-- B10: as many rows stay as the old and the new ones have in common, but for
-- partitions that are overwritten whole.
CREATE FUNCTION model.check_counts(rec replace_flow.run, is_full boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	old_rows bigint := (SELECT count(*) FROM before WHERE is_full OR in_window);
	new_rows bigint := (SELECT count(*) FROM wanted WHERE is_valid);
	same bigint := (SELECT count(*) FROM (SELECT given FROM before WHERE in_window
		INTERSECT ALL SELECT given FROM wanted WHERE is_valid) z);
BEGIN
	IF rec.technique = 'PARTITION_OVERWRITE' THEN
		same := 0;
	END IF;
	PERFORM model.check_at_most('rows_unchanged', same, rec.rows_unchanged, rec);
	PERFORM model.check_equal('rows inserted and updated', new_rows - same, rec.rows_inserted + rec.rows_updated, rec);
	PERFORM model.check_equal('rows deleted and updated', old_rows - same, rec.rows_deleted + rec.rows_updated, rec);
END $$;

-- The records of all runs after this one, added up.
CREATE FUNCTION model.sum_of_runs(since bigint) RETURNS replace_flow.run LANGUAGE plpgsql AS $$
DECLARE
	rec replace_flow.run;
BEGIN
	SELECT * INTO rec FROM replace_flow.run WHERE run_id > since ORDER BY run_id DESC LIMIT 1;
	SELECT sum(rows_read), sum(rows_rejected), sum(rows_inserted), sum(rows_updated), sum(rows_deleted), sum(rows_unchanged),
			CASE WHEN bool_and(model.is_complete(r)) THEN 'COMPLETE_REPLACE_WHERE' ELSE 'ROW_BASED' END
		INTO rec.rows_read, rec.rows_rejected, rec.rows_inserted, rec.rows_updated, rec.rows_deleted, rec.rows_unchanged, rec.technique
	FROM replace_flow.run r WHERE run_id > since;
	RETURN rec;
END $$;

-- What the records of runs say of the query's rows (G1, C4).
CREATE PROCEDURE model.check_record(rec replace_flow.run, since bigint, f model.where_flow) LANGUAGE plpgsql AS $$
DECLARE
	results text;
BEGIN
	IF rec.kind <> 'where' OR rec.status <> 'succeeded' OR rec.rows_staged <> 0 OR rec.keys_replaced <> 0 THEN
		RAISE EXCEPTION 'odd record' USING DETAIL = rec::text;
	END IF;
	PERFORM model.check_at_most('rows_read', (SELECT count(*) FROM wanted), rec.rows_read, rec);
	PERFORM model.check_at_most('rows_rejected', (SELECT count(*) FROM wanted WHERE NOT is_valid), rec.rows_rejected, rec);
	PERFORM model.check_equal('rows_read in all', rec.rows_rejected + rec.rows_inserted + rec.rows_updated + rec.rows_unchanged, rec.rows_read, rec);
	PERFORM model.check_equal('rejected rows', rec.rows_rejected, (SELECT count(*) FROM replace_flow.rejected WHERE run_id > since), rec);
	IF NOT model.is_complete(rec) THEN
		CALL model.compare('rejected rows', 'SELECT NULL WHERE false', format('SELECT "row" FROM replace_flow.rejected WHERE run_id > %s'
			' EXCEPT ALL SELECT whole FROM wanted WHERE NOT is_valid', since));
		RETURN;
	END IF;
	CALL model.compare('rejected rows', 'SELECT whole FROM wanted WHERE NOT is_valid',
		format('SELECT "row" FROM replace_flow.rejected WHERE run_id > %s', since));
	results := (SELECT string_agg(format('SELECT %1$L, count(*) FILTER (WHERE is_%1$s), count(*) FILTER (WHERE NOT is_%1$s)'
			' FROM wanted HAVING %2$L <> ''true''', name, condition), ' UNION ALL ')
		FROM (VALUES ('valid', f.valid), ('plausible', f.plausible), ('sound', f.sound)) e (name, condition));
	CALL model.compare('expectation results', results,
		format('SELECT expectation, sum(rows_passed), sum(rows_failed) FROM replace_flow.expectation_result'
			' WHERE run_id > %s GROUP BY expectation', since));
END $$;

-- Runs did what they had to do, and no more, and tell so.
CREATE PROCEDURE model.check_run(rec replace_flow.run, since bigint, f model.where_flow, predicate text, is_full boolean) LANGUAGE plpgsql AS $$
DECLARE
	kept bigint;
	same bigint;
BEGIN
	CALL model.use_settings(f.zone, f.date_style);
	CALL model.look_at_target('after', f, predicate);
	IF NOT is_full THEN
		-- D1: rows outside stay, all of them where and as they are
		CALL model.compare('rows outside of the window',
			'SELECT part, place, version, whole FROM before WHERE in_window IS NOT TRUE',
			'SELECT part, place, version, whole FROM after WHERE in_window IS NOT TRUE');
	END IF;
	CALL model.compare('the window', 'SELECT given FROM wanted WHERE is_valid',
		format('SELECT given FROM after WHERE %s', CASE WHEN is_full THEN 'true' ELSE 'in_window' END));

	PERFORM model.check_counts(rec, is_full);
	SELECT count(*) INTO kept FROM (SELECT part, place, version, whole FROM before WHERE in_window
		INTERSECT SELECT part, place, version, whole FROM after) z;
	SELECT count(*) INTO same FROM (SELECT given FROM before WHERE in_window INTERSECT ALL SELECT given FROM wanted WHERE is_valid) z;
	PERFORM model.check_equal('row versions that stay', CASE rec.technique WHEN 'PARTITION_OVERWRITE' THEN 0 ELSE same END, kept, rec);
	IF f.has_id THEN
		PERFORM model.check_equal('rows inserted', (SELECT count(*) FROM after WHERE id NOT IN (SELECT id FROM before)), rec.rows_inserted, rec);
	END IF;
	IF is_full THEN
		PERFORM model.check_equal('rows_reset', (SELECT count(*) FROM before WHERE in_window IS NOT TRUE), rec.rows_reset, rec);
	END IF;
	CALL model.check_record(rec, since, f);
	IF f.reason IS NOT NULL AND NOT is_full AND predicate = f.predicate AND NOT coalesce(rec.reasons::text LIKE '%' || f.reason || '%', false) THEN
		RAISE EXCEPTION 'reason % is missing', f.reason USING DETAIL = rec::text;
	END IF;
END $$;
