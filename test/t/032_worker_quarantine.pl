# F3: with quarantine => true the worker finds the keys that fail, sets their rows
# aside with the error and applies the others; but only when the data is at
# fault, and only when it was tried again before.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Worker;

my $node = worker_node('main', q{
replace_flow.max_retries = 1
replace_flow.max_backoff = '1s'
lock_timeout = '300ms'
log_statement = none
autovacuum = off
});

sub settled
{
	my ($flow, $name) = @_;
	soon(qq{SELECT state, backlog_rows, next_retry_at FROM replace_flow.flows WHERE flow = '$flow'},
		'active|0|', $name);
	return;
}

# A thousand keys of two rows.  Each bad key fails in another way: two of them in
# the query and its expressions, three when they are written, one at commit.
query(q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE parent (k int PRIMARY KEY);
	INSERT INTO parent SELECT generate_series(1, 4000) EXCEPT SELECT 600;
	CREATE TABLE target (k int REFERENCES parent DEFERRABLE INITIALLY DEFERRED, s int, v int CHECK (v <> 200), u text);
	CREATE INDEX ON target (k);
	CREATE UNIQUE INDEX of_u ON target (u);
	INSERT INTO target VALUES (3000, 1, 1, 'taken');
	CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF NEW.k = 300 THEN RAISE EXCEPTION 'not this one'; END IF;
		RETURN NEW;
	END $$;
	CREATE TRIGGER guard BEFORE INSERT ON target FOR EACH ROW EXECUTE FUNCTION guard();
	CREATE TABLE stream (k int, s int, v int, d int, u text);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f', quarantine => true,
		query => 'SELECT k, s, v / d AS v, u FROM stream');
	SELECT replace_flow.pause_flow('f');
	INSERT INTO stream SELECT k, CASE WHEN k <> 100 THEN 1 END, k, CASE WHEN k = 500 THEN 0 ELSE 1 END,
		CASE WHEN k = 400 AND n = 1 THEN 'taken' ELSE k || ' ' || n END
	FROM generate_series(1, 1000) k, generate_series(1, 2) n;
});

my $offset = -s $node->logfile;
query(q{SELECT replace_flow.resume_flow('f')});

# Meanwhile rows of other keys come in.
my $stage = "INSERT INTO stream SELECT k, nextval('n'), k, 1, k || ' ' || currval('n') FROM generate_series(2001, 2020) k;\n";
query('CREATE SEQUENCE n');
finished(session($node, 'postgres', $stage x 100), 'rows come in');

settled('f', 'a flow with bad keys gets done');
is(query(q{
		SELECT "row"->>'k' AS k, count(*), error_code, min(error_message) FROM replace_flow.rejected
		WHERE flow = 'f' GROUP BY 1, 3 ORDER BY ("row"->>'k')::int}),
	join("\n",
		'100|2|23502|sequence "s" of flow "f" is null',
		'200|2|23514|new row for relation "target" violates check constraint "target_v_check"',
		'300|2|P0001|not this one',
		'400|2|23505|duplicate key value violates unique constraint "of_u"',
		'500|2|22012|division by zero',
		'600|2|23503|insert or update on table "target" violates foreign key constraint "target_k_fkey"'),
	'the rows of bad keys are set aside, each key with its error');
is(query(q{SELECT "row" FROM replace_flow.rejected WHERE "row"->>'k' = '500' AND "row"->>'u' = '500 1'}),
	'{"d": 0, "k": 500, "s": 1, "u": "500 1", "v": 500}', 'as the stream had them');
is(query(q{SELECT count(*), count(DISTINCT k) FROM target WHERE k <= 1000}), '1988|994', 'all others are applied, once');
is(query(q{SELECT count(*), count(DISTINCT k), min(v) = 2001 FROM target WHERE k BETWEEN 2001 AND 2020}),
	'20|20|t', 'and so are those that came meanwhile');
is(query(q{
		SELECT sum(rows_staged), bool_and(rows_read = rows_rejected + rows_superseded + rows_late + rows_tie_ignored
			+ rows_tombstone + rows_inserted + rows_updated + rows_unchanged)
		FROM replace_flow.run WHERE flow = 'f' AND status = 'succeeded'}),
	'4000|t', 'the runs account for each staged row, once');
is(query(q{
		SELECT count(*), min(rows_read), max(rows_rejected), min(split_part(reasons[1], ':', 1)), count(DISTINCT error_code)
		FROM replace_flow.run r WHERE flow = 'f' AND reasons[1] LIKE 'QUARANTINED%'
		AND (SELECT count(*) FROM replace_flow.rejected WHERE run_id = r.run_id) = 2}),
	'6|2|2|QUARANTINED|6', 'the runs that set rows aside say so');
