# A build that watches itself for misuse of memory and undefined behaviour.
#
# Sourced by test/check.  Only the extension is built like that; the server gets
# the libraries of the sanitizers by preloading.  Memory that the server hands out
# in pieces of one block is one thing to them, so they miss what stays in a block.
# A misuse of memory aborts the server and is reported in a file of $work/sanitizer;
# undefined behaviour is reported in the server's log, where only ours can be.

# Build flags, in $sanitize_flags, and the environment of the server.
choose_sanitizers()
{
    local waker=$work/wake_sanitizer.so

    sanitize_flags="-fsanitize=address,undefined -fno-omit-frame-pointer -g -O1 -include test/lib/live_assertions.h"
    as_user gcc -O0 -shared -fPIC -Wl,-z,initfirst -o "$waker" test/lib/wake_sanitizer.c
    server_environment=(
        "LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so):$waker"
        "ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:log_path=$work/sanitizer/report"
    )
    as_user mkdir "$work/sanitizer"
}
