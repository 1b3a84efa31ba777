# Servers that fail at a failpoint, and come back.

package Failpoints;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(node_with_failpoints fails);

# A server with the extension in its database; all tests are skipped if it has no
# failpoints.
sub node_with_failpoints
{
	my $node = PostgreSQL::Test::Cluster->new('main');

	$node->init(extra => ['--encoding=UTF8']);
	$node->append_conf('postgresql.conf', "fsync = off\nrestart_after_crash = on");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION replace_flow');
	if ($node->safe_psql('postgres', q{
			SELECT FROM replace_flow.regcolumn_in('1.1');
			SELECT count(*) FROM pg_settings WHERE name = 'replace_flow.failpoint'}) eq '0')
	{
		plan skip_all => 'not built with FAILPOINTS=1';
	}
	return $node;
}

# Run a statement that fails at a point; the server is there again afterwards.
sub fails
{
	my ($node, $way, $point, $statement) = @_;
	my $checkpointer = $node->safe_psql('postgres',
		q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'});
	my ($status, $out, $err) = $node->psql('postgres',
		"LOAD 'replace_flow'; SET replace_flow.failpoint = '$way: $point'; $statement");

	if ($way eq 'error')
	{
		like($err, qr/failpoint "error: \Q$point\E"/, "$way: $point is reached");
	}
	else
	{
		isnt($status, 0, "$way: $point is reached");
	}
	if ($way eq 'stop')
	{
		# the postmaster is on its way out, not ended by pg_ctl
		$node->{_pid} = undef;
		PostgreSQL::Test::Utils::system_log('pg_ctl', '-D', $node->data_dir, '-w', '-m', 'immediate', 'stop')
			if -e $node->data_dir . '/postmaster.pid';
		$node->start;
	}
	# after a kill the postmaster takes its time to notice, and ends the others
	my $came_back = $way eq 'kill' ? "pid <> $checkpointer" : 'true';
	$node->poll_query_until('postgres',
		"SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'checkpointer' AND $came_back")
	  or die 'the server does not come back';
}

1;
