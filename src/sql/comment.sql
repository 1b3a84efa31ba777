/*
 * What \d+ and \df+ show.
 */
COMMENT ON SCHEMA replace_flow IS 'flows that replace sets of rows; of extension replace_flow';
COMMENT ON TABLE replace_flow.flow IS 'flows, one row each';
COMMENT ON TABLE replace_flow.run IS 'runs of flows, one row each: what was read, and what was written';
COMMENT ON TABLE replace_flow.expectation IS 'conditions on the rows that a flow''s query gives';
COMMENT ON TABLE replace_flow.expectation_result IS 'per run and expectation, how many rows passed and failed';
COMMENT ON TABLE replace_flow.rejected IS 'rows that an expectation dropped, and staged rows that were set aside because their key fails';
COMMENT ON FUNCTION replace_flow.create_using_flow IS 'define a flow that replaces, per key, the target''s rows by the staged set with the highest sequence';
COMMENT ON FUNCTION replace_flow.create_where_flow IS 'define a flow that replaces the target''s rows for which a predicate is true by those that a query gives';
COMMENT ON FUNCTION replace_flow.refresh IS 'run a where flow once: recompute its window and overwrite it';
COMMENT ON FUNCTION replace_flow.explain IS 'the window of a where flow, what of it is pushed where, the query and its plan';
COMMENT ON PROCEDURE replace_flow.backfill IS 'recompute a long range of a where flow in slices, each in a transaction of its own';
COMMENT ON TABLE replace_flow.backfill IS 'backfills that are not at their end';
COMMENT ON VIEW replace_flow.progress IS 'how far runs, previews and backfills are';
COMMENT ON FUNCTION replace_flow.full_refresh IS 'empty the target of a where flow and recompute its window';
COMMENT ON FUNCTION replace_flow.preview IS 'what a run would insert, update, delete and leave, in total and per key, without writing';
COMMENT ON FUNCTION replace_flow.start_update IS 'run several flows in the order of their dependencies';
COMMENT ON FUNCTION replace_flow.alter_flow IS 'change a flow''s definition; what is not given stays';
COMMENT ON FUNCTION replace_flow.pause_flow IS 'let nobody run a flow until it is resumed';
COMMENT ON FUNCTION replace_flow.resume_flow IS 'let a paused flow be run again';
COMMENT ON FUNCTION replace_flow.drop_flow IS 'remove a flow, its floors and its run history, and on request its target';
COMMENT ON FUNCTION replace_flow.apply IS 'run a using flow once: consume the staged rows and bring the target up to date';
COMMENT ON FUNCTION replace_flow.floors IS 'the highest sequence that a using flow has applied, per key';
COMMENT ON FUNCTION replace_flow.add_expectation IS 'check a condition on each row that a flow''s query gives: warn, drop the row, or fail the run';
COMMENT ON FUNCTION replace_flow.drop_expectation IS 'remove an expectation from a flow';
COMMENT ON FUNCTION replace_flow.apply_range IS 'internal: run a using flow once, for the keys whose hash lies in a range';
COMMENT ON FUNCTION replace_flow.key_hash IS 'internal: the hash of a key, given that of its columns before this one';
COMMENT ON FUNCTION replace_flow.in_snapshot IS 'internal: whether the current snapshot sees row versions written by this transaction';
COMMENT ON FUNCTION replace_flow.runs_under_way IS 'internal: the runs that view replace_flow.progress shows';
COMMENT ON FUNCTION replace_flow.flow_owner IS 'the role that a flow belongs to and runs as';
COMMENT ON FUNCTION replace_flow.after_drop IS 'internal: remove flows whose tables were dropped';
COMMENT ON FUNCTION replace_flow.before_drop_extension IS 'internal: let restored flows'' views and ledgers go with the extension';
COMMENT ON TYPE replace_flow.regcolumn IS 'a column of a table; reads and prints as schema.table.column';
COMMENT ON FUNCTION replace_flow.note_staged IS 'internal: wake the worker when rows came into a table';
COMMENT ON FUNCTION replace_flow.note_definitions IS 'internal: wake the worker when flows were changed';
COMMENT ON FUNCTION replace_flow.after_ddl IS 'internal: let tables that became parts of a stream or source wake the worker too';
