#!/usr/bin/env bash
# Version, help, list, man page, completion; what is not in this version.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
commands='train predict evaluate transform gram approx advise pca cluster generate plan info list help demo'

for option in --version -V; do
    run $option
    ok "$option"
    has "$option" out '^krein [0-9]+\.[0-9]+\.[0-9]+$'
done
run help
ok help
cp out usage
for c in $commands; do has "help lists $c" usage "^  $c "; done
for c in completion; do lacks "help hides $c" usage "^  $c "; done
for option in --help -h; do
    run $option
    ok "$option"
    is "$option is help" "$(cat usage)" "$(cat out)"
done
run
is "no command" 2 $rc
for c in $commands; do
    run help "$c"
    ok "help $c"
    has "help $c" out "^usage: krein $c "
    cp out text
    run "$c" --help
    ok "$c --help"
    is "$c --help is help $c" "$(cat text)" "$(cat out)"
    is "help $c fits in 80 columns" "" "$(grep -v '^usage' out | awk 'length > 80')"
done
run train --help --nonsense
ok "--help comes first"

# ---- list, help NAME ----
run list
ok list
for word in kernels gaussian maps orf learners krr generators arm; do has "list has $word" out "^ *$word( |\$)"; done
run list maps
ok "list maps"
has "list maps" out '^orf '
lacks "list maps: maps only" out '^ *gaussian '
for table in kernels maps learners criteria solvers generators; do
    run list $table
    ok "list $table"
done
run list --json
ok "list --json"
json "list --json" 'j["command"] == "list" and {"kernels", "maps", "learners", "generators"} <= {e["table"] for e in j["entries"]}'
json "list --json: keys" 'all({"table", "name", "summary", "cite", "options"} <= set(e) for e in j["entries"])'
json "list --json: options" '[o["name"] for e in j["entries"] if e["name"] == "gaussian" for o in e["options"]] == ["sigma"]'
run list maps --json
json "list maps --json" 'all(e["table"] == "maps" for e in j["entries"]) and j["entries"]'
run list map
status "list map" 2
has "list map" err 'did you mean maps'
run help orf
ok "help orf"
has "help orf" out '^orf \(map\)'
has "help orf: options" out '^ +D  +'
run help linear
has "help linear" out '^linear \(kernel\)'
run help kernels
has "help kernels" out '^gaussian '
run help gausian
status "help gausian" 2
has "help gausian" err "did you mean 'gaussian'"
# Every entry has help.
"$KREIN" list --json >entries
names=$("$PYTHON" -c 'import json; print(*[e["name"] for e in json.load(open("entries"))["entries"]])')
for name in $names; do
    run help "$name"
    ok "help $name"
done

# ---- unknown names ----
run trian data.csv
status trian 2
has trian err "did you mean 'train'"
run --seed 3 train x
status "options first" 2

# ---- man page ----
run help --man
ok "help --man"
cp out krein.1
has "man: title" krein.1 '^\.TH KREIN 1 '
for c in $commands; do has "man: $c" krein.1 "^\\.SS \"krein $c "; done
for section in NAME SYNOPSIS DESCRIPTION COMMANDS DATA KERNELS MAPS LEARNERS GENERATORS 'EXIT STATUS' FILES EXAMPLES; do
    has "man: $section" krein.1 "^\\.SH $section\$"
done
for name in $names; do has "man: $name" krein.1 "^.fB${name//-/.?-}.fR\$"; done
if command -v groff >/dev/null; then
    groff -man -Tascii -ww -z krein.1 2>troff
    is "man: groff has nothing to say" "" "$(cat troff)"
    # Whatever an option is called in the help is in the page too.
    groff -man -Tascii -P-cbou krein.1 >page 2>/dev/null
    for c in $commands; do "$KREIN" help "$c"; done | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--.*' |
        sort -u >options
    missing=$(while read -r o; do grep -qF -- "$o" page || echo "$o"; done <options)
    is "man: all options" "" "$missing"
else
    skip "man: groff" "not here"
fi

# ---- completion ----
run completion bash
ok "completion bash"
cp out completion
if bash -n completion; then pass; else fail "completion: syntax"; fi
complete_line() { # words...: prints the replies
    bash -c '. ./completion; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _krein; echo "${COMPREPLY[*]}"' - "$@"
}
is "completion: command" train "$(complete_line krein trai)"
is "completion: option" "--features" "$(complete_line krein train --fea)"
is "completion: words" minmax "$(complete_line krein train --scale min)"
is "completion: kernel" gaussian "$(complete_line krein train -k gau)"
is "completion: map" orf "$(complete_line krein train --map or)"
is "completion: learner" krr "$(complete_line krein train --learner kr)"
is "completion: generator" spiral "$(complete_line krein generate spi)"
is "completion: table" maps "$(complete_line krein list m)"
touch somefile.csv
is "completion: file" somefile.csv "$(complete_line krein train somef)"
is "completion: hidden" "" "$(complete_line krein completio)"
run completion fish
status "completion fish" 2

# ---- stdout that fails ----
if [[ -w /dev/full ]]; then
    for c in --version help list 'help --man' 'completion bash'; do
        # shellcheck disable=SC2086
        "$KREIN" $c >/dev/full 2>err
        is "$c to a full disk" 1 $?
        has "$c to a full disk" err '^krein: standard output: '
    done
fi
"$KREIN" help >&- 2>err
is "closed stdout" 1 $?
{
    "$KREIN" help --man
    echo $? >code
} 2>err | true
wait_for 5 test -s code
code=$(cat code)
if [[ $code == 0 || $code == 1 ]]; then pass; else fail "closed pipe" "status $code"; fi
is "closed pipe: quiet" "" "$(cat err)"
summary
