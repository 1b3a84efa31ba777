# F3, G2, G4: a flow that fails is recorded and tried again, later and later, and
# at once when there is reason to; others go on, and the log stays small.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Worker;

my $node = worker_node('main', q{
replace_flow.max_backoff = '4s'
replace_flow.max_retries = 1
log_statement = none
autovacuum = off
});

sub flow_is
{
	my ($flow, $columns, $expected, $name) = @_;
	soon("SELECT $columns FROM replace_flow.flows WHERE flow = '$flow'", $expected, $name);
	return;
}

# A flow has failed so often that it waits for longer than three seconds.
sub waits_for_long
{
	my ($flow) = @_;
	flow_is($flow, q{next_retry_at > now() + interval '3 s'}, 't', "$flow fails and waits");
	return;
}

# A statement that makes a failing flow work has it tried before its time.
sub mends
{
	my ($flow, $sql) = @_;

	waits_for_long($flow);
	my ($failure, $retry_at) = split /\|/,
		query("SELECT last_run_id, next_retry_at FROM replace_flow.flows WHERE flow = '$flow'");
	query($sql);
	soon(qq{SELECT status, started_at < '$retry_at' FROM replace_flow.run
		WHERE flow = '$flow' AND run_id > $failure}, 'succeeded|t', "tried at once: $sql");
	flow_is($flow, 'state, backlog_rows, consecutive_failures, next_retry_at, last_error, waiting_since',
		'active|0|0|||', 'and all is well');
	return;
}

query(q{
	CREATE EXTENSION replace_flow;
	CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF NEW.v = 'bad' THEN
			RAISE EXCEPTION 'row is bad' USING ERRCODE = 'RF001', DETAIL = 'k is ' || NEW.k;
		END IF;
		RETURN NEW;
	END $$;
	CREATE TABLE target (k int, s int, v text);
	CREATE INDEX ON target (k);
	CREATE TRIGGER guard BEFORE INSERT ON target FOR EACH ROW EXECUTE FUNCTION guard();
	CREATE TABLE stream (k int, s int, v text);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
	CREATE TABLE good_stream (k int, s int, v text);
	SELECT replace_flow.create_using_flow('good', 'good_stream', '{k}', 's');
});

# A failure, as it is recorded and shown.  max_retries is small: without
# quarantine a flow is tried on and on.
my $offset = -s $node->logfile;
query(q{INSERT INTO stream VALUES (1, 1, 'good'), (2, 1, 'bad')});
flow_is('f', q{state, backlog_rows, waiting_since IS NOT NULL, last_status, last_error, consecutive_failures > 0, next_retry_at > now()},
	'failing|2|t|failed|row is bad|t|t', 'the failure is shown');
is(query(q{
		SELECT DISTINCT status, error_code, error_message, error_detail, rows_staged, finished_at IS NOT NULL
		FROM replace_flow.run WHERE flow = 'f'}),
	'failed|RF001|row is bad|k is 2|0|t', 'and recorded');
is(query('SELECT count(*) FROM target'), '0', 'nothing is applied');
soon(q{SELECT count(*) >= 5 FROM replace_flow.run WHERE flow = 'f'}, 't', 'it is tried again and again');

# Times between tries: 1, 2, 4, 4 s, of which the last would be 8.
is(query(q{
		SELECT count(*), bool_and(wait BETWEEN backoff AND 2 * backoff OR wait BETWEEN 1 AND 3 AND backoff = 1)
		FROM (SELECT extract(epoch FROM lead(started_at) OVER (ORDER BY run_id) - finished_at) AS wait,
				row_number() OVER (ORDER BY run_id) AS number
			FROM replace_flow.run WHERE flow = 'f') runs
		JOIN (VALUES (1, 1), (2, 2), (3, 4), (4, 4)) times (number, backoff) USING (number)}),
	'4|t', 'after a time that doubles up to replace_flow.max_backoff')
  or diag(query(q{SELECT run_id, started_at, finished_at FROM replace_flow.run WHERE flow = 'f' ORDER BY 1}));

