/*
 * Random tables for histories of where flows, sources and target, and DML on
 * them.
 */

-- Rows of random values for these columns, in some statements.
CREATE PROCEDURE model.insert_random(table_name text, names text[], types text[], number int) LANGUAGE plpgsql AS $$
DECLARE
	rows_list text;
	one_row text;
BEGIN
	FOR i IN 1..number LOOP
		SELECT string_agg(model.value(t), ', ' ORDER BY o) INTO one_row FROM unnest(types) WITH ORDINALITY x (t, o);
		rows_list := concat_ws(', ', rows_list, '(' || one_row || ')');
	END LOOP;
	EXECUTE format('INSERT INTO %s (%s) VALUES %s', table_name, model.list(names), rows_list);
END $$;

CREATE PROCEDURE model.make_table(name text, types text[], shape text) LANGUAGE plpgsql AS $$
DECLARE
	columns text := 'id serial, '
		|| (SELECT string_agg(format('a%s %s', n, model.type_of(t)), ', ') FROM unnest(types) WITH ORDINALITY x (t, n));
BEGIN
	EXECUTE format('CREATE TABLE %s (%s)%s', name, columns,
		CASE shape WHEN 'hash' THEN ' PARTITION BY HASH (a1)' WHEN 'range' THEN ' PARTITION BY RANGE (a1)' ELSE '' END);
	CASE shape
		WHEN 'hash' THEN
			EXECUTE format('CREATE TABLE %1$s_0 PARTITION OF %1$s FOR VALUES WITH (modulus 2, remainder 0);'
				'CREATE TABLE %1$s_1 PARTITION OF %1$s FOR VALUES WITH (modulus 2, remainder 1)', name);
		WHEN 'range' THEN
			EXECUTE format('CREATE TABLE %1$s_0 PARTITION OF %1$s FOR VALUES FROM (MINVALUE) TO (''2010-11-07'');'
				'CREATE TABLE %1$s_1 PARTITION OF %1$s FOR VALUES FROM (''2010-11-07'') TO (''2010-11-08'');'
				'CREATE TABLE %1$s_2 PARTITION OF %1$s DEFAULT', name);
		WHEN 'inherited' THEN
			EXECUTE format('CREATE TABLE %1$s_0 (extra int) INHERITS (%1$s)', name);
			CALL model.insert_random(name || '_0 ', model.names(types), types, model.between(1, 5));
		ELSE NULL;
	END CASE;
	IF model.chance(0.4) THEN
		EXECUTE format('CREATE INDEX ON %s (a%s)', name, model.between(1, cardinality(types)));
	END IF;
	CALL model.insert_random(name, model.names(types), types, model.between(6, 24));
END $$;

-- Tables s, e and d, and what queries may read of them.
CREATE PROCEDURE model.make_sources(INOUT tables model.relation[]) LANGUAGE plpgsql AS $$
DECLARE
	types text[] := ARRAY[model.pick('{date,timestamp,timestamptz,timestamptz}')];
	dimension text[];
	list text := '';
	shape text := model.pick('{plain,plain,hash,range,inherited}');
BEGIN
	types := types || (SELECT array_agg(name) FROM (SELECT name FROM model.where_type WHERE stored_as IS NOT NULL
		ORDER BY random() / CASE WHEN is_odd THEN 2 ELSE 1 END LIMIT model.between(2, 4)) x);
	dimension := ARRAY[types[model.between(1, cardinality(types))], 'text', 'int'];
	CALL model.make_table('s', types, shape);
	CALL model.make_table('e', types, 'plain');
	CALL model.make_table('d', dimension, 'plain');
	SELECT string_agg(format('%s AS a%s', model.literal(t), n), ', ' ORDER BY n) INTO list FROM unnest(types) WITH ORDINALITY x (t, n);
	tables := ARRAY[('s', types), ('s', types), ('e', types), ('d', dimension), (format('(SELECT %s)', list), types)]::model.relation[];
	IF shape = 'inherited' THEN
		tables := tables || ('ONLY s', types)::model.relation;
	ELSIF shape <> 'plain' THEN
		tables := tables || ('s_0', types)::model.relation;
	END IF;
END $$;

-- DML on the sources.
CREATE PROCEDURE model.change_sources(tables model.relation[]) LANGUAGE plpgsql AS $$
DECLARE
	t model.relation;
	n int;
BEGIN
	FOR i IN 1..model.between(0, 5) LOOP
		t := tables[model.between(1, 4)];
		n := model.between(1, cardinality(t.types));
		CASE model.pick('{insert,insert,insert,update,update,delete,truncate}')
			WHEN 'insert' THEN CALL model.insert_random(t.item, model.names(t.types), t.types, model.between(1, 4));
			WHEN 'update' THEN
				EXECUTE format('UPDATE %s SET a%s = %s WHERE id %% 5 = %s', t.item, n, model.value(t.types[n]), model.between(0, 4));
			WHEN 'delete' THEN EXECUTE format('DELETE FROM %s WHERE id %% 7 = %s', t.item, model.between(0, 6));
			ELSE
				IF model.chance(0.2) THEN
					EXECUTE format('TRUNCATE %s', t.item);
				END IF;
		END CASE;
	END LOOP;
END $$;

-- DML by others on the target, in the window and outside (D6).
CREATE PROCEDURE model.change_target(f model.where_flow) LANGUAGE plpgsql AS $$
DECLARE
	n int := model.between(1, cardinality(f.names));
	predicate text := model.predicate('', f.names, f.stored);
