#!/usr/bin/env bash
# tests/cli/lib.sh itself: a script that checks nothing, or misspells a helper, fails; json looks.
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
written='command=none; : >err; echo "{\"a\": 1}" >out;'
is "json" "1 2 passed, 3 failed, 0 skipped" "$(script "$written json x 'j[\"a\"] == 1'; json x 'j[\"a\"] == 2'; json x 'j['; json x 'j[\"b\"]'; json x 'len(j) == 1'")"
is "json in a folder, in a subshell" "0 2 passed, 0 failed, 0 skipped" \
    "$(script "mkdir f; cd f; $written json x 'j[\"a\"] == 1'; (json x 'j[\"a\"] == 1'; ((passed == 2))) && pass")"
is "json without a file" "1 0 passed, 1 failed, 0 skipped" "$(script "command=none; : >err; json x 'True'")"
summary
