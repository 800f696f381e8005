#!/bin/sh
# test_release.sh SOURCE BUILD CC - the release build, before the tests that look at it
#
# They would build it too (release.sh), one while the others wait: then their limits of time would be for that as well.
. "$1/tests/release.sh"
