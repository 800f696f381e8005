#!/bin/sh
# test_calls.sh SOURCE BUILD CC - the library does not print, exit, abort, or allocate on its own
#
# Read from the undefined symbols of the objects of a release build, where assertions are off.
. "$1/tests/release.sh"

ends='abort|exit|_exit|_Exit|quick_exit|raise|kill|__assert_fail|longjmp|__longjmp_chk'
prints='(__)?v?f?printf(_chk)?|(__)?v?dprintf(_chk)?|f?puts|f?putc|putchar|fwrite|perror|std(in|out|err)'
prints="$prints|syslog|write_?stdout|psignal"
allocates='malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|memalign|free|str(n)?dup'
shared='strtok|strerror|localtime|gmtime|setlocale|s?rand|s?random|getenv'

status=0
count=0
for object in "$release"/CMakeFiles/tamis_objects.dir/src/*/*.o \
    "$release"/CMakeFiles/tamis_objects.dir/src/*/*/*.o; do
    count=$((count + 1))
    name=${object#"$release"/CMakeFiles/tamis_objects.dir/}
    name=${name%.o}
    forbidden="$ends|$prints|$shared|$allocates"
    [ "$name" = src/base/memory.c ] && forbidden="$ends|$prints|$shared"
    if nm -u "$object" | awk '{ print $2 }' | sed 's/@.*//' | grep -xE "$forbidden"; then
        echo "FAIL: $name calls these"
        status=1
    fi
done
[ "$count" -gt 0 ] || { echo "FAIL: no objects"; exit 1; }
[ "$status" -eq 0 ] && echo "ok: $count objects"
exit "$status"
