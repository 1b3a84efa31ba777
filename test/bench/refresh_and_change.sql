-- Bring our side up to date, and let some events change: what a session has behind it
-- that refreshes now and then.
--
--   psql -v side=ours -v round=2 -v total=6000000 -v updated=860 -v moved=350 -f refresh_and_change.sql
\ir refresh.sql
\ir change_rows.sql
