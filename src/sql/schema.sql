/*
 * The schema is open to look into; what a role may run or see is decided by
 * the functions and by row-level security.
 */

-- Whoever owns the schema could put functions beside ours.
DO $$
BEGIN
    IF (SELECT nspowner FROM pg_catalog.pg_namespace WHERE nspname OPERATOR(pg_catalog.=) 'replace_flow')
        OPERATOR(pg_catalog.<>) (SELECT oid FROM pg_catalog.pg_roles WHERE rolname OPERATOR(pg_catalog.=) CURRENT_USER)
    THEN
        RAISE EXCEPTION 'schema "replace_flow" belongs to another role'
            USING ERRCODE = 'insufficient_privilege',
                HINT = 'Drop or rename the schema; CREATE EXTENSION makes one of its own.';
    END IF;
END
$$;

GRANT USAGE ON SCHEMA replace_flow TO PUBLIC;
