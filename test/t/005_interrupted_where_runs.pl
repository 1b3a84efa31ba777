# O14, B16, D9, D11: a refresh of a million rows, and a backfill of them, can be
# interrupted at any moment, at once.  What was not done is as it was, and the next
# call does it.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\nmax_wal_size = 4GB");
$node->start;

# What an interrupted session may take to answer, on a machine that is busy.
my $at_once = 3;

# Half of the target's window is old, and so is what is outside of it.
$node->safe_psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE source (day int, k int, v text);
	INSERT INTO source SELECT 1 + g / 10000, g, 'row ' || g FROM generate_series(0, 999999) g;
	CREATE INDEX ON source (day);
	CREATE TABLE target (LIKE source);
	CREATE INDEX ON target (day);
	SELECT replace_flow.create_where_flow('target', 'SELECT * FROM source', 'day > 0', name => 'f');
	INSERT INTO target SELECT day - 50, k, v FROM source;
	VACUUM ANALYZE source, target;
});

# What is there, and what a run might have left behind.
my $state = q{
	SELECT 'target', count(*), sum(hashtextextended(t::text, 0)) FROM target t;
	SELECT 'runs', count(*) FROM replace_flow.run;
	SELECT 'locks', count(*) FROM pg_locks WHERE locktype = 'relation' AND pid <> pg_backend_pid()
		AND relation IN ('source'::regclass, 'target'::regclass);
	SELECT 'files', count(*) FROM pg_ls_tmpdir()};

sub state { return $node->safe_psql('postgres', $state) }

# Begin a statement in another session, and let it work for so many seconds.
my ($out, $err);

sub begin
{
	my ($statement, $seconds) = @_;
	($out, $err) = ('', '');
	my $run = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' application_name=run', '-c', $statement ],
		'<', '/dev/null', '>', \$out, '2>', \$err);
	$node->poll_query_until('postgres', qq{
		SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'run' AND state = 'active'
			AND clock_timestamp() > query_start + interval '$seconds s'})
	  or die 'the run did not get under way';
	return $run;
}

# End it; give the seconds that it took to end.
sub interrupt
{
	my ($run, $how) = @_;
	my $start = time;
	$node->safe_psql('postgres', "SELECT $how(pid) FROM pg_stat_activity WHERE application_name = 'run'");
	$run->finish;
	return time - $start;
}

# Refreshes.
my $before = state();
my $refresh = q{SELECT status FROM replace_flow.refresh('f')};
for my $timeout (100, 500, 1000, 1500)
{
	my $start = time;
	my ($status, $stdout, $stderr) = $node->psql('postgres',
		"SET statement_timeout = $timeout; $refresh; RESET statement_timeout; SELECT 'goes on';", on_error_stop => 0);
	like($stderr, qr/canceling statement due to statement timeout/, "statement_timeout of $timeout ms ends a run");
	cmp_ok(time - $start, '<', $timeout / 1000 + $at_once, 'at once');
	like($stdout, qr/goes on/, 'but not the session');
	is(state(), $before, 'nothing of it is left');
}
for my $how (qw(pg_cancel_backend pg_terminate_backend))
{
	for my $seconds (0.3, 1.2)
	{
		cmp_ok(interrupt(begin($refresh, $seconds), $how), '<', $at_once, "$how ends a run after $seconds s, at once");
		like($err, qr/canceling statement|terminating connection/, 'with a message');
		is(state(), $before, 'nothing of it is left');
	}
}

# Backfills.
my $call = q{CALL replace_flow.backfill('f', 'day', 1, 101, 1)};
my $consistent = q{
	SELECT slices_total, slices_done = (SELECT count(*) FROM replace_flow.run) FROM replace_flow.progress;
	-- the days that are done are right, the others as they were
	SELECT count(*) FROM (
		SELECT * FROM target WHERE day > 0
		EXCEPT ALL (SELECT * FROM source WHERE day > 100 - (SELECT slices_done FROM replace_flow.progress)
			UNION ALL SELECT day - 50, k, v FROM source WHERE day - 50 BETWEEN 1 AND 100 - (SELECT slices_done FROM replace_flow.progress))) d};
for my $how (qw(pg_cancel_backend pg_terminate_backend))
{
	cmp_ok(interrupt(begin($call, 0.7), $how), '<', $at_once, "$how ends a backfill, at once");
	like($err, qr/canceling statement|terminating connection/, 'with a message');
	is($node->safe_psql('postgres', $consistent), "100|t\n0", 'slices that were done are there, and no others');
}
my ($status, $stdout, $stderr) = $node->psql('postgres', "SET statement_timeout = '700ms'; $call");
like($stderr, qr/canceling statement due to statement timeout/, 'statement_timeout ends a backfill');
is($node->safe_psql('postgres', $consistent), "100|t\n0", 'slices that were done are there, and no others');

my $run = begin($call, 0.3);
$node->stop('immediate');
$run->finish;
$node->start;
is($node->safe_psql('postgres', $consistent), "100|t\n0", 'so they are after a crash of the server');

$node->safe_psql('postgres', $call);
is($node->safe_psql('postgres', q{
		SELECT count(*), count(DISTINCT predicate) FROM replace_flow.run;
		SELECT count(*) FROM replace_flow.backfill;
		SELECT count(*) FROM (SELECT * FROM source EXCEPT ALL SELECT * FROM target WHERE day > 0) d;
		SELECT count(*) FROM target WHERE day > 0}),
	"100|100\n0\n0\n1000000", 'in the end each slice was done once');
like($node->safe_psql('postgres', q{SELECT status, rows_unchanged FROM replace_flow.refresh('f')}),
	qr/^succeeded\|1000000$/, 'and a refresh finds nothing to do');

$node->stop;
done_testing();
