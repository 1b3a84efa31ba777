/*
 * Random queries and predicates for where flows.
 *
 * A relation is what may stand in FROM, with columns a1, a2, ...; a query is
 * made of one or two relations, and becomes one itself: so they nest.  Tables s
 * and e have the same columns, d is small and stands for a dimension.
 *
 * Each query must have one right result.  So grouping shows only what the values
 * of a group have in common, and an order that matters ends with the whole row
 * as text.
 */

-- What can be made of a column by a subquery; patterns are as in where_type.sql.
CREATE TABLE model.where_subquery (pattern text, result text);
INSERT INTO model.where_subquery VALUES
	('(SELECT count(*) FROM d WHERE d.a2 = left(%1$s::text COLLATE "default", 20))', 'bigint'),
	('(SELECT max(d.a3) FROM d WHERE d.a2 <> left(%1$s::text COLLATE "default", 20))', 'int'),
	('EXISTS (SELECT FROM e x WHERE left(x.a1::text COLLATE "default", 20) = left(%1$s::text COLLATE "default", 20))', 'boolean');

CREATE TABLE model.where_aggregate (argument text, pattern text, result text);
INSERT INTO model.where_aggregate VALUES
	('any', 'count(*)', 'bigint'), ('any', 'count(%1$s)', 'bigint'), ('any', 'count(DISTINCT %1$s)', 'bigint'),
	('any', 'count(*) FILTER (WHERE %1$s = %2$s)', 'bigint'),
	('any', 'min(left(%1$s::text COLLATE "default", 20))', 'text'),
	('any', 'left(string_agg(%1$s::text COLLATE "default", '','' ORDER BY %1$s::text COLLATE "default"), 20)', 'text'),
	('int', 'sum(%1$s)', 'bigint'), ('int', 'max(%1$s)', 'int'), ('int', 'array_agg(%1$s ORDER BY %1$s)', 'ints'),
	('int', 'sum(%1$s)', 'bigint'),
	('bigint', 'sum(%1$s)', 'numeric'), ('numeric', 'sum(%1$s)', 'numeric'), ('numeric', 'round(avg(%1$s), 3)', 'numeric'),
	('boolean', 'bool_or(%1$s)', 'boolean'), ('mood', 'max(%1$s)', 'mood'),
	('date', 'max(%1$s)', 'date'), ('timestamp', 'min(%1$s)', 'timestamp'), ('timestamptz', 'max(%1$s)', 'timestamptz');

-- %3$s: PARTITION BY or nothing
CREATE TABLE model.where_window (argument text, pattern text, result text);
INSERT INTO model.where_window VALUES
	('any', 'row_number() OVER (%3$s ORDER BY q::text)', 'bigint'),
	('any', 'count(*) OVER (%3$s)', 'bigint'), ('any', 'count(%1$s) OVER (%3$s)', 'bigint'),
	('any', 'rank() OVER (%3$s ORDER BY %1$s::text COLLATE "default")', 'bigint'),
	('any', 'lag(%1$s) OVER (%3$s ORDER BY q::text)', NULL),
	('any', 'max(left(%1$s::text COLLATE "default", 20)) OVER (%3$s)', 'text'),
	('int', 'sum(%1$s) OVER (%3$s ORDER BY q::text ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)', 'bigint'),
	('date', 'max(%1$s) OVER (%3$s)', 'date'), ('timestamptz', 'min(%1$s) OVER (%3$s)', 'timestamptz');

CREATE TYPE model.relation AS (item text, types text[]);
CREATE TYPE model.query AS (prefix text, exprs text[], types text[], tail text);

CREATE FUNCTION model.names(types text[]) RETURNS text[] LANGUAGE sql IMMUTABLE AS
	$$ SELECT coalesce(array_agg('a' || n ORDER BY n), '{}') FROM generate_series(1, cardinality(types)) n $$;

-- Perhaps a clause with a predicate over columns a1, a2, ...
CREATE FUNCTION model.filter(word text, prefix text, types text[], p float8) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN model.chance(p) THEN format(' %s (%s)', word, model.predicate(prefix, model.names(types), types)) ELSE '' END
$$;

