\set ECHO none
-- What tests of time zones begin with:
--
--   change                     moments at which the clocks of some zone are set
--   moments(middle)            moments around one, dense near it, and some far away
SET DateStyle = 'ISO, YMD';
CREATE TABLE change (zone text, at timestamptz);
INSERT INTO change VALUES
    ('UTC', '2024-10-27 00:00+00'),                 -- none here
    ('America/St_Johns', '2000-10-29 02:31+00'),    -- back from 00:01 to 23:01
    ('America/Havana', '2012-04-01 05:00+00'),      -- midnight does not exist
    ('America/Sao_Paulo', '2018-02-18 02:00+00'),   -- midnight exists twice
    ('Africa/Cairo', '2010-09-09 22:00+00'),
    ('Pacific/Kwajalein', '1969-09-30 13:00+00'),   -- a day twice
    ('Pacific/Apia', '2011-12-30 10:00+00'),        -- a day is left out
    ('America/New_York', '1883-11-18 17:00+00'),    -- local mean time before
    ('Australia/Lord_Howe', '2024-04-06 15:00+00'), -- by half an hour
    ('Europe/Berlin', '2024-10-27 01:00+00');
CREATE FUNCTION moments(middle timestamptz) RETURNS SETOF timestamptz LANGUAGE sql AS $$
    SELECT middle + i * interval '30 min' + j * interval '1 microsecond'
    FROM generate_series(-75, 75) i, generate_series(-1, 1) j
    UNION ALL
    VALUES ('infinity'::timestamptz), ('-infinity'), ('0044-03-15 BC'), (NULL)
$$;
\set ECHO all
