/*
 * Where flows: definition and runs.
 */

CREATE FUNCTION replace_flow.create_where_flow(
    target        text,
    query         text,
    replace_where text,
    name          text DEFAULT NULL,
    reset_allowed boolean DEFAULT false,
    allow_empty   boolean DEFAULT true,
    keep_rejected boolean DEFAULT true,
    refresh_on_change boolean DEFAULT false,
    min_interval  interval DEFAULT '1 s',
    comment       text DEFAULT NULL,
    settings      jsonb DEFAULT '{}')
RETURNS text
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_create_where_flow';

CREATE FUNCTION replace_flow.refresh(
    flow               text,
    predicate_override text DEFAULT NULL,
    technique          text DEFAULT NULL,
    allow_empty        boolean DEFAULT NULL,
    wait               boolean DEFAULT true)
RETURNS replace_flow.run
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_refresh';

CREATE FUNCTION replace_flow.full_refresh(flow text)
RETURNS replace_flow.run
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_full_refresh';

CREATE FUNCTION replace_flow.explain(flow text, predicate_override text DEFAULT NULL)
RETURNS SETOF text
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_explain';

CREATE FUNCTION replace_flow.planning(flow text, predicate_override text DEFAULT NULL)
RETURNS TABLE (
    technique       text,
    chosen          boolean,
    reason          text,
    changed_rows    bigint,
    affected_groups bigint,
    estimated_cost  double precision)
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_planning';

CREATE PROCEDURE replace_flow.backfill(
    flow         text,
    column_name  text,
    from_value   "any",
    to_value     "any",
    step         "any",
    newest_first boolean DEFAULT true)
LANGUAGE C
AS 'MODULE_PATHNAME', 'replace_flow_backfill';
