#!/usr/bin/env bash
# layers.sh -- holds the house plan: who may include whom, and who may name what.
#
#   layers       a folder of src includes itself and the folders before it, no other;
#                files of src itself all of them; src/cli krein.h, cli/, base/ and draw/ only, and
#                its ranks.c and cmd_ranks.c dist/ as well; src/mpi dist/transport.h only
#   processes    dist/ is used by share/, stream/ and the few files below; others put their sums
#                together with stream/together.h
#   citations    every key of a paper is in docs/references.bib, once, in an entry that ends
#   libraries    OpenBLAS is named in src/num/blas.c only, Random123 in src/base/rng.c,
#                MPI in src/mpi/; LIBSVM is for tests alone
#   streams      random streams have a name of src/base/streams.def, not a number
#   flags        the library's texts name options, not flags
#   names        nothing outside the spec parser compares a method's name
#   paths        no file of the repository names a path of somebody's machine
#
# Prints file:line for each violation; the last line is "N passed, N failed, N skipped".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

rooms='base num draw dist file generate encode share stream kernel graph map solve net model export learn select combine pipe compare report'

passed=0 failed=0 skipped=0
outcome() { # name violations
    if [[ -n $2 ]]; then
        printf '%s\nFAILED: %s\n' "$2" "$1"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

mapfile -t sources < <(find src -name '*.[ch]' -o -name '*.def' | sort)
if ((${#sources[@]} == 0)); then
    echo "no sources under src"
    echo "0 passed, 1 failed"
    exit 1
fi

# Code without comments, as "file:line:code" (strings may lose a "//" or "/*": no harm here).
code() {
    awk '
    FNR == 1 { inside = 0 }
    {
        line = $0; out = ""
        while (line != "") {
            if (inside) {
                at = index(line, "*/")
                if (!at) break
                line = substr(line, at + 2); inside = 0
            } else {
                at = index(line, "/*"); slashes = index(line, "//")
                if (slashes && (!at || slashes < at)) { out = out substr(line, 1, slashes - 1); break }
                if (!at) { out = out line; break }
                out = out substr(line, 1, at - 1) " "; line = substr(line, at + 2); inside = 1
            }
        }
        if (out ~ /[^ \t]/) print FILENAME ":" FNR ":" out
    }' "$@"
}
stripped=$(code "${sources[@]}")

layers() {
    grep -E '^[^:]+:[0-9]+:[[:space:]]*#[[:space:]]*include[[:space:]]*"' <<<"$stripped" |
        awk -v rooms="$rooms" '
        BEGIN { n = split(rooms, name, " "); for (i = 1; i <= n; i++) rank[name[i]] = i }
        {
            match($0, /^[^:]+:[0-9]+:/)
            place = substr($0, 1, RLENGTH - 1)
            file = place; sub(/:[0-9]+$/, "", file)
            header = $0; sub(/^[^"]*"/, "", header); sub(/".*/, "", header)
            parts = split(file, f, "/")
            room = parts > 2 ? f[2] : ""              # "" for src/x.c
            from = header; if (!sub(/\/.*/, "", from)) from = ""
            why = ""
            if (header == "krein.h") next
            if (header ~ /(^|\/)\.\.(\/|$)/) why = "has \"..\"; write \"room/file.h\""
            else if (room == "mpi") { if (header == "dist/transport.h") next; why = "src/mpi may use dist/transport.h only" }
            else if (room != "" && room != "cli" && !(room in rank)) why = "is in a room that scripts/layers.sh does not know"
            else if (from == room) next
            else if (from == "") {                    # a file beside this one, or one of src itself
                own = file; sub(/[^\/]*$/, "", own)
                if ((getline line < (own header)) >= 0) { close(own header); next }
                why = "is not \"room/file.h\""
            }
            else if (room == "cli") { if (from == "base" || from == "draw" || file ~ /src\/cli\/(cmd_)?ranks\.c$/ && from == "dist") next; why = "src/cli may use krein.h, cli/, base/ and draw/ only" }
            else if (from == "cli") why = "the library may not use the program"
            else if (!(from in rank)) why = "there is no room \"" from "\""
            else if (room == "" || rank[from] < rank[room]) next
            else why = room "/ comes before " from "/"
            print place ": #include \"" header "\": " why
        }'
}
outcome layers "$(layers)"

# Beside the rooms that are made for it: a training's refusals and choices before there is a
# stream; pieces that go to the first process; candidates and trainings that are divided, not rows; the program.
outcome processes "$(
    grep -E '#[[:space:]]*include[[:space:]]*"dist/|(^|[^A-Za-z0-9_])krein__comm_' <<<"$stripped" |
        grep -vE '^src/((dist|share|stream|mpi)/|pipe/together\.c|model/packets\.c|select/score_exact\.c|compare/work\.c|cli/(cmd_)?ranks\.c)' |
        sed -E 's/^([^:]+:[0-9]+):.*/\1: dist\/ is for the rooms before; use stream\/together.h/'
)"

# Keys are a name and a year; comments have them as well as descriptions.
citations() { # keys
    grep -noE '\b[a-z]{2,}(18|19|20)[0-9]{2}[a-z]?\b' "${sources[@]}" |
        awk -F: -v keys="$1" 'BEGIN { split(keys, all, "\n"); for (i in all) known[all[i]] }
            !($3 in known) { print $1 ":" $2 ": \"" $3 "\" is not in docs/references.bib" }'
    sort <<<"$1" | uniq -d | sed 's/.*/docs\/references.bib: "&" is there twice/'
    awk '{ line = $0; depth += gsub(/\{/, "", line) - gsub(/\}/, "", line) }
        /^@/ { if (open) print FILENAME ":" FNR ": the entry before it has no end"; open = 1 }
        /^}/ { open = 0; if (depth) print FILENAME ":" FNR ": braces do not match"; depth = 0 }
        /^%/ && open { print FILENAME ":" FNR ": a comment inside an entry" }' docs/references.bib
}
if [[ -f docs/references.bib ]]; then
    keys=$(sed -nE 's/^[[:space:]]*@[A-Za-z]+[[:space:]]*\{[[:space:]]*([^,[:space:]]+).*/\1/p' docs/references.bib)
    outcome citations "$(citations "$keys")"
else
    echo "skipped: citations: docs/references.bib is not here"
    skipped=$((skipped + 1))
fi

outcome libraries "$(
    grep -E '(^|[^A-Za-z0-9_])(cblas|openblas_)' <<<"$stripped" | grep -v '^src/num/blas\.c:' |
        sed -E 's/^([^:]+:[0-9]+):.*/\1: OpenBLAS is named outside src\/num\/blas.c/'
    grep -E 'include[[:space:]]*[<"](libsvm/)?svm\.h' <<<"$stripped" |
        sed -E 's/^([^:]+:[0-9]+):.*/\1: LIBSVM is included: it is for tests alone/'
    grep -E 'include[[:space:]]*[<"]mpi\.h|(^|[^A-Za-z0-9_])P?MPI_[A-Z][a-z]' <<<"$stripped" | grep -v '^src/mpi/' |
        sed -E 's/^([^:]+:[0-9]+):.*/\1: MPI is named outside src\/mpi/'
    grep -E 'include[[:space:]]*[<"]Random123|(^|[^A-Za-z0-9_])(r123|(philox|threefry)[24]x(32|64))' <<<"$stripped" |
        grep -v '^src/base/rng\.c:' |
        sed -E 's/^([^:]+:[0-9]+):.*/\1: Random123 is named outside src\/base\/rng.c/'
)"

# A stream is a name, alone, + a count, or given to krein__substream and krein__role.
outcome streams "$(
    grep -vE '^src/base/(rng\.[ch]|streams\.def):' <<<"$stripped" |
        grep -E 'krein_rng[^;()]*(\)|=) *\{[^;{}]*, *(\([a-z0-9_]+\) *)?[0-9]|\.stream *([-+|]?= *[0-9(]|\|)|krein__substream\([^;]*, *[0-9]+\)|KREIN_STREAM_[A-Z]+ *([-|^]|\+ *(\([a-z0-9_]+\) *)?[0-9])|STREAM_[A-Z_]+ *= *[0-9]' |
        sed -E 's/^([^:]+:[0-9]+):.*/\1: a stream by number; name it in src\/base\/streams.def/'
)"

# The library names options (`max_memory`); the program turns them into flags (src/cli/flags.c).
outcome flags "$(
    grep -vE '^src/((cli|mpi)/|report/style\.c:)' <<<"$stripped" | # there they are variables of a style sheet
        grep -E '"(([^"\\]|\\.)*[^-A-Za-z0-9_<"\\])?--[a-z]' |
        sed -E 's/^([^:]+:[0-9]+):.*/\1: a flag of the program; write `option` or `option=value`/'
)"

# A class says what it is by its traits; names are for the spec parser (src/base/spec.c, and the
# aliases of src/kernel/expression.c).
names=$(cat src/*/*.def | sed -nE 's/^[A-Z]+\(krein__[a-z]+_([a-z0-9_]+)\).*/\1/p' | sort -u | paste -sd'|')
outcome names "$(
    grep -vE '^src/(base/spec|kernel/expression)\.c:' <<<"$stripped" |
        grep -E "(strn?(case)?cmp|memcmp) *\\([^;]*(\"($names)\\(?\"|cls\\.name)" |
        sed -E 's/^([^:]+:[0-9]+):(.*)/\1: compares the name of a method:\2/'
)"

# Tracked files, and new ones that git would take; without git, all but builds.
files() {
    { git ls-files -z --cached --others --exclude-standard ||
        find . -type f -not -path './.git/*' -not -path './build*/*' -print0; } 2>/dev/null
}
outcome paths "$(
    files | xargs -0 -r grep -nIsE '(^|[^A-Za-z0-9_.~-])/(work|root|home)/' -- |
        sed -E 's/^([^:]+:[0-9]+):/\1: a path of one machine: /' | cut -c1-160
)"

if ((skipped)); then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
((failed == 0))
