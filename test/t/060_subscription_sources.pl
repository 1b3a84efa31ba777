# E5: rows of a source that a subscription applies are seen to change, by the next refresh:
# what it copies at first, INSERT, UPDATE, DELETE and TRUNCATE, in a plain table, in
# partitions of the subscriber's own, and in a joined table.  No statement is seen there;
# rows are applied one by one, in replica mode.

use strict;
use warnings FATAL => 'all';

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
$publisher->init(allows_streaming => 'logical', extra => ['--encoding=UTF8']);
$publisher->append_conf('postgresql.conf', "fsync = off\nmax_prepared_transactions = 5\nlogical_decoding_work_mem = 64kB\n");
$publisher->start;
my $node = PostgreSQL::Test::Cluster->new('subscriber');
$node->init(extra => ['--encoding=UTF8']);
$node->append_conf('postgresql.conf', "fsync = off\nmax_prepared_transactions = 5\nmax_logical_replication_workers = 8\n");
$node->start;

# The same tables on both sides, but for partitions and their columns.
$publisher->safe_psql('postgres', q{
	CREATE TABLE event (id int PRIMARY KEY, day int, n int);
	ALTER TABLE event REPLICA IDENTITY FULL;
	CREATE TABLE part (id int, day int, n int, PRIMARY KEY (id, day));
	CREATE TABLE kind (n int PRIMARY KEY, name text);
	INSERT INTO event SELECT i, 8 + i % 5, i % 3 FROM generate_series(1, 50) AS i;
	INSERT INTO part TABLE event;
	INSERT INTO kind VALUES (0, 'none'), (1, 'one'), (2, 'two');
	CREATE PUBLICATION all_tables FOR TABLE event, part, kind;
});
$node->safe_psql('postgres', q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE event (id int PRIMARY KEY, day int, n int);
	CREATE TABLE part (id int, day int, n int, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
	CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (10);
	CREATE TABLE part_2 (n int, day int NOT NULL, id int NOT NULL, more text);
	ALTER TABLE part_2 DROP COLUMN more;
	ALTER TABLE part ATTACH PARTITION part_2 FOR VALUES FROM (10) TO (20);
	CREATE TABLE kind (n int PRIMARY KEY, name text);

	CREATE VIEW by_day AS SELECT day, n, count(*) AS events, sum(id) AS ids FROM event GROUP BY day, n;
	CREATE VIEW by_part AS SELECT day, count(*) AS events, sum(n) AS total FROM part GROUP BY day;
	CREATE VIEW named AS SELECT id, day, name FROM part JOIN kind USING (n);
	SELECT replace_flow.create_where_flow('of_day', 'TABLE by_day', 'day >= 10'),
		replace_flow.create_where_flow('of_part', 'TABLE by_part', 'day >= 10'),
		replace_flow.create_where_flow('of_name', 'TABLE named', 'day >= 10');
});

sub query { return $node->safe_psql('postgres', shift); }

# How the flows are refreshed, one after the other; then their windows must be right.
sub refreshed
{
	my $result = query(q{
		SELECT string_agg(flow || ' ' || technique || CASE WHEN technique LIKE 'COMPLETE%' THEN ' ' || split_part(reasons[1], ':', 1) ELSE '' END,
			', ' ORDER BY run_id)
		FROM (SELECT run.* FROM unnest(ARRAY['of_day', 'of_part', 'of_name']) AS flow, replace_flow.refresh(flow) AS run) AS run});
	my $wrong = query(join ' UNION ALL ', map {
		my ($query, $target) = @$_;
		"SELECT 'missing in $target', t::text FROM (SELECT * FROM $query WHERE day >= 10 EXCEPT ALL TABLE $target) AS t
		UNION ALL SELECT 'superfluous in $target', t::text FROM (TABLE $target EXCEPT ALL SELECT * FROM $query WHERE day >= 10) AS t"
	} [ 'by_day', 'of_day' ], [ 'by_part', 'of_part' ], [ 'named', 'of_name' ]);
	return $wrong eq '' ? $result : "$result, WRONG: $wrong";
}

