/*
 * Random predicates over columns of given types.
 */

-- Conditions on one column.  %1$s: the column, %2$s and %3$s: values of its type.
-- True for NULL, too.
CREATE FUNCTION model.is_small(n int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
	'BEGIN RETURN coalesce(n, 0) < 3; END';

CREATE TABLE model.where_condition (argument text, pattern text);
INSERT INTO model.where_condition VALUES
	('any', '%1$s IS NULL'), ('any', '%1$s IS NOT NULL'), ('any', 'left(%1$s::text, 2) = left(%2$s::text, 2)'),
	('any', '%1$s::text = %2$s::text'), ('any', 'length(%1$s::text) > 4'), ('any', '%1$s::text COLLATE "default" LIKE ''%%1%%'''),
	('any', '(%1$s::text < ''b'') IS NOT TRUE'),
	('sorted', '%1$s = %2$s'), ('sorted', '%1$s <> %2$s'), ('sorted', '%1$s >= %2$s'), ('sorted', '%1$s > %2$s'),
	('sorted', '%1$s <= %2$s'), ('sorted', '%2$s < %1$s'), ('sorted', '%1$s BETWEEN %2$s AND %3$s'),
	('sorted', '%1$s BETWEEN SYMMETRIC %2$s AND %3$s'),
	('sorted', '%1$s IN (%2$s, %3$s)'), ('sorted', '%1$s NOT IN (%2$s, NULL)'),
	('sorted', 'NOT (%1$s < %2$s)'), ('sorted', '%1$s IS DISTINCT FROM %2$s'), ('sorted', '%1$s IS NOT DISTINCT FROM %2$s'),
	('sorted', 'coalesce(%1$s, %2$s) >= %3$s'), ('sorted', '(%1$s > %2$s) IS UNKNOWN'), ('sorted', '(%1$s >= %2$s) IS NOT FALSE'),
	('sorted', 'CASE WHEN %1$s IS NULL THEN true ELSE %1$s < %2$s END'), ('sorted', 'greatest(%1$s, %2$s) = %1$s'),
	('sorted', '%1$s = nullif(%2$s, %3$s)'), ('sorted', '(%1$s, 1) >= (%2$s, 1)'),
	('int', '%1$s %% 2 = 1'), ('bigint', '%1$s %% 2 = 1'), ('int', '%1$s > 1.5'), ('boolean', '%1$s'), ('boolean', 'NOT %1$s'),
	('text', '%1$s = ANY (ARRAY[%2$s, %3$s])'), ('date', '%1$s = ANY (ARRAY[%2$s, %3$s])'), ('int', '%1$s <> ALL (ARRAY[%2$s, %3$s])'),
	('text', 'lower(%1$s) = ''a'''), ('numeric', 'scale(%1$s) = 0'), ('citext', '%1$s::text = ''a'''),
	('folded', '%1$s COLLATE "C" = ''a'''),
	('any', 'NULL::boolean'), ('int', 'model.is_small(%1$s)'), ('any', '%1$s IS NOT NULL AND %1$s::text <> %2$s::text'),
	('money', '%1$s > 1'), ('numeric2', '%1$s = 1'), ('int', '%1$s BETWEEN 1 AND 3'), ('bigint', '%1$s IN (1, 2)'),
	('odd', '%1$s::text = %2$s::text'), ('odd', '%1$s::text <> %2$s::text'), ('odd', '%1$s::text COLLATE "C" IN (%2$s::text COLLATE "C", %3$s::text COLLATE "C")'),
	('odd', 'md5(%1$s::text) = md5(%2$s::text)'),
	-- these move with the clock of the test
	('time', '%1$s >= current_setting(''model.now'')::timestamptz - interval ''1 day'''),
	('time', '%1$s::date >= current_setting(''model.now'')::date - 1'),
	('time', '%1$s >= current_setting(''model.now'')::date'),
	('time', '%1$s > current_setting(''model.now'')::timestamp'),
	('time', '%1$s BETWEEN current_setting(''model.now'')::date - 1 AND current_setting(''model.now'')::date'),
	('time', '%1$s >= current_setting(''model.now'')::date - 1 AND %1$s < ''2010-11-08'''),
	('time', 'date_trunc(''day'', %1$s) = ''2010-11-06'''), ('time', 'extract(year FROM %1$s) = 2010'),
	('time', '%1$s::date = ''2010-11-06'''), ('time', '%1$s >= ''2010-11-06 23:30'''), ('time', '%1$s < ''2010-11-07'''),
	('time', '%1$s BETWEEN ''2010-11-06'' AND ''2010-11-07'''), ('time', '%1$s IN (''2010-11-06'', ''2010-11-07'')'),
	('time', '%1$s < now()'), ('time', '%1$s >= ''2010-11-07 00:00+00''::timestamptz');

-- A condition on one column, or on two.
CREATE FUNCTION model.condition(prefix text, names text[], types text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int;
	m int;
	pattern text;
	t model.where_type;
	e model.expression;
BEGIN
	-- rather on the first column, a time, or where equal values can be told apart
	SELECT o INTO n FROM unnest(types) WITH ORDINALITY x (name, o) JOIN model.where_type USING (name)
	ORDER BY random() / CASE WHEN is_time OR is_odd OR o = 1 THEN 3 ELSE 1 END LIMIT 1;
	SELECT * INTO t FROM model.where_type WHERE name = types[n];
	e := (format('%s%I', prefix, names[n]), types[n]);
	IF t.is_sorted AND model.chance(0.15) THEN
		SELECT i INTO m FROM generate_subscripts(types, 1) i WHERE i <> n AND types[i] = types[n] ORDER BY random() LIMIT 1;
		IF m IS NOT NULL THEN
			RETURN format('%s %s %s%I', e.value, model.pick('{=,<,>=,IS DISTINCT FROM}'), prefix, names[m]);
		END IF;
	END IF;
	SELECT c.pattern INTO pattern FROM model.where_condition c
	WHERE c.argument IN (t.name, 'any', CASE WHEN t.is_sorted THEN 'sorted' END, CASE WHEN t.is_odd THEN 'odd' END, CASE WHEN t.is_time THEN 'time' END)
	ORDER BY random() / CASE WHEN c.argument IN (t.name, 'odd', 'time') THEN 3 ELSE 1 END LIMIT 1;
	RETURN model.fill(pattern, e, model.literal(e.type));
END $$;

CREATE FUNCTION model.predicate(prefix text, names text[], types text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	p text := model.condition(prefix, names, types);
BEGIN
	IF model.chance(0.04) THEN
		RETURN 'true';
	END IF;
	WHILE model.chance(0.25) LOOP
		p := format(model.pick('{(%s) AND (%s),(%s) AND (%s),(%s) OR (%s),NOT ((%s) AND (%s)),(%s) = (%s)}'), p,
			model.condition(prefix, names, types));
	END LOOP;
	RETURN p;
END $$;
