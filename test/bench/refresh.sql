-- our side, of where flows: as it thinks best, or with a technique
--
--   psql -v side=ours -v technique=NULL -f refresh.sql
SELECT wal_bytes, coalesce(technique, '') AS technique, coalesce(array_to_string(reasons, '; '), '') AS reasons
FROM replace_flow.refresh(:'side', technique => :technique) \gset run_
