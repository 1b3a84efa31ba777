\set ECHO none
-- What every test ends with: all runs add up (G1), and dropped flows leave
-- nothing behind.
RESET ROLE;
SET search_path = test;
\echo 'Runs that do not add up, and flows'' objects that were left behind:'
SELECT flow, run_id FROM unaccounted ORDER BY run_id;
DO $$
BEGIN
    PERFORM replace_flow.drop_flow(name) FROM replace_flow.flow;
END $$;
SELECT relname FROM pg_class
WHERE relnamespace = 'replace_flow'::regnamespace AND relname ~ '^(flow|floor|window)_\d+';
DROP SCHEMA test CASCADE;
\set ECHO all
