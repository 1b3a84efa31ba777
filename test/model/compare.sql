/* The comparison of what is with what a model says. */

-- Two queries give the same rows, multiplicity included; else an error.
CREATE PROCEDURE model.compare(what text, expected text, actual text) LANGUAGE plpgsql AS $$
DECLARE
	difference text;
BEGIN
	EXECUTE format('SELECT string_agg(d, E''\n'') FROM ('
		'SELECT ''missing: '' || left(m::text, 200) AS d FROM (SELECT x::text FROM (%1$s) x EXCEPT ALL SELECT y::text FROM (%2$s) y) m'
		' UNION ALL '
		'SELECT ''superfluous: '' || left(s::text, 200) FROM (SELECT y::text FROM (%2$s) y EXCEPT ALL SELECT x::text FROM (%1$s) x) s) z',
		expected, actual) INTO difference;
	IF difference IS NOT NULL THEN
		RAISE EXCEPTION '% differ(s)', what USING DETAIL = difference;
	END IF;
END $$;
