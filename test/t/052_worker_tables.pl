# F1, F4: what other sessions do with a flow's tables while the worker serves it.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use Test::More;
use Worker;

my $node = worker_node('main', 'replace_flow.max_batch_rows = 1');

query('CREATE EXTENSION replace_flow');

# A run that is to be made in slices looks at the stream before it begins: with its
# locks in the same order, so that who has the target can drop the flow.
query(q{
	CREATE TABLE sliced (k int PRIMARY KEY, s int);
	CREATE TABLE sliced_in (LIKE sliced);
	SELECT replace_flow.create_using_flow('sliced', 'sliced_in', '{k}', 's')});
my $session = begin_psql($node, 'postgres', 'BEGIN', 'LOCK TABLE sliced',
	q{DO $$ BEGIN
		WHILE NOT EXISTS (SELECT FROM pg_stat_activity
			WHERE backend_type = 'replace_flow worker' AND wait_event_type = 'Lock') LOOP
			PERFORM pg_sleep(0.02), pg_stat_clear_snapshot();
		END LOOP;
	END $$},
	q{SELECT replace_flow.drop_flow('sliced', drop_target => true)}, 'COMMIT');
soon(q{SELECT count(*) FROM pg_locks WHERE relation = 'sliced'::regclass AND mode = 'AccessExclusiveLock'},
	'1', 'somebody has the target');
query('INSERT INTO sliced_in SELECT generate_series(1, 10), 1');
soon(q{SELECT to_regclass('sliced') IS NULL}, 't', 'and drops the flow, for which a run has come');
$session->finish;
is(count_in_log($node, qr/deadlock/), 0, 'without a deadlock');

# Tables that become parts of a stream: one that had the trigger, and woke the worker
# for nobody, before; and one that has rows.
query(q{
	CREATE TABLE parted (k int PRIMARY KEY, s int);
	CREATE TABLE parted_in (LIKE parted) PARTITION BY RANGE (k);
	SELECT replace_flow.create_using_flow('parted', 'parted_in', '{k}', 's');
	CREATE TABLE part (LIKE parted);
	ALTER TABLE parted_in ATTACH PARTITION part FOR VALUES FROM (0) TO (10)});
query('ALTER TABLE parted_in DETACH PARTITION part CONCURRENTLY');
query(q{SELECT replace_flow.alter_flow('parted', comment => 'so that the worker looks at its tables')});
query('INSERT INTO part VALUES (1, 1)');
soon(q{SELECT count(*) FROM replace_flow.run WHERE status = 'succeeded' AND rows_staged = 0}, '0',
	'rows of another table are nothing to the flow');
query('ALTER TABLE parted_in ATTACH PARTITION part FOR VALUES FROM (0) TO (10)');
soon('SELECT count(*) FROM parted', '1', 'rows of a table that is attached are');
query('INSERT INTO part VALUES (2, 1)');
soon('SELECT count(*) FROM parted', '2', 'and those that it gets later');
query(q{
	CREATE TABLE full_part (LIKE parted);
	INSERT INTO full_part VALUES (11, 1), (12, 1);
	ALTER TABLE parted_in ATTACH PARTITION full_part FOR VALUES FROM (10) TO (20)});
soon('SELECT count(*) FROM parted', '4', 'also of one that is new');

# F5: the parts of a source come and go with their rows.
query(q{
	CREATE TABLE source (d int, v int) PARTITION BY LIST (d);
	CREATE TABLE source_1 PARTITION OF source FOR VALUES IN (1);
	CREATE TABLE source_2 PARTITION OF source FOR VALUES IN (2);
	CREATE TABLE heir (d int, v int);
	CREATE TABLE child () INHERITS (heir);
	INSERT INTO source VALUES (1, 1), (2, 2);
	INSERT INTO child VALUES (3, 3);
	SELECT replace_flow.create_where_flow('mirror', 'SELECT d, v FROM source UNION ALL SELECT d, v FROM heir',
		'd > 0', refresh_on_change => true, min_interval => '0 s')});
my $mirror = q{SELECT string_agg(d::text, ' ' ORDER BY d) FROM mirror};
soon($mirror, '1 2 3', 'a flow mirrors its sources');
for my $change (
	[ 'ALTER TABLE source DETACH PARTITION source_1', '2 3' ],
	[ 'ALTER TABLE source ATTACH PARTITION source_1 FOR VALUES IN (1)', '1 2 3' ],
	[ 'ALTER TABLE source DETACH PARTITION source_1 CONCURRENTLY', '2 3' ],
	[ 'DROP TABLE source_2', '3' ],
	[ 'ALTER TABLE child NO INHERIT heir', '' ],
	[ 'ALTER TABLE child INHERIT heir', '3' ],
	[ 'DROP TABLE child', '' ])
{
	query($change->[0]);
	soon($mirror, $change->[1], $change->[0]);
}

# Rows that come into a part through the whole.
query(q{
	CREATE TABLE whole (k int, s int) PARTITION BY LIST (k);
	CREATE TABLE whole_1 PARTITION OF whole FOR VALUES IN (1);
	CREATE TABLE whole_2 PARTITION OF whole FOR VALUES IN (2);
	CREATE TABLE applied_part (k int PRIMARY KEY, s int);
	SELECT replace_flow.create_using_flow('applied_part', 'whole_1', '{k}', 's');
	SELECT replace_flow.create_where_flow('mirrored_part', 'SELECT k, s FROM whole_2', 'true',
		refresh_on_change => true, min_interval => '0 s')});
query('INSERT INTO whole VALUES (1, 1), (2, 2)');
soon('SELECT count(*) FROM applied_part', '1', 'rows of a stream come through what it is a part of');
soon('SELECT count(*) FROM mirrored_part', '1', 'and those of a source');

# E5: a table that was being written when another one became a part of it gets its
# triggers later.
my $capturing = q{SELECT count(*) FROM pg_trigger
	WHERE tgrelid = 'busy'::regclass AND tgfoid = 'replace_flow.capture_change'::regproc};
query(q{
	CREATE TABLE lone (k int);
	CREATE TABLE busy (k int) PARTITION BY LIST (k);
	CREATE TABLE busy_1 PARTITION OF busy FOR VALUES IN (1);
	SELECT replace_flow.create_where_flow('captured', 'SELECT k FROM lone', 'true')});
my $writer = $node->background_psql('postgres');
$writer->query_safe('BEGIN; INSERT INTO busy VALUES (1)');
query('ALTER TABLE busy ATTACH PARTITION lone FOR VALUES IN (2)');
is(query($capturing), '0', 'a table that is written gets no triggers');
$writer->query_safe('COMMIT');
$writer->quit;
soon($capturing, '4', 'but soon after that');

# Nobody but the extension says that flows have changed.
query('CREATE ROLE stranger; GRANT CREATE ON SCHEMA public TO stranger');
my (undef, undef, $error) = $node->psql('postgres', q{
	SET ROLE stranger;
	CREATE TABLE own (k int);
	CREATE TRIGGER own AFTER INSERT ON own FOR EACH STATEMENT
	EXECUTE FUNCTION replace_flow.note_definitions()});
like($error, qr/permission denied/, 'not with a trigger of a table of their own');

$node->stop;
done_testing();