-- The query as text, its columns named.
CREATE FUNCTION model.text(q model.query, names text[]) RETURNS text LANGUAGE sql AS $$
	SELECT q.prefix || string_agg(format('%s AS %I', e, names[n]), ', ' ORDER BY n) || q.tail
	FROM unnest(q.exprs) WITH ORDINALITY x (e, n)
$$;

-- As something to select from: a subquery or a view.
CREATE FUNCTION model.relation(q model.query) RETURNS model.relation LANGUAGE plpgsql AS $$
DECLARE
	body text := model.text(q, model.names(q.types));
	view text;
BEGIN
	IF model.chance(0.3) THEN
		view := 'v' || (SELECT count(*) FROM pg_views WHERE schemaname = 'history');
		EXECUTE format('CREATE VIEW %s %s AS %s', view,
			CASE WHEN model.chance(0.1) THEN 'WITH (security_barrier)' ELSE '' END, body);
		RETURN (view, q.types);
	END IF;
	RETURN (format('(%s)', body), q.types);
END $$;

-- A column of a relation, or something made of one.
CREATE FUNCTION model.expression(alias text, types text[], subqueries boolean DEFAULT true)
RETURNS model.expression LANGUAGE plpgsql AS $$
DECLARE
	n int := CASE WHEN model.chance(0.3) THEN 1 ELSE model.between(1, cardinality(types)) END;
	e model.expression := (format('%s.a%s', alias, n), types[n]);
	pattern text;
	result text;
BEGIN
	IF subqueries AND model.chance(0.05) THEN
		SELECT f.pattern, f.result INTO pattern, result FROM model.where_subquery f ORDER BY random() LIMIT 1;
		RETURN (model.fill(pattern, e), result);
	END IF;
	WHILE model.chance(CASE WHEN e.type IN ('date', 'timestamp', 'timestamptz') THEN 0.6 ELSE 0.35 END) LOOP
		e := model.apply_function(e);
	END LOOP;
	RETURN e;
END $$;

-- A function of a time or of a number, if there is one: what a condition says of
-- such a value, it may say of the column.
CREATE FUNCTION model.function_of_time(types text[]) RETURNS model.expression LANGUAGE plpgsql AS $$
DECLARE
	n int := (SELECT o FROM unnest(types) WITH ORDINALITY x (name, o)
		WHERE name IN ('date', 'timestamp', 'timestamptz', 'int', 'bigint') ORDER BY random() LIMIT 1);
BEGIN
	IF n IS NULL THEN
		RETURN model.expression('q', types, false);
	END IF;
	RETURN model.apply_function((format('q.a%s', n), types[n]));
END $$;

-- Something to group by without showing what; rather of an odd type.
CREATE FUNCTION model.key(types text[]) RETURNS model.expression LANGUAGE plpgsql AS $$
DECLARE
	n int;
BEGIN
	IF model.chance(0.5) THEN
		SELECT o INTO n FROM unnest(types) WITH ORDINALITY x (name, o) JOIN model.where_type USING (name)
		WHERE is_odd ORDER BY random() LIMIT 1;
		IF FOUND THEN
			RETURN (format('q.a%s', n), types[n]);
		END IF;
	END IF;
	RETURN model.function_of_time(types);
END $$;

CREATE FUNCTION model.canonical(e model.expression) RETURNS model.expression LANGUAGE plpgsql AS $$
DECLARE
	f model.where_function := model.canonical_function(e.type);
BEGIN
	RETURN (format(f.pattern, e.value), f.result);
END $$;

-- Some expressions over q, in a query without FROM yet.
CREATE FUNCTION model.some_columns(types text[], number int) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	q model.query := ('SELECT ', '{}'::text[], '{}'::text[], '');
	e model.expression;
BEGIN
	FOR i IN 1..number LOOP
		e := CASE WHEN i = 1 AND model.chance(0.5) THEN model.function_of_time(types) ELSE model.expression('q', types) END;
		q.exprs := q.exprs || e.value;
		q.types := q.types || e.type;
	END LOOP;
	RETURN q;
END $$;

