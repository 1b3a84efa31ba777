# What flows have seen, and what has changed since, outlives crashes, a promotion, and
# transactions that are prepared; and a dump leaves it out without anything being missed.
# E1: the window is what the query gives, however it was made.  E6: what was open during a
# run is seen by the next one.  A13: after a restore the first refresh is complete.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => ['--encoding=UTF8'], allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
fsync = off
autovacuum = off
max_prepared_transactions = 5
# whoever waits fails
lock_timeout = '2s'
});
$node->start;

# The server, and the database there, of which the tests are.
my $server = $node;
my $database = 'postgres';

sub query { return $server->safe_psql($database, shift); }

sub crash
{
	$server->stop('immediate');
	$server->start;
	return;
}

query(q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE event (day int, k int, n int);
	CREATE TABLE label (k int PRIMARY KEY, label text);
	CREATE TABLE event_part (day int, n int) PARTITION BY LIST (day);
	CREATE TABLE event_part_10 PARTITION OF event_part FOR VALUES IN (10);
	CREATE TABLE event_part_11 PARTITION OF event_part FOR VALUES IN (11);
	INSERT INTO event SELECT 8 + i % 5, i % 3, 1 FROM generate_series(1, 300) AS i;
	INSERT INTO label VALUES (0, 'none'), (1, 'one'), (2, 'two');
	INSERT INTO event_part SELECT 10 + i % 2, 1 FROM generate_series(1, 10) AS i;
	CREATE VIEW fresh AS SELECT day, k, label, sum(n) AS total FROM event JOIN label USING (k) GROUP BY day, k, label;
	CREATE VIEW fresh_part AS SELECT day, count(*) AS events, sum(n) AS total FROM event_part GROUP BY day;
	SELECT replace_flow.create_where_flow('target', 'TABLE fresh', 'day >= 10', name => 'flow'),
		replace_flow.create_where_flow('second', 'TABLE fresh', 'day >= 10'),
		replace_flow.create_where_flow('part', 'TABLE fresh_part', 'day >= 10');
});

# Rows of a flow's window that are missing or superfluous.
sub wrong
{
	my ($target, $fresh) = @_;
	return query(qq{
		SELECT 'missing in $target', t::text FROM (SELECT * FROM $fresh WHERE day >= 10 EXCEPT ALL SELECT * FROM $target WHERE day >= 10) AS t
		UNION ALL
		SELECT 'superfluous in $target', t::text FROM (SELECT * FROM $target WHERE day >= 10 EXCEPT ALL SELECT * FROM $fresh WHERE day >= 10) AS t});
}

# How a flow is refreshed; then its window must be right.
sub refreshed
{
	my ($flow) = @_;
	my $target = $flow eq 'flow' ? 'target' : $flow;
	my $result = query(qq{
		SELECT concat_ws(' ', technique, (SELECT string_agg(split_part(reason, ':', 1), ', ') FROM unnest(reasons) AS reason))
		FROM replace_flow.refresh('$flow')});
	my $wrong = wrong($target, $flow eq 'part' ? 'fresh_part' : 'fresh');
	return $wrong eq '' ? $result : "$result, WRONG: $wrong";
}

