-- An empty schema for one side; flows into the old one go with it.
--
--   psql -v side=theirs -f schema.sql
SELECT replace_flow.drop_flow(name)
FROM replace_flow.flow
WHERE target::oid IN (SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace(:'side'));
DROP SCHEMA IF EXISTS :side CASCADE;
CREATE SCHEMA :side;