CREATE FUNCTION model.selection(r model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	q model.query := model.some_columns(r.types, model.between(2, 5));
BEGIN
	IF model.chance(0.1) THEN
		q.exprs := q.exprs || 'generate_series(1, 2)'::text;
		q.types := q.types || 'int'::text;
	END IF;
	q.tail := format(' FROM %s q%s', r.item, model.filter('WHERE', 'q.', r.types, 0.5));
	RETURN q;
END $$;

-- q joined with r: equal in a pair of columns, of one type if there is such a pair.
CREATE FUNCTION model.joining(q model.relation, r model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	a int;
	b int;
	together text[] := q.types || r.types;
	result model.query;
	equal text;
	kind text := model.pick('{JOIN,LEFT JOIN,RIGHT JOIN,FULL JOIN,EXISTS,NOT EXISTS,LATERAL}');
BEGIN
	SELECT x, y INTO a, b FROM generate_subscripts(q.types, 1) x, generate_subscripts(r.types, 1) y
	WHERE q.types[x] = r.types[y] ORDER BY random() LIMIT 1;
	equal := CASE WHEN a IS NULL THEN 'left(q.a1::text COLLATE "default", 1) = left(r.a1::text COLLATE "default", 1)'
		ELSE format('q.a%s = r.a%s', a, b) END;
	IF kind LIKE '%EXISTS' THEN
		result := model.some_columns(q.types, model.between(2, 4));
		result.tail := format(' FROM %s q WHERE %s (SELECT FROM %s r WHERE %s%s)', q.item, kind, r.item, equal,
			model.filter('AND', 'r.', r.types, 0.3));
		RETURN result;
	END IF;
	-- columns of r count on from those of q
	result := model.some_columns(together, model.between(2, 5));
	FOR i IN 1..cardinality(result.exprs) LOOP
		FOR n IN cardinality(q.types) + 1..cardinality(together) LOOP
			result.exprs[i] := regexp_replace(result.exprs[i], format('\yq\.a%s\y', n), format('r.a%s', n - cardinality(q.types)), 'g');
		END LOOP;
	END LOOP;
	IF a IS NOT NULL AND model.chance(0.3) THEN
		result.exprs := result.exprs || format('coalesce(q.a%s, r.a%s)', a, b);
		result.types := result.types || q.types[a];
	END IF;
	result.tail := CASE WHEN kind = 'LATERAL' THEN
			format(' FROM %s q %s JOIN LATERAL (SELECT * FROM %s r WHERE %s%s) r ON true%s', q.item, model.pick('{INNER,LEFT}'),
				r.item, equal, model.filter('AND', 'q.', q.types, 0.3), model.filter('WHERE', 'q.', q.types, 0.3))
		ELSE format(' FROM %s q %s %s r ON %s%s%s', q.item, kind, r.item, equal,
			CASE WHEN kind = 'FULL JOIN' THEN '' ELSE model.filter('AND', 'r.', r.types, 0.2) END,
			model.filter('WHERE', 'r.', r.types, 0.2)) END;
	IF model.chance(0.2) THEN
		result.prefix := format('WITH x AS %s (SELECT * FROM %s z) SELECT ', model.pick('{"",MATERIALIZED,MATERIALIZED}'), r.item);
		result.tail := replace(result.tail, format(' %s r ', r.item), ' x r ');
	END IF;
	RETURN result;
END $$;

CREATE FUNCTION model.grouping(r model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	q model.query := ('SELECT ', '{}'::text[], '{}'::text[], '');
	keys text[] := '{}';
	key_list text;
	e model.expression;
	pattern text;
	result text;
BEGIN
	FOR i IN 1..(model.pick('{0,1,1,1,2,2,2}'))::int LOOP
		e := CASE WHEN i = 1 THEN model.key(r.types) ELSE model.expression('q', r.types, false) END;
		keys := keys || e.value;
		e := model.canonical(e);
		q.exprs := q.exprs || e.value;
		q.types := q.types || e.type;
	END LOOP;
	FOR i IN 1..model.between(1, 3) LOOP
		e := model.expression('q', r.types);
		SELECT f.pattern, f.result INTO pattern, result FROM model.where_aggregate f
		WHERE f.argument IN (e.type, 'any') ORDER BY random() LIMIT 1;
		q.exprs := q.exprs || model.fill(pattern, e);
		q.types := q.types || result;
	END LOOP;
	key_list := array_to_string(keys, ', ');
	q.tail := format(' FROM %s q%s', r.item, model.filter('WHERE', 'q.', r.types, 0.3))
		|| CASE WHEN keys = '{}' THEN ''
			WHEN model.chance(0.2) THEN format(' GROUP BY %s (%s)', model.pick('{ROLLUP,CUBE}'), key_list)
			WHEN model.chance(0.1) THEN format(' GROUP BY GROUPING SETS ((%s), (%s))', keys[1], key_list)
			ELSE ' GROUP BY ' || key_list END
		|| CASE WHEN model.chance(0.2) THEN format(' HAVING count(*) %s', model.pick('{> 1,= 1,<= 2}')) ELSE '' END;
	RETURN q;
END $$;

CREATE FUNCTION model.distinction(r model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	q model.query := model.some_columns(r.types, model.between(2, 4));
	e model.expression;
BEGIN
	IF model.chance(0.4) THEN
		FOR i IN 1..cardinality(q.exprs) LOOP
			e := model.canonical((q.exprs[i], q.types[i])::model.expression);
			q.exprs[i] := e.value;
			q.types[i] := e.type;
		END LOOP;
		q.prefix := 'SELECT DISTINCT ';
		q.tail := format(' FROM %s q%s', r.item, model.filter('WHERE', 'q.', r.types, 0.3));
	ELSE
		e := model.key(r.types);
		q.prefix := format('SELECT DISTINCT ON (%s) ', e.value);
		IF model.chance(0.5) THEN
			q.exprs[1] := e.value;
			q.types[1] := e.type;
		END IF;
		q.tail := format(' FROM %s q%s ORDER BY %s, q::text', r.item, model.filter('WHERE', 'q.', r.types, 0.3), e.value);
	END IF;
	RETURN q;
END $$;

-- A set operation; r gives columns of the types that q has, or values.
CREATE FUNCTION model.combination(q model.relation, r model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	operation text := model.pick('{UNION ALL,UNION ALL,UNION ALL,UNION,INTERSECT,EXCEPT,INTERSECT ALL,EXCEPT ALL}');
	a model.query := ('SELECT ', '{}'::text[], '{}'::text[], format(' FROM %s q%s', q.item, model.filter('WHERE', 'q.', q.types, 0.3)));
	b model.query := ('SELECT ', '{}'::text[], '{}'::text[], format(' FROM %s q%s', r.item, model.filter('WHERE', 'q.', r.types, 0.3)));
	f model.where_function;
	other text;
BEGIN
	FOR i IN 1..least(cardinality(q.types), 4) LOOP
		SELECT format('q.a%s', n) INTO other FROM unnest(r.types) WITH ORDINALITY x (t, n)
		WHERE t = q.types[i] ORDER BY (n = i) DESC, random() LIMIT 1;
		other := coalesce(other, format('%s::%s', model.value(q.types[i]), model.type_of(q.types[i])));
		f := model.canonical_function(q.types[i]);
		IF operation = 'UNION ALL' THEN
			f := (f.argument, '%s', f.argument, true);
		END IF;
		a.exprs := a.exprs || format(f.pattern, format('q.a%s', i));
		a.types := a.types || f.result;
		b.exprs := b.exprs || format(f.pattern, '(' || other || ')');
	END LOOP;
	a.tail := format('%s %s %s', a.tail, operation, model.text(b, model.names(a.types)));
	RETURN a;
END $$;

CREATE FUNCTION model.windowing(r model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	q model.query := model.some_columns(r.types, model.between(1, 3));
	key model.expression := model.key(r.types);
	e model.expression;
	pattern text;
	result text;
BEGIN
	IF model.chance(0.5) THEN
		q.exprs[1] := key.value;
		q.types[1] := key.type;
	END IF;
	FOR i IN 1..model.between(1, 2) LOOP
		e := model.expression('q', r.types, false);
		SELECT f.pattern, coalesce(f.result, e.type) INTO pattern, result FROM model.where_window f
		WHERE f.argument IN (e.type, 'any') ORDER BY random() LIMIT 1;
		q.exprs := q.exprs || model.fill(pattern, e, CASE WHEN model.chance(0.8) THEN 'PARTITION BY ' || key.value ELSE '' END);
		q.types := q.types || result;
		IF model.chance(0.2) THEN
			key := model.key(r.types);
		END IF;
	END LOOP;
	q.tail := format(' FROM %s q%s', r.item, model.filter('WHERE', 'q.', r.types, 0.3));
	RETURN q;
END $$;

CREATE FUNCTION model.limiting(r model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	q model.query := model.some_columns(r.types, model.between(2, 4));
	e model.expression := model.expression('q', r.types, false);
BEGIN
	q.tail := format(' FROM %s q%s ORDER BY %s %s, q::text %s', r.item, model.filter('WHERE', 'q.', r.types, 0.3),
		e.value, model.pick('{"",DESC,DESC NULLS LAST}'), model.pick('{LIMIT 5,LIMIT 10,OFFSET 3}'));
	RETURN q;
END $$;

-- r in a WITH clause, used once, twice, or again and again.
CREATE FUNCTION model.naming(r model.relation) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	q model.query := model.some_columns(r.types, model.between(2, 4));
	columns text := (SELECT string_agg('q.' || n, ', ') FROM unnest(model.names(r.types)) n);
BEGIN
	IF model.chance(0.2) THEN
		q.prefix := format('WITH RECURSIVE x AS (SELECT %1$s, 1 AS depth FROM %2$s q UNION ALL SELECT %1$s, depth + 1 FROM x q WHERE depth < 2) SELECT ',
			columns, r.item);
		q.exprs := q.exprs || 'q.depth'::text;
		q.types := q.types || 'int'::text;
	ELSE
		q.prefix := format('WITH x AS %s (SELECT %s FROM %s q) SELECT ', model.pick('{"",MATERIALIZED,MATERIALIZED,NOT MATERIALIZED}'), columns, r.item);
	END IF;
	IF model.chance(0.4) THEN
		q.tail := format(' %s x y ON y.a1 = q.a1', model.pick('{JOIN,LEFT JOIN}'));
		q.exprs := q.exprs || format('y.a%s', cardinality(r.types));
		q.types := q.types || r.types[cardinality(r.types)];
	END IF;
	q.tail := ' FROM x q' || q.tail
		|| model.filter('WHERE', 'q.', r.types, 0.5);
	RETURN q;
END $$;

-- A table, or with some depth left something made of others.  Only the first of
-- two is deep, so that results stay small.
CREATE FUNCTION model.random_relation(tables model.relation[], depth int) RETURNS model.relation LANGUAGE plpgsql AS $$
BEGIN
	IF depth = 0 THEN
		RETURN tables[1 + floor(random() * cardinality(tables))::int];
	END IF;
	RETURN model.relation(model.random_query(tables, depth));
END $$;

CREATE FUNCTION model.random_query(tables model.relation[], depth int) RETURNS model.query LANGUAGE plpgsql AS $$
DECLARE
	r model.relation := model.random_relation(tables, depth - 1);
	other model.relation;
BEGIN
	CASE model.pick('{select,join,join,group,group,group,distinct,distinct,union,union,window,window,limit,with,with}')
		WHEN 'select' THEN RETURN model.selection(r);
		WHEN 'group' THEN RETURN model.grouping(r);
		WHEN 'distinct' THEN RETURN model.distinction(r);
		WHEN 'window' THEN RETURN model.windowing(r);
		WHEN 'limit' THEN RETURN model.limiting(r);
		WHEN 'with' THEN RETURN model.naming(r);
		WHEN 'join' THEN
			other := model.random_relation(tables, CASE WHEN model.chance(0.2) THEN 1 ELSE 0 END);
			RETURN model.joining(r, other);
		ELSE
			other := model.random_relation(tables, CASE WHEN model.chance(0.3) THEN 1 ELSE 0 END);
			RETURN model.combination(r, other);
	END CASE;
END $$;