BEGIN
	CASE model.pick('{insert,insert,insert,double,update,delete,none,none}')
		WHEN 'insert' THEN CALL model.insert_random('target', f.names, f.stored, model.between(1, 4));
		WHEN 'double' THEN
			IF (SELECT count(*) < 50 FROM target) THEN
				EXECUTE format('INSERT INTO target (%1$s) SELECT %1$s FROM target', model.list(f.names));
			END IF;
		WHEN 'update' THEN
			EXECUTE format('UPDATE target SET %I = %s WHERE %s', f.names[n], model.value(f.stored[n]), predicate);
		WHEN 'delete' THEN EXECUTE format('DELETE FROM target WHERE %s', predicate);
		ELSE NULL;
	END CASE;
EXCEPTION WHEN unique_violation THEN
	NULL;
END $$;

-- Partitions of the target, by one of its columns.
CREATE PROCEDURE model.make_target_parts(method text, columns text) LANGUAGE plpgsql AS $$
BEGIN
	IF method = 'HASH' THEN
		CREATE TABLE part_0 PARTITION OF target FOR VALUES WITH (modulus 2, remainder 0);
	ELSE
		CREATE TABLE part_0 PARTITION OF target FOR VALUES FROM (MINVALUE) TO ('2010-11-07');
	END IF;
	ALTER TABLE target DROP COLUMN IF EXISTS junk;
	-- one with another layout
	EXECUTE format('CREATE TABLE part_1 (junk int, %s)', columns);
	ALTER TABLE part_1 DROP COLUMN junk;
	IF method = 'HASH' THEN
		ALTER TABLE target ATTACH PARTITION part_1 FOR VALUES WITH (modulus 2, remainder 1);
	ELSE
		ALTER TABLE target ATTACH PARTITION part_1 DEFAULT;
	END IF;
END $$;

CREATE PROCEDURE model.make_target(INOUT f model.where_flow) LANGUAGE plpgsql AS $$
DECLARE
	columns text[];
	n int := model.between(1, cardinality(f.names));
	method text;
BEGIN
	f.has_id := model.chance(0.4);
	FOR i IN 1..cardinality(f.names) LOOP
		IF model.chance(0.4) THEN
			f.stored[i] := (SELECT model.pick(stored_as) FROM model.where_type WHERE name = f.types[i]);
		END IF;
		columns := columns || format('%I %s', f.names[i], model.type_of(f.stored[i]));
	END LOOP;
	IF model.chance(0.3) THEN
		SELECT CASE WHEN is_time AND model.chance(0.6) THEN 'RANGE' WHEN is_sorted THEN 'HASH' END INTO method
		FROM model.where_type WHERE name = f.stored[n];
		f.has_id := f.has_id AND method IS NULL;
	END IF;
	columns := columns || CASE WHEN model.chance(0.3) THEN '{"extra text DEFAULT ''x''"}'::text[] ELSE '{}' END
		|| CASE WHEN model.chance(0.3) THEN ARRAY[format('made text GENERATED ALWAYS AS (CASE WHEN %I IS NULL THEN ''no'' END) STORED', f.names[n])]
			ELSE '{}' END
		|| CASE WHEN f.has_id THEN '{id bigint GENERATED ALWAYS AS IDENTITY}'::text[] ELSE '{}' END;
	EXECUTE format('CREATE TABLE target (%s)%s', (SELECT string_agg(c, ', ' ORDER BY random()) FROM unnest(
		columns || CASE WHEN model.chance(0.4) THEN '{junk bytea}'::text[] ELSE '{}' END) c),
		CASE WHEN method IS NOT NULL THEN format(' PARTITION BY %s (%I)', method, f.names[n])
			WHEN model.chance(0.5) THEN ' WITH (fillfactor = 50)' ELSE '' END);
	IF method IS NOT NULL THEN
		CALL model.make_target_parts(method, array_to_string(columns, ', '));
	END IF;
	ALTER TABLE target DROP COLUMN IF EXISTS junk;
	CALL model.make_fresh(f);
	CALL model.read_query(f);
	CALL model.make_indexes(f, n);
END $$;

-- Indexes on the target: any, and a unique one that the query satisfies so far.
CREATE PROCEDURE model.make_indexes(INOUT f model.where_flow, part int) LANGUAGE plpgsql AS $$
DECLARE
	n int := model.between(1, cardinality(f.names));
BEGIN
	IF (SELECT is_sorted FROM model.where_type WHERE name = f.stored[n]) THEN
		IF model.chance(0.3) THEN
			EXECUTE format('CREATE INDEX ON target (%I)', f.names[n]);
		END IF;
		IF model.chance(0.5) AND f.stored[part] <> 'json' THEN
			f.unique_by := model.list(CASE WHEN part = n THEN ARRAY[f.names[n]] ELSE ARRAY[f.names[n], f.names[part]] END);
			EXECUTE format('CREATE TABLE result AS SELECT %s FROM target WITH NO DATA', f.unique_by);
			EXECUTE format('CREATE UNIQUE INDEX ON result (%s)', f.unique_by);
			IF model.breaks_index(f, 'true', true) THEN
				f.unique_by := NULL;
			ELSE
				EXECUTE format('CREATE UNIQUE INDEX ON target (%s)', f.unique_by);
			END IF;
		END IF;
	END IF;
END $$;
