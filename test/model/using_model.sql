/*
 * The model: what a using flow's target must hold, worked out from all rows
 * ever received, the slow and obvious way.
 *
 * Table received has one row for each row that a run's query gave and no
 * expectation dropped: the run's number, the row converted to the target's
 * types, its sequence, and whether it is a tombstone.  Table original has the
 * rows that the target held before the flow existed.
 *
 * For each key the highest sequence ever received counts (B3, B4):
 *
 *		append		all rows that have it
 *		ignore		those of the first run that brought it
 *		replace		those of the last run that brought it
 *
 * and of these the ones that are no tombstones (B8).  Original rows count like
 * a run before all others.  They stay while nothing above their floor has
 * come; their floor is their highest sequence where the target stores it (B7),
 * and else they have none.
 *
 * Nothing here is shared with the extension: keys are compared by SQL, which
 * uses the same operators of the target's types (A7).
 */

-- A condition that two rows have the same key; NULL equals NULL (A7).
CREATE FUNCTION model.same_key(keys text[], a text, b text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(format('%1$s.%3$I IS NOT DISTINCT FROM %2$s.%3$I', a, b, k), ' AND ') FROM unnest(keys) k
$$;

-- The query for what the target must hold, column by column.
CREATE FUNCTION model.expected(keys text[], columns text[], on_tie text, stored boolean)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	cols text := (SELECT string_agg(format('r.%I', c), ', ') FROM unnest(columns) c);
	same_top text := model.same_key(keys, 'r', 't');
	-- the highest sequence received for the row's key, and the original floor
	top text := format('(SELECT x.run_sequence FROM received x WHERE %s ORDER BY x.run_sequence DESC LIMIT 1)',
					   model.same_key(keys, 'x', 'r'));
	floor text := CASE WHEN stored THEN
		format('(SELECT o.s FROM original o WHERE %s AND o.s IS NOT NULL ORDER BY o.s DESC LIMIT 1)',
			   model.same_key(keys, 'o', 'r'))
		ELSE 'NULL' END;
	counts text;
BEGIN
	counts := CASE on_tie
		WHEN 'append' THEN 'true'
		WHEN 'ignore' THEN format('r.run = (SELECT min(x.run) FROM received x WHERE %s AND x.run_sequence = r.run_sequence)',
								  model.same_key(keys, 'x', 'r'))
		ELSE format('r.run = (SELECT max(x.run) FROM received x WHERE %s AND x.run_sequence = r.run_sequence)',
					model.same_key(keys, 'x', 'r'))
	END;
	RETURN format(
		'SELECT %1$s FROM received r WHERE NOT r.run_tombstone AND r.run_sequence = %2$s'
		' AND %3$s AND %4$s'
		' UNION ALL '
		'SELECT %1$s FROM original r WHERE %5$s',
		cols, top, counts,
		CASE WHEN NOT stored THEN 'true'
			WHEN on_tie = 'ignore' THEN format('(%1$s IS NULL OR r.run_sequence > %1$s)', floor)
			ELSE format('(%1$s IS NULL OR r.run_sequence >= %1$s)', floor) END,
		CASE WHEN NOT stored THEN format('%s IS NULL', top)
			WHEN on_tie = 'replace' THEN format('(%1$s IS NULL OR %1$s < %2$s)', top, floor)
			ELSE format('(%1$s IS NULL OR %1$s <= %2$s)', top, floor) END);
END $$;

-- The query for the floor of each key (B7), as floors() shows them.
CREATE FUNCTION model.floors(keys text[], stored boolean)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	k text := (SELECT string_agg(format('f.%I', c), ', ') FROM unnest(keys) c);
	j text := (SELECT string_agg(format('%L, f.%I', c, c), ', ') FROM unnest(keys) c);
	plain text := (SELECT string_agg(format('%I', c), ', ') FROM unnest(keys) c);
BEGIN
	RETURN format('SELECT DISTINCT ON (%1$s) jsonb_build_object(%2$s) AS key, f.s::text AS floor FROM ('
		'SELECT %3$s, run_sequence AS s FROM received%4$s) f ORDER BY %1$s, f.s DESC', k, j, plain,
		CASE WHEN stored THEN format(' UNION ALL SELECT %s, s FROM original WHERE s IS NOT NULL', plain) ELSE '' END);
END $$;
