/* The choices that random histories make; setseed() decides them. */

-- One of these texts.
CREATE FUNCTION model.pick(a text[]) RETURNS text LANGUAGE sql VOLATILE AS
	$$ SELECT a[1 + floor(random() * cardinality(a))::int] $$;
-- True with this probability.
CREATE FUNCTION model.chance(p float8) RETURNS boolean LANGUAGE sql VOLATILE AS
	$$ SELECT random() < p $$;
-- A number, both bounds included.
CREATE FUNCTION model.between(low int, high int) RETURNS int LANGUAGE sql VOLATILE AS
	$$ SELECT low + floor(random() * (high - low + 1))::int $$;
