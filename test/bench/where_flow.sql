-- A where flow into t, with the side's name.
--
--   psql -v side=ours -v query='SELECT ...' -v window="day >= '2024-02-23'" -f where_flow.sql
SELECT replace_flow.create_where_flow('t', :'query', :'window', name => :'side');
