# B2, O14: whatever ends a run or a definition at whatever point (an error,
# kill -9 of the backend, an immediate stop of the server), nothing of it
# remains, nothing is lost, and the next run does all of the work once.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use Failpoints;
use Test::More;

my $node = node_with_failpoints();

# One flow whose target stores the sequence, with tombstones, and one with a
# ledger; what is staged is also kept in a journal.
$node->safe_psql('postgres', q{
	CREATE TABLE stored (k int, n int, s int, v text, PRIMARY KEY (k, n));
	CREATE TABLE stored_in (k int, n int, s int, v text);
	CREATE TABLE stored_all (LIKE stored_in);
	CREATE TABLE ledger (k int, n int, v text);
	CREATE INDEX ON ledger (k);
	CREATE TABLE ledger_in (k int, n int, s int, v text);
	CREATE TABLE ledger_all (LIKE ledger_in);
	SELECT replace_flow.create_using_flow('stored', 'stored_in', '{k}', 's', delete_when => $$v = 'gone'$$);
	SELECT replace_flow.create_using_flow('ledger', 'ledger_in', '{k}', 's', delete_when => $$v = 'gone'$$);
	SELECT replace_flow.add_expectation(f, 'good', $$v <> 'bad'$$, 'drop')
	FROM unnest('{stored,ledger}'::text[]) AS f;

	-- batch b: about half of the keys, each once; some are late, none ties
	CREATE FUNCTION stage(flow text, b int) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE format('
			WITH staged AS (
				INSERT INTO %1$I_in
				SELECT k, n, %2$s * 10 - CASE (k + %2$s) %% 3 WHEN 0 THEN 25 ELSE 0 END, CASE (k + n + %2$s) %% 7
					WHEN 0 THEN ''bad'' WHEN 1 THEN ''same'' ELSE ''v'' || %2$s END
				FROM generate_series(1, 40 + %2$s) AS k, generate_series(1, 3 + (k + %2$s) %% 2) AS n
				WHERE (k + %2$s) %% 5 > 1
				UNION ALL
				SELECT k, 1, %2$s * 10, ''gone'' FROM generate_series(1, 40 + %2$s) AS k WHERE (k + %2$s) %% 5 = 1
				RETURNING *)
			INSERT INTO %1$I_all SELECT * FROM staged WHERE v <> ''bad''', flow, b);
	END $$;

	-- what the rules make of all that was staged
	CREATE FUNCTION expected(flow text) RETURNS TABLE (k int, n int, v text) LANGUAGE plpgsql AS $$
	BEGIN
		RETURN QUERY EXECUTE format('
			SELECT a.k, a.n, a.v FROM %1$I_all a
			WHERE s = (SELECT max(s) FROM %1$I_all b WHERE b.k = a.k) AND v <> ''gone''', flow);
	END $$;
	CREATE FUNCTION differs(flow text) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		result bigint;
	BEGIN
		EXECUTE format('
			SELECT count(*) FROM (
				(SELECT k, n, v FROM %1$I EXCEPT ALL SELECT * FROM expected(%1$L))
				UNION ALL (SELECT * FROM expected(%1$L) EXCEPT ALL SELECT k, n, v FROM %1$I)) d', flow)
			INTO result;
		RETURN result;
	END $$;
});

my $batch = 0;

sub stage
{
	$batch++;
	$node->safe_psql('postgres', "SELECT stage('stored', $batch), stage('ledger', $batch)");
}

# All that a run may change.
sub state
{
	return $node->safe_psql('postgres', q{
		SELECT 'stored', t.* FROM stored t ORDER BY t;
		SELECT 'ledger', t.* FROM ledger t ORDER BY t;
		SELECT 'stored_in', t.* FROM stored_in t ORDER BY t;
		SELECT 'ledger_in', t.* FROM ledger_in t ORDER BY t;
		SELECT 'floor', f.* FROM replace_flow.floors('stored') f ORDER BY 2;
		SELECT 'floor', f.* FROM replace_flow.floors('ledger') f ORDER BY 2;
		SELECT 'run', run_id, flow, status FROM replace_flow.run ORDER BY 2;
		SELECT 'rejected', count(*) FROM replace_flow.rejected;
		SELECT 'result', count(*) FROM replace_flow.expectation_result;
		SELECT 'flow', name, definition_version, output_columns FROM replace_flow.flow ORDER BY 2;
		SELECT 'relation', relname FROM pg_class
		WHERE relnamespace = 'replace_flow'::regnamespace ORDER BY 2;
		SELECT 'column', attname FROM pg_attribute
		WHERE attrelid = 'stored'::regclass AND attnum > 0 ORDER BY attnum});
}

sub apply_all
{
	return $node->safe_psql('postgres', q{
		SELECT status FROM replace_flow.apply('stored');
		SELECT status FROM replace_flow.apply('ledger')});
}

my %points = (
	stored => [
		'stream consumed', 'stream read', 'table deleted', 'table inserted',
		'the ledger inserted', 'the ledger deleted', 'run recorded', 'expectations recorded' ],
	ledger => [
		'stream consumed', 'table deleted', 'table inserted', 'the ledger inserted',
		'the ledger updated', 'run recorded' ]);

stage();
apply_all();
for my $flow (sort keys %points)
{
	for my $point (@{ $points{$flow} })
	{
		for my $way (qw(error kill stop))
		{
			stage();
			my $before = state();
			fails($node, $way, $point, "SELECT replace_flow.apply('$flow')");
			is(state(), $before, "$way: $point leaves nothing of the run of $flow");
			is(apply_all(), "succeeded\nsucceeded", 'the next runs succeed');
			is($node->safe_psql('postgres', q{SELECT differs('stored'), differs('ledger')}), '0|0',
				'with all rows that were staged, each once');
		}
	}
}

# Definitions.
my $create = q{SELECT replace_flow.create_using_flow('fresh', 'fresh_in', '{k}', 's + 0')};
my $alter = q{SELECT replace_flow.alter_flow('stored', query => 'SELECT *, 1 AS more FROM stored_in')};
$node->safe_psql('postgres', 'CREATE TABLE fresh_in (k int, s int)');
for my $way (qw(error kill stop))
{
	for my $definition (
		[ 'flow added', $create ], [ 'view stored', $create ],
		[ 'view stored', $alter ], [ 'flow changed', $alter ],
		[ 'flow dropped', q{SELECT replace_flow.drop_flow('stored', drop_target => true)} ],
		[ 'flow dropped', 'DROP TABLE stored' ])
	{
		my $before = state();
		fails($node, $way, @$definition);
		is(state(), $before, "$way: $definition->[0] leaves nothing of $definition->[1]");
	}
}
stage();
apply_all();
is($node->safe_psql('postgres', q{SELECT differs('stored'), differs('ledger')}), '0|0',
	'and runs go on as before');

done_testing();
