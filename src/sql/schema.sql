/*
 * The schema is open to look into; what a role may run or see is decided by
 * the functions and by row-level security.
 *
 * It is the extension's own, and goes with it.  A schema of this name that is
 * there already is not taken over: whoever owns it could put functions beside
 * ours.
 */

CREATE SCHEMA replace_flow;
GRANT USAGE ON SCHEMA replace_flow TO PUBLIC;
