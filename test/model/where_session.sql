/* What differs from session to session, and runs must not depend on (A9). */

CREATE FUNCTION model.random_zone() RETURNS text LANGUAGE sql VOLATILE AS
	$$ SELECT model.pick('{UTC,America/St_Johns,America/St_Johns,America/St_Johns,Europe/Berlin,Asia/Kathmandu,Australia/Lord_Howe,America/New_York}') $$;
CREATE FUNCTION model.random_style() RETURNS text LANGUAGE sql VOLATILE AS
	$$ SELECT model.pick('{"ISO, MDY","ISO, MDY","German, DMY","SQL, DMY"}') $$;
