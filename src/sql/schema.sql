/*
 * The schema is open to look into; what a role may run or see is decided by
 * the functions and by row-level security.
 */
GRANT USAGE ON SCHEMA replace_flow TO PUBLIC;
