/*
 * Random queries for histories of incremental refresh: those that can be
 * refreshed from what changed, those that look as if they could, and a few that
 * cannot.
 *
 * Tables s and e hold facts: a1 a time, a2 a day, a3 a key, a4 and a5 int, a6
 * numeric, a7 text.  Tables d and c hold dimensions: a1 the key, a2 a label, a3
 * int.  The types of time and key are those of the history.  Where where_query.sql
 * has what is needed, it is used.
 *
 * A group's key may be shown as any of its equal values (1.0 and 1.00, a and A).
 * Such an expression is marked as loose, and compared by what its values have in
 * common (model.exact); so each query still has one right result.
 */

CREATE FUNCTION model.fact_types() RETURNS text[] LANGUAGE sql STABLE AS
	$$ SELECT ARRAY[current_setting('model.time_type'), 'date', current_setting('model.key_type'), 'int', 'int', 'numeric', 'text'] $$;
CREATE FUNCTION model.dimension_types() RETURNS text[] LANGUAGE sql STABLE AS
	$$ SELECT ARRAY[current_setting('model.key_type'), 'text', 'int'] $$;

-- What is the same for values that are equal, and differs for others; types that
-- are not here have no equal values that differ, or are not shown loosely.
CREATE TABLE model.exact (type text, pattern text);
INSERT INTO model.exact VALUES
	('numeric', 'trim_scale(%s)'), ('float8', '(%s + 0)'), ('citext', 'lower((%s)::text)'),
	('folded', 'lower(%s COLLATE "default")'), ('char3', 'rtrim(%s)'), ('interval', 'justify_interval(%s)');

-- Functions of users, which a history replaces by others.
INSERT INTO model.where_function VALUES
	('numeric', 'history.bump(%1$s)', 'numeric'), ('numeric', 'history.bump(%1$s)', 'numeric'), ('int', '%1$s OPERATOR(history.###) 1', 'int'),
	('text', 'history.spell(%1$s)', 'text');
INSERT INTO model.where_aggregate VALUES
	('int', 'history.total(%1$s)', 'bigint'), ('numeric', 'percentile_disc(0.5) WITHIN GROUP (ORDER BY trim_scale(%1$s))', 'numeric'),
	('text', 'left(array_to_string(array_agg(DISTINCT %1$s ORDER BY %1$s), '',''), 20)', 'text'), ('text', 'mode() WITHIN GROUP (ORDER BY %1$s)', 'text'),
	('int', 'round(avg(%1$s), 2)', 'numeric'), ('any', 'count(DISTINCT q.*)', 'bigint'), ('any', 'left(md5(string_agg(q::text, '','' ORDER BY q::text)), 20)', 'text'),
	('int', 'sum(%1$s) FILTER (WHERE %1$s > 1)', 'bigint'), ('text', 'left(string_agg(%1$s, '','' ORDER BY q::text), 20)', 'text');

CREATE TYPE model.named_query AS (label text, query model.query);