# Something is done there, and has come here.
sub published
{
	$publisher->safe_psql('postgres', shift);
	$publisher->wait_for_catchup('sub');
	return;
}

sub step
{
	my ($sql, $expected, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	published($sql);
	is(refreshed(), $expected, $name);
	return;
}

my $nothing = 'of_day NO_OP, of_part NO_OP, of_name NO_OP';

is(refreshed(), 'of_day COMPLETE_REPLACE_WHERE FIRST_RUN, of_part COMPLETE_REPLACE_WHERE FIRST_RUN, '
	. 'of_name COMPLETE_REPLACE_WHERE FIRST_RUN', 'the first refreshes are complete');
is(refreshed(), $nothing, 'and then there is nothing to do');

# The first copy of the tables comes like a COPY.
my $connection = $publisher->connstr('postgres') =~ s/'/''/gr;
my $streaming = $node->pg_version >= 16 ? 'parallel' : 'on';
query("CREATE SUBSCRIPTION sub CONNECTION '$connection' PUBLICATION all_tables WITH (two_phase = true, streaming = $streaming)");
$node->wait_for_subscription_sync($publisher, 'sub');
is(query('SELECT count(*) FROM event'), '50', 'the tables are copied');
is(refreshed(), 'of_day APPEND_ONLY, of_part APPEND_ONLY, of_name COMPLETE_REPLACE_WHERE UNSUPPORTED_QUERY_SHAPE', 'and what is copied is seen');
is(refreshed(), $nothing, 'once');

# Row by row.
step(q{INSERT INTO event VALUES (101, 10, 1), (102, 12, 7), (103, 8, 1)},
	'of_day APPEND_ONLY, of_part NO_OP, of_name NO_OP', 'rows that are inserted are seen');
step(q{UPDATE event SET n = 7 WHERE id = 101}, 'of_day ROW_BASED, of_part NO_OP, of_name NO_OP', 'and updated, with their old values');
step(q{UPDATE event SET day = 11 WHERE id = 103}, 'of_day ROW_BASED, of_part NO_OP, of_name NO_OP', 'also into the window');
step(q{UPDATE event SET id = 104, day = 8 WHERE id = 102}, 'of_day ROW_BASED, of_part NO_OP, of_name NO_OP', 'and out of it');
step(q{DELETE FROM event WHERE day = 12}, 'of_day ROW_BASED, of_part NO_OP, of_name NO_OP', 'and deleted');
step(q{DELETE FROM event WHERE day = 9}, $nothing, 'rows that have no part in the window make no work');

# In partitions, whose columns have other numbers, and which updates move rows between.
step(q{INSERT INTO part VALUES (201, 13, 2), (202, 9, 2)}, 'of_day NO_OP, of_part APPEND_ONLY, of_name APPEND_ONLY', 'rows of partitions are seen');
step(q{UPDATE part SET n = 1 WHERE id = 201}, 'of_day NO_OP, of_part ROW_BASED, of_name ROW_BASED', 'and updated');
step(q{UPDATE part SET day = 13 WHERE id = 202}, 'of_day NO_OP, of_part ROW_BASED, of_name ROW_BASED', 'and moved into another partition');
step(q{UPDATE part SET day = 8 WHERE id = 201}, 'of_day NO_OP, of_part ROW_BASED, of_name ROW_BASED', 'and back');
step(q{DELETE FROM part WHERE day IN (8, 11)}, 'of_day NO_OP, of_part ROW_BASED, of_name ROW_BASED', 'and deleted');

# A joined table.
step(q{UPDATE kind SET name = 'zwei' WHERE n = 2}, 'of_day NO_OP, of_part NO_OP, of_name ROW_BASED', 'a row of a joined table is seen to change');
step(q{DELETE FROM kind WHERE n = 1; INSERT INTO kind VALUES (3, 'three')},
	'of_day NO_OP, of_part NO_OP, of_name ROW_BASED', 'and go, and come');

# A lot at once, in one transaction, which is sent before it is committed, and in many;
# and savepoints.
step(q{INSERT INTO event SELECT i, 8 + i % 5, i % 3 FROM generate_series(1000, 21000) AS i},
	'of_day APPEND_ONLY, of_part NO_OP, of_name NO_OP', 'a lot of rows');
step(q{DO $$ BEGIN FOR i IN 1 .. 200 LOOP UPDATE event SET n = 4 WHERE id = 1000 + i; COMMIT; END LOOP; END $$},
	'of_day ROW_BASED, of_part NO_OP, of_name NO_OP', 'a lot of transactions');
step(q{BEGIN; SAVEPOINT a; DELETE FROM event WHERE day = 10; ROLLBACK TO a; DELETE FROM event WHERE day = 11; COMMIT},
	'of_day ROW_BASED, of_part NO_OP, of_name NO_OP', 'what was undone there does not come');

published(q{BEGIN; INSERT INTO event VALUES (30001, 10, 5); UPDATE kind SET name = 'deux' WHERE n = 2; PREPARE TRANSACTION 'there'});
is(query('SELECT count(*) FROM pg_prepared_xacts'), '1', 'a transaction that is prepared there is so here');
is(refreshed(), $nothing, 'E6: nothing of it is seen');
step(q{INSERT INTO event VALUES (30002, 11, 5)}, 'of_day APPEND_ONLY, of_part NO_OP, of_name NO_OP', 'others go on');
step(q{COMMIT PREPARED 'there'}, 'of_day APPEND_ONLY, of_part NO_OP, of_name ROW_BASED', 'E6: until it is committed');

# TRUNCATE.
step(q{TRUNCATE event}, 'of_day COMPLETE_REPLACE_WHERE SOURCE_DDL_OR_BULK_CHANGE, of_part NO_OP, of_name NO_OP', 'TRUNCATE is seen');
is(query('SELECT count(*) FROM of_day'), '0', 'the window is empty then');
step(q{TRUNCATE part, kind; INSERT INTO part VALUES (1, 10, 1), (2, 8, 1); INSERT INTO kind VALUES (1, 'uno')},
	'of_day NO_OP, of_part COMPLETE_REPLACE_WHERE SOURCE_DDL_OR_BULK_CHANGE, of_name COMPLETE_REPLACE_WHERE SOURCE_DDL_OR_BULK_CHANGE',
	'and with what comes after it in the same transaction');
is(refreshed(), $nothing, 'then all is well again');

# Beside changes of the subscriber's own.
query(q{INSERT INTO event VALUES (5001, 12, 1)});
step(q{INSERT INTO event VALUES (5002, 12, 1)}, 'of_day APPEND_ONLY, of_part NO_OP, of_name NO_OP', 'rows from here and from there');

# E6: it waits for somebody here, and is committed after the refresh.
my $session = $node->background_psql('postgres', on_error_stop => 1);
$session->query_safe(q{BEGIN; UPDATE event SET n = 9 WHERE id = 5002});
$publisher->safe_psql('postgres', q{BEGIN; INSERT INTO event VALUES (5003, 11, 1); DELETE FROM event WHERE id = 5002; COMMIT});
ok($node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks l JOIN pg_stat_subscription s ON s.pid = l.pid WHERE NOT granted}),
	'the subscription waits for a row, in the middle of a transaction');
