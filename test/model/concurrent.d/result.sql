/*
 * What must be true when everybody has come to an end and each flow has run
 * once more: the targets hold what the journal says, worked out the slow and
 * obvious way, and the run records tell of each staged row exactly once.
 */
SET search_path = concurrent;

-- Rows with the highest sequence of their key that was ever staged (B3, B4).
-- The order in which they came does not matter, since ties append.
CREATE VIEW expected AS
SELECT *
FROM (SELECT *, rank() OVER (PARTITION BY flow, k ORDER BY s DESC) AS place
	  FROM journal
	  WHERE flow <> 2 OR line > 0) j
WHERE place = 1;

CREATE PROCEDURE check_flow(n int, columns text) LANGUAGE plpgsql AS $$
DECLARE
	number bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM concurrent.stream_%s', n) INTO number;
	IF number <> 0 THEN
		RAISE EXCEPTION 'flow % left % staged rows', n, number;
	END IF;
	CALL model.compare(format('target of flow %s', n),
		format('SELECT %s FROM concurrent.expected WHERE flow = %s%s', columns, n,
			   CASE WHEN n IN (3, 4) THEN $q$ AND op <> 'delete'$q$ ELSE '' END),
		format('SELECT %s FROM concurrent.target_%s', columns, n));
	CALL model.compare(format('floors of flow %s', n),
		format('SELECT DISTINCT jsonb_build_object(''k'', k), s::text FROM concurrent.expected WHERE flow = %s', n),
		format('SELECT key, floor FROM replace_flow.floors(''flow_%s'')', n));
	CALL model.compare(format('counts of flow %s', n),
		-- each staged row is consumed once, and read once
		format('SELECT count(*), count(*), count(*) FILTER (WHERE flow = 2 AND line <= 0),
				(SELECT count(*) FROM concurrent.target_%s) FROM concurrent.journal WHERE flow = %1$s', n),
		format('SELECT sum(rows_staged), sum(rows_read), sum(rows_rejected), sum(rows_inserted - rows_deleted)
				FROM replace_flow.run WHERE flow = ''flow_%s''', n));
END $$;

CALL check_flow(1, 'k, line, v, s');
CALL check_flow(2, 'k, line, v');
CALL check_flow(3, 'k, line, v, s');
CALL check_flow(4, 'k, line, v');
CALL check_flow(5, 'k, line, v, s');
CALL check_flow(6, 'k, line, v, size');
CALL check_flow(7, 'k, line, v, size, s');
CALL find_torn_sets();
-- C4
CALL model.compare('rejected rows',
	'SELECT k, line, v, s FROM journal WHERE flow = 2 AND line <= 0',
	$$SELECT ("row"->>'k')::int, ("row"->>'line')::int, "row"->>'v', ("row"->>'s')::bigint FROM replace_flow.rejected$$);
-- G1
CALL model.compare('runs that add up',
	'SELECT run_id FROM replace_flow.run',
	'SELECT run_id FROM replace_flow.run WHERE rows_read = rows_rejected + rows_superseded + rows_late
	 + rows_tie_ignored + rows_tombstone + rows_inserted + rows_updated + rows_unchanged
	 AND (status = ''succeeded'' OR status = ''skipped'' AND rows_staged + rows_read + rows_deleted = 0)');

SELECT (SELECT count(*) || ' rows staged, ' || count(*) FILTER (WHERE v = 'edited') || ' edited; runs: ' FROM journal) || count(*) FILTER (WHERE rows_staged > 0)
	|| ' with rows, ' || count(*) FILTER (WHERE status = 'succeeded' AND rows_staged = 0) || ' without, '
	|| count(*) FILTER (WHERE status = 'skipped') || ' skipped; rows: ' || sum(rows_rejected) || ' rejected, '
	|| sum(rows_superseded) || ' superseded, ' || sum(rows_late) || ' late, ' || sum(rows_tombstone)
	|| ' tombstones, ' || sum(rows_inserted) || ' inserted, ' || sum(rows_updated) || ' updated, '
	|| sum(rows_deleted) || ' deleted, ' || sum(rows_unchanged) || ' unchanged'
FROM replace_flow.run;
