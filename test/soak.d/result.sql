/*
 * What must be true when everything that was staged has been applied: the targets
 * hold what the journal says, worked out the slow and obvious way.
 */
SET search_path = soak;

-- Of each key the rows with the highest sequence that was ever staged (B3, B4); a
-- set of nothing but a tombstone is no row (B8).
CREATE OR REPLACE VIEW expected AS
SELECT flow, k, line, v, s
FROM (SELECT *, rank() OVER (PARTITION BY flow, k ORDER BY s DESC) AS place FROM journal) AS j
WHERE place = 1 AND op = 'set';

CREATE OR REPLACE PROCEDURE check_target(flow text, columns text) LANGUAGE plpgsql AS $$
BEGIN
	CALL model.compare('target of flow ' || flow,
		format('SELECT %s FROM soak.expected WHERE flow = %L AND (flow <> ''strict'' OR k %% 40 <> 0)', columns, flow),
		format('SELECT %s FROM soak.%I', columns, flow));
END $$;

-- B1: each staged row is consumed once.
CREATE OR REPLACE PROCEDURE check_consumption(name text) LANGUAGE plpgsql AS $$
BEGIN
	CALL model.compare('rows that runs of flow ' || name || ' consumed',
		format('SELECT count(*) FROM soak.journal WHERE flow = %L', name),
		format('SELECT sum(rows_staged)::bigint FROM replace_flow.run WHERE flow = %L AND status = ''succeeded''', name));
END $$;
