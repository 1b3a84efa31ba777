/*
 * Types of columns for histories of where flows, and what can be made of their
 * values.
 *
 * A type is called odd when equal values may have several images, such as 1.0
 * and 1.00, or a and A where case is folded.  Functions marked canonical give
 * what all values equal to their argument have in common.
 *
 * All texts have the default collation, but for columns of type folded.
 */

CREATE TABLE model.where_type (
	name text PRIMARY KEY,
	type text,
	literals text[],
	stored_as text[],			-- other types that a target may give such a column; NULL: only targets have the type
	is_sorted boolean DEFAULT true,
	is_time boolean DEFAULT false,
	is_odd boolean DEFAULT false,
	range_step text);			-- backfill can go by it
INSERT INTO model.where_type (name, type, literals, stored_as, range_step) VALUES
	('int', 'int', '{1,2,3,-5,2010}', '{bigint,smallint,numeric2,float8,text}', '2'),
	('bigint', 'bigint', '{1,2,3,60}', '{int,numeric2,float8,text}', '2::bigint'),
	('money', 'numeric(8,1)', '{0.5,1.5,2.5,-2.5,-0.5,3,14.9}', '{numeric,numeric2,int,text}', NULL),
	('numeric', 'numeric', '{1,1.0,1.00,2.504,-3,NaN}', '{numeric2,numeric2,float8,text}', NULL),
	('float8', 'float8', '{0,-0,1.5,NaN,-2}', '{numeric,real,text}', NULL),
	('text', 'text', '{a,A,b,"",ab,1}', '{varchar,char20,citext,folded}', NULL),
	('folded', 'text COLLATE model.folded', '{a,A,b,B}', '{text,citext}', NULL),
	('citext', 'model.citext', '{a,A,b,B}', '{text,varchar}', NULL),
	('char3', 'char(3)', '{"x","x ","y",""}', '{text,varchar,char20}', NULL),
	('interval', 'interval', '{1 day,24:00,1 mon,30 days,00:00:01.7}', '{interval0,text}', NULL),
	('boolean', 'boolean', '{t,f}', '{text}', NULL),
	('mood', 'model.mood', '{sad,ok,happy}', '{text}', NULL),
	('jsonb', 'jsonb', '{"{\"a\": 1}","{\"a\": 1.0}","[]","null"}', '{json,text}', NULL),
	('ints', 'int[]', '{"{1,NULL}","{1}","{}","{2,1}"}', '{text}', NULL);
-- Summer time ended in Newfoundland at 00:01 on 7 November 2010, 02:31 in UTC:
-- the clock went back to the day before.  In New York it did so an hour after
-- midnight, 06:00 in UTC.
INSERT INTO model.where_type (name, type, literals, stored_as, range_step, is_time) VALUES
	('date', 'date', '{2010-11-05,2010-11-06,2010-11-07,2010-11-08,2010-12-31,2011-01-01}',
		'{timestamp,timestamptz,text}', 'interval ''2 days''', true),
	('timestamp', 'timestamp', '{2010-11-06 12:00,2010-11-06 23:00:30,2010-11-06 23:59:59.7,2010-11-07,2010-11-07 00:00:30,2010-11-07 12:00,2010-11-08,2010-12-31 23:00}',
		'{timestamptz,timestamp0,date,text}', 'interval ''1 day''', true),
	('timestamptz', 'timestamptz', '{2010-11-06 01:00+00,2010-11-06 12:00+00,2010-11-07 02:30:30+00,2010-11-07 02:31+00,2010-11-07 03:15+00,2010-11-07 03:30+00,2010-11-07 05:30+00,2010-11-07 06:30+00,2010-11-07 23:59:59.7+00,2010-11-08 00:00+01,2010-12-31 23:00+00}',
		'{timestamp,timestamptz0,date,text}', 'interval ''1 day''', true);
