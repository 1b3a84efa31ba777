# B2, D9, D11, O14: whatever ends a run of a where flow, a slice of a backfill or a
# definition at whatever point (an error, kill -9 of the backend, an immediate stop
# of the server), nothing of it remains, and the next one does all of the work.  A
# backfill goes on with the slice that it was ended in.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use Failpoints;
use Test::More;

my $node = node_with_failpoints();

# A target with room for updates in place, and what the rules make of it.
$node->safe_psql('postgres', q{
	CREATE TABLE source (day int, k int, v text, PRIMARY KEY (day, k));
	CREATE TABLE daily (day int, k int, v text, PRIMARY KEY (day, k)) WITH (fillfactor = 30);
	SELECT replace_flow.create_where_flow('daily', 'SELECT * FROM source', 'daily.day > 20',
		name => 'f', reset_allowed => true);
	SELECT replace_flow.add_expectation('f', 'good', $$ v <> 'bad' $$, 'drop');
	-- reads the other one's target
	CREATE TABLE total (day int, n bigint);
	SELECT replace_flow.create_where_flow('total', 'SELECT day, count(*) AS n FROM daily GROUP BY day',
		'day > 20', name => 'g');

	-- rows come, change and go on all days
	CREATE PROCEDURE change(n int) LANGUAGE sql AS $$
		DELETE FROM source WHERE (day + k + n) % 5 = 0;
		UPDATE source SET v = CASE (day + k + n) % 7 WHEN 0 THEN 'bad' ELSE 'v' || n END
		WHERE (day + k + n) % 3 = 0;
		INSERT INTO source SELECT day, k, 'new ' || n FROM generate_series(1, 40) day, generate_series(1, 9) k
		WHERE (day + k + n) % 2 = 0 ON CONFLICT DO NOTHING;
	$$;

	CREATE TABLE expected (LIKE daily);
	CREATE FUNCTION expect(stays text, comes text) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		TRUNCATE expected;
		EXECUTE format('INSERT INTO expected SELECT * FROM daily WHERE %s
			UNION ALL SELECT * FROM source WHERE v <> %L AND %s', stays, 'bad', comes);
	END $$;
	CREATE FUNCTION differs() RETURNS bigint LANGUAGE sql AS $$
		SELECT count(*) FROM ((TABLE daily EXCEPT ALL TABLE expected) UNION ALL (TABLE expected EXCEPT ALL TABLE daily)) d
	$$;
	CREATE FUNCTION total_differs() RETURNS bigint LANGUAGE sql AS $$
		SELECT count(*) FROM (SELECT day, count(*) FROM daily WHERE day > 20 GROUP BY day EXCEPT ALL TABLE total) d
	$$;
});

my $change = 0;

sub change_source
{
	$change++;
	$node->safe_psql('postgres', "CALL change($change)");
}

# All that a run or a definition may change.
sub state
{
	return $node->safe_psql('postgres', q{
		SELECT 'daily', ctid, t.* FROM daily t ORDER BY t;
		SELECT 'total', ctid, t.* FROM total t ORDER BY t;
		SELECT 'run', run_id, flow, status FROM replace_flow.run ORDER BY 2;
		SELECT 'rejected', count(*) FROM replace_flow.rejected;
		SELECT 'result', count(*) FROM replace_flow.expectation_result;
		SELECT 'flow', to_jsonb(f) FROM replace_flow.flow f ORDER BY f.name;
		SELECT 'backfill', to_jsonb(b) - '{updated_at}'::text[] FROM replace_flow.backfill b ORDER BY b;
		SELECT 'relation', relname, CASE WHEN relkind = 'v' THEN pg_get_viewdef(oid) END FROM pg_class
		WHERE relnamespace = 'replace_flow'::regnamespace ORDER BY 2;
		SELECT 'column', attname FROM pg_attribute
		WHERE attrelid = 'daily'::regclass AND attnum > 0 ORDER BY attnum});
}

# Runs.
my $refresh = q{SELECT status FROM replace_flow.refresh('f')};
my $override = q{SELECT status FROM replace_flow.refresh('f', 'day <= 20')};
my $full = q{SELECT status FROM replace_flow.full_refresh('f')};
my $update = q{SELECT status FROM replace_flow.start_update()};
my %expect = (
	$refresh => q{expect('day <= 20', 'day > 20')},
	$override => q{expect('day > 20', 'day <= 20')},
	$full => q{expect('false', 'day > 20')},
	$update => q{expect('day <= 20', 'day > 20')});
my @everywhere = ('sources read', 'window read', 'table deleted', 'table inserted',
	'expectations recorded', 'run recorded');

change_source();
$node->safe_psql('postgres', "$override; $refresh");
for my $attempt (
	(map { [ $refresh, $_ ] } @everywhere, 'table updated'),
	(map { [ $full, $_ ] } @everywhere),
	[ $override, 'table inserted' ],
	[ $update, 'table inserted' ], [ $update, 'run recorded' ])
{
	my ($statement, $point) = @$attempt;
	for my $way (qw(error kill stop))
	{
		change_source();
		$node->safe_psql('postgres', "SELECT $expect{$statement}");
		my $before = state();
		fails($node, $way, $point, $statement);
		is(state(), $before, "$way: $point leaves nothing of $statement");
		like($node->safe_psql('postgres', $statement), qr/^succeeded(\nsucceeded)?$/, 'the next run succeeds');
		is($node->safe_psql('postgres', 'SELECT differs()'), 0, 'and does all of the work');
	}
}
is($node->safe_psql('postgres', 'SELECT total_differs()'), 0, 'also of an update');

# Backfills.  The source has a new row on day 3 only, so that a run of this slice,
# and of none before it, inserts.
my $slices = q{
	SELECT predicate, count(*) FROM replace_flow.run WHERE run_id > %s GROUP BY predicate ORDER BY predicate};

sub progress
{
	return $node->safe_psql('postgres', q{SELECT slices_done, slices_total FROM replace_flow.progress});
}

for my $newest_first (qw(true false))
{
	my $call = "CALL replace_flow.backfill('f', 'day', 1, 6, 1, newest_first => $newest_first)";

	for my $way (qw(error kill stop))
	{
		$node->safe_psql('postgres', q{
			DELETE FROM source WHERE day = 3 AND k = 9;
			SELECT replace_flow.refresh('f', 'day < 6');
			INSERT INTO source VALUES (3, 9, 'comes back');
			UPDATE source SET v = v || '!' WHERE day IN (1, 5) AND v <> 'bad'});
		my $last_run = $node->safe_psql('postgres', 'SELECT max(run_id) FROM replace_flow.run');

		fails($node, $way, 'table inserted', $call);
		is(progress(), '2|5', "$way in a slice: those before it are done");
		$node->safe_psql('postgres', $newest_first eq 'true' ?
			q{SELECT expect('day < 4 OR day >= 6', 'day IN (4, 5)')} :
			q{SELECT expect('day > 2', 'day IN (1, 2)')});
		is($node->safe_psql('postgres', 'SELECT differs()'), 0, 'as they should be');

		# the slice that was ended is done again, and is ended again
		my $before = state();
		for my $point ('run recorded', 'slice done')
		{
			fails($node, $way, $point, $call);
			is(state(), $before, "$way: $point leaves nothing of the slice");
		}

		my ($status, $out, $err) = $node->psql('postgres', $call);
		is($status, 0, 'the same call goes on');
		like($err, qr/goes on after 2 of 5 slices/, 'and says where');
		is(progress(), '', 'up to its end');
		is($node->safe_psql('postgres', sprintf $slices, $last_run), join("\n",
				map { "((day >= $_) AND (day < " . ($_ + 1) . '))|1' } 1 .. 5), 'each slice was done once');
		$node->safe_psql('postgres', q{SELECT expect('day >= 6', 'day < 6')});
		is($node->safe_psql('postgres', 'SELECT differs()'), 0, 'and all rows are right');
	}
}

# a backfill of one slice: begun and ended by it
for my $way (qw(error kill stop))
{
	my $call = "CALL replace_flow.backfill('f', 'day', 7, 8, 1)";

	change_source();
	my $before = state();
	fails($node, $way, 'slice done', $call);
	is(state(), $before, "$way: nothing is left of a backfill's first slice");
	$node->safe_psql('postgres', q{SELECT expect('day <> 7', 'day = 7')});
	$node->safe_psql('postgres', $call);
	is(progress(), '', 'the same call begins it again, and ends it');
	is($node->safe_psql('postgres', 'SELECT differs()'), 0, 'and its rows are right');
}

# Definitions.
my $create = q{SELECT replace_flow.create_where_flow('fresh', 'SELECT * FROM source', 'source.k > 3')};
my $alter = q{SELECT replace_flow.alter_flow('f', query => 'SELECT *, 1 AS more FROM source', replace_where => 'more = 1 AND day > 30', name => 'other')};
my $narrow = q{SELECT replace_flow.alter_flow('f', replace_where => 'day > 30')};
$node->safe_psql('postgres', q{SELECT replace_flow.drop_flow('g')});
# a backfill that is not at its end is part of what must stay
$node->safe_psql('postgres', q{
	SELECT replace_flow.refresh('f', 'day < 6');
	DELETE FROM source WHERE day = 3 AND k = 9;
	SELECT replace_flow.refresh('f', 'day = 3');
	INSERT INTO source VALUES (3, 9, 'comes back')});
fails($node, 'error', 'table inserted', q{CALL replace_flow.backfill('f', 'day', 1, 6, 1)});
is(progress(), '2|5', 'a backfill has begun');
for my $way (qw(error kill stop))
{
	for my $definition (
		[ 'flow added', $create ], [ 'view stored', $create ], [ 'window stored', $create ],
		[ 'view stored', $alter ], [ 'window stored', $alter ], [ 'flow changed', $alter ],
		[ 'window stored', $narrow ], [ 'flow changed', $narrow ],
		[ 'flow dropped', q{SELECT replace_flow.drop_flow('f', drop_target => true)} ],
		[ 'flow dropped', 'DROP TABLE daily CASCADE' ], [ 'flow dropped', 'DROP TABLE source CASCADE' ])
	{
		my $before = state();
		fails($node, $way, @$definition);
		is(state(), $before, "$way: $definition->[0] leaves nothing of $definition->[1]");
	}
}
change_source();
$node->safe_psql('postgres', "SELECT $expect{$refresh}; $refresh");
is($node->safe_psql('postgres', 'SELECT differs()'), 0, 'and runs go on as before');

$node->stop;
done_testing();