is(refreshed(), $nothing, 'nothing of it is there');
$session->query_safe('ROLLBACK');
$session->quit;
$publisher->wait_for_catchup('sub');
is(refreshed(), 'of_day ROW_BASED, of_part NO_OP, of_name NO_OP', 'the next refresh has it');

# A subscription that is stopped, and goes on; one that copies again.
query('ALTER SUBSCRIPTION sub DISABLE');
$publisher->safe_psql('postgres', q{UPDATE part SET n = 3 WHERE id = 1; INSERT INTO part VALUES (3, 12, 1)});
is(refreshed(), $nothing, 'nothing comes while it is stopped');
query('ALTER SUBSCRIPTION sub ENABLE');
$publisher->wait_for_catchup('sub');
is(refreshed(), 'of_day NO_OP, of_part ROW_BASED, of_name ROW_BASED', 'what waited is seen when it goes on');
query('DROP SUBSCRIPTION sub');
query('TRUNCATE event, part, kind');
is(refreshed(), join(', ', map { "$_ COMPLETE_REPLACE_WHERE SOURCE_DDL_OR_BULK_CHANGE" } qw(of_day of_part of_name)), 'the tables are emptied here');
query("CREATE SUBSCRIPTION sub CONNECTION '$connection' PUBLICATION all_tables");
$node->wait_for_subscription_sync($publisher, 'sub');
is(refreshed(), 'of_day APPEND_ONLY, of_part APPEND_ONLY, of_name COMPLETE_REPLACE_WHERE UNSUPPORTED_QUERY_SHAPE', 'and copied once more');
step(q{DELETE FROM part WHERE id = 3}, 'of_day NO_OP, of_part ROW_BASED, of_name ROW_BASED', 'and go on as before');

