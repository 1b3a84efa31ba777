# F1, F4: the worker serves every database that has the extension, whenever that
# came, and no other; and it is not in the way of those who drop, rename or copy
# a database.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Utils;
use Test::More;
use Worker;

# room for a process in each database
my $node = worker_node('main', 'max_worker_processes = 40');

my $flow = q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE target (k int PRIMARY KEY, s int);
	CREATE TABLE stream (LIKE target);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
} . hold_on('target');

my $staged = 0;

# Stage a row with a new key.
sub stage
{
	my ($database) = @_;

	$staged++;
	$node->safe_psql($database, "INSERT INTO stream VALUES ($staged, 1)");
}

sub schedulers_are
{
	my ($expected, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	becomes($node, 'postgres',
		q{SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_stat_activity
			WHERE backend_type = 'replace_flow scheduler'}, $expected, $name);
}

# A run that does not get on.
sub hold_a_run
{
	my ($database) = @_;

	$node->safe_psql($database, 'INSERT INTO held VALUES (1)');
	stage($database);
	becomes_held($node, $database);
}

# Nothing is lost or doubled: all staged rows were consumed once, and are there.
sub settles
{
	my ($database, $rows, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	becomes($node, $database, q{SELECT (SELECT count(*) FROM stream), (SELECT count(*) FROM target),
		(SELECT sum(rows_staged) FROM replace_flow.run WHERE status = 'succeeded')},
		"0|$rows|$rows", $name);
	is($node->safe_psql($database, q{SELECT count(*) FROM replace_flow.run WHERE status = 'running'}),
		'0', 'no run is said to be running');
}

# A launcher that only looked when the server started would never see these.
schedulers_are('', 'no database has the extension, and none has a process');
$node->safe_psql('postgres', $flow);
stage('postgres');
settles('postgres', 1, 'the extension came later');
$node->safe_psql('postgres', 'CREATE DATABASE plain');
$node->safe_psql('postgres', 'CREATE DATABASE later');
$node->safe_psql('later', $flow);
stage('later');
settles('later', 1, 'the database came later');
schedulers_are('later postgres', 'a database without the extension has no process');

# A database that comes with the extension and with staged rows, which no session
# in it has ever told anybody of.
$node->safe_psql('later', q{SELECT replace_flow.pause_flow('f')});
stage('later');
$node->safe_psql('postgres', 'CREATE DATABASE paused TEMPLATE later');
$node->safe_psql('paused', q{SELECT replace_flow.resume_flow('f')});
settles('paused', 2, 'a copy of a database is served');
$node->safe_psql('later', q{SELECT replace_flow.resume_flow('f')});
settles('later', 2, 'and so is the original');
hold_a_run('later');
$node->safe_psql('postgres', 'CREATE DATABASE copied TEMPLATE later');
for my $database (qw(later copied))
{
	$node->safe_psql($database, 'DELETE FROM held');
	settles($database, 3, "$database: rows of a run that the copying ended are applied");
}
schedulers_are('copied later paused postgres', 'all databases with the extension are served');

# Dropped and renamed while the worker is there and at work.
hold_a_run('paused');
$node->safe_psql('postgres', 'ALTER DATABASE paused RENAME TO renamed');
$node->safe_psql('renamed', 'DELETE FROM held');
settles('renamed', 3, 'a database was renamed in the middle of a run');
hold_a_run('renamed');
$node->safe_psql('postgres', 'DROP DATABASE renamed');
schedulers_are('copied later postgres', 'a database was dropped in the middle of a run');
$node->safe_psql('postgres', 'DROP DATABASE copied');
schedulers_are('later postgres', 'an idle database was dropped');
$node->safe_psql('postgres', 'DROP DATABASE later WITH (FORCE)');
$node->safe_psql('postgres', 'CREATE DATABASE later');
$node->safe_psql('later', $flow);
stage('later');
settles('later', 1, 'a database of the same name is another one');

# Who is alone in a database may copy it, and has no other sessions to end; many
# times in a row too, and the worker does not come back later and later.
for my $time (1 .. 6)
{
	$node->safe_psql('later', 'CREATE DATABASE copied TEMPLATE later');
	$node->safe_psql('postgres', 'DROP DATABASE copied');
	stage('later');
	settles('later', 1 + $time, 'a session has copied its own database, and the worker is back');
}

# Somebody else's sessions: the command fails as it does without us, and the
# worker comes back.
my $other = begin_psql($node, 'later', q{SELECT pg_sleep(600)});
becomes($node, 'postgres',
	q{SELECT count(*) FROM pg_stat_activity WHERE datname = 'later' AND query LIKE '%pg_sleep(600)%'},
	'1', 'another session is there');
for my $time (1 .. 2)
{
	my ($status, $out, $error) = $node->psql('postgres', 'DROP DATABASE later');
	like($error, qr/database "later" is being accessed by other users/, 'DROP DATABASE fails as usual');
	like($error, qr/There is 1 other session/, 'and does not count the processes of the worker');
	stage('later');
	settles('later', 7 + $time, 'the worker is back');
}
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
	WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()});
