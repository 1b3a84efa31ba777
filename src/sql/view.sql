/*
 * What one can see of flows and of their runs.
 *
 * The views have the rights of who reads them, so they show the flows that row-level
 * security shows.  The functions behind them can be called by everybody, and tell of
 * the same flows only.
 */

CREATE FUNCTION replace_flow.runs_under_way(
    OUT flow_id       integer,
    OUT activity      text,
    OUT pid           integer,
    OUT run_id        bigint,
    OUT phase         text,
    OUT rows_done     bigint,
    OUT rows_expected bigint,
    OUT started_at    timestamptz)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'replace_flow_runs_under_way';

CREATE VIEW replace_flow.progress WITH (security_invoker) AS
SELECT f.name AS flow, r.activity, r.pid, r.run_id, r.phase, r.rows_done, r.rows_expected, r.started_at,
    NULL::timestamptz AS updated_at, NULL::name AS column_name, NULL::text AS from_value, NULL::text AS to_value,
    NULL::text AS step, NULL::boolean AS newest_first, NULL::bigint AS slices_done, NULL::bigint AS slices_total
FROM replace_flow.runs_under_way() r JOIN replace_flow.flow f USING (flow_id)
UNION ALL
SELECT f.name, 'backfill', NULL, NULL, NULL, NULL, NULL, b.started_at,
    b.updated_at, a.attname, b.from_value, b.to_value,
    b.step, b.newest_first, b.slices_done, b.slices_total
FROM replace_flow.backfill b JOIN replace_flow.flow f USING (flow_id)
    LEFT JOIN pg_catalog.pg_attribute a
    ON a.attrelid = f.target AND a.attnum = (CAST(b.target_column AS bigint) & 65535);
GRANT SELECT ON replace_flow.progress TO PUBLIC;
