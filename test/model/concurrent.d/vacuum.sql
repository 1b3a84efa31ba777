-- frees the room of consumed rows, and freezes what is left
\set flow random(1, 7)
VACUUM (FREEZE) concurrent.stream_:flow, concurrent.target_:flow;
