/*
 * What flows of both kinds have.  The functions check what their caller may do;
 * none of them is strict, since an error is a better answer to a NULL than a
 * NULL.
 */

CREATE FUNCTION replace_flow.alter_flow(
    flow          text,
    source        regclass DEFAULT NULL,
    replace_using text[] DEFAULT NULL,
    sequence_by   text DEFAULT NULL,
    name          text DEFAULT NULL,
    query         text DEFAULT NULL,
    delete_when   text DEFAULT NULL,
    on_tie        text DEFAULT NULL,
    auto_apply    boolean DEFAULT NULL,
    keep_rejected boolean DEFAULT NULL,
    quarantine    boolean DEFAULT NULL,
    comment       text DEFAULT NULL,
    settings      jsonb DEFAULT NULL,
    replace_where text DEFAULT NULL,
    reset_allowed boolean DEFAULT NULL,
    allow_empty   boolean DEFAULT NULL,
    refresh_on_change boolean DEFAULT NULL,
    min_interval  interval DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_alter_flow';

CREATE FUNCTION replace_flow.preview(
    flow               text,
    predicate_override text DEFAULT NULL,
    OUT key            jsonb,
    OUT rows_inserted  bigint,
    OUT rows_updated   bigint,
    OUT rows_deleted   bigint,
    OUT rows_unchanged bigint)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_preview';

CREATE FUNCTION replace_flow.start_update(
    refresh_selection       text[] DEFAULT NULL,
    full_refresh_selection  text[] DEFAULT '{}',
    replace_where_overrides jsonb DEFAULT '[]')
RETURNS SETOF replace_flow.run
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_start_update';

CREATE FUNCTION replace_flow.pause_flow(flow text)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_pause_flow';

CREATE FUNCTION replace_flow.resume_flow(flow text)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_resume_flow';

CREATE FUNCTION replace_flow.drop_flow(flow text, drop_target boolean DEFAULT false)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_drop_flow';