# At random.
my $seed = $ENV{SEED} // int(rand(1_000_000));
srand($seed);

sub random_change
{
	my ($id, $day, $n, $other) = map { int(rand($_)) } 60, 6, 5, 5;
	$day += 8;
	my @changes = (
		"INSERT INTO event VALUES ($id, $day, $n) ON CONFLICT (id) DO UPDATE SET day = excluded.day, n = excluded.n",
		"INSERT INTO event SELECT $id + 100 + i, $day, i % 5 FROM generate_series(1, 30) AS i ON CONFLICT DO NOTHING",
		"UPDATE event SET n = $n WHERE id % 7 = $other",
		"UPDATE event SET day = $day WHERE id % 13 = $other",
		"UPDATE event SET id = id + 1000 WHERE id = $id",
		"DELETE FROM event WHERE id % 11 = $other",
		"INSERT INTO part SELECT $id + i, $day, $n FROM generate_series(0, $other) AS i ON CONFLICT DO NOTHING",
		"UPDATE part SET n = $n WHERE id % 5 = $other",
		"UPDATE part SET day = $day WHERE id = $id",
		"UPDATE part SET day = 21 - day WHERE id % 13 = $other",
		"DELETE FROM part WHERE id % 9 = $other",
		"INSERT INTO kind VALUES ($n, 'name $id') ON CONFLICT (n) DO UPDATE SET name = excluded.name",
		"UPDATE kind SET n = $n WHERE n = $other",
		"DELETE FROM kind WHERE n = $n");
	push @changes, 'TRUNCATE event', 'TRUNCATE part', 'TRUNCATE kind, part' if rand() < 0.2;
	return $changes[rand(@changes)];
}

# One that meets a key that is there already is left out.
sub random_transaction
{
	my $block = join ' ', map {
		my $fails = rand() < 0.1 ? 'PERFORM 1 / 0;' : '';
		'BEGIN ' . random_change() . "; $fails EXCEPTION WHEN unique_violation OR division_by_zero THEN NULL; END;"
	} 1 .. 1 + rand(3);
	return "DO \$change\$ BEGIN $block END \$change\$";
}

my @wrong;
my %seen;
for my $round (1 .. 40)
{
	my @transactions = map { random_transaction() } 1 .. 1 + rand(3);
	# the first rounds are of all kinds
	@transactions = 'TRUNCATE event' if $round == 1;
	@transactions = 'INSERT INTO event VALUES (1, 10, 1)' if $round == 2;
	query("UPDATE part SET n = n + 1 WHERE id % 10 = $round % 10") if rand() < 0.2;
	published(join '; ', @transactions);
	my $result = refreshed();
	push @wrong, "after @transactions: $result" if $result =~ /WRONG/;
	$seen{$_}++ foreach $result =~ /(NO_OP|APPEND_ONLY|ROW_BASED|COMPLETE)/g;
}
note "$_: $seen{$_}" foreach sort keys %seen;
is(join("\n", @wrong), '', "E1: windows are right after random changes (SEED=$seed)");
is(join(' ', sort keys %seen), 'APPEND_ONLY COMPLETE NO_OP ROW_BASED', 'of all kinds');

query('DROP SUBSCRIPTION sub');
unlike(slurp_file($node->logfile), qr/was not closed/, 'nothing is left open, of partitions neither');
$node->stop;
$publisher->stop;
done_testing();
