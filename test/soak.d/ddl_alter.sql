SELECT replace_flow.alter_flow('parts', comment => 'altered for the ' || :n || 'th time',
	settings => jsonb_build_object('work_mem', 1 + :n % 4 || 'MB'));
SELECT replace_flow.alter_flow('summary', min_interval => 100 * (1 + :n % 3) * interval '1 ms');
