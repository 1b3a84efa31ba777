# F4: whatever ends a process of the worker, or the server, in the middle of a run
# or while it is idle: nothing is lost or doubled, no run stays running, a shutdown
# is not held up, and the worker is back within seconds.
#
# A run whose rows were not put back, or a process that nobody starts again, would
# leave the stream as it is; one that is applied twice would count its rows twice.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use Worker;

my $node = worker_node('main');

$node->safe_psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE target (k int PRIMARY KEY, s int);
	CREATE TABLE stream (LIKE target);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
} . hold_on('target'));

my $staged = 0;

sub stage
{
	$staged++;
	$node->safe_psql('postgres', "INSERT INTO stream VALUES ($staged, 1)");
}

sub settles
{
	my ($name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	becomes($node, 'postgres', q{SELECT (SELECT count(*) FROM stream), (SELECT count(*) FROM target),
		(SELECT sum(rows_staged) FROM replace_flow.run WHERE status = 'succeeded'),
		(SELECT count(*) FROM replace_flow.progress)},
		"0|$staged|$staged|0", $name);
	is($node->safe_psql('postgres', q{SELECT count(*) FROM replace_flow.run WHERE status = 'running'}),
		'0', 'no run is said to be running');
}

sub hold_a_run
{
	$node->safe_psql('postgres', 'INSERT INTO held VALUES (1)');
	stage();
	return becomes_held($node, 'postgres');
}

sub go_on
{
	$node->safe_psql('postgres', 'DELETE FROM held');
}

# There is a process again, and it is another one.
sub come_back
{
	my ($role, $pid) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	becomes($node, 'postgres', qq{SELECT count(*) FROM pg_stat_activity
		WHERE backend_type = 'replace_flow $role' AND pid <> $pid}, '1', "a new $role is there");
}

sub signal_backend
{
	my ($function, $pid) = @_;

	$node->safe_psql('postgres', "SELECT $function($pid)");
}

stage();
settles('the worker works');

# Idle processes.
for my $role (qw(worker scheduler launcher))
{
	my ($pid) = pids($node, $role);

	signal_backend('pg_cancel_backend', $pid);
	stage();
	settles("$role, idle, was cancelled");
	is((pids($node, $role))[0], $pid, 'and did not mind');
	signal_backend('pg_terminate_backend', $pid);
	stage();
	settles("$role, idle, was terminated");
	come_back($role, $pid);
}

# In the middle of a run.
signal_backend('pg_cancel_backend', hold_a_run());
becomes($node, 'postgres', q{SELECT status || ' ' || error_code FROM replace_flow.run
	ORDER BY run_id DESC LIMIT 1}, 'failed 57014', 'a run was cancelled, which is recorded');
go_on();
settles('a cancelled run is done again');
signal_backend('pg_terminate_backend', hold_a_run());
becomes($node, 'postgres', q{SELECT status || ' ' || error_code FROM replace_flow.run
	ORDER BY run_id DESC LIMIT 1}, 'failed 57P01', 'a run was terminated, which is recorded');
go_on();
settles('a terminated run is done again');
for my $role (qw(scheduler launcher))
{
	my $pid = pid($node, $role);

	hold_a_run();
	signal_backend('pg_terminate_backend', $pid);
	come_back($role, $pid);
	go_on();
	stage();
	settles("$role was terminated in the middle of a run");
}

# A flow that is run by hand when the worker's process goes.
my $held = hold_a_run();
my $manual = begin_psql($node, 'postgres', q{SELECT replace_flow.apply('f')});
becomes($node, 'postgres', q{SELECT count(*) FROM pg_stat_activity
	WHERE query LIKE '%apply(''f'')%' AND wait_event_type = 'Lock'}, '1', 'a run by hand waits');
signal_backend('pg_terminate_backend', $held);
go_on();
$manual->finish;
settles('the run by hand takes over');

# kill -9: the server starts anew, and all of it with it.
for my $role (qw(launcher scheduler worker))
{
	for my $when (qw(idle busy))
	{
		stage();
		settles('the worker works');
		my $held = $when eq 'busy' ? hold_a_run() : 0;
		my $pid = $role eq 'worker' && $held ? $held : (pids($node, $role))[0];
		my $checkpointer = $node->safe_psql('postgres',
			q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'});

		kill 'KILL', $pid;
		becomes($node, 'postgres', qq{SELECT count(*) FROM pg_stat_activity
			WHERE backend_type = 'checkpointer' AND pid <> $checkpointer}, '1',
			"$role, $when, was killed: the server has started anew");
		go_on();
		settles('all is applied with no further call');
		come_back('launcher', $pid);
		come_back('scheduler', $pid);
	}
}

# Shutdown.
for my $mode (qw(smart fast immediate))
{
	hold_a_run();
	my $begun = time();
	$node->stop($mode);
	cmp_ok(time() - $begun, '<', 10, "$mode shutdown is not held up by a run");
	$node->start;
	go_on();
	settles("after a $mode shutdown the rows are applied");
}

# What all this leaves in the log is what others say: no error of ours, no flood.
is(count_in_log($node, qr/PANIC|TRAP|could not start/), 0, 'nothing went wrong');
cmp_ok(count_in_log($node, qr/ERROR:/), '<', 30, 'and the log is not flooded');

$node->stop;
done_testing();
