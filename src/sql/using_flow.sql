/*
 * Using flows: definition and runs.
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

CREATE FUNCTION replace_flow.apply(flow text, wait boolean DEFAULT true)
RETURNS replace_flow.run
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_apply';

CREATE FUNCTION replace_flow.floors(flow text, OUT key jsonb, OUT floor text)
RETURNS SETOF record
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_floors';

-- One run for the keys whose hash lies in a range.
CREATE FUNCTION replace_flow.apply_range(flow text, first bigint, last bigint)
RETURNS replace_flow.run
LANGUAGE C VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_apply_range';

-- The hash of a key, column by column; a NULL has one too.
CREATE FUNCTION replace_flow.key_hash(seed bigint, value anyelement)
RETURNS bigint
LANGUAGE C IMMUTABLE PARALLEL SAFE
AS 'MODULE_PATHNAME', 'replace_flow_key_hash';

-- True for the row versions that the running statement's snapshot sees.
CREATE FUNCTION replace_flow.in_snapshot(row_xmin xid)
RETURNS boolean
LANGUAGE C STABLE STRICT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'replace_flow_in_snapshot';