-- those that only a target has
INSERT INTO model.where_type (name, type, literals) VALUES
	('smallint', 'smallint', '{1,2,3}'),
	('numeric2', 'numeric(12,2)', '{1,2.5,-3,NaN}'),
	('real', 'real', '{0,-0,1.5,NaN}'),
	('varchar', 'varchar(20)', '{a,A,b,""}'),
	('char20', 'char(20)', '{a,A,b,""}'),
	('interval0', 'interval(0)', '{1 day,24:00,00:00:02}');
INSERT INTO model.where_type (name, type, literals, is_time) VALUES
	('timestamp0', 'timestamp(0)', '{2010-11-06 12:00,2010-11-07,2010-11-07 12:00}', true),
	('timestamptz0', 'timestamptz(0)', '{2010-11-06 12:00+00,2010-11-07 02:31+00,2010-11-08 00:00+00}', true);
INSERT INTO model.where_type (name, type, literals, is_sorted) VALUES
	('json', 'json', '{"[1]","{\"a\": 1}"}', false);

-- What can be made of a column.  %1$s: the column, %2$s: a value of its type.
-- The argument "any" stands for all types, the result NULL for the argument's.
CREATE TABLE model.where_function (argument text, pattern text, result text);
INSERT INTO model.where_function VALUES
	('any', 'left(%1$s::text COLLATE "default", 20)', 'text'),
	('any', 'CASE WHEN %1$s IS NULL THEN 0 ELSE 1 END', 'int'),
	('any', '%1$s IS NULL', 'boolean'),
	('any', 'coalesce(%1$s, %2$s)', NULL),
	('any', 'nullif(%1$s, %2$s)', NULL),
	('int', '%1$s + 1', 'int'), ('int', '1::bigint + %1$s', 'bigint'), ('int', '%1$s / 2', 'int'), ('int', '%1$s %% 2', 'int'),
	('int', '-%1$s', 'int'), ('int', '3 - %1$s', 'int'), ('int', '%1$s * 2', 'int'), ('int', '%1$s > 1', 'boolean'),
	('int', '%1$s::numeric / 4', 'numeric'), ('int', '%1$s::numeric(6,1)::int', 'int'), ('int', '%1$s::float8 / 2', 'float8'), ('int', '%1$s::bigint', 'bigint'),
	('bigint', '%1$s - 1', 'bigint'), ('bigint', '%1$s %% 2', 'bigint'), ('bigint', '%1$s::int', 'int'), ('bigint', '%1$s / 20', 'bigint'),
	('money', '%1$s::int', 'int'), ('money', '%1$s::int', 'int'), ('money', '%1$s::bigint', 'bigint'), ('money', '%1$s::float8::int', 'int'),
	('money', 'round(%1$s)', 'numeric'), ('money', 'floor(%1$s)', 'numeric'), ('money', '%1$s::numeric(6,0)', 'numeric'),
	('money', '%1$s::numeric(6,-1)', 'numeric'), ('money', '-%1$s', 'numeric'),
	('numeric', '%1$s * 2', 'numeric'), ('numeric', '%1$s::numeric(12,1)', 'numeric'),
	('float8', '%1$s * 2', 'float8'), ('float8', '-%1$s', 'float8'),
	('text', 'lower(%1$s)', 'text'), ('text', 'left(''x'' || %1$s, 20)', 'text'), ('text', 'length(%1$s)', 'int'),
	('text', '%1$s = ''a''', 'boolean'), ('text', '%1$s::model.citext', 'citext'), ('text', '%1$s::varchar(20)::text', 'text'),
	('folded', '%1$s || ''A''', 'folded'),
	('interval', '%1$s * 2', 'interval'),
	('boolean', 'NOT %1$s', 'boolean'), ('boolean', '%1$s::int', 'int'),
	('mood', '%1$s > ''sad''', 'boolean'),
	('jsonb', '%1$s -> ''a''', 'jsonb'), ('jsonb', '%1$s ->> ''a''', 'text'),
	('ints', 'cardinality(%1$s)', 'int'), ('ints', '%1$s[1]', 'int'), ('ints', '%1$s || 1', 'ints'),
	('date', 'date_trunc(''month'', %1$s)::date', 'date'), ('date', 'date_trunc(''day'', %1$s)', 'timestamptz'),
	('date', 'extract(year FROM %1$s)', 'numeric'), ('date', 'extract(dow FROM %1$s)', 'numeric'), ('date', 'extract(isoyear FROM %1$s)::int', 'int'),
	('date', '%1$s + 1', 'date'), ('date', '%1$s - 7', 'date'), ('date', '%1$s - interval ''1 hour''', 'timestamp'),
	('date', '%1$s::timestamp', 'timestamp'), ('date', '%1$s::timestamptz', 'timestamptz'),
	('timestamp', 'date_trunc(''day'', %1$s)', 'timestamp'), ('timestamp', 'date_trunc(''day'', %1$s)', 'timestamp'),
	('timestamp', 'date_trunc(''week'', %1$s)', 'timestamp'), ('timestamp', 'date_trunc(''quarter'', %1$s)', 'timestamp'),
	('timestamp', '%1$s::date', 'date'), ('timestamp', '%1$s::date', 'date'), ('timestamp', '%1$s::timestamp(0)', 'timestamp'),
	('timestamp', 'extract(year FROM %1$s)', 'numeric'), ('timestamp', 'extract(hour FROM %1$s)::int', 'int'),
	('timestamp', 'date_part(''year'', %1$s)', 'float8'), ('timestamp', 'extract(epoch FROM %1$s)', 'numeric'),
	('timestamp', 'date_bin(''6 hours'', %1$s, ''2001-01-01 01:00''::timestamp)', 'timestamp'),
	('timestamp', '%1$s::timestamptz', 'timestamptz'), ('timestamp', '%1$s AT TIME ZONE ''America/St_Johns''', 'timestamptz'),
	('timestamp', '%1$s AT TIME ZONE interval ''-02:30''', 'timestamptz'),
	('timestamp', '%1$s - interval ''1 day''', 'timestamp'), ('timestamp', 'to_char(%1$s, ''YYYY-MM'')', 'text'),
	('timestamptz', 'date_trunc(''day'', %1$s)', 'timestamptz'), ('timestamptz', 'date_trunc(''day'', %1$s)', 'timestamptz'),
	('timestamptz', 'date_trunc(''hour'', %1$s)', 'timestamptz'), ('timestamptz', 'date_trunc(''year'', %1$s)', 'timestamptz'),
	('timestamptz', 'date_trunc(''day'', %1$s, ''America/St_Johns'')', 'timestamptz'),
	('timestamptz', '%1$s::date', 'date'), ('timestamptz', '%1$s::date', 'date'), ('timestamptz', '%1$s::timestamp', 'timestamp'),
	('timestamptz', 'extract(year FROM %1$s)', 'numeric'), ('timestamptz', 'extract(year FROM %1$s)::int', 'int'),
	('timestamptz', 'date_part(''epoch'', %1$s)', 'float8'), ('timestamptz', 'extract(julian FROM %1$s)', 'numeric'),
	('timestamptz', 'date_bin(''1 day'', %1$s, ''2001-01-01 00:00+00''::timestamptz)', 'timestamptz'),
	('timestamptz', '%1$s AT TIME ZONE ''Asia/Kathmandu''', 'timestamp'), ('timestamptz', '%1$s::timestamptz(0)', 'timestamptz'),
	('timestamptz', '%1$s AT TIME ZONE interval ''05:45''', 'timestamp'), ('timestamptz', '(%1$s AT TIME ZONE ''UTC'')::date', 'date'),
	('timestamptz', 'date_trunc(''day'', %1$s AT TIME ZONE ''America/St_Johns'')', 'timestamp'),
	('timestamptz', '%1$s + interval ''1 day''', 'timestamptz'), ('timestamptz', '%1$s - interval ''1 day 01:00''', 'timestamptz'),
	('timestamptz', 'to_char(%1$s, ''YYYY-MM-DD'')', 'text');
