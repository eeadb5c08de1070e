#!/usr/bin/env bash
# doc-test.sh -- the documentation does what it says.
#
#   examples   every ```sh block of README.md, docs/tutorial.md, docs/mkl.md and docs/spectral.md is run, in order, in one
#              temporary directory a page with the program in PATH; each must end with status 0.
#              A block ```output behind it must be what it wrote to standard output.
#   example    the C program in README.md is examples/quickstart.c
#   methods    docs/methods.md lists what the program lists
#   commands   README.md names `make demo` and `make check`
#   links      a relative link in a .md file leads to a file
#
# KREIN is the program (build/krein). The last line is "N passed, N failed".
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
krein=$(realpath "${KREIN:-$root/build/krein}") || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/krein-doc.XXXXXX")
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
passed=0 failed=0
outcome() { # name status
    if (($2 == 0)); then
        passed=$((passed + 1))
    else
        echo "FAILED: $1"
        failed=$((failed + 1))
    fi
}

mkdir "$work/bin"
ln -s "$krein" "$work/bin/krein"

# Blocks N.sh, and N.output where one follows; N.line is where it stands.
take_blocks() { # page folder
    awk -v out="$2/" '
        /^```/ && file { close(file); file = ""; next }
        /^```sh$/ { n++; file = out sprintf("%03d.sh", n); print NR > (out sprintf("%03d.line", n)); next }
        /^```output$/ { file = out sprintf("%03d.output", n); next }
        /^```/ { file = "/dev/null"; next }
        file { print > file }' "$1"
}

for page in README.md docs/tutorial.md docs/mkl.md docs/spectral.md; do
    here=$work/$(basename "$page" .md)
    mkdir -p "$here/blocks" "$here/run"
    take_blocks "$root/$page" "$here/blocks"
    for block in "$here"/blocks/*.sh; do
        name="$page:$(cat "${block%.sh}.line")"
        (cd "$here/run" && PATH=$work/bin:$PATH timeout 120 bash -euo pipefail "$block") \
            >"$work/out" 2>"$work/err" </dev/null
        status=$?
        if ((status)); then
            echo "$name: status $status"
            cat "$work/out" "$work/err"
        elif [[ -f ${block%.sh}.output ]]; then
            diff -u "${block%.sh}.output" "$work/out"
            status=$?
        fi
        outcome "$name" $status
    done
done

awk '/^```c$/ && !done { on = 1; next } /^```/ && on { on = 0; done = 1 } on' "$root/README.md" |
    diff -u "$root/examples/quickstart.c" -
outcome "README.md: the C example is examples/quickstart.c" $?

KREIN=$krein "$root/scripts/methods.sh" --check >"$work/out" 2>&1
status=$?
((status)) && cat "$work/out"
outcome "scripts/methods.sh --check" $status

cd "$root" || exit 1
grep -q 'make demo' README.md && grep -q 'make check' README.md
outcome "README.md names make demo and make check" $?

status=0
for page in *.md docs/*.md docs/results/*.md; do
    while read -r link; do
        [[ -e $(dirname "$page")/${link%%#*} ]] && continue
        echo "$page: no file $link"
        status=1
    done < <(grep -oE '\]\([^)#][^)]*\)' "$page" | sed -E 's/^\]\((.*)\)$/\1/' | grep -vE '^[a-z]+:')
done
outcome "links" $status

echo "$passed passed, $failed failed"
exit $((failed > 0))