-- A value of a type; times are around the clock of the test.
CREATE FUNCTION model.fact_literal(type_name text) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT CASE
		WHEN type_name = 'date' THEN format('''2010-11-%s''::date', to_char(model.between(4, 9), 'FM00'))
		WHEN type_name = 'timestamp' THEN format('''2010-11-%s %s''::timestamp', to_char(model.between(4, 9), 'FM00'),
			model.pick('{00:00,00:00,00:30,12:00,12:00:30,23:59:59.7}'))
		WHEN type_name = 'timestamptz' THEN format('''2010-11-%s %s+00''::timestamptz', to_char(model.between(4, 9), 'FM00'),
			model.pick('{00:00,02:30:30,02:31,03:30,05:30,06:30,12:00,23:59:59.7}'))
		WHEN type_name = 'int' THEN model.between(0, 5)::text
		ELSE model.literal(type_name) END
$$;

-- A condition on a column that has one value for a row whenever it is asked; some
-- ask the clock.
CREATE FUNCTION model.fact_condition(prefix text, types text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int := model.between(1, cardinality(types));
BEGIN
	IF model.chance(0.04) THEN
		RETURN model.condition(prefix, model.names(types), types);
	ELSIF model.chance(0.04) AND 'date' = ANY (types) THEN
		RETURN format('%sa%s <= model.today()', prefix, array_position(types, 'date'));
	END IF;
	RETURN format(model.pick('{%1$s = %2$s,%1$s = %2$s,%1$s <> %2$s,%1$s IS NOT NULL,%1$s IS NULL,%1$s IS DISTINCT FROM %2$s,%1$s >= %2$s,%1$s < %2$s,"%1$s IN (%2$s, %3$s)"}'),
		format('%sa%s', prefix, n), model.fact_literal(types[n]), model.fact_literal(types[n]));
END $$;

CREATE FUNCTION model.fact_filter(word text, prefix text, types text[], p float8) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN model.chance(p) THEN format(' %s %s', word, model.fact_condition(prefix, types)) ELSE '' END
$$;

-- Facts: a table, a part of it, a view; or the relation that the flow has to read.
CREATE FUNCTION model.fact(base model.relation) RETURNS model.relation LANGUAGE plpgsql AS $$
DECLARE
	item text := model.pick('{s,s,s,s,s,s,s,s,e,e,part,rows_view,rows_view,twice_view,union_view,joined_view,sub,sub,odd}');
BEGIN
	IF base IS NOT NULL AND model.chance(0.8) THEN
		RETURN base;
	END IF;
	CASE item
		WHEN 'part' THEN
			item := CASE current_setting('model.shape') WHEN 'inherited' THEN 'ONLY s' WHEN 'plain' THEN 's' ELSE 's_0' END;
		WHEN 'sub' THEN
			item := format('(SELECT *%s FROM s z WHERE %s)', model.pick('{"","",", tableoid AS a8",", ctid::text AS a8"}'),
				model.fact_condition('z.', model.fact_types()));
		WHEN 'odd' THEN
			item := model.pick('{e_copy,"(SELECT * FROM s z TABLESAMPLE BERNOULLI (50) REPEATABLE (7))"}');
		ELSE NULL;
	END CASE;
	RETURN (item, model.fact_types() || CASE WHEN item LIKE '%ctid%' THEN '{text}'::text[] ELSE '{}' END);
END $$;

CREATE FUNCTION model.dimension() RETURNS model.relation LANGUAGE sql AS
	$$ SELECT model.pick('{d,d,d,d,c,c,dim_view}'), model.dimension_types() $$;

-- A column as it is, rather a day or a key.
CREATE FUNCTION model.plain_column(alias text, types text[]) RETURNS model.expression LANGUAGE plpgsql AS $$
DECLARE
	n int := least(CASE WHEN model.chance(0.7) THEN model.between(1, 3) ELSE model.between(1, 9) END, cardinality(types));
BEGIN
	RETURN (format('%s.a%s', alias, n), types[n]);
END $$;

-- Columns for a list: the first is plain, others may be made of columns.
CREATE FUNCTION model.fact_columns(types text[], number int, alias text DEFAULT 'q') RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	q model.query := ('SELECT ', '{}'::text[], '{}'::text[], '');
	e model.expression;
BEGIN
	FOR i IN 1..number LOOP
		e := CASE WHEN i = 1 OR model.chance(0.5) THEN model.plain_column(alias, types) ELSE model.expression(alias, types, false) END;
		q.exprs := q.exprs || e.value;
		q.types := q.types || e.type;
	END LOOP;
	RETURN q;
END $$;

-- What to group or partition by: a column, or a part of a time.
CREATE FUNCTION model.fact_key(alias text, types text[]) RETURNS model.expression LANGUAGE plpgsql AS $$
DECLARE
	e model.expression := model.plain_column(alias, types);
BEGIN
	IF e.type IN ('timestamp', 'timestamptz') AND model.chance(0.85) THEN
		RETURN CASE WHEN model.chance(0.4) THEN (format('(%s::date)', e.value), 'date')::model.expression
			ELSE (format('date_trunc(%L, %s)', model.pick('{day,day,hour,month}'), e.value), e.type)::model.expression END;
	ELSIF model.chance(0.1) THEN
		RETURN model.apply_function(e);
	END IF;
	RETURN e;
END $$;

-- How a key is shown: as it is, loosely if that may be, or by what equal values
-- have in common.
CREATE FUNCTION model.shown_key(e model.expression, loosely boolean) RETURNS model.expression LANGUAGE plpgsql AS $$
BEGIN
	IF loosely AND EXISTS (SELECT FROM model.exact x WHERE x.type = e.type) AND model.chance(0.7) THEN
		RETURN (e.value || ' /* loose */', e.type);
	END IF;
	RETURN model.canonical(e);
END $$;

CREATE FUNCTION model.append(q model.query, e model.expression) RETURNS model.query LANGUAGE plpgsql AS $$
BEGIN
	q.exprs := q.exprs || e.value;
	q.types := q.types || e.type;
	RETURN q;
END $$;

-- Aggregates over q.
CREATE FUNCTION model.append_aggregates(q model.query, types text[], number int) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	e model.expression;
	pattern text;
	result text;
BEGIN
	FOR i IN 1..number LOOP
		e := model.expression('q', types, false);
		SELECT f.pattern, f.result INTO pattern, result FROM model.where_aggregate f
		WHERE f.argument IN (e.type, 'any') ORDER BY random() / CASE f.argument WHEN 'any' THEN 1 ELSE 2 END LIMIT 1;
		q := model.append(q, (model.fill(pattern, e), result)::model.expression);
	END LOOP;
	RETURN q;
END $$;

-- GROUP BY over something that is called q, and perhaps r.
CREATE FUNCTION model.grouped(types text[], source text, keys model.expression[], loosely boolean) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	q model.query := ('SELECT ', '{}'::text[], '{}'::text[], '');
	e model.expression;
	key_list text := (SELECT string_agg(k.value, ', ' ORDER BY n) FROM unnest(keys) WITH ORDINALITY k (value, type, n));
BEGIN
	FOREACH e IN ARRAY keys LOOP
		-- a group may keep its key to itself
		IF cardinality(q.exprs) = 0 OR model.chance(0.9) THEN
			q := model.append(q, model.shown_key(e, loosely));
		END IF;
	END LOOP;
	q := model.append_aggregates(q, types, model.between(1, 3));
	q.tail := source || CASE
		WHEN model.chance(0.1) THEN format(' GROUP BY %s (%s)', model.pick('{ROLLUP,CUBE}'), key_list)
		WHEN model.chance(0.04) THEN format(' GROUP BY GROUPING SETS ((%s), (%s))', (keys[1]).value, key_list)
		ELSE ' GROUP BY ' || key_list END
		|| CASE WHEN model.chance(0.15) THEN ' HAVING ' || model.pick('{count(*) > 1,count(*) = 1,count(*) <= 2,"max(q.a1::text) > ''2010-11-06''"}') ELSE '' END;
	RETURN q;
END $$;

CREATE FUNCTION model.group_query(base model.relation, loosely boolean) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	r model.relation := model.fact(base);
	keys model.expression[] := ARRAY[model.fact_key('q', r.types)];
BEGIN
	WHILE model.chance(0.45) LOOP
		keys := keys || model.fact_key('q', r.types);
	END LOOP;
	RETURN model.grouped(r.types, format(' FROM %s q%s', r.item, model.fact_filter('WHERE', 'q.', r.types, 0.3)), keys, loosely);
END $$;

CREATE FUNCTION model.rows_query(base model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	r model.relation := model.fact(base);
	q model.query := model.fact_columns(r.types, model.between(2, 5));
BEGIN
	q.tail := format(' FROM %s q%s', r.item, model.fact_filter('WHERE', 'q.', r.types, 0.5));
	RETURN q;
END $$;

-- A condition that joins q and r: two columns of one type, most of the time.
CREATE FUNCTION model.join_condition(q text[], r text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a int;
	b int;
BEGIN
	SELECT x, y INTO a, b FROM generate_subscripts(q, 1) x, generate_subscripts(r, 1) y
	WHERE q[x] = r[y] ORDER BY random() / CASE WHEN q[x] = current_setting('model.key_type') THEN 4 ELSE 1 END LIMIT 1;
	RETURN CASE WHEN a IS NULL OR model.chance(0.08) THEN 'left(q.a1::text COLLATE "default", 1) = left(r.a1::text COLLATE "default", 1)'
		WHEN model.chance(0.05) THEN format('q.a%s IS NOT DISTINCT FROM r.a%s', a, b)
		WHEN model.chance(0.05) THEN format('q.a%s >= r.a%s', a, b)
		ELSE format('q.a%s = r.a%s', a, b) END;
END $$;

-- FROM q joined with r, in one of the ways to write it.
CREATE FUNCTION model.join_source(q model.relation, r model.relation, kinds text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	kind text := model.pick(kinds::text[]);
	condition text := model.join_condition(q.types, r.types);
BEGIN
	IF kind = 'COMMA' THEN
		RETURN format(' FROM %s q, %s r WHERE %s%s', q.item, r.item, condition, model.fact_filter('AND', 'q.', q.types, 0.3));
	ELSIF kind = 'FULL JOIN' THEN
		-- the server joins so by equality only
		condition := regexp_replace(condition, ' (>=|IS NOT DISTINCT FROM) ', ' = ');
	ELSIF model.chance(0.15) THEN
		condition := condition || model.fact_filter('AND', 'r.', r.types, 1);
	END IF;
	RETURN format(' FROM %s q %s %s r ON %s%s', q.item, kind, r.item, condition, CASE WHEN model.chance(0.5) THEN
		model.fact_filter('WHERE', 'q.', q.types, 0.5) ELSE model.fact_filter('WHERE', 'r.', r.types, 0.2) END);
END $$;

-- q and r, with columns of both.
CREATE FUNCTION model.join_query(q model.relation, r model.relation, kinds text) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	result model.query := model.fact_columns(q.types, model.between(1, 3));
	other model.query := model.fact_columns(r.types, model.between(1, 2), 'r');
BEGIN
	result.exprs := result.exprs || other.exprs;
	result.types := result.types || other.types;
	result.tail := model.join_source(q, r, kinds);
	RETURN result;
END $$;

-- Three tables, two of them dimensions, joined one after another.
CREATE FUNCTION model.chain_query(q model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	r model.relation := model.dimension();
	z model.relation := model.dimension();
	result model.query := model.fact_columns(q.types, model.between(1, 2));
	others text[] := ARRAY[(model.plain_column('r', r.types)).value, (model.plain_column('z', z.types)).value];
	condition text := CASE WHEN model.chance(0.5) THEN replace(model.join_condition(q.types, z.types), 'r.', 'z.')
		ELSE replace(replace(model.join_condition(r.types, z.types), 'r.', 'z.'), 'q.', 'r.') END;
BEGIN
	result.exprs := result.exprs || others;
	result.types := result.types || r.types[right(others[1], 1)::int] || z.types[right(others[2], 1)::int];
	result.tail := format(' FROM %s q %s %s r ON %s %s %s z ON %s%s', q.item, model.pick('{JOIN,LEFT JOIN,LEFT JOIN,RIGHT JOIN}'), r.item,
		model.join_condition(q.types, r.types), model.pick('{JOIN,LEFT JOIN,LEFT JOIN,RIGHT JOIN}'), z.item, condition, model.fact_filter('WHERE', 'q.', q.types, 0.3));
	RETURN result;
END $$;

-- Groups of joined rows, by columns of either side.
CREATE FUNCTION model.join_group_query(q model.relation, r model.relation, loosely boolean) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	keys model.expression[] := ARRAY[model.fact_key('q', q.types)];
BEGIN
	IF model.chance(0.6) THEN
		keys := keys || model.fact_key('r', r.types);
	END IF;
	RETURN model.grouped(q.types, model.join_source(q, r, '{JOIN,JOIN,LEFT JOIN,COMMA}'), keys, loosely);
END $$;

-- Branches one after another, each with a constant that tells where a row is from.
CREATE FUNCTION model.branches_query(base model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	q model.relation := model.fact(base);
	r model.relation := CASE WHEN base IS NULL THEN model.fact(NULL) ELSE q END;
	shared text[] := (SELECT array_agg(t ORDER BY n) FROM unnest(q.types) WITH ORDINALITY x (t, n) WHERE r.types[n] = t AND n <= 7);
	result model.query;
	grouping_by text := '';
	tag text := '';
BEGIN
	IF model.chance(0.4) THEN
		result := model.grouped(shared, '', ARRAY[model.fact_key('q', shared)], false);
		grouping_by := result.tail;
	ELSE
		result := model.fact_columns(shared, model.between(2, 4));
	END IF;
	IF model.chance(0.75) THEN
		tag := '''second''::text, ';
	END IF;
	result.tail := format(' FROM %s q%s%s UNION ALL SELECT %s%s FROM %s q%s%s', q.item, model.fact_filter('WHERE', 'q.', shared, 0.4), grouping_by,
		tag, array_to_string(result.exprs, ', '), r.item, model.fact_filter('WHERE', 'q.', shared, 0.4), grouping_by);
	IF tag <> '' THEN
		result.exprs := '''first''::text'::text || result.exprs;
		result.types := 'text'::text || result.types;
	END IF;
	RETURN result;
END $$;

-- UNION and the like: rows that are equal become one, so they show what they have
-- in common.
CREATE FUNCTION model.set_query(base model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	q model.relation := model.fact(base);
	r model.relation := CASE WHEN base IS NULL THEN model.fact(NULL) ELSE q END;
	shared text[] := (SELECT array_agg(t ORDER BY n) FROM unnest(q.types) WITH ORDINALITY x (t, n) WHERE r.types[n] = t AND n <= 7);
	result model.query := ('SELECT ', '{}'::text[], '{}'::text[], '');
BEGIN
	FOR i IN 1..model.between(1, 3) LOOP
		result := model.append(result, model.canonical(model.plain_column('q', shared)));
	END LOOP;
	result.tail := format(' FROM %s q%s %s SELECT %s FROM %s q%s', q.item, model.fact_filter('WHERE', 'q.', shared, 0.4),
		model.pick('{UNION,UNION,EXCEPT,EXCEPT ALL,INTERSECT,INTERSECT ALL}'), array_to_string(result.exprs, ', '), r.item,
		model.fact_filter('WHERE', 'q.', shared, 0.4));
	RETURN result;
END $$;

CREATE FUNCTION model.window_query(base model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	r model.relation := model.fact(base);
	q model.query := ('SELECT ', '{}'::text[], '{}'::text[], '');
	key model.expression := model.fact_key('q', r.types);
	e model.expression;
	pattern text;
	result text;
BEGIN
	IF model.chance(0.8) THEN
		q := model.append(q, key);
	END IF;
	q := model.append(q, model.plain_column('q', r.types));
	FOR i IN 1..model.between(1, 2) LOOP
		e := model.expression('q', r.types, false);
		-- two orders of rows that are the same would not agree
		SELECT f.pattern, coalesce(f.result, e.type) INTO pattern, result FROM model.where_window f
		WHERE f.argument IN (e.type, 'any') AND NOT (i > 1 AND f.pattern LIKE '%q::text%') ORDER BY random() LIMIT 1;
		q := model.append(q, (model.fill(pattern, e, CASE WHEN model.chance(0.9) THEN 'PARTITION BY ' || key.value
			|| CASE WHEN model.chance(0.2) THEN ', ' || (model.plain_column('q', r.types)).value ELSE '' END ELSE '' END), result)::model.expression);
	END LOOP;
	q.tail := format(' FROM %s q%s', r.item, model.fact_filter('WHERE', 'q.', r.types, 0.2));
	RETURN q;
END $$;

CREATE FUNCTION model.distinct_query(base model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	r model.relation := model.fact(base);
	q model.query := ('SELECT DISTINCT ', '{}'::text[], '{}'::text[], '');
BEGIN
	FOR i IN 1..model.between(1, 3) LOOP
		q := model.append(q, model.canonical(model.fact_key('q', r.types)));
	END LOOP;
	q.tail := format(' FROM %s q%s', r.item, model.fact_filter('WHERE', 'q.', r.types, 0.3));
	RETURN q;
END $$;

CREATE FUNCTION model.first_query(base model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	r model.relation := model.fact(base);
	key model.expression := model.fact_key('q', r.types);
	q model.query := model.fact_columns(r.types, model.between(1, 3));
BEGIN
	q := model.append(q, key);
	q.prefix := format('SELECT DISTINCT ON (%s) ', key.value);
	q.tail := format(' FROM %s q%s ORDER BY %s, q::text', r.item, model.fact_filter('WHERE', 'q.', r.types, 0.3), key.value);
	RETURN q;
END $$;

CREATE FUNCTION model.limit_query(base model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	r model.relation := model.fact(base);
	q model.query := model.fact_columns(r.types, model.between(2, 3));
BEGIN
	q.tail := format(' FROM %s q ORDER BY %s %s, q::text %s', r.item, (model.plain_column('q', r.types)).value,
		model.pick('{"",DESC}'), model.pick('{LIMIT 4,LIMIT 10,FETCH FIRST 3 ROWS ONLY,OFFSET 3}'));
	RETURN q;
END $$;

-- Another table in a subquery, which may depend on the row.
CREATE FUNCTION model.subquery_query(base model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	r model.relation := model.fact(base);
	d model.relation := CASE WHEN model.chance(0.7) THEN model.dimension() ELSE model.fact(NULL) END;
	q model.query := model.fact_columns(r.types, model.between(1, 3));
	condition text := model.join_condition(r.types, d.types);
	kind text := model.pick('{EXISTS,EXISTS,NOT EXISTS,IN,NOT IN,count,count,max,total,ANY,lookup,odd}');
BEGIN
	q.tail := format(' FROM %s q', r.item);
	CASE kind
		WHEN 'count', 'max', 'total' THEN
			q := model.append(q, CASE kind
				WHEN 'count' THEN (format('(SELECT count(*) FROM %s r WHERE %s)', d.item, condition), 'bigint')::model.expression
				WHEN 'max' THEN (format('(SELECT max(left(r.a%s::text, 20)) FROM %s r WHERE %s)', model.between(1, 3), d.item, condition), 'text')::model.expression
				ELSE (format('(SELECT count(*) FROM %s r)', d.item), 'bigint')::model.expression END);
		WHEN 'lookup' THEN
			q := model.append(q, (format('(SELECT left(r.a2::text, 20) FROM %s r WHERE %s ORDER BY r::text LIMIT 1)', d.item, condition), 'text')::model.expression);
		WHEN 'odd' THEN
			q := model.append(q, (model.pick('{"(SELECT count(*) FROM pg_catalog.pg_description WHERE objoid = ''s''::regclass)",(SELECT last_value FROM s_id_seq)}'),
				'bigint')::model.expression);
		WHEN 'IN', 'NOT IN' THEN
			q.tail := format('%s WHERE q.a%s %s (SELECT r.a%s FROM %s r WHERE r.a%s IS NOT NULL%s)', q.tail, x.a, kind, x.b, d.item, x.b,
				model.fact_filter('AND', 'r.', d.types, 0.3))
			FROM (SELECT a, b FROM generate_subscripts(r.types, 1) a, generate_subscripts(d.types, 1) b WHERE r.types[a] = d.types[b]
				UNION ALL SELECT NULL, NULL ORDER BY 1 NULLS LAST LIMIT 1) x WHERE x.a IS NOT NULL;
			q.tail := coalesce(q.tail, format(' FROM %s q', r.item));
		WHEN 'ANY' THEN
			q.tail := format('%s WHERE q.a1::text >= ANY (SELECT r.a1::text FROM %s r)', q.tail, d.item);
		ELSE
			q.tail := format('%s WHERE %s (SELECT FROM %s r WHERE %s%s)', q.tail, kind, d.item, condition,
				model.fact_filter('AND', 'r.', d.types, 0.3));
	END CASE;
	RETURN q;
END $$;

CREATE FUNCTION model.lateral_query(base model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	r model.relation := model.fact(base);
	d model.relation := model.dimension();
	q model.query := model.fact_columns(r.types, model.between(1, 3));
BEGIN
	q := model.append(q, ('r.n', 'bigint')::model.expression);
	q.tail := format(' FROM %s q %s JOIN LATERAL (SELECT count(*) AS n FROM %s r WHERE %s%s) r ON r.n <> 2', r.item, model.pick('{INNER,LEFT}'),
		d.item, model.join_condition(r.types, d.types), model.pick('{""," HAVING count(*) > 0"," GROUP BY r.a3"}'));
	RETURN q;
END $$;

-- One row for all.
CREATE FUNCTION model.total_query(base model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	r model.relation := model.fact(base);
	q model.query := model.append_aggregates(('SELECT ', '{}'::text[], '{}'::text[], '')::model.query, r.types, model.between(1, 3));
BEGIN
	q.tail := format(' FROM %s q%s', r.item, model.fact_filter('WHERE', 'q.', r.types, 0.5));
	RETURN q;
END $$;

-- A query over a query.
CREATE FUNCTION model.nested_query(base model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	inner_query model.named_query := model.shaped_query(base, false, 0);
	r model.relation := model.relation(inner_query.query);
	q model.query;
BEGIN
	IF model.chance(0.3) THEN
		q := model.fact_columns(r.types, model.between(2, 3));
		q.tail := ' FROM x q' || CASE WHEN model.chance(0.4) THEN ' JOIN x r ON r.a1 = q.a1' ELSE model.fact_filter('WHERE', 'q.', r.types, 0.5) END;
		q.prefix := format('WITH x AS %s (SELECT * FROM %s z) SELECT ', model.pick('{"",MATERIALIZED,NOT MATERIALIZED}'), r.item);
		RETURN q;
	END IF;
	CASE model.pick('{group,group,rows,window,join,first}')
		WHEN 'group' THEN RETURN model.group_query(r, false);
		WHEN 'rows' THEN RETURN model.rows_query(r);
		WHEN 'window' THEN RETURN model.window_query(r);
		WHEN 'first' THEN RETURN model.first_query(r);
		ELSE RETURN model.join_query(r, model.dimension(), '{JOIN,LEFT JOIN,COMMA}');
	END CASE;
END $$;

-- A query with the name of its shape.
CREATE FUNCTION model.shaped_query(base model.relation, loosely boolean, depth int) RETURNS model.named_query LANGUAGE plpgsql AS $$
DECLARE
	label text := model.pick('{group,group,group,group,group,rows,rows,rows,join,join,join,join,join three,join three,join group,join group,join group,join group,
		self join,self join,union all,union all,set,window,window,distinct,distinct on,limit,subquery,subquery,lateral,total}');
	q model.query;
	tables model.relation[];
BEGIN
	IF current_setting('model.is_large') = 'on' THEN
		-- none whose time grows with the square of the rows
		label := model.pick('{group,group,group,rows,join,join group,union all,window,distinct,distinct on,set}');
	ELSIF depth > 0 AND model.chance(0.2) THEN
		RETURN ('nested'::text, model.nested_query(base));
	ELSIF depth > 0 AND model.chance(0.08) THEN
		tables := ARRAY[('s', model.fact_types()), ('e', model.fact_types()), ('rows_view', model.fact_types()), ('d', model.dimension_types())]::model.relation[];
		RETURN ('any'::text, model.random_query(tables, model.between(1, 2)));
	END IF;
	q := CASE label
		WHEN 'group' THEN model.group_query(base, loosely)
		WHEN 'rows' THEN model.rows_query(base)
		WHEN 'join' THEN model.join_query(model.fact(base), model.dimension(), '{JOIN,JOIN,LEFT JOIN,LEFT JOIN,LEFT JOIN,RIGHT JOIN,FULL JOIN,COMMA}')
		WHEN 'join three' THEN model.chain_query(model.fact(base))
		WHEN 'join group' THEN model.join_group_query(model.fact(base), model.dimension(), loosely)
		WHEN 'self join' THEN model.join_query(('s', model.fact_types())::model.relation, model.fact(NULL), '{JOIN,LEFT JOIN,COMMA}')
		WHEN 'union all' THEN model.branches_query(base)
		WHEN 'set' THEN model.set_query(base)
		WHEN 'window' THEN model.window_query(base)
		WHEN 'distinct' THEN model.distinct_query(base)
		WHEN 'distinct on' THEN model.first_query(base)
		WHEN 'limit' THEN model.limit_query(base)
		WHEN 'subquery' THEN model.subquery_query(base)
		WHEN 'lateral' THEN model.lateral_query(base)
		ELSE model.total_query(base) END;
	RETURN (label, q);
END $$;
