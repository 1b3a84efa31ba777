# O14, B2, B16: a run that is interrupted leaves everything as it was, and the
# next one does all of the work.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', 'fsync = off');
$node->start;

$node->safe_psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE target (k int, s int, v text);
	CREATE INDEX ON target (k);
	CREATE TABLE stream (LIKE target);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
	INSERT INTO stream SELECT g % 1000, 1, 'old' FROM generate_series(1, 10000) g;
	SELECT replace_flow.apply('f');
	INSERT INTO stream SELECT g % 1000, 2, 'new ' || g FROM generate_series(1, 10000) g;

	-- a target that a run has to work on for a while
	CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END $$;
	CREATE TRIGGER dawdle BEFORE INSERT OR UPDATE ON target
		FOR EACH ROW EXECUTE FUNCTION dawdle();
});

sub state
{
	return $node->safe_psql('postgres', q{
		SELECT 'target', s, count(*), count(DISTINCT v) FROM target GROUP BY s
		UNION ALL SELECT 'stream', s, count(*), count(DISTINCT v) FROM stream GROUP BY s
		UNION ALL SELECT 'runs', 0, count(*), 0 FROM replace_flow.run
		ORDER BY 1, 2});
}

my $before = state();
is($before, "runs|0|1|0\nstream|2|10000|10000\ntarget|1|10000|1", 'a batch is staged');

my ($status, $out, $err);

($status, $out, $err) = $node->psql('postgres',
	q{SET statement_timeout = '300ms'; SELECT replace_flow.apply('f')});
like($err, qr/canceling statement due to statement timeout/, 'statement_timeout ends a run');
is(state(), $before, 'nothing was done before statement_timeout');

# Begin a run in another session, and wait until it writes the target.
my ($run_out, $run_err);

sub begin_run
{
	($run_out, $run_err) = ('', '');
	my $run = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' application_name=run',
			'-c', q{SELECT status FROM replace_flow.apply('f')} ],
		'<', '/dev/null', '>', \$run_out, '2>', \$run_err);
	$node->poll_query_until('postgres',
		q{SELECT count(*) = 1 FROM pg_stat_activity
			WHERE application_name = 'run' AND wait_event = 'PgSleep'})
	  or die 'the run did not get under way';
	return $run;
}

my $run = begin_run();
$node->safe_psql('postgres',
	q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'run'});
$run->finish;
like($run_err, qr/canceling statement due to user request/, 'a run can be cancelled');
is(state(), $before, 'nothing was done before the cancel');

$run = begin_run();
$node->safe_psql('postgres',
	q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'run'});
$run->finish;
is(state(), $before, 'nothing was done before the session was terminated');

$run = begin_run();
$node->stop('immediate');
$run->finish;
$node->start;
is(state(), $before, 'nothing was done before the server crashed');

$node->safe_psql('postgres', q{DROP TRIGGER dawdle ON target});
is( $node->safe_psql('postgres', q{SELECT status, rows_staged, rows_read FROM replace_flow.apply('f')}),
	'succeeded|10000|10000', 'the next run takes the whole batch');
is(state(), "runs|0|2|0\ntarget|2|10000|10000", 'and replaces all sets, once');

$node->stop;
done_testing();
