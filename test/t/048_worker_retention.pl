# replace_flow.run_retention: the worker removes old records of the runs of its
# flows, which would else grow for ever; but neither the last run that succeeded,
# since the next one is not the first, nor rejected rows, nor records of flows that
# it does not run.
#
# Were nothing removed, the first soon() would fail; were too much, the is() after it.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use Test::More;
use Worker;

my $node = worker_node('main');

query(q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE stream (k int, s int);
	SELECT replace_flow.create_using_flow('swept', 'stream', '{k}', 's');
	SELECT replace_flow.add_expectation('swept', 'small', 'k < 100', 'drop');
	CREATE TABLE other_stream (k int, s int);
	SELECT replace_flow.create_using_flow('by_hand', 'other_stream', '{k}', 's', auto_apply => false)});

# Each flow has run for some weeks, one run in two days.
my $history = q{
	INSERT INTO replace_flow.run (flow, kind, status, started_at, finished_at, definition_version, flow_id)
	SELECT f.name, 'using', CASE n % 10 WHEN 0 THEN 'failed' WHEN 1 THEN 'skipped' ELSE 'succeeded' END,
		now() - n * interval '2 days', now() - n * interval '2 days', 1, f.flow_id
	FROM replace_flow.flow f CROSS JOIN generate_series(40, 1, -1) n ORDER BY n DESC;
	INSERT INTO replace_flow.expectation_result SELECT run_id, 'small', 'drop', 1, 1 FROM replace_flow.run
	ON CONFLICT DO NOTHING;
	INSERT INTO replace_flow.rejected (flow, run_id, expectation, "row", flow_id)
	SELECT flow, run_id, 'small', '{}', flow_id FROM replace_flow.run WHERE finished_at < now() - interval '79 days'};

# A new scheduler has swept nothing yet.
sub run_after_restart
{
	my ($sequence, $name) = @_;

	$node->restart;
	query("INSERT INTO stream VALUES (1, $sequence)");
	soon('SELECT (SELECT count(*) FROM stream), max(s) FROM swept', "0|$sequence", $name);
	return;
}

my $old = q{FROM replace_flow.run WHERE finished_at < now() - interval '30 days'};

query($history);
$node->append_conf('postgresql.conf', 'replace_flow.run_retention = -1');
run_after_restart(1, 'a run while records are kept for ever');
is(query("SELECT count(*) $old"), '52', 'removes nothing');
$node->append_conf('postgresql.conf', q{replace_flow.run_retention = '30d'});
run_after_restart(2, 'a run while they are kept for thirty days');
soon("SELECT count(*) $old AND flow = 'swept'", '0', 'removes the old ones');
is(query(q{SELECT count(*) FROM replace_flow.run WHERE flow = 'swept' AND finished_at < now() - interval '1 day'}), '14',
	'and no others');
is(query("SELECT count(*) $old"), '26', 'nor those of a flow that the worker does not run');
is(query(q{SELECT count(*) FROM replace_flow.expectation_result e
	WHERE NOT EXISTS (SELECT FROM replace_flow.run r WHERE r.run_id = e.run_id)}), '0', 'their results go with them');
is(query('SELECT flow, count(*) FROM replace_flow.rejected GROUP BY flow ORDER BY flow'), "by_hand|1\nswept|1",
	'rejected rows stay');

# Of a flow that has not succeeded for long the last success is known.
query(q{
	DELETE FROM replace_flow.run WHERE flow = 'swept';
	ALTER TABLE swept ADD CHECK (k <> 2)});
query($history);
query(q{
	UPDATE replace_flow.run SET status = 'failed' WHERE flow = 'swept' AND finished_at > now() - interval '70 days';
	INSERT INTO stream VALUES (2, 3)});
$node->restart;
soon("SELECT status, count(*) $old AND flow = 'swept' GROUP BY status", 'succeeded|1', 'the last run that succeeded stays');
is(query(q{SELECT count(*) FROM stream}), '1', 'and the staged row');

$node->stop;
done_testing();
