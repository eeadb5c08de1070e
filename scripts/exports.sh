#!/usr/bin/env bash
# exports.sh LIBKREIN.SO [KREIN.H] -- the shared library exports what the public header
# declares KREIN_API: no name more, no name less. (The locks of named OpenMP critical sections are
# the compiler's: they are common to the process by design.)
set -uo pipefail
library=$1
header=${2:-$(dirname "${BASH_SOURCE[0]}")/../include/krein.h}

exported=$(nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' |
    grep -vxE '_init|_fini|_end|_edata|__bss_start|\.gomp_critical_user_.*' | sort -u)
declared=$(tr '\n' ' ' <"$header" | grep -oE 'KREIN_API [^;(]*[^A-Za-z0-9_;(]krein_[a-z0-9_]+ *\(' |
    grep -oE 'krein_[a-z0-9_]+ *\($' | tr -d ' (' | sort -u)

bad=0
complain() { # what, names
    [[ -n $2 ]] || return
    sed "s/^/$1: /" <<<"$2"
    bad=1
}
complain "exported, but not a public name" "$(grep -vE '^krein_[a-z0-9]' <<<"$exported" | grep .)"
complain "exported, but not in krein.h" \
    "$(comm -23 <(echo "$exported") <(echo "$declared") | grep -E '^krein_[a-z0-9]')"
complain "in krein.h, but not exported" "$(comm -13 <(echo "$exported") <(echo "$declared"))"
((bad)) && echo "0 passed, 1 failed" || echo "1 passed, 0 failed"
exit $bad
