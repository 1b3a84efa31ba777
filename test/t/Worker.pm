# Servers with the worker, and what tests of it wait for.

package Worker;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(worker_node query becomes soon pids pid count_in_log begin_psql
  hold_on becomes_held session finished reconfigure);

# "Within seconds", on a machine that has other things to do.
my $limit = 30;

# The server that a test made last.
my $last_node;

# A server with the worker, started.
sub worker_node
{
	my ($name, @settings) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(extra => ['--encoding=UTF8'], allows_streaming => 1);
	$node->append_conf('postgresql.conf', join("\n", 'fsync = off', 'restart_after_crash = on',
		'max_worker_processes = 16', "shared_preload_libraries = 'replace_flow'", @settings, ''));
	$node->start;
	$last_node = $node;
	return $node;
}

# What SQL gives there, in the database that each server has.
sub query { return $last_node->safe_psql('postgres', shift); }

# Within seconds a query gives this result; if not, what follows would only wait
# for the same.
sub becomes
{
	my ($node, $database, $query, $expected, $name) = @_;
	my $until = time() + $limit;
	my $result = '';
	my $error = '';

	do
	{
		(undef, $result, $error) = $node->psql($database, $query);
		return pass($name) if $result eq $expected;
		sleep(0.05);
	} while (time() < $until);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	diag($error) if $error ne '';
	is($result, $expected, $name);
	die 'no use in going on';
}

# The same, of the server that was made last and the database that each has.
sub soon
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return becomes($last_node, 'postgres', @_);
}

# The processes of a role (launcher, scheduler, worker), in a database if one is given.
sub pids
{
	my ($node, $role, $database) = @_;
	my $where = defined $database ? "AND datname = '$database'" : '';

	return split /\n/, $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'replace_flow $role' $where");
}

# The only one of them.
sub pid
{
	my @pids = pids(@_);

	die 'there are ' . scalar(@pids) . " of '$_[1]'" unless @pids == 1;
	return $pids[0];
}

# How often the log has a line since an offset.
sub count_in_log
{
	my ($node, $pattern, $offset) = @_;
	my @lines = split /\n/, slurp_file($node->logfile, $offset // 0);

	return scalar grep { $_ =~ $pattern } @lines;
}

# A session that runs statements meanwhile.
sub begin_psql
{
	my ($node, $database, @statements) = @_;

	return IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr($database), map { ('-c', $_) } @statements ],
		'<', '/dev/null', '>', '/dev/null', '2>', '/dev/null');
}

# SQL after which runs that write a table do not get on while "held" has a row.
sub hold_on
{
	my ($table) = @_;

	return qq{
		CREATE TABLE held (h int);
		CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS \$\$
		BEGIN
			WHILE EXISTS (SELECT FROM public.held) LOOP
				PERFORM pg_sleep(0.02);
			END LOOP;
			RETURN NULL;
		END \$\$;
		CREATE TRIGGER hold BEFORE INSERT OR UPDATE OR DELETE ON $table
		FOR EACH STATEMENT EXECUTE FUNCTION hold();
	};
}

# Such a run is under way; its process.
sub becomes_held
{
	my ($node, $database) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $run = qq{FROM pg_stat_activity WHERE backend_type = 'replace_flow worker'
		AND datname = '$database' AND query LIKE 'apply of%'};

	becomes($node, 'postgres', "SELECT count(*) $run AND wait_event = 'PgSleep'", '1', "a run in $database is under way");
	# it sleeps again and again, and may be awake now
	return $node->safe_psql('postgres', "SELECT pid $run");
}

# A session that runs a script meanwhile, of which we want to know what becomes.
# The script is in a file: what goes through a pipe is only sent when somebody
# waits.
my $scripts = 0;

sub session
{
	my ($node, $database, $script) = @_;
	my $file = $node->basedir . '/script_' . ++$scripts;
	my %session = (out => '', err => '');

	append_to_file($file, $script);
	$session{run} = IPC::Run::start(
		[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), '-f', $file ],
		'<', '/dev/null', '>', \$session{out}, '2>', \$session{err});
	return \%session;
}

# It ends well.  Gives what it printed.
sub finished
{
	my ($session, $name) = @_;

	ok($session->{run}->finish, $name) or diag($session->{err});
	return $session->{out};
}

# Change settings of the running server.
sub reconfigure
{
	my ($node, $settings) = @_;

	$node->append_conf('postgresql.conf', $settings);
	$node->reload;
	return;
}

1;
