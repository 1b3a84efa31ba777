\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- C4: a rejected row is kept whole, each value under the name that the query
-- gives it, whatever plan the query gets: the rows of a plan need not carry
-- names, and those of an Append do not.
--
-- One flow per way to read a stream; each drops the row with v = -5.
CREATE TABLE label (k int, "La""bel" text);
INSERT INTO label VALUES (1, 'one'), (2, 'two');

CREATE FUNCTION rejected_by(stream_tail text, query text) RETURNS TABLE ("row" jsonb) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'CREATE TABLE item_in (k int, s int, v int) ' || stream_tail;
	IF stream_tail LIKE 'PARTITION%' THEN
		CREATE TABLE item_in_0 PARTITION OF item_in FOR VALUES WITH (MODULUS 2, REMAINDER 0);
		CREATE TABLE item_in_1 PARTITION OF item_in FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	END IF;
	PERFORM replace_flow.create_using_flow('item', 'item_in', '{k}', 's', query => query);
	PERFORM replace_flow.add_expectation('item', 'positive', 'v > 0', 'drop');
	INSERT INTO item_in VALUES (1, 1, -5), (2, 1, 5);
	PERFORM replace_flow.apply('item');
	RETURN QUERY SELECT r."row" FROM replace_flow.rejected r WHERE r.flow = 'item';
	PERFORM replace_flow.drop_flow('item', drop_target => true);
	DROP TABLE item_in;
END $$;

SELECT * FROM rejected_by('', NULL);
SELECT * FROM rejected_by('PARTITION BY HASH (k)', NULL);
SELECT * FROM rejected_by('PARTITION BY HASH (k)', 'SELECT k, s, v FROM item_in WHERE k < 9');
SELECT * FROM rejected_by('PARTITION BY HASH (k)', 'SELECT k, s, v FROM item_in ORDER BY k, s, v');
SELECT * FROM rejected_by('', 'SELECT i.k, i.s, i.v, l."La""bel" FROM item_in i JOIN label l USING (k)');
SELECT * FROM rejected_by('PARTITION BY HASH (k)', 'SELECT i.k, i.s, i.v, l."La""bel" FROM item_in i JOIN label l USING (k)');
SELECT * FROM rejected_by('', 'SELECT k, s, v FROM item_in UNION ALL SELECT 3, 1, 3');
SELECT * FROM rejected_by('PARTITION BY HASH (k)', 'SELECT k, s, v FROM item_in UNION ALL SELECT 3, 1, 3');
SELECT * FROM rejected_by('PARTITION BY HASH (k)', 'SELECT k, max(s) AS s, min(v) AS v FROM item_in GROUP BY k');
SELECT * FROM rejected_by('PARTITION BY HASH (k)', 'SELECT DISTINCT k, s, v, v * 2 AS twice FROM item_in');
\i :finish