is(query(q{
		SELECT count(*) FROM replace_flow.run WHERE flow = 'f' AND status = 'failed'
		AND run_id < (SELECT min(run_id) FROM replace_flow.rejected)}),
	'2', 'not before the run was tried again');
cmp_ok(count_in_log($node, qr/ERROR: /, $offset), '<', 20, 'the search is not in the log');
is(query(q{SELECT consecutive_failures, last_error FROM replace_flow.flows WHERE flow = 'f'}), '0|',
	'and all is well');

# The recipe of the README: rows are mended and staged again.
query(q{
	WITH mended AS (DELETE FROM replace_flow.rejected WHERE flow = 'f' AND error_code = '23502' RETURNING "row")
	INSERT INTO stream
	SELECT (jsonb_populate_record(NULL::stream, "row" || '{"s": 1}')).* FROM mended});
soon(q{SELECT count(*) FROM target WHERE k = 100}, '2', 'mended rows can be staged again');
# the others have no floor yet, and what made them fail can go
query(q{
	DELETE FROM target WHERE u = 'taken';
	DROP TRIGGER guard ON target;
	INSERT INTO parent VALUES (600);
	ALTER TABLE target DROP CONSTRAINT target_v_check;
	WITH mended AS (DELETE FROM replace_flow.rejected WHERE flow = 'f' RETURNING "row")
	INSERT INTO stream
	SELECT (jsonb_populate_record(NULL::stream, "row" || '{"d": 1}')).* FROM mended});
soon(q{SELECT count(*), count(DISTINCT k) FROM target WHERE k <= 1000}, '2000|1000', 'so that all are there');
is(query(q{SELECT count(*) FROM replace_flow.rejected}), '0', 'and none is left aside');

# What is no fault of the data sets nothing aside: a missing right and a lock.
query(q{
	CREATE ROLE alice;
	GRANT CREATE ON SCHEMA public TO alice;
	CREATE TABLE dimension (k int, name text);
	INSERT INTO dimension SELECT k, 'name ' || k FROM generate_series(1, 10) k;
	CREATE TABLE source (k int, s int);
	GRANT SELECT ON dimension TO alice;
	GRANT SELECT, DELETE, TRIGGER ON source TO alice;
	SET SESSION AUTHORIZATION alice;
	SELECT replace_flow.create_using_flow('named', 'source', '{k}', 's', quarantine => true,
		query => 'SELECT k, s, name FROM source JOIN dimension USING (k)');
	RESET SESSION AUTHORIZATION;
	REVOKE SELECT ON dimension FROM alice;
	INSERT INTO source SELECT k, CASE WHEN k <> 5 THEN 1 END FROM generate_series(1, 10) k});
soon(q{SELECT state, consecutive_failures >= 4, backlog_rows FROM replace_flow.flows WHERE flow = 'named'},
	'unusable|t|10', 'a missing right makes the flow fail as a whole');
my $session = $node->background_psql('postgres');
$session->query_safe('BEGIN; LOCK TABLE named IN SHARE MODE');
query('GRANT SELECT ON dimension TO alice');
soon(q{
		SELECT count(*) >= 3 FROM replace_flow.run WHERE flow = 'named' AND error_code = '55P03'},
	't', 'and so does a table that is locked');
is(query(q{SELECT (SELECT count(*) FROM replace_flow.rejected), (SELECT count(*) FROM named), count(*) FROM source}),
	'0|0|10', 'nothing is set aside, and nothing applied');
$session->query_safe('COMMIT');
$session->quit;
settled('named', 'until there are only errors of the data');
is(query(q{SELECT string_agg(k::text, ' ' ORDER BY k) FROM named}), '1 2 3 4 6 7 8 9 10', 'good keys are applied');
is(query(q{SELECT "row" FROM replace_flow.rejected}), '{"k": 5, "s": null}', 'and the bad one is set aside');

# Without quarantine the flow is tried on and on.
query(q{
	CREATE TABLE strict_stream (k int, s int);
	SELECT replace_flow.create_using_flow('strict', 'strict_stream', '{k}', 's');
	INSERT INTO strict_stream VALUES (1, 1), (2, NULL)});
soon(q{SELECT state, consecutive_failures >= 5, backlog_rows FROM replace_flow.flows WHERE flow = 'strict'},
	'failing|t|2', 'without quarantine a flow is tried on and on');
is(query(q{SELECT count(*) FROM replace_flow.rejected WHERE flow = 'strict'}), '0', 'and nothing is set aside');
query(q{SELECT replace_flow.alter_flow('strict', quarantine => true)});
settled('strict', 'until it gets quarantine');
is(query(q{SELECT "row" FROM replace_flow.rejected WHERE flow = 'strict'}), '{"k": 2, "s": null}', 'and the bad key is set aside');

is(count_in_log($node, qr/PANIC|TRAP|was terminated/), 0, 'nothing broke');
$node->stop;
done_testing();
