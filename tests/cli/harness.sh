#!/usr/bin/env bash
# tests/cli/lib.sh itself: a script that checks nothing, or misspells a helper, fails.
# shellcheck source=lib.sh disable=SC2154
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$tests/lib.sh"
# script LINE: what a script of that one line prints at last, and its status
script() {
    printf '%s\n' ". '$tests/lib.sh'" "$1" summary >one.sh
    bash one.sh >out 2>err
    echo "$? $(tail -n 1 out)"
}
is "a check" "0 1 passed, 0 failed, 0 skipped" "$(script 'is same 1 1')"
is "a check that fails" "1 0 passed, 1 failed, 0 skipped" "$(script 'is other 1 2')"
is "no check" "1 0 passed, 1 failed, 0 skipped" "$(script ':')"
is "a helper that is not there" "1 1 passed, 1 failed, 0 skipped" "$(script 'pass; iss same 1 1')"
summary
