/*
 * The tables that histories of incremental refresh read, and what happens to them
 * between refreshes: DML of all kinds, in all kinds of transactions, and DDL that
 * changes what queries give.
 */

CREATE TABLE model.clock (at timestamptz);
INSERT INTO model.clock VALUES ('2010-11-06 12:00+00');
CREATE FUNCTION model.today() RETURNS date LANGUAGE sql STABLE AS $$ SELECT (at AT TIME ZONE 'UTC')::date FROM model.clock $$;

-- It cannot be computed but for each row.
CREATE FUNCTION model.is_recent(day date) RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN day >= model.today() - 1; END $$;

CREATE PROCEDURE model.set_clock(at timestamptz) LANGUAGE plpgsql AS $$
BEGIN
	UPDATE model.clock SET at = set_clock.at;
	PERFORM set_config('model.now', at::text, false);
END $$;

-- Time goes on, or back.
CREATE PROCEDURE model.move_clock() LANGUAGE plpgsql AS $$
DECLARE
	at timestamptz := (SELECT c.at FROM model.clock c) + model.pick('{1 hour,12 hours,1 day,1 day,2 days,-1 day}')::interval;
BEGIN
	CALL model.set_clock(at);
END $$;

-- A session as any other: what it has set must not matter.
CREATE PROCEDURE model.be_anybody() LANGUAGE plpgsql AS $$
BEGIN
	CALL model.use_settings(model.random_zone(), 'ISO, MDY');
	PERFORM set_config('extra_float_digits', model.pick('{1,0,-10}'), false);
END $$;

-- Columns that can be written, by their numbers.
CREATE FUNCTION model.written(table_name text) RETURNS int[] LANGUAGE sql STABLE AS $$
	SELECT CASE WHEN table_name IN ('d', 'c') THEN '{1,2,3}'::int[]
		WHEN current_setting('model.is_generated') = 'on' AND table_name <> 'e' THEN '{1,2,3,4,6,7}'::int[]
		ELSE '{1,2,3,4,5,6,7}'::int[] END
$$;
CREATE FUNCTION model.types_of(table_name text) RETURNS text[] LANGUAGE sql STABLE AS
	$$ SELECT CASE WHEN table_name IN ('d', 'c') THEN model.dimension_types() ELSE model.fact_types() END $$;

CREATE FUNCTION model.fact_value(type_name text) RETURNS text LANGUAGE sql VOLATILE AS
	$$ SELECT CASE WHEN model.chance(0.08) THEN 'NULL' ELSE model.fact_literal(type_name) END $$;

