-- One event changes in each of many groups of a time: in share of 1,024 of them.
--
--   psql -v since="'2024-02-23'" -v share=922 -f change_groups.sql
UPDATE live_events SET amount = amount + 1
WHERE ts >= :since AND event_id IN (
    SELECT max(event_id) FROM live_events WHERE ts >= :since
    GROUP BY date_trunc('day', ts), key
    HAVING hashint8(max(event_id) * 131) & 1023 < :share
);