ALTER TABLE model.where_function ADD COLUMN is_canonical boolean DEFAULT false;
INSERT INTO model.where_function VALUES
	('numeric', 'trim_scale(%1$s)', 'numeric', true), ('numeric', 'round(%1$s, 1)', 'numeric', true), ('numeric', '%1$s::float8 + 0', 'float8', true),
	('numeric', '%1$s::numeric(12,2)', 'numeric', true), ('numeric', '%1$s >= 1', 'boolean', true),
	('float8', '%1$s + 0', 'float8', true), ('float8', '%1$s::numeric', 'numeric', true), ('float8', '%1$s >= 1', 'boolean', true),
	('folded', 'lower(%1$s COLLATE "default")', 'text', true), ('folded', '%1$s = ''a''', 'boolean', true),
	('citext', 'lower(%1$s::text)', 'text', true), ('citext', '%1$s = ''a''', 'boolean', true),
	('char3', 'rtrim(%1$s)', 'text', true), ('char3', '%1$s::text', 'text', true),
	('interval', 'justify_interval(%1$s)', 'interval', true), ('interval', '%1$s = ''1 day''', 'boolean', true),
	('jsonb', 'jsonb_typeof(%1$s)', 'text', true);

UPDATE model.where_type t SET is_odd = true WHERE EXISTS (SELECT FROM model.where_function f WHERE f.argument = t.name AND is_canonical);

