\set ECHO none
-- What tests of incremental refresh compare:
--
--   ran(flow, target, query, technique)
--                              refresh a flow, with the technique if that is possible;
--                              how it was done, the codes of the reasons, and whether
--                              the target's rows are then what the query gives (E1)
CREATE FUNCTION ran(flow text, target text, query text, technique text DEFAULT 'ROW_BASED') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    run replace_flow.run;
BEGIN
    BEGIN
        run := replace_flow.refresh(flow, technique => technique);
    EXCEPTION WHEN object_not_in_prerequisite_state THEN
        run := replace_flow.refresh(flow);
    END;
    RETURN run.technique
        || coalesce(': ' || (SELECT string_agg(split_part(reason, ':', 1), ', ')
                             FROM unnest(run.reasons) AS reason
                             WHERE reason NOT LIKE 'REQUESTED%'), '')
        || CASE WHEN test.same(target, query) THEN '' ELSE ', and WRONG' END;
END $$;
\set ECHO all