# A flow is refreshed as expected, and then needs nothing.
sub comes
{
	my ($flow, $expected, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(refreshed($flow), $expected, $name);
	is(refreshed($flow), 'NO_OP', "$name: once");
	return;
}

sub all_come
{
	my ($name, @expected) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	comes($_, shift @expected, "$name: $_") for qw(flow second part);
	return;
}

my $insert = q{INSERT INTO event VALUES (10, 1, 10), (12, 2, 10)};
my $update = q{UPDATE event SET n = n + 1 WHERE day = 11 AND k = 2};
my $rename = q{UPDATE label SET label = label || '!' WHERE k = 1};
my $into_part = q{INSERT INTO event_part VALUES (10, 5)};

# Crashes

all_come('E2: the first run', ('COMPLETE_REPLACE_WHERE FIRST_RUN') x 3);
crash();
is(refreshed($_), 'NO_OP', "E7: $_ still knows after a crash what it has seen") for qw(flow second part);

query($insert);
query($into_part);
crash();
all_come('E1: rows from before a crash', ('APPEND_ONLY') x 3);
query($update);
comes('flow', 'ROW_BASED', 'E1: one flow has seen a change');
crash();
comes('second', 'ROW_BASED', 'E1: the other one has not, and sees it after a crash');
is(refreshed('flow'), 'NO_OP', 'E1: and the first one not again');

# A crash between a run and its commit, and one in a transaction of a writer.
my $open = $server->background_psql('postgres', on_error_stop => 1);
$open->query_safe("BEGIN; $rename; SELECT FROM replace_flow.refresh('flow')");
my $writer = $server->background_psql('postgres', on_error_stop => 1);
$writer->query_safe("BEGIN; $insert");
query($update);
crash();
eval { $_->quit } for $open, $writer;
all_come('E1: what was not committed when the server crashed was not', 'ROW_BASED', 'ROW_BASED', 'NO_OP');

# E6: open during a run, committed after it, and only then a crash.
$writer = $server->background_psql('postgres', on_error_stop => 1);
$writer->query_safe("BEGIN; $insert");
is(refreshed('flow'), 'NO_OP', 'E6: a transaction is open');
query($update);
is(refreshed('flow'), 'ROW_BASED', 'E6: and goes on during another run');
$writer->query_safe($rename);
$writer->query_safe('COMMIT');
$writer->quit;
crash();
all_come('E6: it is committed before a crash', 'ROW_BASED', 'ROW_BASED', 'NO_OP');

# DDL, and what changes while a run is not known to have seen it
query('TRUNCATE event_part_11');
crash();
comes('part', 'COMPLETE_REPLACE_WHERE SOURCE_DDL_OR_BULK_CHANGE', 'E5: TRUNCATE before a crash');
query('CREATE TABLE event_part_12 PARTITION OF event_part FOR VALUES IN (12)');
query('INSERT INTO event_part_12 VALUES (12, 1)');
crash();
is(refreshed('part'), 'COMPLETE_REPLACE_WHERE SOURCE_DDL_OR_BULK_CHANGE', 'E5: a partition that came before a crash');
query('INSERT INTO event_part_12 VALUES (12, 2)');
crash();
comes('part', 'COMPLETE_REPLACE_WHERE SOURCE_DDL_OR_BULK_CHANGE', 'E5: and what came into it then');
query('INSERT INTO event_part_12 VALUES (12, 3)');
comes('part', 'APPEND_ONLY', 'E5: its rows are seen as others are');
query('UPDATE target SET total = -1 WHERE day = 11');
crash();
comes('flow', 'COMPLETE_REPLACE_WHERE EXTERNAL_CHANGE_IN_REPLACE_WINDOW', 'E3: the target was changed before a crash');

# A table that a crash empties is never taken for unchanged.
query(q{
	CREATE UNLOGGED TABLE fleeting (day int, n int);
	INSERT INTO fleeting VALUES (10, 1), (11, 1);
	SELECT replace_flow.create_where_flow('kept', 'SELECT * FROM fleeting', 'day >= 10')});
is(query(q{SELECT technique FROM replace_flow.refresh('kept')}), 'COMPLETE_REPLACE_WHERE', 'E1: an unlogged source');
is(query(q{SELECT technique, split_part(reasons[1], ':', 1) FROM replace_flow.refresh('kept')}),
	'COMPLETE_REPLACE_WHERE|UNTRACKED_SOURCE', 'E3: is not tracked');
crash();
query(q{SELECT replace_flow.refresh('kept')});
is(query('SELECT count(*) FROM kept'), '0', 'E1: a crash has emptied it, and the window then');
query(q{SELECT replace_flow.drop_flow('kept', drop_target => true)});

# Prepared transactions

# of a writer: across runs, and across a crash
foreach my $end ('COMMIT', 'ROLLBACK')
{
	my $technique = $end eq 'COMMIT' ? 'ROW_BASED' : 'NO_OP';

	query("BEGIN; SAVEPOINT a; $insert; RELEASE a; $rename; PREPARE TRANSACTION 'writer'");
	is(refreshed('flow'), 'NO_OP', "E6: rows of a prepared transaction are not there ($end)");
	crash();
	is(refreshed('flow'), 'NO_OP', "E6: nor are they after a crash ($end)");
	query($insert);
	is(refreshed('flow'), 'APPEND_ONLY', "E6: others go on ($end)");
	query("$end PREPARED 'writer'");
	comes('flow', $technique, "E6: until it is settled ($end)");
	comes('second', $end eq 'COMMIT' ? 'ROW_BASED' : 'APPEND_ONLY', "E6: and for a flow that did not run ($end)");
}

# of a run: it holds its target until it is settled
foreach my $end ('COMMIT', 'ROLLBACK')
{
	query($update);
	query("BEGIN; $insert; SELECT FROM replace_flow.refresh('flow'); $rename; PREPARE TRANSACTION 'run'");
	is(query(q{SELECT status FROM replace_flow.refresh('flow', wait => false)}), 'skipped', "B14: a prepared run is not overtaken ($end)");
	comes('second', 'ROW_BASED', "E1: another flow sees what is committed ($end)");
	query($insert);
	crash();
	is(query(q{SELECT status FROM replace_flow.refresh('flow', wait => false)}), 'skipped', "B14: nor after a crash ($end)");
	comes('second', 'APPEND_ONLY', "E1: writers and others go on ($end)");
	query("$end PREPARED 'run'");
	comes('flow', 'ROW_BASED', "E1: what it did not see is left for the next one ($end)");
	comes('second', $end eq 'COMMIT' ? 'ROW_BASED' : 'NO_OP', "E1: and for the other one ($end)");
}

# of a definition, with its first run
query(q{
	BEGIN;
	SELECT replace_flow.create_where_flow('third', 'TABLE fresh', 'day >= 10');
	SELECT replace_flow.refresh('third');
	PREPARE TRANSACTION 'define'});
is(refreshed('flow'), 'NO_OP', 'E1: other flows go on while one is defined');
crash();
query(q{COMMIT PREPARED 'define'});
query($insert);
comes('flow', 'APPEND_ONLY', 'E1: a change is seen by one flow');
comes('third', 'COMPLETE_REPLACE_WHERE FIRST_RUN', 'E1: and by the new one');
query($update);
comes($_, 'ROW_BASED', "E1: then $_ is as others are") for qw(third flow second);
query(q{SELECT replace_flow.drop_flow('third', drop_target => true)});

# Promotion

query($insert);
is(refreshed('flow'), 'APPEND_ONLY', 'E1: the primary refreshes');
$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
query("BEGIN; $rename; PREPARE TRANSACTION 'promoted'");
is(refreshed('flow'), 'NO_OP', 'E6: a transaction is prepared there');
query($update);
is(refreshed('flow'), 'ROW_BASED', 'E1: one flow has seen a change, the other one not');
query($into_part);
$open = $server->background_psql('postgres', on_error_stop => 1);
$open->query_safe("BEGIN; $insert");
is(refreshed('flow'), 'NO_OP', 'E6: and one is open, and never committed');
query('SELECT pg_switch_wal()');
$node->wait_for_catchup($standby, 'replay', $node->lsn('write'));
$node->stop('immediate');
eval { $open->quit };

$server = $standby;
isnt($standby->psql('postgres', q{SELECT replace_flow.refresh('flow')}), 0, 'a standby refreshes nothing');
$standby->promote;
comes('flow', 'NO_OP', 'E1: after a promotion a flow still knows what it has seen');
comes('second', 'ROW_BASED', 'E1: and what it has not');
comes('part', 'APPEND_ONLY', 'E5: in partitions too');
query(q{COMMIT PREPARED 'promoted'});
comes('flow', 'ROW_BASED', 'E6: the prepared transaction is committed where it was not prepared');
query($update);
crash();
all_come('E1: all goes on from there', 'ROW_BASED', 'ROW_BASED', 'NO_OP');

# Dump and restore

my $dumps = PostgreSQL::Test::Utils::tempdir;

query($insert);
is(refreshed('flow'), 'APPEND_ONLY', 'E1: one flow has seen a change');
# what the dump does not have: it is of one moment
my $transaction = $server->background_psql('postgres', on_error_stop => 1);
$transaction->query_safe("BEGIN; $update");
$server->command_ok([ 'pg_dump', '--format=custom', '--file', "$dumps/custom", $server->connstr('postgres') ], 'pg_dump');
$transaction->query_safe('COMMIT');
$transaction->quit;

foreach my $way ('at once', 'in two parts', 'in a transaction')
{
	$database = 'restored_' . $way =~ s/ /_/gr;
	$server->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0");
	# other OIDs
	query('CREATE TABLE other_' . $_ . ' (id serial PRIMARY KEY, t text)') for 1 .. 3;
	my @restore = ('pg_restore', '--exit-on-error', '--dbname', $server->connstr($database));
	if ($way eq 'in two parts')
	{
		$server->command_ok([ @restore, '--schema-only', "$dumps/custom" ], "restored $way: definitions");
		$server->command_ok([ @restore, '--data-only', "$dumps/custom" ], "restored $way: rows");
	}
	else
	{
		$server->command_ok([ @restore, $way eq 'at once' ? () : '--single-transaction', "$dumps/custom" ], "restored $way");
	}
	is(query('SELECT count(*) FROM replace_flow.change'), '0', "A13: changes are in no dump, restored $way");

	# before the first refresh
	query($_) for $update, $rename, $insert, $into_part, 'DELETE FROM event WHERE day = 12 AND k = 0';
	query('UPDATE target SET total = -1 WHERE day = 11 AND k = 0');
	is(refreshed($_), 'COMPLETE_REPLACE_WHERE FIRST_RUN',
		"A13: the first refresh of $_ is complete, and what changed before it is in it, restored $way")
	  for qw(flow second part);

	# the first one makes the triggers, so the next one cannot know all changes between them
	query($_) for $update, $into_part;
	comes($_, 'COMPLETE_REPLACE_WHERE FIRST_RUN', "A13: what changed between the first two is in the second, restored $way: $_")
	  for qw(flow second part);

	# then all is as it was
	query($_) for $rename, $into_part;
	all_come("E2: refreshes are incremental again, restored $way", 'ROW_BASED', 'ROW_BASED', 'APPEND_ONLY');
	crash();
	query($update);
	all_come("E1: after a crash too, restored $way", 'ROW_BASED', 'ROW_BASED', 'NO_OP');
}

# Where it came from, nothing was lost by it.
$database = 'postgres';
all_come('E6: what was open while it was dumped', 'ROW_BASED', 'ROW_BASED', 'NO_OP');

$server->stop;
done_testing();
