-- with the rows that wait
SELECT coalesce(min(name), '') AS flow, count(*) > 2 AS some FROM replace_flow.flow WHERE name ~ '^come_' \gset
\if :some
BEGIN;
SELECT replace_flow.drop_flow(:'flow', drop_target => true);
SELECT format('DROP TABLE soak.%I', :'flow' || '_in') \gexec
DELETE FROM soak.journal WHERE flow = :'flow';
COMMIT;
\endif
