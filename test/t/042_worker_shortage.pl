# F2, F4: servers that have no room for the worker's processes, or that have not
# preloaded the library; and the worker's settings.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Worker;

# Without logical replication's launcher all background workers are ours.
my $node = worker_node('main', 'max_logical_replication_workers = 0', 'max_worker_processes = 3',
	'max_parallel_workers = 3', 'replace_flow.worker_idle_timeout = 0');

my $flow = q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE target (k int PRIMARY KEY, s int);
	CREATE TABLE stream (LIKE target);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
};
my $row = 'INSERT INTO stream SELECT coalesce(max(k), 0) + 1, 1 FROM target';
my $shortage = qr/replace_flow could not start a/;

sub rows_become
{
	my ($database, $rows, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return becomes($node, $database, 'SELECT (SELECT count(*) FROM target), (SELECT count(*) FROM stream)',
		"$rows|0", $name);
}

# Another's process takes the last place.  A scheduler that did not try again would
# leave the row; one that tried at once would flood the log.
$node->safe_psql('postgres', $flow);
$node->safe_psql('postgres', $row);
rows_become('postgres', 1, 'launcher, scheduler and one job have room');
$node->safe_psql('postgres', q{CREATE TABLE many WITH (parallel_workers = 2) AS SELECT generate_series(1, 10000) AS n});
becomes($node, 'postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'replace_flow worker'},
	'0', 'the job has ended');
my $parallel = begin_psql($node, 'postgres', q{SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off;
	SET max_parallel_workers_per_gather = 2; SELECT FROM many WHERE pg_sleep(60) IS NULL});
becomes($node, 'postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'},
	'1', 'a parallel query has taken its place');
$node->safe_psql('postgres', $row);
becomes($node, 'postgres', q{SELECT now() - waiting_since > '4 s' FROM replace_flow.flows}, 't',
	'the row waits for several tries');
is(count_in_log($node, $shortage), 1, 'of which one is in the log');
$node->safe_psql('postgres', q{SELECT pg_cancel_backend(leader_pid) FROM pg_stat_activity
	WHERE backend_type = 'parallel worker'});
$parallel->finish;
rows_become('postgres', 2, 'when there is a place again the row is applied');

# More databases than places.
$node->safe_psql('postgres', 'CREATE DATABASE second');
$node->safe_psql('postgres', 'CREATE DATABASE third');
$node->safe_psql('second', $flow);
becomes($node, 'postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'replace_flow scheduler'},
	'2', 'two schedulers and the launcher take all places');
$node->safe_psql('third', $flow);
$node->safe_psql('third', $row);
$node->safe_psql('second', 'DROP EXTENSION replace_flow CASCADE');
$node->safe_psql('postgres', 'DROP EXTENSION replace_flow CASCADE');
rows_become('third', 1, 'until others need none');
cmp_ok(count_in_log($node, $shortage), '<=', 4, 'the log is not flooded');

# No place for a job, for a scheduler, for the launcher.
for my $places (2, 1, 0)
{
	$node->append_conf('postgresql.conf', "max_worker_processes = $places");
	my $offset = -s $node->logfile;
	$node->restart;
	$node->safe_psql('third', $row);
	is($node->safe_psql('third', q{SELECT status, rows_inserted FROM replace_flow.apply('f')}),
		'succeeded|1', "with room for $places processes one can apply by hand");
	$node->safe_psql('postgres', 'CREATE DATABASE fourth TEMPLATE third');
	$node->safe_psql('postgres', 'DROP DATABASE fourth');
	is($node->safe_psql('third', q{SELECT count(*) FROM replace_flow.flows}), '1', 'views work');
	cmp_ok(count_in_log($node, $shortage, $offset), '<=', 1, 'the log is not flooded');
}
$node->append_conf('postgresql.conf', 'max_worker_processes = 8');
$node->restart;
$node->safe_psql('third', $row);
rows_become('third', 5, 'with more room the worker works');

# Settings.
sub setting_is
{
	my ($setting, $value, $name) = @_;

	$node->append_conf('postgresql.conf', "replace_flow.$setting");
	$node->reload;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	$setting =~ s/ .*//;
	return becomes($node, 'postgres', "SHOW replace_flow.$setting", $value, $name);
}

my $offset = -s $node->logfile;
setting_is('max_workers = 0', '0', 'no jobs');
$node->safe_psql('third', $row);
becomes($node, 'third', q{SELECT now() - waiting_since > '1 s' FROM replace_flow.flows}, 't', 'rows wait');
is($node->safe_psql('third', 'SELECT count(*) FROM stream'), '1', 'as long as there are no jobs');
setting_is('max_workers = 2', '2', 'jobs again');
rows_become('third', 6, 'and they work, at once');
for my $bad ('max_workers = -1', 'max_workers = 1025', 'max_backoff = 999ms', 'max_retries = -1',
	'max_batch_rows = -1', 'worker_idle_timeout = -1')
{
	my ($name, $value) = $bad =~ /(\w+) = (.*)/;
	my (undef, undef, $error) = $node->psql('postgres', "ALTER SYSTEM SET replace_flow.$name = '$value'");
	like($error, qr/is outside the valid range for parameter "replace_flow\.$name"/, "$bad is refused");
}
for my $set ('max_workers = 3', 'max_backoff = 10s', 'max_retries = 1', 'max_batch_rows = 10',
	'worker_idle_timeout = 2s')
{
	my ($name, $value) = $set =~ /(\w+) = (.*)/;
	setting_is("$name = $value", $value, "$set is taken by reload");
	my (undef, undef, $error) = $node->psql('postgres', "SET replace_flow.$name = '$value'");
	like($error, qr/cannot be changed now/, 'and not by a session');
}
my (undef, undef, $error) = $node->psql('postgres', q{SET replace_flow.max_werkers = 3});
like($error, qr/invalid configuration parameter name "replace_flow.max_werkers"/, 'a typing error is found');
$node->append_conf('postgresql.conf', 'replace_flow.max_werkers = 3');
$node->restart;
is(count_in_log($node, qr/WARNING:  invalid configuration parameter name "replace_flow.max_werkers"/), 1,
	'also in the file');

# The library is not preloaded: there is no worker, and all else works.
$node->adjust_conf('postgresql.conf', 'replace_flow.max_werkers', undef);
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$offset = -s $node->logfile;
$node->restart;
$node->safe_psql('third', $row);
is($node->safe_psql('third', q{SELECT status, rows_inserted FROM replace_flow.apply('f')}),
	'succeeded|1', 'one can apply by hand without preloading');
is($node->safe_psql('third', q{SELECT state, backlog_rows, waiting_since FROM replace_flow.flows;
	SELECT count(*) FROM replace_flow.progress}), "active|0|\n0", 'and views work');
$node->safe_psql('third', q{SELECT replace_flow.drop_flow('f')});
$node->safe_psql('postgres', 'CREATE DATABASE fourth TEMPLATE template0');
$node->safe_psql('fourth', $flow);
$node->safe_psql('postgres', 'DROP DATABASE fourth');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'replace\_flow%'}),
	'0', 'there is no process of ours');
is(count_in_log($node, qr/ERROR:/, $offset), 0, 'and no error');

$node->stop;
done_testing();
