# G3: other sessions see which phase a run is in, how many of its rows are done and how
# many are expected; and nothing is seen of a run once it is over, however it ended.

use strict;
use warnings FATAL => 'all';

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', q{
fsync = off
autovacuum = off
shared_preload_libraries = 'replace_flow'
});
$node->start;

# Runs pass gates: in the queries of flows f and w; in triggers before and after rows are
# inserted; and in the run of flow g, which a trigger calls for in a run of f.
$node->safe_psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE FUNCTION pass(number int) RETURNS int LANGUAGE plpgsql AS
		'BEGIN IF number IS NOT NULL THEN PERFORM pg_advisory_xact_lock_shared(number); END IF; RETURN number; END';
	CREATE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN PERFORM public.pass(TG_ARGV[0]::int); RETURN NEW; END';
	CREATE FUNCTION run_g() RETURNS trigger LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO public.inner_stream VALUES (1, 1); PERFORM replace_flow.apply('g'); RETURN NULL; END$$;

	CREATE TABLE target (k int, s int, gate int);
	CREATE INDEX ON target (k);
	CREATE TRIGGER gate_11 BEFORE INSERT ON target FOR EACH ROW EXECUTE FUNCTION pass('11');
	CREATE TRIGGER inner_run AFTER INSERT ON target FOR EACH STATEMENT EXECUTE FUNCTION run_g();
	CREATE TRIGGER later_gate_13 AFTER INSERT ON target FOR EACH STATEMENT EXECUTE FUNCTION pass('13');
	CREATE TABLE stream (k int, s int, gate int);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f',
		query => 'SELECT k, s, pass(gate) AS gate FROM stream', auto_apply => false);

	CREATE TABLE inner_target (k int, s int);
	CREATE INDEX ON inner_target (k);
	CREATE TRIGGER gate_12 AFTER INSERT ON inner_target FOR EACH STATEMENT EXECUTE FUNCTION pass('12');
	CREATE TABLE inner_stream (k int, s int);
	SELECT replace_flow.create_using_flow('inner_target', 'inner_stream', '{k}', 's', name => 'g', auto_apply => false);

	CREATE TABLE source AS SELECT day, 20 AS gate FROM generate_series(1, 10) AS day;
	SELECT replace_flow.create_where_flow('daily', 'SELECT day, pass(gate) AS gate FROM source', 'day > 0', name => 'w');
	CREATE TRIGGER gate_21 AFTER INSERT ON daily FOR EACH STATEMENT EXECUTE FUNCTION pass('21');

	CREATE ROLE stranger;
	CREATE DATABASE other;
});
$node->safe_psql('other', 'CREATE EXTENSION replace_flow');

# A session that takes statements one by one.
sub session
{
	my $session = { in => '', out => '', err => '' };
	$session->{psql} = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres') ],
		'<', \$session->{in}, '>', \$session->{out}, '2>', \$session->{err},
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	return $session;
}

sub begin
{
	my ($session, $sql) = @_;
	$session->{in} .= "$sql;\n";
	$session->{psql}->pump_nb while length $session->{in};
	return;
}

# Wait until all is done that the session was given; give what it printed.
sub end
{
	my ($session) = @_;
	$session->{in} .= "\\warn done\n";
	$session->{psql}->pump until $session->{err} =~ s/^done\n//m;
	my $out = $session->{out};
	$session->{out} = '';
	return $out;
}

sub run
{
	my ($session, $sql) = @_;
	begin($session, $sql);
	return end($session);
}

sub query { return $node->safe_psql('postgres', shift); }

sub sees
{
	my ($expected, $name) = @_;
	my $sql = q{SELECT string_agg(concat_ws(' ', flow, activity, phase, coalesce(rows_done::text, '-'),
		coalesce(rows_expected::text, '-')), ', ' ORDER BY flow, started_at) FROM replace_flow.progress};
	ok($node->poll_query_until('postgres', $sql, $expected), "$name: $expected") or diag('there is ' . query($sql));
	return;
}

sub flow_state { return query(q{SELECT state FROM replace_flow.flows WHERE flow = 'f'}); }

my $gatekeeper = session();
my $runner = session();
my $pid = run($runner, 'SELECT pg_backend_pid()') + 0;

sub shut { run($gatekeeper, "SELECT pg_advisory_lock($_)") foreach @_; return; }
sub open_up { run($gatekeeper, "SELECT pg_advisory_unlock($_)") foreach @_; return; }

