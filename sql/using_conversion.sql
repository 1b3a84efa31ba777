\getenv source PG_ABS_SRCDIR
\set prepare :source /sql/include/prepare.sql
\i :prepare
--
-- A7: values are converted to the target's types before keys and sequences are
-- compared, and compared as the target compares them.
--

-- Case O03: minus zero and not-a-number.
CREATE TABLE measure (k float8, s int, v text);
CREATE INDEX ON measure (k);
CREATE TABLE measure_in (LIKE measure);
CREATE TABLE sent (batch int, LIKE measure);
INSERT INTO sent VALUES
    (1, 0, 1, 'zero'), (1, 'NaN', 1, 'nan'),
    (2, '-0', 2, 'neg'), (2, 'NaN', 2, 'nan2'),
    (3, 0, 1, 'stale');
CALL arrange($$ SELECT replace_flow.create_using_flow('measure', 'measure_in', '{k}', 's') $$,
             'measure', 'measure_in');
SELECT * FROM outcome;
-- All in one batch; both zeros are the set of one key.
SELECT replace_flow.create_using_flow('measure', 'measure_in', '{k}', 's');
TRUNCATE measure;
INSERT INTO measure_in VALUES (0, 3, 'a'), ('-0', 3, 'b'), ('-0', 2, 'c');
SELECT applied('measure');
SELECT * FROM measure ORDER BY v;
-- The same zero with another sign is another row (B10).
INSERT INTO measure_in VALUES (0, 4, 'a'), (0, 4, 'b');
SELECT applied('measure');
SELECT * FROM measure ORDER BY v;

-- Case O04: text is staged, the target has char(n).
CREATE TABLE code (k char(5), s int, v text);
CREATE INDEX ON code (k);
CREATE TABLE code_in (k text, s int, v text);
CREATE TABLE sent_codes (batch int, k text, s int, v text);
INSERT INTO sent_codes VALUES (1, 'ab', 1, 'old'), (2, 'ab ', 2, 'new'), (3, 'ab   ', 1, 'stale');
CALL arrange($$ SELECT replace_flow.create_using_flow('code', 'code_in', '{k}', 's') $$,
             'code', 'code_in', 'sent_codes');
SELECT * FROM outcome;

-- Case O07: the sequence is a number in the stream and text in the target.  The
-- target's order counts, in the batch and against the floor: '9' is above '10'.
CREATE TABLE mark (k int, s text, v text);
CREATE INDEX ON mark (k);
CREATE TABLE mark_in (k int, s int, v text);
CREATE TABLE sent_marks (batch int, k int, s int, v text);
INSERT INTO sent_marks VALUES (1, 1, 9, 'nine'), (2, 1, 10, 'ten');
CALL arrange($$ SELECT replace_flow.create_using_flow('mark', 'mark_in', '{k}', 's') $$,
             'mark', 'mark_in', 'sent_marks');
SELECT * FROM outcome;
-- An expression is compared as what it is, and so is a column that the target lacks.
CALL arrange($$ SELECT replace_flow.create_using_flow('mark', 'mark_in', '{k}', 's::int') $$,
             'mark', 'mark_in', 'sent_marks');
SELECT * FROM outcome;
CREATE TABLE mark_now (k int, v text);
CREATE INDEX ON mark_now (k);
CALL arrange($$ SELECT replace_flow.create_using_flow('mark_now', 'mark_in', '{k}', 's') $$,
             'mark_now', 'mark_in', 'sent_marks');
SELECT * FROM outcome;

-- Values that become equal in the target: keys, and sequences.
CREATE TABLE price (k numeric(4,1), s numeric(4,1), v text);
CREATE INDEX ON price (k);
CREATE TABLE price_in (k numeric, s numeric, v text);
CREATE TABLE sent_prices (batch int, k numeric, s numeric, v text);
INSERT INTO sent_prices VALUES
    (1, 1.04, 1, 'a'), (1, 0.96, 2.04, 'b'),
    (2, 1, 1.96, 'c'), (2, 1.05, 1, 'another key'),
    (3, 1, 1.94, 'late');
CALL arrange($$ SELECT replace_flow.create_using_flow('price', 'price_in', '{k}', 's') $$,
             'price', 'price_in', 'sent_prices');
SELECT * FROM outcome;

-- Numbers that are equal are one key although they are not one image, and a row
-- with another image is another row (B10).
CREATE TABLE weight (k numeric, s int, v numeric);
CREATE INDEX ON weight (k);
CREATE TABLE weight_in (LIKE weight);
SELECT replace_flow.create_using_flow('weight', 'weight_in', '{k}', 's');
INSERT INTO weight_in VALUES (1.0, 1, 5.0), (2.0, 1, 5.0);
SELECT applied('weight');
INSERT INTO weight_in VALUES (1.00, 2, 5.0), (2.0, 1, 6.0);
SELECT applied('weight');
SELECT * FROM weight ORDER BY k, v;
SELECT * FROM replace_flow.floors('weight') ORDER BY key;

-- Assignment casts are those of an INSERT: lengths, domains, arrays of another
-- element type.
CREATE DOMAIN short AS varchar(3) CHECK (value <> 'bad');
CREATE TABLE form (k int, s int, d short, a bigint[], t timestamptz, f real);
CREATE INDEX ON form (k);
CREATE TABLE form_in (k bigint, s smallint, d text, a int[], t date, f numeric);
SELECT replace_flow.create_using_flow('form', 'form_in', '{k}', 's');
INSERT INTO form_in VALUES (1, 1, 'abc   ', '{1,2,NULL}', '2026-03-01', 0.1);
SELECT applied('form');
SELECT k, s, d, a, t = '2026-03-01'::timestamptz AS t, f FROM form;
INSERT INTO form_in VALUES (2, 1, 'bad', '{1}', '2026-03-01', 0.1);
SELECT refused($$ SELECT replace_flow.apply('form') $$);
UPDATE form_in SET d = 'long';
SELECT refused($$ SELECT replace_flow.apply('form') $$);
UPDATE form_in SET d = 'abc', k = 5000000000;
SELECT refused($$ SELECT replace_flow.apply('form') $$);
SELECT count(*) AS staged FROM form_in;
\i :finish
