\echo
\echo == Every row that a run read is accounted for
\echo
SELECT claim(count(*) || ' runs: read = superseded + late + ignored + inserted + updated + unchanged',
             bool_and(rows_read = rows_superseded + rows_late + rows_tie_ignored
                                  + rows_inserted + rows_updated + rows_unchanged)) AS "checked"
FROM replace_flow.run;
\pset tuples_only on
\pset format unaligned
SELECT 'The demo checked ' || last_value || ' claims, and all of them hold.' FROM claims;