-- Rows for VALUES; with an id before each of them.
CREATE FUNCTION model.random_rows(table_name text, number int, ids boolean DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	types text[] := model.types_of(table_name);
	columns int[] := model.written(table_name);
	list text;
	one_row text;
	n int;
BEGIN
	FOR i IN 1..number LOOP
		one_row := CASE WHEN ids THEN (i * 4 + model.between(-3, 0))::text END;
		FOREACH n IN ARRAY columns LOOP
			one_row := concat_ws(', ', one_row, model.fact_value(types[n]) || '::' || model.type_of(types[n]));
		END LOOP;
		list := concat_ws(', ', list, '(' || one_row || ')');
	END LOOP;
	RETURN list;
END $$;

CREATE FUNCTION model.column_list(columns int[], prefix text DEFAULT '') RETURNS text LANGUAGE sql IMMUTABLE AS
	$$ SELECT string_agg(format('%sa%s', prefix, n), ', ' ORDER BY o) FROM unnest(columns) WITH ORDINALITY x (n, o) $$;

CREATE PROCEDURE model.make_part(part text, bound text, is_odd boolean) LANGUAGE plpgsql AS $$
BEGIN
	IF is_odd THEN
		-- other columns, in another order
		EXECUTE format(model.pick('{"CREATE TABLE %s (a7 text, gone int, a6 numeric, a5 int, a3 %s, a2 date, junk int, a1 %s, a4 int, id int NOT NULL DEFAULT nextval(''s_id_seq''))",
			"CREATE TABLE %1$s (id int NOT NULL DEFAULT nextval(''s_id_seq''), a1 %3$s, a2 date, a3 %2$s, a5 int, a4 int, a6 numeric, a7 text, junk int, gone int)"}'), part, model.type_of(current_setting('model.key_type')), model.type_of(current_setting('model.time_type')));
		EXECUTE format('ALTER TABLE %s DROP COLUMN gone; ALTER TABLE s ATTACH PARTITION %1$s %s', part, bound);
	ELSE
		EXECUTE format('CREATE TABLE %s PARTITION OF s %s', part, bound);
	END IF;
END $$;

-- The bound of a part of s, where it is partitioned by time or day.
CREATE FUNCTION model.bound(part text) RETURNS text LANGUAGE sql STABLE AS $$
	SELECT CASE part WHEN 's_0' THEN format('FOR VALUES FROM (MINVALUE) TO (%L)', '2010-11-06' || zone)
		WHEN 's_1' THEN format('FOR VALUES FROM (%L) TO (%L)', '2010-11-06' || zone, '2010-11-07' || zone)
		WHEN 's_2' THEN format('FOR VALUES FROM (%L) TO (%L)', '2010-11-07' || zone, '2010-11-08' || zone) ELSE 'DEFAULT' END
	FROM (SELECT CASE WHEN current_setting('model.time_type') = 'timestamptz' AND current_setting('model.part_by') = 'a1' THEN ' 00:00+00' ELSE '' END) z (zone)
$$;

CREATE PROCEDURE model.make_facts() LANGUAGE plpgsql AS $$
DECLARE
	columns text := format('id serial, a1 %s, a2 date, a3 %s, a4 int, a5 int, a6 numeric, a7 text, junk int',
		model.type_of(current_setting('model.time_type')), model.type_of(current_setting('model.key_type')));
	shape text := current_setting('model.shape');
	part_by text := current_setting('model.part_by');
	part text;
BEGIN
	IF current_setting('model.is_generated') = 'on' THEN
		EXECUTE format('CREATE TABLE s (%s)', replace(columns, 'a5 int', 'a5 int GENERATED ALWAYS AS (a4 % 3) STORED'));
	ELSE
		EXECUTE format('CREATE TABLE s (%s)%s', columns, CASE shape WHEN 'hash' THEN ' PARTITION BY HASH (a3)'
			WHEN 'range' THEN format(' PARTITION BY RANGE (%s)', part_by) ELSE '' END);
	END IF;
	CASE shape
		WHEN 'hash' THEN
			FOR i IN 0..1 LOOP
				CALL model.make_part('s_' || i, format('FOR VALUES WITH (modulus 2, remainder %s)', i), model.chance(0.5));
			END LOOP;
		WHEN 'range' THEN
			FOREACH part IN ARRAY '{s_0,s_1,s_2,s_rest}'::text[] LOOP
				CALL model.make_part(part, model.bound(part), model.chance(0.5));
			END LOOP;
		WHEN 'inherited' THEN
			CREATE TABLE s_0 (extra int) INHERITS (s);
			CREATE TABLE s_1 (more text) INHERITS (s_0);
		ELSE NULL;
	END CASE;
	EXECUTE format('CREATE UNIQUE INDEX ON s (%s)', current_setting('model.unique_by'));
	IF model.chance(0.4) THEN
		EXECUTE format('CREATE INDEX ON s (%s)', model.pick('{a1,a2,a3,"a3, a1"}'));
	END IF;
	EXECUTE format('CREATE TABLE e (%s)', columns);
	EXECUTE format('CREATE TABLE d (id serial PRIMARY KEY, a1 %s, a2 text, a3 int)', model.type_of(current_setting('model.key_type')));
	EXECUTE format('CREATE TABLE c (d_id int REFERENCES d ON UPDATE CASCADE ON DELETE %s, id serial, a1 %s, a2 text, a3 int)',
		model.pick('{CASCADE,SET NULL}'), model.type_of(current_setting('model.key_type')));
END $$;

-- What flows use of these functions and operators, most of the time.
CREATE FUNCTION model.used_function(names text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	texts text := (SELECT string_agg(concat_ws(' ', pg_get_viewdef(('expected_' || name)::regclass), predicate, valid, sound), ' ') FROM model.incremental_flow);
	used text[] := (SELECT array_agg(n) FROM unnest(names) n WHERE texts LIKE '%' || CASE n WHEN 'mix' THEN '###' WHEN 'step' THEN 'bump(' ELSE n || '(' END || '%');
BEGIN
	RETURN model.pick(CASE WHEN used IS NULL OR model.chance(0.2) THEN names ELSE used END);
END $$;

-- What flows read of these tables and views, most of the time.
CREATE FUNCTION model.read_relation(names text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	used text[];
BEGIN
	WITH RECURSIVE reads (oid) AS (
		SELECT ('expected_' || name)::regclass::oid FROM model.incremental_flow
		UNION
		SELECT d.refobjid FROM reads JOIN pg_rewrite w ON w.ev_class = reads.oid
			JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_class'::regclass
	)
	SELECT array_agg(n) INTO used FROM unnest(names) n WHERE to_regclass(n)::oid IN (SELECT oid FROM reads);
	RETURN model.pick(CASE WHEN used IS NULL OR model.chance(0.15) THEN names ELSE used END);
END $$;

CREATE PROCEDURE model.make_functions(n int) LANGUAGE plpgsql AS $$
DECLARE
	language text := CASE n % 2 WHEN 1 THEN 'LANGUAGE sql IMMUTABLE AS ''SELECT ' ELSE 'LANGUAGE plpgsql IMMUTABLE AS ''BEGIN RETURN ' END;
	final text := CASE n % 2 WHEN 1 THEN '''' ELSE '; END''' END;
BEGIN
	CASE (CASE n WHEN 1 THEN 'all' ELSE model.used_function('{bump,step,mix,total,spell,inside,good}') END)
		WHEN 'bump' THEN EXECUTE format('CREATE OR REPLACE FUNCTION bump(numeric) RETURNS numeric %s $1 + %s * history.step() %s', language, n, final);
		WHEN 'step' THEN EXECUTE format('CREATE OR REPLACE FUNCTION step() RETURNS numeric %s %s %s', language, n, final);
		WHEN 'mix' THEN EXECUTE format('CREATE OR REPLACE FUNCTION mix(int, int) RETURNS int %s $1 * %s - $2 %s', language, n, final);
		WHEN 'total' THEN EXECUTE format('CREATE OR REPLACE FUNCTION add_up(bigint, int) RETURNS bigint %s coalesce($1, 0) + coalesce($2, 0) * %s %s', language, n, final);
		WHEN 'spell' THEN EXECUTE format('CREATE OR REPLACE FUNCTION spell(text) RETURNS text %s left(''''%s'''' || $1, 20) %s', language, n, final);
		WHEN 'inside' THEN EXECUTE format('CREATE OR REPLACE FUNCTION inside(date) RETURNS boolean %s $1 >= date ''''2010-11-04'''' + %s %s', language, n, final);
		WHEN 'good' THEN EXECUTE format('CREATE OR REPLACE FUNCTION good(int) RETURNS boolean %s $1 <> %s %s', language, n, final);
		ELSE
			CREATE FUNCTION step() RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 1; END';
			CREATE FUNCTION bump(numeric) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 + history.step(); END';
			CREATE FUNCTION mix(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 - $2; END';
			CREATE FUNCTION add_up(bigint, int) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, 0) + coalesce($2, 0)';
			CREATE FUNCTION spell(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN left(''1'' || $1, 20); END';
			CREATE FUNCTION inside(date) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 >= date ''2010-11-06''';
			CREATE FUNCTION good(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 <> 4';
			CREATE OPERATOR ### (FUNCTION = mix, LEFTARG = int, RIGHTARG = int);
			CREATE AGGREGATE total(int) (SFUNC = add_up, STYPE = bigint);
	END CASE;
END $$;

CREATE PROCEDURE model.make_views() LANGUAGE plpgsql AS $$
BEGIN
	CREATE VIEW rows_view AS SELECT a1, a2, a3, a4, a5, a6, a7, id FROM s WHERE a4 IS DISTINCT FROM 2;
	CREATE VIEW twice_view AS SELECT a1, a2, a3, a5 AS a4, a4 AS a5, a6, a7 FROM rows_view;
	CREATE VIEW union_view AS SELECT a1, a2, a3, a4, a5, a6, a7 FROM s UNION ALL SELECT a1, a2, a3, a4, a5, a6, a7 FROM e WHERE a4 IS NOT NULL;
	CREATE VIEW dim_view AS SELECT a1, upper(a2) AS a2, a3 FROM d WHERE a3 IS DISTINCT FROM 9;
	CREATE VIEW joined_view AS SELECT q.a1, q.a2, q.a3, q.a4, r.a3 AS a5, q.a6, r.a2 AS a7 FROM s q JOIN d r ON r.a1 = q.a3;
	CREATE MATERIALIZED VIEW e_copy AS SELECT a1, a2, a3, a4, a5, a6, a7 FROM e;
END $$;

CREATE PROCEDURE model.replace_view() LANGUAGE plpgsql AS $$
BEGIN
	CASE model.read_relation('{rows_view,union_view,dim_view,joined_view}')
		WHEN 'rows_view' THEN EXECUTE format('CREATE OR REPLACE VIEW rows_view AS SELECT a1, a2, a3, a4, a5, a6, a7, id FROM s WHERE a4 IS DISTINCT FROM %s', model.between(0, 5));
		WHEN 'union_view' THEN EXECUTE format('CREATE OR REPLACE VIEW union_view AS SELECT a1, a2, a3, a4, a5, a6, a7 FROM e UNION ALL SELECT a1, a2, a3, a4, a5, a6, a7 FROM s WHERE a4 > %s',
			model.between(0, 3));
		WHEN 'dim_view' THEN EXECUTE format('CREATE OR REPLACE VIEW dim_view AS SELECT a1, left(a2, 9) || ''%s'' AS a2, a3 FROM %s', model.between(0, 9), model.pick('{d,c}'));
		ELSE EXECUTE format('CREATE OR REPLACE VIEW joined_view AS SELECT q.a1, q.a2, q.a3, q.a4, r.a3 AS a5, q.a6, r.a2 AS a7 FROM s q %s JOIN %s r ON r.a1 = q.a3',
			model.pick('{LEFT,INNER}'), model.pick('{d,c}'));
	END CASE;
END $$;

-- Triggers of the user: one changes more than the statement says, the other
-- changes another table.
CREATE PROCEDURE model.make_triggers(has_stream boolean) LANGUAGE plpgsql AS $$
BEGIN
	CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $f$
	BEGIN
		IF NEW.a4 = 5 AND TG_OP = 'UPDATE' THEN
			RETURN NULL;
		END IF;
		NEW.a7 := coalesce(NEW.a4::text, NEW.a7);
		RETURN NEW;
	END $f$;
	CREATE FUNCTION spread() RETURNS trigger LANGUAGE plpgsql AS
		$f$ BEGIN INSERT INTO history.e (a2, a3, a4) VALUES (NEW.a2, NEW.a3, NEW.a4 + 10); RETURN NULL; END $f$;
	IF model.chance(0.15) THEN
		CREATE TRIGGER touch BEFORE INSERT OR UPDATE ON s FOR EACH ROW EXECUTE FUNCTION touch();
	END IF;
	IF model.chance(0.15) AND NOT has_stream THEN
		CREATE TRIGGER spread AFTER INSERT ON s FOR EACH ROW WHEN (NEW.a4 = 3) EXECUTE FUNCTION spread();
	END IF;
END $$;

-- A statement that changes a table refreshes a flow before it has ended.
CREATE PROCEDURE model.make_refreshing_trigger(table_name text, flow text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE FUNCTION refresh_%s() RETURNS trigger LANGUAGE plpgsql AS %L', flow,
		format('BEGIN PERFORM replace_flow.refresh(name, wait => false) FROM replace_flow.flow WHERE name = %L AND NOT paused; RETURN NULL;'
			' EXCEPTION WHEN check_violation OR cardinality_violation THEN RETURN NULL; END', flow));
	EXECUTE format('CREATE TRIGGER %s AFTER %s EXECUTE FUNCTION refresh_%s()', model.pick('{a,z}'),
		CASE WHEN table_name = 's' AND model.chance(0.4) THEN 'INSERT ON s FOR EACH ROW WHEN (NEW.a4 = 3 AND NEW.a7 IS NOT NULL)'
			ELSE format('INSERT OR UPDATE OR DELETE ON %s FOR EACH STATEMENT', table_name) END, flow);
END $$;

CREATE PROCEDURE model.make_sources_of_changes(has_stream boolean) LANGUAGE plpgsql AS $$
DECLARE
	part_by text := model.pick('{a1,a2,a2}');
BEGIN
	PERFORM set_config('model.key_type', model.pick('{int,int,text,text,citext,citext,numeric,numeric,float8,folded,char3,interval,mood,jsonb,ints}'), false),
		set_config('model.time_type', model.pick('{timestamp,timestamptz}'), false),
		set_config('model.shape', model.pick('{plain,plain,plain,range,range,range,hash,inherited,inherited}'), false),
		set_config('model.part_by', part_by, false);
	PERFORM set_config('model.is_generated', CASE WHEN current_setting('model.shape') = 'plain' AND model.chance(0.2) THEN 'on' ELSE 'off' END, false),
		set_config('model.unique_by', CASE current_setting('model.shape') WHEN 'range' THEN 'id, ' || part_by WHEN 'hash' THEN 'id, a3' ELSE 'id' END, false);
	CALL model.make_facts();
	CALL model.make_functions(1);
	CALL model.make_views();
	CALL model.make_triggers(has_stream);
	IF current_setting('model.is_large') = 'on' THEN
		EXECUTE model.bulk_insertion('s', 800);
		CREATE INDEX ON s (a3, a1);
		CREATE INDEX ON s (a2);
		CREATE INDEX ON s (a1);
		ANALYZE s;
	END IF;
	EXECUTE model.insertion('s', model.between(8, 20));
	IF current_setting('model.shape') = 'inherited' THEN
		EXECUTE model.insertion('s_0', 4);
		EXECUTE model.insertion('s_1', 2);
	END IF;
	EXECUTE model.insertion('e', model.between(3, 10));
	-- some facts are to have none
	EXECUTE model.insertion('d', model.between(1, 4));
	EXECUTE model.insertion('c', model.between(0, 4));
	UPDATE c SET d_id = (SELECT max(id) FROM d WHERE id <= 1 + c.id % 3);
END $$;

CREATE FUNCTION model.insertion(table_name text, number int) RETURNS text LANGUAGE sql AS $$
	SELECT format('INSERT INTO %s (%s) VALUES %s', table_name, model.column_list(model.written(table_name)), model.random_rows(table_name, greatest(number, 1)))
$$;

-- Many rows at once, with more keys than usual.
CREATE FUNCTION model.bulk_insertion(table_name text, number int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	key text := CASE current_setting('model.key_type') WHEN 'int' THEN 'g' WHEN 'numeric' THEN 'g * 1.50' WHEN 'float8' THEN 'g / 4.0'
		WHEN 'text' THEN '''k'' || g' WHEN 'citext' THEN '''K'' || g' ELSE model.fact_value(current_setting('model.key_type')) END;
BEGIN
	IF table_name IN ('d', 'c') THEN
		RETURN format('INSERT INTO %s (a1, a2, a3) SELECT %s, ''b'' || g %% 7, g FROM generate_series(1, %s) g', table_name, key, least(number, 60));
	END IF;
	RETURN format('INSERT INTO %s (a1, a2, a3, a4, a7) SELECT timestamp ''2010-11-04'' + g * interval ''%s min'', date ''2010-11-04'' + g %% 7, %s, g %% 6, ''b'' || g %% 3'
		' FROM generate_series(1, %s) g', table_name, model.between(1, 100), key, number);
END $$;

-- Which rows of a table; only free ones, if others may have changed some.
CREATE FUNCTION model.some_rows(table_name text, only_free boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	condition text := CASE WHEN model.chance(0.4) THEN model.fact_condition('', model.types_of(table_name))
		ELSE format('id %% %s = %s', model.pick('{5,5,11}'), model.between(0, 4)) END;
BEGIN
	IF only_free THEN
		RETURN format('(tableoid, ctid) IN (SELECT tableoid, ctid FROM %s WHERE %s FOR UPDATE SKIP LOCKED)', table_name, condition);
	END IF;
	RETURN condition;
END $$;

CREATE FUNCTION model.assignments(table_name text, alias text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	types text[] := model.types_of(table_name);
	columns int[] := model.written(table_name);
	n int := columns[model.between(1, cardinality(columns))];
	other int := columns[model.between(1, cardinality(columns))];
BEGIN
	IF model.chance(0.1) THEN
		RETURN format('a%1$s = %2$sa%1$s', n, alias);
	ELSIF n <> other AND model.chance(0.3) THEN
		RETURN format('a%s = %s, a%s = %s', n, model.fact_value(types[n]), other, model.fact_value(types[other]));
	ELSIF types[n] = 'int' AND model.chance(0.5) THEN
		RETURN format('a%1$s = %2$sa%1$s + 1', n, alias);
	END IF;
	RETURN format('a%s = %s', n, model.fact_value(types[n]));
END $$;

CREATE FUNCTION model.upsert(table_name text) RETURNS text LANGUAGE sql AS $$
	SELECT format('INSERT INTO %1$s (id, %2$s) SELECT id, %2$s FROM %7$s WHERE %3$s UNION ALL SELECT nextval(''s_id_seq''), * FROM (VALUES %4$s) z ON CONFLICT (%5$s) DO %6$s',
		table_name, model.column_list(model.written(table_name)), model.some_rows(table_name, false), model.random_rows(table_name, 1),
		current_setting('model.unique_by'), CASE WHEN model.chance(0.3) THEN 'NOTHING'
			ELSE format('UPDATE SET a4 = %s, a7 = left(excluded.a7, 9) || ''u''', model.fact_value('int')) END,
		-- not rows of children, which the parent would get again
		CASE current_setting('model.shape') WHEN 'inherited' THEN 'ONLY s' ELSE table_name END)
$$;

CREATE FUNCTION model.merge(table_name text) RETURNS text LANGUAGE sql AS $$
	SELECT format('MERGE INTO %s t USING (VALUES %s) z (id, %s) ON t.id = z.id WHEN MATCHED AND t.a4 %s THEN DELETE'
			' WHEN MATCHED AND t.a4 <> 4 THEN UPDATE SET %s WHEN MATCHED THEN DO NOTHING WHEN NOT MATCHED THEN INSERT (%3$s) VALUES (%6$s)',
		table_name, model.random_rows(table_name, model.between(1, 5), true), model.column_list(model.written(table_name)),
		model.pick('{= 2,> 3,IS NULL}'), model.assignments(table_name, 't.'), model.column_list(model.written(table_name), 'z.'))
$$;

-- One statement that changes a table.  Some need all rows for themselves.
CREATE FUNCTION model.dml(table_name text, alone boolean) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	CASE model.pick(CASE WHEN alone AND table_name = 's' THEN '{insert,insert,insert,insert,update,update,update,delete,bulk,upsert,merge,move,copy,view}'
			WHEN table_name IN ('d', 'c') THEN '{insert,insert,insert,update,update,delete,delete,delete,bulk}'
			ELSE '{insert,insert,insert,insert,update,update,update,delete,bulk}' END::text[])
		WHEN 'insert' THEN RETURN model.insertion(table_name, CASE WHEN table_name IN ('d', 'c') THEN 1 ELSE model.between(1, 4) END);
		WHEN 'bulk' THEN
			IF model.chance(CASE WHEN table_name IN ('d', 'c') THEN 0.1 ELSE 0.4 END) THEN
				RETURN model.bulk_insertion(table_name, model.pick('{30,100,100,300}')::int);
			END IF;
			RETURN format('UPDATE %s SET a3 = a3', table_name) || CASE WHEN alone THEN '' ELSE ' WHERE false' END;
		WHEN 'update' THEN
			RETURN format('UPDATE %s SET %s WHERE %s', table_name, model.assignments(table_name), model.some_rows(table_name, NOT alone));
		WHEN 'delete' THEN
			RETURN format('DELETE FROM %s WHERE %s', table_name, model.some_rows(table_name, NOT alone));
		WHEN 'upsert' THEN RETURN model.upsert(table_name);
		WHEN 'merge' THEN RETURN model.merge(table_name);
		WHEN 'copy' THEN
			RETURN format('COPY s (a2, a4, a7) FROM PROGRAM ''printf "2010-11-%s\t%s\tcopied\n2010-11-06\t1\t\\\\N\n"''',
				to_char(model.between(4, 9), 'FM00'), model.between(0, 5));
		WHEN 'view' THEN
			RETURN format(model.pick('{UPDATE rows_view SET %s WHERE %s,DELETE FROM rows_view WHERE %2$s}'), model.assignments('s'), model.some_rows('s', false));
		ELSE
			RETURN format('WITH gone AS (DELETE FROM s WHERE %s RETURNING *) INSERT INTO e (a1, a2, a3, a4, a6, a7) SELECT a1, a2, a3, a4, a6, a7 FROM gone',
				model.some_rows('s', false));
	END CASE;
END $$;

-- Rows whose values are too many bytes to be kept, which go again later; or so many
-- statements that their entries in the log of changes are put together.
CREATE PROCEDURE model.change_much() LANGUAGE plpgsql AS $$
DECLARE
	n int := (SELECT id FROM s ORDER BY random() LIMIT 1);
BEGIN
	IF model.chance(0.02) THEN
		FOR i IN 1..6000 LOOP
			UPDATE s SET a4 = i % 3 WHERE id = n;
		END LOOP;
	ELSIF EXISTS (SELECT FROM s WHERE length(a7) > 1000) THEN
		DELETE FROM s WHERE length(a7) > 1000;
	ELSIF NOT EXISTS (SELECT FROM model.incremental_flow WHERE stored && '{varchar,char20}') THEN
		CALL model.execute_somehow(replace(model.bulk_insertion('s', 80), '''b'' || g % 3', '''b'' || g || repeat(''x'', 15000)'));
	END IF;
END $$;

-- Execute it, in one of the ways in which a statement comes to be committed, or not.
CREATE PROCEDURE model.execute_somehow(statement text) LANGUAGE plpgsql AS $$
DECLARE
	manner text := model.pick('{plain,plain,subtransaction,subtransaction,undone,replica,replica}');
BEGIN
	CALL model.tell(format('%s: %s', manner, statement));
	-- some may fail, as a row is there already, or out of the bounds of a part
	IF manner = 'plain' AND statement !~ 'MERGE|CONFLICT|\ms_\d' THEN
		EXECUTE statement;
		RETURN;
	END IF;
	IF manner = 'replica' THEN
		PERFORM set_config('session_replication_role', 'replica', true);
	END IF;
	BEGIN
		EXECUTE statement;
		IF manner = 'undone' THEN
			RAISE SQLSTATE 'UNDO0';
		END IF;
	EXCEPTION WHEN SQLSTATE 'UNDO0' OR unique_violation OR cardinality_violation OR check_violation OR foreign_key_violation OR feature_not_supported THEN
		NULL;
	END;
	PERFORM set_config('session_replication_role', 'origin', true);
END $$;

-- A table to change.
CREATE FUNCTION model.table_to_change() RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN t <> 'part' THEN t WHEN current_setting('model.shape') = 'plain' THEN 's'
		WHEN to_regclass('s_1') IS NULL THEN 's_0' ELSE model.pick('{s_0,s_1}') END
	FROM (SELECT CASE WHEN r = 's' AND model.chance(0.25) THEN 'part' ELSE r END FROM model.read_relation('{s,s,s,s,e,d,d,c}') r) x (t)
$$;

-- A part of s that goes, changes while nobody looks, or comes back.
CREATE PROCEDURE model.change_parts() LANGUAGE plpgsql AS $$
DECLARE
	shape text := current_setting('model.shape');
	part text := model.pick('{s_1,s_1,s_2}');
	is_part boolean;
BEGIN
	part := CASE WHEN shape = 'range' THEN part ELSE 's_1' END;
	is_part := EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(part));
	IF shape = 'range' THEN
		IF is_part THEN
			EXECUTE format(model.pick('{ALTER TABLE s DETACH PARTITION %s,ALTER TABLE s DETACH PARTITION %s,DROP TABLE %s,TRUNCATE %s}'), part);
			RETURN;
		ELSIF to_regclass(part) IS NULL THEN
			EXECUTE format('DELETE FROM s_rest WHERE %1$s >= ''2010-11-06 00:00+00'' AND %1$s < ''2010-11-08 00:00+00''', current_setting('model.part_by'));
			CALL model.make_part(part, model.bound(part), model.chance(0.5));
			EXECUTE model.insertion('s', 4);
			RETURN;
		END IF;
		EXECUTE format('WITH moved AS (DELETE FROM s_rest WHERE %2$s >= ''2010-11-%3$s 00:00+00'' AND %2$s < ''2010-11-%4$s 00:00+00'' RETURNING %5$s) INSERT INTO %1$s (%5$s) SELECT * FROM moved',
			part, current_setting('model.part_by'), CASE part WHEN 's_1' THEN '06' ELSE '07' END, CASE part WHEN 's_1' THEN '07' ELSE '08' END, 'id, a1, a2, a3, a4, a5, a6, a7');
		EXECUTE format('UPDATE %s SET a4 = a4 + 1, a7 = ''aside'' WHERE id %% 2 = 0', part);
		EXECUTE format('ALTER TABLE s ATTACH PARTITION %s %s', part, model.bound(part));
	ELSIF shape = 'hash' THEN
		ALTER TABLE s DETACH PARTITION s_1;
		EXECUTE model.pick('{"UPDATE s_1 SET a4 = 7 WHERE id % 2 = 0",DELETE FROM s_1 WHERE id % 3 = 0,TRUNCATE s_1,SELECT 1}');
		ALTER TABLE s ATTACH PARTITION s_1 FOR VALUES WITH (modulus 2, remainder 1);
	ELSIF shape = 'inherited' THEN
		IF to_regclass('s_1') IS NULL THEN
			CREATE TABLE s_1 (LIKE s_0 INCLUDING DEFAULTS);
			INSERT INTO s_1 (a1, a2, a3, a4, a5, a6, a7) SELECT a1, a2, a3, a4, a5, a6, a7 FROM ONLY s_0;
			ALTER TABLE s_1 INHERIT s_0;
		ELSIF is_part THEN
			EXECUTE model.pick('{ALTER TABLE s_1 NO INHERIT s_0,ALTER TABLE s_1 NO INHERIT s_0,DROP TABLE s_1,TRUNCATE s_1}');
		ELSE
			UPDATE s_1 SET a4 = a4 + 1, a7 = 'aside' WHERE id % 2 = 0;
			ALTER TABLE s_1 INHERIT s_0;
		END IF;
	END IF;
END $$;

-- DML of which triggers hear nothing.  Some leave them as if nothing had been.
CREATE PROCEDURE model.disable_triggers() LANGUAGE plpgsql AS $$
DECLARE
	named text := model.read_relation('{s,s,e,d,t}');
	table_name text := CASE WHEN named = 's' AND current_setting('model.shape') <> 'plain' AND model.chance(0.4) THEN 's_0' ELSE named END;
	act text := model.pick('{both,restore,restore,disable,enable,enable}');
	commands text := (SELECT string_agg(format('ALTER TABLE ONLY %s ENABLE %s TRIGGER %I', tgrelid::regclass,
			CASE tgenabled WHEN 'A' THEN 'ALWAYS' WHEN 'R' THEN 'REPLICA' ELSE '' END, tgname), '; ')
		FROM pg_trigger WHERE tgrelid = table_name::regclass AND tgenabled <> 'D');
BEGIN
	IF act <> 'enable' THEN
		EXECUTE format('ALTER TABLE %s DISABLE TRIGGER ALL', table_name);
		IF table_name NOT IN ('t', 's_0') THEN
			EXECUTE model.dml(table_name, true);
		ELSIF table_name = 's_0' THEN
			UPDATE s_0 SET a4 = a4 + 1, a6 = a6 + 1, a7 = 'unheard';
		END IF;
	END IF;
	IF act = 'restore' AND commands IS NOT NULL THEN
		EXECUTE commands;
	ELSIF act <> 'disable' THEN
		EXECUTE format('ALTER TABLE %s ENABLE TRIGGER ALL', table_name);
	END IF;
END $$;

-- DDL.  What it cannot do at the moment, it does not do.
CREATE PROCEDURE model.change_definitions(act text) LANGUAGE plpgsql AS $$
BEGIN
	CALL model.tell('definitions: ' || act);
	CASE act
		WHEN 'truncate' THEN EXECUTE format('TRUNCATE %s', model.pick('{s,e,d CASCADE,c}'));
		WHEN 'parts' THEN CALL model.change_parts();
		WHEN 'triggers' THEN CALL model.disable_triggers();
		WHEN 'view' THEN CALL model.replace_view();
		WHEN 'function' THEN CALL model.make_functions(model.between(2, 5));
		WHEN 'add' THEN EXECUTE format('ALTER TABLE %s ADD COLUMN IF NOT EXISTS added int DEFAULT %s', model.pick('{s,e,d}'), model.pick('{7,"NULL",floor(random() * 3)}'));
		WHEN 'drop' THEN EXECUTE format('ALTER TABLE %s DROP COLUMN IF EXISTS added', model.pick('{s,e,d}'));
		WHEN 'type' THEN EXECUTE format('ALTER TABLE s ALTER COLUMN junk TYPE %s', model.pick('{bigint,int}'));
		WHEN 'swap' THEN
			IF current_setting('model.is_generated') = 'on' THEN
				RETURN;
			END IF;
			ALTER TABLE s RENAME COLUMN a4 TO a0;
			ALTER TABLE s RENAME COLUMN a5 TO a4;
			ALTER TABLE s RENAME COLUMN a0 TO a5;
		WHEN 'copy' THEN
			REFRESH MATERIALIZED VIEW e_copy;
			EXECUTE format('COMMENT ON TABLE s IS %s', model.pick('{"NULL",''some''}'));
		WHEN 'rename' THEN
			ALTER TABLE e RENAME TO d_new;
			ALTER TABLE d_new RENAME TO e;
		ELSE UPDATE d SET id = id + 100 WHERE id % 3 = 0;
	END CASE;
EXCEPTION WHEN check_violation OR unique_violation OR dependent_objects_still_exist OR cardinality_violation OR feature_not_supported THEN
	NULL;
END $$;

-- What the second session does: it begins, goes on, or comes to an end.
CREATE PROCEDURE model.change_in_second_session(runnable text) LANGUAGE plpgsql AS $$
DECLARE
	state text := model.second_state();
	table_name text := CASE WHEN current_setting('model.has_stream') = 'on' THEN 's' ELSE model.pick('{s,s,s,e}') END;
	statement text := model.dml(table_name, false);
BEGIN
	IF state = 'prepared' THEN
		PERFORM model.second(model.pick('{COMMIT,COMMIT,ROLLBACK}') || ' PREPARED ''history''');
		RETURN;
	ELSIF state = 'idle' THEN
		PERFORM model.second(format('ROLLBACK; SET TimeZone = %L; SET model.now = %L; BEGIN; %s', model.random_zone(), current_setting('model.now'), statement));
		IF model.second_keeps_writers_away() THEN
			PERFORM model.second('COMMIT');
		END IF;
		RETURN;
	END IF;
	CASE model.pick(ARRAY['statement', 'statement', 'savepoint', 'released', 'commit', 'commit', 'commit', 'rollback', 'run',
			CASE current_setting('max_prepared_transactions') WHEN '0' THEN 'commit' ELSE 'prepare' END])
		WHEN 'statement' THEN PERFORM model.second(statement);
		WHEN 'savepoint' THEN PERFORM model.second(format('SAVEPOINT a; %s; ROLLBACK TO a', statement));
		WHEN 'released' THEN PERFORM model.second(format('SAVEPOINT a; %s; RELEASE a', statement));
		WHEN 'run' THEN
			IF runnable IS NOT NULL THEN
				PERFORM model.second(format('DO $d$ BEGIN PERFORM replace_flow.refresh(%L, wait => false); END $d$', runnable));
			END IF;
		WHEN 'rollback' THEN PERFORM model.second('ROLLBACK');
		WHEN 'prepare' THEN
			PERFORM model.second('PREPARE TRANSACTION ''history''');
			RETURN;
		ELSE PERFORM model.second('COMMIT');
	END CASE;
	-- a run, its own or a trigger's, that has to place triggers keeps others from writing
	IF model.second_keeps_writers_away() THEN
		PERFORM model.second('COMMIT');
	END IF;
END $$;
