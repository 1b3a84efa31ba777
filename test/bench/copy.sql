-- A writer of a source.
--
--   psql -v file=FILE -f copy.sql
COPY source FROM :'file';
