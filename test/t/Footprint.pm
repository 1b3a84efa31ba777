# What a session holds, and what there is beside the records of runs.

package Footprint;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(create_footprint run_script is_constant $tolerance);

# Less than one small allocation per run would need.
our $tolerance = 64 * 1024;

# Let sessions take their measure: CALL measure(place).
sub create_footprint
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
		-- The view of memory takes some itself, the same each time.
		CREATE TABLE footprint (number serial, place text, memory bigint, contexts bigint, plans bigint,
			locks bigint, statements bigint, cursors bigint, files bigint, catalog text);
		CREATE PROCEDURE measure(place text) LANGUAGE sql AS $$
			INSERT INTO footprint (place, memory, contexts, plans, locks, statements, cursors, files, catalog)
			SELECT place,
				sum(used_bytes), count(*), count(*) FILTER (WHERE name LIKE 'CachedPlan%'),
				(SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid()),
				(SELECT count(*) FROM pg_prepared_statements), (SELECT count(*) FROM pg_cursors),
				(SELECT count(*) FROM pg_ls_tmpdir()),
				(SELECT string_agg(concat_ws(' ', what, number), ', ' ORDER BY what) FROM (
					SELECT 'class' AS what, count(*) AS number FROM pg_class
					UNION ALL SELECT 'attribute', count(*) FROM pg_attribute
					UNION ALL SELECT 'type', count(*) FROM pg_type
					UNION ALL SELECT 'depend', count(*) FROM pg_depend
					UNION ALL SELECT 'shdepend', count(*) FROM pg_shdepend
					UNION ALL SELECT 'proc', count(*) FROM pg_proc
					UNION ALL SELECT 'flow', count(*) FROM replace_flow.flow
					UNION ALL SELECT 'expectation', count(*) FROM replace_flow.expectation) c)
			FROM pg_backend_memory_contexts;
		$$;
	});
	return;
}

# Run a script in a session; give its errors, counted.
sub run_script
{
	my ($node, $script) = @_;
	my $err = '';
	my %errors;
	IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ],
		'<', \$script, '>', '/dev/null', '2>', \$err);
	$errors{$_}++ for $err =~ /ERROR:  (.*)/g;
	return \%errors;
}

# Of the last two footprints the second is no larger, but for some bytes.
sub is_constant
{
	my ($node, $place, $tolerance) = @_;
	my $differences = $node->safe_psql('postgres', qq{
		SELECT to_jsonb(a) - '{number,memory,place}'::text[], to_jsonb(b) - '{number,memory,place}'::text[]
		FROM footprint a JOIN footprint b ON a.number = b.number - 1
		WHERE b.number = (SELECT max(number) FROM footprint)
		AND (a.catalog <> b.catalog OR b.files > a.files OR b.locks > a.locks OR b.plans > a.plans
			OR b.cursors > a.cursors OR b.contexts > a.contexts OR b.statements > a.statements)});
	is($differences, '', "$place leave nothing behind");
	my $bytes = $node->safe_psql('postgres',
		q{SELECT memory - lag(memory) OVER (ORDER BY number) FROM footprint ORDER BY number DESC LIMIT 1});
	cmp_ok($bytes, '<', $tolerance, "memory grew by $bytes bytes");
	return;
}

1;
