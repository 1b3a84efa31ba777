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

CREATE FUNCTION replace_flow.worker_flow_state(
    OUT flow_id       integer,
    OUT waiting_since timestamptz,
    OUT next_retry_at timestamptz)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL RESTRICTED
AS 'MODULE_PATHNAME', 'replace_flow_worker_flow_state';

CREATE FUNCTION replace_flow.backlog(flow_id integer)
RETURNS bigint
LANGUAGE C STABLE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_backlog';

-- Runs that were skipped say nothing of a flow: "succeeded" is the last run that did, and
-- "failed" the last of those that have failed since.  (With coalesce in the place of
-- greatest, which is leakproof, row-level security would keep the index from being used.)
CREATE VIEW replace_flow.flows WITH (security_invoker) AS
SELECT f.name AS flow, f.kind, f.target, f.source, replace_flow.flow_owner(f) AS owner,
    CASE
        WHEN f.paused THEN 'paused'
        WHEN f.flow_id IN (SELECT u.flow_id FROM replace_flow.runs_under_way() u WHERE u.activity = 'run') THEN 'running'
        WHEN pg_catalog.to_regclass('replace_flow.flow_' || f.flow_id) IS NULL
            OR f.kind = 'where' AND pg_catalog.to_regclass('replace_flow.window_' || f.flow_id) IS NULL
            OR (SELECT count(*) FROM pg_catalog.pg_class c WHERE c.oid IN (f.target, f.source))
                < pg_catalog.num_nonnulls(f.target, f.source)
            OR failed.error_code LIKE '42%' THEN 'unusable'
        WHEN failed.run_id IS NOT NULL THEN 'failing'
        ELSE 'active'
    END AS state,
    replace_flow.backlog(f.flow_id) AS backlog_rows,
    worker.waiting_since,
    coalesce(failed.run_id, succeeded.run_id) AS last_run_id,
    coalesce(failed.status, succeeded.status) AS last_status,
    coalesce(failed.finished_at, succeeded.finished_at) AS last_finished_at,
    failed.error_message AS last_error,
    (SELECT count(*) FROM replace_flow.run r
     WHERE r.flow_id = f.flow_id AND r.status = 'failed'
     AND r.run_id > greatest(succeeded.run_id, 0)) AS consecutive_failures,
    worker.next_retry_at, f.definition_version, f.comment
FROM replace_flow.flow f
    LEFT JOIN LATERAL (
        SELECT * FROM replace_flow.run r
        WHERE r.flow_id = f.flow_id AND r.status = 'succeeded'
        ORDER BY r.run_id DESC LIMIT 1) AS succeeded ON true
    LEFT JOIN LATERAL (
        SELECT * FROM replace_flow.run r
        WHERE r.flow_id = f.flow_id AND r.status = 'failed' AND r.run_id > greatest(succeeded.run_id, 0)
        ORDER BY r.run_id DESC LIMIT 1) AS failed ON true
    LEFT JOIN replace_flow.worker_flow_state() AS worker ON worker.flow_id = f.flow_id;

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
GRANT SELECT ON replace_flow.flows, replace_flow.progress TO PUBLIC;
