#!/usr/bin/env bash
# methods.sh [--check] -- writes docs/methods.md from what the program says of itself (krein list,
# krein help NAME). --check changes nothing, compares, and ends with "N passed, N failed".
#
# KREIN is the program (build/krein).
# shellcheck disable=SC2016 # backquotes of Markdown
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
krein=${KREIN:-$root/build/krein}
cd "$root" || exit 1
export LC_ALL=C
command -v "$krein" >/dev/null || {
    echo "methods: no program at $krein; build it, or set KREIN" >&2
    exit 1
}
work=$(mktemp -d "${TMPDIR:-/tmp}/krein-methods.XXXXXX")
trap 'rm -rf "$work"' EXIT

# table, name, summary, separated by tabs
"$krein" list >"$work/list.txt" || exit 1
awk -v OFS='\t' '
    /^[a-z]/ { table = $1; next }
    NF > 1 { name = $1; sub(/^ *[^ ]+ +/, ""); print table, name, $0 }
' "$work/list.txt" >"$work/list"

# Text for a cell of a Markdown table.
cell() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/[|_*]/\\&/g' <<<"$1"; }
singular() {
    case $1 in
    criteria) echo criterion ;;
    *) echo "${1%s}" ;;
    esac
}

# The part of `krein help NAME` that speaks of the thing in this table: a line each for the
# reference, the options and the paragraph below the summary.
about() { # table name
    "$krein" help "$2" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/[|*]/\\&/g' | awk -v head="$2 ($(singular "$1"))" '
        /^[^ ]/ { on = ($0 == head); options = 0; lines = 0; next }
        !on { next }
        /^  reference: / { cite = $2; next }
        /^  Options$/ { options = 1; next }
        /^  [^ ]/ && !options { sub(/^ +/, ""); if (lines++) details = details " " $0; next }
        options && /^    [^ ]/ {
            name = $1; sub(/^ *[^ ]+ +/, "")
            text = text (text ? "<br>" : "") "`" name "`: " $0
        }
        options && /^     / { sub(/^ +/, text ~ /\|$/ ? "" : " "); text = text $0 }
        END { print cite; print text; print substr(details, 2) }'
}

page() {
    local table name summary last='' cite options details
    cat <<'END'
# Methods

This page is written by `scripts/methods.sh` from what the program says of itself. Do not edit
it. `krein help NAME` shows the same on the command line. References are keys of
[references.bib](references.bib).

An option without a default is free. `train` selects a free kernel parameter from the data;
`transform` and `gram` set it from the median distance.
END
    while IFS=$'\t' read -r table name summary; do
        if [[ $table != "$last" ]]; then
            printf '\n## %s\n\n| name | what it is | options | reference |\n| --- | --- | --- | --- |\n' "${table^}"
            last=$table
        fi
        { read -r cite; read -r options; read -r details; } < <(about "$table" "$name")
        printf '| `%s` | %s | %s | %s |\n' "$name" "$(cell "$summary")${details:+. $details}" "$options" "$cite"
    done <"$work/list"
}

page >"$work/methods.md"

if [[ ${1:-} == --check ]]; then
    if diff -u docs/methods.md "$work/methods.md"; then
        echo "1 passed, 0 failed"
        exit 0
    fi
    echo "docs/methods.md is not what the program says; run scripts/methods.sh"
    echo "0 passed, 1 failed"
    exit 1
fi
cp "$work/methods.md" docs/methods.md