# From the beginning of a run to its end.
query(q{INSERT INTO stream SELECT k, 1, CASE k WHEN 5000 THEN 10 END FROM generate_series(1, 6000) AS k});
shut(10 .. 13);
run($gatekeeper, 'BEGIN; LOCK TABLE target IN ROW EXCLUSIVE MODE');
begin($runner, q{SELECT run_id FROM replace_flow.apply('f')});
sees('f run waiting for locks - -', 'a run that waits for a lock');
is(query("SELECT pid = $pid, run_id IS NULL, started_at <= now() FROM replace_flow.progress"), 't|t|t', 'it has no number yet');
is(flow_state(), 'running', 'its flow is running');
run($gatekeeper, 'COMMIT');
sees('f run reading 4096 6000', 'rows are counted, some thousand at a time');
my $run_id = query('SELECT run_id FROM replace_flow.progress');
is(query("SELECT query FROM pg_stat_activity WHERE pid = $pid"), q{SELECT run_id FROM replace_flow.apply('f');},
	'pg_stat_activity shows what the client has called');
is(query('SET ROLE stranger; SELECT count(*) FROM replace_flow.progress; SELECT count(*) FROM replace_flow.runs_under_way()'),
	"0\n0", 'a role sees nothing of flows that it may not run (A9)');
is($node->safe_psql('other', 'SELECT count(*) FROM replace_flow.runs_under_way()'), '0', 'nor does one in another database');
open_up(10);
sees('f run inserting - 6000', 'what is written');
open_up(11);
sees('g run firing triggers - -', 'a run within a run is seen in its place');
open_up(12);
sees('f run inserting - 6000', 'and then the outer one again');
open_up(13);
is(end($runner), "$run_id\n", 'its number was that of its record');
sees('', 'nothing is seen of a run that is over');
is(flow_state(), 'active', 'nor is its flow running');

# Two at once, one of a where flow.
my $other = session();
query('INSERT INTO stream VALUES (1, 2, 10)');
shut(10, 20, 21);
begin($runner, q{SELECT replace_flow.apply('f')});
begin($other, q{SELECT replace_flow.refresh('w')});
sees('f run reading 0 1, w run reading 0 -', 'two runs');
open_up(10);
end($runner);
sees('w run reading 0 -', 'one has ended');
open_up(20);
sees('w run firing triggers - -', 'the other goes on');
open_up(21);
end($other);
sees('', 'both have ended');

# A preview can take as long; the flow is not running.
query('INSERT INTO stream VALUES (7000, 1, 10)');
shut(10);
begin($runner, q{SELECT * FROM replace_flow.preview('f')});
sees('f preview reading 0 -', 'a preview');
is(flow_state(), 'active', 'a flow that is previewed is not running');

# However it ends.
query("SELECT pg_cancel_backend($pid)");
end($runner);
like($runner->{err}, qr/canceling statement/, 'a preview is cancelled');
sees('', 'a cancelled preview');
run($runner, 'BEGIN; SAVEPOINT a');
begin($runner, q{SELECT replace_flow.apply('f')});
sees('f run reading 0 1', 'a run in a subtransaction');
query("SELECT pg_cancel_backend($pid)");
end($runner);
sees('', 'a cancelled run, its transaction still open');
run($runner, 'ROLLBACK TO a');
begin($runner, q{SELECT replace_flow.apply('f')});
sees('f run reading 0 1', 'another one in this transaction');
open_up(10);
run($runner, 'ROLLBACK');
sees('', 'a run that was rolled back');

# An error within, which the caller handles before it goes on.
shut(12, 14);
begin($runner, q{
	DO $$BEGIN
		ALTER TABLE inner_target ADD CHECK (s = 0) NOT VALID;
		BEGIN
			PERFORM replace_flow.apply('f');
		EXCEPTION WHEN check_violation THEN
			PERFORM pass(14);
		END;
	END$$});
ok($node->poll_query_until('postgres',
	q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 14 AND NOT granted}), 'runs fail within each other');
sees('', 'both are over');
open_up(12, 14);
end($runner);
query('ALTER TABLE inner_target DROP CONSTRAINT inner_target_s_check');

shut(10);
begin($runner, q{SELECT replace_flow.apply('f')});
sees('f run reading 0 1', 'a run whose backend will be terminated');
query("SELECT pg_terminate_backend($pid)");
sees('', 'a terminated backend');
open_up(10);
is(query(q{SELECT rows_read FROM replace_flow.apply('f')}), '1', 'what was staged is still there');

$runner->{psql}->kill_kill;
foreach my $session ($gatekeeper, $other)
{
	$session->{in} .= "\\q\n";
	$session->{psql}->finish;
}
$node->stop;
done_testing();
