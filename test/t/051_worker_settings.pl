# F1, F3: settings of the database and the server are for its clients; those that
# would keep runs from working do not, and what is mended with others helps at the
# next try.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib $FindBin::RealBin;
use Test::More;
use Worker;

my $node = worker_node('main', 'replace_flow.max_backoff = 1s',
	'default_transaction_read_only = on', 'default_transaction_isolation = serializable',
	'statement_timeout = 300ms', 'idle_in_transaction_session_timeout = 300ms');

$node->append_conf('postgresql.conf', "idle_session_timeout = 300ms\n");
$node->append_conf('postgresql.conf', "transaction_timeout = 300ms\n")
  if $node->pg_version >= 17;
$node->reload;

sub sql
{
	my ($sql) = @_;

	return $node->safe_psql('postgres',
		"BEGIN; SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE; $sql; COMMIT");
}

sql(q{
	CREATE EXTENSION replace_flow;
	CREATE TABLE item (k int PRIMARY KEY, s int);
	CREATE TABLE item_in (LIKE item);
	CREATE FUNCTION take_time() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM pg_sleep(0.5);
		RETURN NULL;
	END $$;
	CREATE TRIGGER take_time AFTER INSERT ON item FOR EACH STATEMENT EXECUTE FUNCTION take_time();
	SELECT replace_flow.create_using_flow('item', 'item_in', '{k}', 's')});
sql('INSERT INTO item_in VALUES (1, 1)');
soon('SELECT count(*) FROM item', '1', 'a run writes, and may take its time');
is(count_in_log($node, qr/ERROR:|FATAL:/), 0, 'which no setting hinders');

# A run that fails for a setting of the database, in a process that got it when it
# began; it is tried too often for the process ever to be idle.
sql(q{
	CREATE FUNCTION ask() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF current_setting('test.open', true) IS DISTINCT FROM 'yes' THEN
			RAISE 'closed';
		END IF;
		RETURN NULL;
	END $$;
	CREATE TRIGGER ask AFTER INSERT ON item FOR EACH STATEMENT EXECUTE FUNCTION ask()});
sql('INSERT INTO item_in VALUES (2, 1)');
soon(q{SELECT consecutive_failures >= 2 FROM replace_flow.flows}, 't', 'a run fails for a setting');
sql(q{ALTER DATABASE postgres SET test.open = 'yes'});
soon('SELECT count(*) FROM item', '2', 'which helps as soon as it is set');

$node->stop;
done_testing();