CREATE TYPE model.expression AS (value text, type text);

CREATE FUNCTION model.type_of(type_name text) RETURNS text LANGUAGE sql STABLE AS
	$$ SELECT type FROM model.where_type WHERE name = type_name $$;

-- A value of a type, never NULL.
CREATE FUNCTION model.literal(type_name text) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT format('(%L::%s)', CASE WHEN t.is_time AND current_setting('model.infinite') = 'on' AND model.chance(0.1)
		THEN model.pick('{infinity,-infinity}') ELSE model.pick(t.literals) END, t.type)
	FROM model.where_type t WHERE t.name = type_name
$$;
CREATE FUNCTION model.value(type_name text) RETURNS text LANGUAGE sql VOLATILE AS
	$$ SELECT CASE WHEN model.chance(0.15) THEN 'NULL' ELSE model.literal(type_name) END $$;

-- A pattern, applied to an expression.
CREATE FUNCTION model.fill(pattern text, e model.expression, extra text DEFAULT '') RETURNS text LANGUAGE sql VOLATILE AS
	$$ SELECT format(pattern, e.value, model.literal(e.type), extra) $$;

-- Something made of an expression; not what fails for infinite times.
CREATE FUNCTION model.apply_function(e model.expression) RETURNS model.expression LANGUAGE plpgsql AS $$
DECLARE
	pattern text;
	result text;
BEGIN
	SELECT f.pattern, coalesce(f.result, e.type) INTO STRICT pattern, result FROM model.where_function f
	WHERE f.argument IN (e.type, 'any')
		AND NOT (f.pattern ~ 'year|epoch|julian' AND current_setting('model.infinite') = 'on')
	ORDER BY random() / CASE WHEN f.argument = 'any' THEN 1 ELSE 3 END LIMIT 1;
	RETURN ('(' || model.fill(pattern, e) || ')', result);
END $$;

-- A function that gives what equal values of the type have in common; of a type
-- that is not odd, the value itself.
CREATE FUNCTION model.canonical_function(type_name text) RETURNS model.where_function LANGUAGE sql VOLATILE AS $$
	SELECT x FROM (
		(SELECT f FROM model.where_function f WHERE f.argument = type_name AND f.is_canonical ORDER BY random() LIMIT 1)
		UNION ALL
		SELECT (type_name, '%1$s', type_name, true)::model.where_function) x (x) LIMIT 1
$$;
