/*
 * Using flows: definition and runs.  The functions check what their caller may
 * do; none of them is strict, since an error is a better answer to a NULL than
 * a NULL.
 */

CREATE FUNCTION replace_flow.create_using_flow(
    target        text,
    source        regclass,
    replace_using text[],
    sequence_by   text,
    name          text DEFAULT NULL,
    query         text DEFAULT NULL,
    delete_when   text DEFAULT NULL,
    on_tie        text DEFAULT 'append',
    auto_apply    boolean DEFAULT true,
    keep_rejected boolean DEFAULT true,
    quarantine    boolean DEFAULT false,
    comment       text DEFAULT NULL,
    settings      jsonb DEFAULT '{}')
RETURNS text
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_create_using_flow';

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
    settings      jsonb DEFAULT NULL)
RETURNS void
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_alter_flow';

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

CREATE FUNCTION replace_flow.apply(flow text, wait boolean DEFAULT true)
RETURNS replace_flow.run
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_apply';

CREATE FUNCTION replace_flow.floors(flow text, OUT key jsonb, OUT floor text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_floors';

-- True for the row versions that the running statement's snapshot sees.
CREATE FUNCTION replace_flow.in_snapshot(row_xmin xid)
RETURNS boolean
LANGUAGE C STABLE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_in_snapshot';
