-- What the steps of the demo share.
CREATE EXTENSION replace_flow;

-- A claim of the demo; one that does not hold is an error.
CREATE SEQUENCE claims;
CREATE FUNCTION claim(what text, holds boolean) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    IF holds IS NOT TRUE THEN
        RAISE EXCEPTION 'this does not hold: %', what;
    END IF;
    PERFORM nextval('claims');
    RETURN what;
END $$;

-- What the newest run did, in short.
CREATE VIEW last_run AS
SELECT rows_read AS read, rows_inserted AS inserted, rows_updated AS updated, rows_deleted AS deleted,
       rows_unchanged AS unchanged, rows_late AS late, rows_tie_ignored AS ignored,
       round(rows_read / extract(epoch FROM finished_at - started_at)) AS "rows/s"
FROM replace_flow.run
ORDER BY run_id DESC
LIMIT 1;