$other->finish;

# Who may not do it does not disturb anybody.
my $scheduler = pid($node, 'scheduler', 'later');
hold_a_run('later');
my $worker = pid($node, 'worker', 'later');
$node->safe_psql('postgres', 'CREATE ROLE stranger LOGIN');
$node->safe_psql('postgres', 'CREATE ROLE creator LOGIN CREATEDB');
for my $command (
	'DROP DATABASE later', 'ALTER DATABASE later RENAME TO mine',
	'ALTER DATABASE later SET TABLESPACE pg_default', 'CREATE DATABASE mine TEMPLATE later')
{
	for my $role (qw(stranger creator))
	{
		my ($status, $out, $error) = $node->psql('postgres', $command, extra_params => [ '-U', $role ]);
		like($error, qr/must be (the )?owner|permission denied/, "$role may not: $command");
	}
}
is(pid($node, 'scheduler', 'later'), $scheduler, 'the scheduler was not sent away');
is(pid($node, 'worker', 'later'), $worker, 'nor was the run ended');
$node->safe_psql('later', 'DELETE FROM held');
settles('later', 10, 'and it succeeds');

# Anybody who may create databases may copy a template.
$node->safe_psql('template1', $flow);
schedulers_are('later postgres template1', 'a template can be served');
$node->safe_psql('postgres', 'CREATE DATABASE of_creator', extra_params => [ '-U', 'creator' ]);
stage('of_creator');
settles('of_creator', 1, 'the extension came with template1');

# Several sessions copy it at the same time.  Each has to keep the worker out until
# the last of them is done.
my @sessions = map {
	my $session = $_;
	begin_psql($node, 'postgres', map { "CREATE DATABASE copy_${session}_$_" } 1 .. 4)
} 1 .. 3;
$_->finish for @sessions;
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_database WHERE datname LIKE 'copy\_%'}), '12',
	'sessions copy the same template');
for my $copy (split /\n/, $node->safe_psql('postgres', q{SELECT datname FROM pg_database WHERE datname LIKE 'copy\_%'}))
{
	$node->safe_psql('postgres', "DROP DATABASE $copy");
}

# Nobody can be connected to it: no process, and no errors.
my $offset = -s $node->logfile;
$node->safe_psql('postgres', 'ALTER DATABASE later ALLOW_CONNECTIONS false');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity
	WHERE datname = 'later'});
schedulers_are('of_creator postgres template1', 'a database without connections is not served');
$node->safe_psql('postgres', 'ALTER DATABASE later ALLOW_CONNECTIONS true');
stage('later');
settles('later', 11, 'and is again when it can be');

is(count_in_log($node, qr/ERROR:|PANIC:|TRAP|FATAL:(?!.*terminating background worker)/, $offset), 0,
	'the log has no errors');
is(count_in_log($node, qr/WARNING:|could not start/), 0, 'nor warnings');

$node->stop;
done_testing();
