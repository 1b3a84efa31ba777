# F1: a large backlog is applied in several runs, and rows that come meanwhile are
# applied too, whichever run their keys would have belonged to.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Worker;

my $node = worker_node('main', 'replace_flow.max_batch_rows = 10');

$node->safe_psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE target (k int PRIMARY KEY, s int);
	CREATE TABLE stream (LIKE target);
	SELECT replace_flow.create_using_flow('target', 'stream', '{k}', 's', name => 'f');
} . hold_on('target'));

# The first run has taken its rows from the stream, and newer ones of the same keys come.
$node->safe_psql('postgres', q{
	INSERT INTO held VALUES (1);
	INSERT INTO stream SELECT k, 1 FROM generate_series(1, 40) AS k});
becomes_held($node, 'postgres');
is($node->safe_psql('postgres', q{SELECT phase, rows_expected < 40 FROM replace_flow.progress}), 'inserting|t',
	'the first run has taken some of the keys');
$node->safe_psql('postgres', q{
	INSERT INTO stream SELECT k, 2 FROM generate_series(1, 40) AS k;
	DELETE FROM held});
becomes($node, 'postgres', 'SELECT count(*) FROM stream', '0', 'all rows are applied');
is($node->safe_psql('postgres', 'SELECT count(*), min(s) FROM target'), '40|2', 'the newer ones last');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM replace_flow.run'), '>', 4, 'in more than one round');
becomes($node, 'postgres', 'SELECT waiting_since IS NULL FROM replace_flow.flows', 't', 'and nothing waits');

$node->stop;
done_testing();