# Meanwhile others go on, each time.
foreach my $n (1 .. 5)
{
	query("INSERT INTO good_stream VALUES ($n, 1, 'v')");
	soon("SELECT count(*) FROM good WHERE k = $n", '1', 'another flow is not held up');
}
is(query(q{SELECT DISTINCT status FROM replace_flow.run WHERE flow = 'good'}), 'succeeded', 'and succeeds');

# The log has failures number 1, 2, 3, 5, 9 and so on, with flow and run.
my @ids = split /\n/, query(q{SELECT run_id FROM replace_flow.run WHERE flow = 'f' ORDER BY run_id LIMIT 4});
ok(slurp_file($node->logfile) =~ qr/ERROR:  row is bad\n.*DETAIL:  k is 2\n.*CONTEXT:  (.*\n\s.*)*run $ids[0] of flow "f"\n/,
	'the log has the failure, with flow and run');
is(count_in_log($node, qr/run $ids[3] of flow "f"/, $offset), 0, 'and not each time');

# What mends it, or may.
mends('f', q{UPDATE stream SET v = 'good'});
query(q{INSERT INTO stream VALUES (3, 1, 'bad')});
mends('f', q{CREATE OR REPLACE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'});
query(q{
	ALTER TABLE target ADD CONSTRAINT positive CHECK (k > 0);
	INSERT INTO stream VALUES (-1, 1, 'v')});
mends('f', 'ALTER TABLE target DROP CONSTRAINT positive');
query(q{INSERT INTO stream VALUES (4, NULL, 'v')});
mends('f', q{SELECT replace_flow.alter_flow('f', query => 'SELECT k, coalesce(s, 0) AS s, v FROM stream')});
query(q{
	SELECT replace_flow.alter_flow('f', query => '');
	INSERT INTO stream VALUES (5, NULL, 'v')});
mends('f', q{SELECT replace_flow.add_expectation('f', 'dated', 's IS NOT NULL', 'drop')});
query(q{
	SELECT replace_flow.drop_expectation('f', 'dated');
	INSERT INTO stream VALUES (6, NULL, 'v')});
waits_for_long('f');
query(q{SELECT replace_flow.pause_flow('f')});
flow_is('f', 'state, next_retry_at', 'paused|', 'a paused flow is not tried again');
query(q{UPDATE stream SET s = 1});
my $resumed = query(q{SELECT clock_timestamp() FROM replace_flow.resume_flow('f')});
soon(qq{SELECT count(*) FROM replace_flow.run WHERE flow = 'f' AND status = 'succeeded'
	AND started_at BETWEEN '$resumed'::timestamptz - interval '1 s' AND '$resumed'::timestamptz + interval '3 s'},
	'1', 'a resumed flow is tried at once');
flow_is('f', 'state, next_retry_at', 'active|', 'and works');

# A right that is missing: GRANT is DDL too.
query(q{
	CREATE ROLE alice;
	GRANT CREATE ON SCHEMA public TO alice;
	CREATE TABLE source (k int, s int, v text);
	GRANT SELECT, DELETE, TRIGGER ON source TO alice;
	SET SESSION AUTHORIZATION alice;
	SELECT replace_flow.create_using_flow('of_alice', 'source', '{k}', 's', name => 'alice');
	RESET SESSION AUTHORIZATION;
	REVOKE SELECT ON source FROM alice;
	INSERT INTO source VALUES (1, 1, 'v')});
flow_is('alice', q{state, last_error}, 'unusable|permission denied for table source', 'a missing right');
ok(slurp_file($node->logfile) =~ qr/ERROR:  permission denied for table source\n(.*\n)?.*CONTEXT:  (.*\n\s.*)*run \d+ of flow "alice"\n/,
	'is in the log with flow and run');
mends('alice', 'GRANT SELECT ON source TO alice');

# A failure at the end of the transaction is one too.
query(q{
	CREATE TABLE parent (k int PRIMARY KEY);
	ALTER TABLE target ADD CONSTRAINT of_parent FOREIGN KEY (k) REFERENCES parent NOT VALID;
	ALTER TABLE target ALTER CONSTRAINT of_parent DEFERRABLE INITIALLY DEFERRED;
	INSERT INTO stream VALUES (7, 1, 'v')});
flow_is('f', q{state, last_error ~ 'of_parent', backlog_rows}, 'failing|t|1', 'an error at commit fails the run');
ok(slurp_file($node->logfile) =~ qr/ERROR:  .*"of_parent"\n.*DETAIL:  .*\n.*CONTEXT:  (.*\n\s.*)*run \d+ of flow "f"\n/,
	'and is in the log with flow and run');
query(q{INSERT INTO parent VALUES (7)});
flow_is('f', q{state, backlog_rows}, 'active|0', 'and mends by itself');
query('ALTER TABLE target DROP CONSTRAINT of_parent');

# A lower max_backoff holds from the next failure on.
reconfigure($node, q{replace_flow.max_backoff = '1s'});
query(q{INSERT INTO stream VALUES (8, NULL, 'v')});
soon(q{
	SELECT count(*) >= 5, bool_and(wait < 2) FROM (
		SELECT extract(epoch FROM started_at - lag(finished_at) OVER (ORDER BY run_id)) AS wait
		FROM replace_flow.run WHERE flow = 'f' AND error_code = '23502'
		AND run_id > (SELECT max(run_id) FROM replace_flow.run WHERE flow = 'f' AND status = 'succeeded')) runs
	WHERE wait IS NOT NULL}, 't|t', 'a reload changes the longest time');

# A restart does not forget failures: the flow is not tried before its time.
reconfigure($node, q{replace_flow.max_backoff = '5s'});
waits_for_long('f');
my ($failure, $failures, $retry_at) = split /\|/,
	query(q{SELECT last_run_id, consecutive_failures, next_retry_at FROM replace_flow.flows WHERE flow = 'f'});
$node->restart;
flow_is('f', qq{next_retry_at BETWEEN '$retry_at'::timestamptz - interval '1 s' AND '$retry_at'::timestamptz},
	't', 'after a restart a failing flow goes on to wait');
is(query(qq{SELECT count(*) FROM replace_flow.run WHERE run_id > $failure}), '0', 'and has not been tried');
soon(qq{SELECT started_at >= '$retry_at'::timestamptz - interval '1 s' FROM replace_flow.run
	WHERE run_id > $failure ORDER BY run_id LIMIT 1}, 't', 'until its time has come');
flow_is('f', qq{consecutive_failures > $failures}, 't', 'its failures are counted on');
mends('f', 'DELETE FROM stream');

# Somebody keeps a table locked: the flow gives up after a while, and others are
# run although there is one worker only.
reconfigure($node, 'replace_flow.max_workers = 1');
my $session = $node->background_psql('postgres');
my $n = 10;
foreach my $table ('target', 'stream')
{
	$n++;
	query(qq{INSERT INTO stream VALUES ($n, 1, 'first')});
	flow_is('f', 'backlog_rows', '0', 'the flow works');
	# SHARE lets rows be staged
	$session->query_safe("BEGIN; LOCK TABLE $table IN SHARE MODE");
	if ($table eq 'target')
	{
		query(qq{INSERT INTO stream VALUES ($n, 2, 'second')});
	}
	else
	{
		$session->query_safe("INSERT INTO stream VALUES ($n, 2, 'second')");
		query(q{SELECT replace_flow.alter_flow('f', comment => 'wanted')});
	}
	query(qq{INSERT INTO good_stream VALUES ($n, 1, 'v')});
	soon("SELECT count(*) FROM good WHERE k = $n", '1', "a locked $table does not hold up others");
	$session->query_safe('COMMIT');
	soon("SELECT v FROM target WHERE k = $n", 'second', 'and is tried again');
}
soon(q{SELECT DISTINCT error_code FROM replace_flow.run WHERE flow = 'f' AND error_code LIKE '55%'},
	'55P03', 'it failed for want of a lock');
$session->quit;

cmp_ok(count_in_log($node, qr/ERROR: /, $offset), '<=',
	query(q{SELECT count(*) FROM replace_flow.run WHERE status = 'failed'}),
	'the log has no failure twice');
is(count_in_log($node, qr/PANIC|TRAP|was terminated/), 0, 'and nothing broke');

$node->stop;
done_testing();
