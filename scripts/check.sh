#!/usr/bin/env bash
# check.sh [gcc|clang|asan|tsan|layers] ... -- builds and tests; without argument all but tsan.
#
#   gcc      gcc -Werror into build-check/; the unit tests tests/test_*.c, those of several
#            processes under mpirun (tests/mpi), the command line tests tests/cli/*.sh, the
#            Python tests tests/py/*.py, the exported names, the installed package, what the
#            documentation shows
#   clang    clang -Werror into build-clang/; compiled and linked, not run
#   asan     address and undefined sanitizers into build-asan/; unit, mpirun and command line
#            tests
#   tsan     thread sanitizer (clang) into build-tsan/; unit tests
#   layers   scripts/layers.sh
#
# Every test ends with a line "N passed, N failed[, N skipped]" on its standard output; they
# are added up, and the sum is the last line here. A test that crashes, hangs, ends badly or
# without that line, or leaves a sanitizer's report, counts as one failed. Exit status 1 when
# anything failed.
#
# Tests run from the root of the repository with KREIN (the program), KREIN_DATA (data sets;
# default ../shared/data), KREIN_LIBRARY (libkrein.so), TMPDIR (a folder of their own) and,
# under a sanitizer, KREIN_SANITIZED=1. Files in tests/cli, tests/mpi and tests/py whose name
# begins with "_" or "lib", or is common.*, launch.* or conftest.py, are helpers and not run.
#
#   V=1                   show the output of every test, not only of those that failed
#   KREIN_JOBS=N          builds with N processes (the CPUs)
#   KREIN_TEST_JOBS=N     runs N tests at a time (2, or 1 on one CPU)
#   KREIN_TEST_TIMEOUT=S  seconds that a test may take (300)
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
ulimit -c 0
export LC_ALL=C

cpus=$(nproc 2>/dev/null || echo 2)
jobs=${KREIN_JOBS:-$cpus}
test_jobs=${KREIN_TEST_JOBS:-$((cpus > 1 ? 2 : 1))}
limit=${KREIN_TEST_TIMEOUT:-300}
verbose=${V:-0}
[[ -d ${KREIN_DATA:=$root/../shared/data} ]] && KREIN_DATA=$(cd "$KREIN_DATA" && pwd)
export KREIN_DATA OMP_WAIT_POLICY=passive PYTHONDONTWRITEBYTECODE=1

stages=("$@")
((${#stages[@]})) || stages=(gcc clang asan layers)
for stage in "${stages[@]}"; do
    [[ $stage =~ ^(gcc|clang|asan|tsan|layers)$ ]] || {
        echo "usage: scripts/check.sh [gcc|clang|asan|tsan|layers] ..." >&2
        exit 2
    }
done

passed=0 failed=0 skipped=0
failures=()
now() { date +%s%N; }
since() { echo "$((($(now) - $1) / 100000000))" | sed -E 's/(.)$/.\1/; s/^\./0./'; }
fail() { # name, why
    failed=$((failed + 1))
    failures+=("$1: $2")
    echo "FAILED $1: $2"
}

# ---- building ------------------------------------------------------------

# build LABEL FOLDER compiler cmake-options...: complains and fails when it does not build.
build() {
    local label=$1 folder=$2 compiler=$3 start log stamp
    shift 3
    start=$(now)
    if ! command -v "$compiler" >/dev/null; then
        echo "skipped: $label: $compiler is not here (scripts/deps.sh test installs it)"
        skipped=$((skipped + 1))
        return 1
    fi
    # A tree configured otherwise (other compiler or options, a moved checkout) is made anew:
    # on a change of compiler CMake would forget the options, the sanitizers among them.
    stamp="$root $compiler $*"
    [[ $(cat "$folder/configured" 2>/dev/null) == "$stamp" ]] || rm -rf "$folder"
    mkdir -p "$folder"
    log=$folder/build.log
    if ! cmake -S . -B "$folder" -G "Unix Makefiles" -DCMAKE_C_COMPILER="$compiler" -DKREIN_WERROR=ON \
        -DKREIN_TESTS=ON "$@" >"$log" 2>&1; then
        cat "$log"
        fail "$label/configure" "cmake found something wrong"
        return 1
    fi
    echo "$stamp" >"$folder/configured"
    # -k: all the errors at once.
    if ! cmake --build "$folder" -j "$jobs" -- -k >"$log" 2>&1; then
        grep -vE '^\[ *[0-9/]+%?\]|^g?make' "$log" | head -n 120
        fail "$label/build" "does not build (all of it: $log)"
        return 1
    fi
    ((verbose)) && cat "$log"
    echo "== $label: built in $(since "$start") s"
}

# Programs whose source is gone stay in a build tree; only those with a source are tests.
unit_tests() { # folder
    local source
    for source in tests/test_*.c; do
        [[ -e $source ]] && echo "$1/tests/$(basename "$source" .c)"
    done
}
scripts_in() { # folder ending
    local file name
    for file in "$1"/*."$2"; do
        name=${file##*/}
        [[ -e $file && ! $name =~ ^(_|lib|common\.|launch\.|conftest\.) ]] && echo "$file"
    done
}
python() {
    local candidate
    for candidate in /usr/bin/python3 python3; do
        "$candidate" -c 'import numpy' 2>/dev/null && echo "$candidate" && return
    done
    command -v python3
}

# ---- running -------------------------------------------------------------

# One test, in the background: leaves NAME.out, NAME.err, NAME.san.* and at last NAME.rc.
run_one() { # results-prefix command...
    local prefix=$1 start child status
    shift
    start=$(now)
    mkdir -p "$prefix.tmp"
    TMPDIR=$prefix.tmp \
        ASAN_OPTIONS="log_path=$prefix.san:$asan_options" \
        TSAN_OPTIONS="log_path=$prefix.san:$tsan_options" \
        timeout -k 10 "$limit" "${wrapper[@]}" "$@" >"$prefix.out" 2>"$prefix.err" </dev/null &
    child=$!
    trap 'kill "$child" 2>/dev/null' TERM
    wait "$child"
    status=$?
    rm -rf "$prefix.tmp"
    echo "$status $(since "$start")" >"$prefix.rc.part"
    mv "$prefix.rc.part" "$prefix.rc"
}

# Reads what run_one left, counts it and says it.
judge() { # label/name results-prefix
    local name=$1 prefix=$2 status=-1 seconds=0 last p=0 f=0 s=0 why='' show=$verbose
    [[ -f $prefix.rc ]] && read -r status seconds <"$prefix.rc"
    last=$(grep -v '^[[:space:]]*$' "$prefix.out" 2>/dev/null | tail -n 1)
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
        p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]} s=${BASH_REMATCH[4]:-0}
        ((f)) && why="$f failed"
    else
        why="printed no summary line"
    fi
    if ((status == 124 || status == 137)); then
        why="stopped after $limit s"
    elif ((status > 128)); then
        why="killed by SIG$(kill -l "$((status - 128))")"
    elif compgen -G "$prefix.san.*" >/dev/null ||
        grep -qsE ': runtime error: |ERROR: [A-Za-z]+Sanitizer' "$prefix.out" "$prefix.err"; then
        why="a sanitizer complained"
    elif ((status != 0 && f == 0)); then
        why="${why:+$why, }exit status $status"
    fi
    [[ -n $why ]] && ((f == 0)) && f=1
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    if [[ -n $why ]]; then
        failures+=("$name: $why")
        echo "FAILED $name: $why ($seconds s)"
        show=1
    else
        printf '   ok  %-36s %4d passed%s  %s s\n' "$name" "$p" "$( ((s)) && echo ", $s skipped")" "$seconds"
    fi
    if ((show)); then
        local file
        for file in "$prefix.out" "$prefix.err" "$prefix".san.*; do
            [[ -s $file ]] || continue
            tail -n 200 "$file" | sed 's/^/       /'
            grep -q 'AddressSanitizer: ILL' "$file" &&
                echo "       (ILL: undefined behaviour at the first line of the trace)"
            (($(wc -l <"$file") > 200)) && echo "       (the last 200 lines of $file)"
        done
    else
        grep -h '^[[:space:]]*skipped: ' "$prefix.out" "$prefix.err" | sed 's/^[[:space:]]*/       /'
    fi
}

# run LABEL RESULTS-FOLDER: the tests of the array `queue`, "name|command|argument...".
# The environment for them is the caller's.
run() {
    local label=$1 folder=$2 start entry name command running=0
    local -a pending=() left
    start=$(now)
    rm -rf "${folder:?}/$label"
    mkdir -p "$folder/$label"
    folder=$(cd "$folder/$label" && pwd)

    report() { # the tests that have finished since
        left=()
        for name in "${pending[@]}"; do
            if [[ -f $folder/$name.rc ]]; then judge "$label/$name" "$folder/$name"; else left+=("$name"); fi
        done
        pending=("${left[@]}")
    }
    for entry in "${queue[@]}"; do
        if ((running >= test_jobs)); then
            wait -n
            running=$((running - 1))
            report
        fi
        IFS='|' read -r -a command <<<"$entry"
        name=${command[0]}
        pending+=("$name")
        run_one "$folder/$name" "${command[@]:1}" 2>/dev/null &
        running=$((running + 1))
    done
    wait
    report
    for name in "${pending[@]}"; do judge "$label/$name" "$folder/$name"; done
    echo "== $label: ${#queue[@]} run in $(since "$start") s"
}
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM

asan_options=detect_leaks=1 tsan_options='' wrapper=()
queue_unit() { # folder
    local test
    for test in $(unit_tests "$1"); do queue+=("${test##*/}|$test"); done
}
queue_mpi() { # folder
    local test
    for test in $(scripts_in tests/mpi sh); do
        queue+=("mpi-$(basename "$test" .sh)|bash|$test|$1")
    done
}
queue_cli() {
    local test
    [[ -x $KREIN ]] || return
    for test in $(scripts_in tests/cli sh); do queue+=("cli-$(basename "$test" .sh)|bash|$test"); done
}

# ---- the stages ----------------------------------------------------------

stage_gcc() {
    build gcc build-check gcc -DCMAKE_BUILD_TYPE=Release || return
    local -a queue=()
    local -x KREIN=$root/build-check/krein KREIN_LIBRARY=$root/build-check/libkrein.so
    local -x PYTHONPATH=$root/python${PYTHONPATH:+:$PYTHONPATH}
    local test interpreter
    queue_unit build-check
    queue_mpi build-check
    run unit build-check/results
    queue=()
    queue_cli
    interpreter=$(python)
    for test in $(scripts_in tests/py py); do
        if [[ -n $interpreter ]]; then
            queue+=("py-$(basename "$test" .py)|$interpreter|$test")
        else
            echo "skipped: $test: no python3"
            skipped=$((skipped + 1))
        fi
    done
    ((${#queue[@]})) && run outside build-check/results
    queue=("exports|scripts/exports.sh|build-check/libkrein.so" "install|scripts/install-test.sh|build-check"
        "docs|scripts/doc-test.sh")
    run package build-check/results
}

stage_clang() {
    build clang build-clang clang -DCMAKE_BUILD_TYPE=Debug && passed=$((passed + 1))
}

# Old sanitizer runtimes die at random where the kernel randomises addresses widely.
choose_wrapper() {
    wrapper=()
    local bits=0
    [[ -r /proc/sys/vm/mmap_rnd_bits ]] && bits=$(</proc/sys/vm/mmap_rnd_bits)
    ((bits > 28)) && setarch -R true 2>/dev/null && wrapper=(setarch -R)
}

stage_asan() {
    # Undefined behaviour traps, and the address sanitizer reports the trap: all reports go
    # to one log with one exit status. gcc's own messages would go to stderr with status 1,
    # which a command line test may take for an ordinary failure of the program. No -Werror:
    # the sanitizers' code makes gcc see uninitialised variables where there are none.
    build asan build-asan gcc -DCMAKE_BUILD_TYPE=Debug -DKREIN_WERROR=OFF \
        -DKREIN_SANITIZE=address,undefined \
        -DCMAKE_C_FLAGS=-fsanitize-undefined-trap-on-error || return
    local -a queue=() wrapper
    local -x KREIN=$root/build-asan/krein KREIN_SANITIZED=1 OMP_NUM_THREADS=2
    local -x LSAN_OPTIONS=print_suppressions=0
    local asan_options=detect_leaks=1:allocator_may_return_null=1:handle_sigill=1:exitcode=99 probe=build-asan/probe
    [[ -f scripts/lsan.supp ]] && LSAN_OPTIONS+=:suppressions=$root/scripts/lsan.supp
    choose_wrapper
    # The leak check needs ptrace, which some containers forbid.
    echo 'int main(void) { return 0; }' | gcc -fsanitize=address -x c - -o "$probe"
    if ! ASAN_OPTIONS=$asan_options "${wrapper[@]}" "$probe" >/dev/null 2>&1; then
        echo "skipped: leak check: it does not work in this container (ptrace?)"
        skipped=$((skipped + 1))
        asan_options=${asan_options/detect_leaks=1/detect_leaks=0}
    fi
    queue_unit build-asan
    queue_mpi build-asan
    queue_cli
    run asan build-asan/results
}

stage_tsan() {
    build tsan build-tsan clang -DCMAKE_BUILD_TYPE=Debug -DKREIN_WERROR=OFF -DKREIN_SANITIZE=thread || return
    local -a queue=() wrapper
    local -x KREIN=$root/build-tsan/krein KREIN_SANITIZED=1 OMP_NUM_THREADS=2
    # gcc's libgomp is opaque to the sanitizer; libomp tells it of its barriers through archer.
    local tsan_options=ignore_noninstrumented_modules=1:suppressions=$root/scripts/tsan.supp:exitcode=99
    local archer
    archer=$(sed -n 's/^OpenMP_[a-z]*omp_LIBRARY:[A-Z]*=//p' build-tsan/CMakeCache.txt | head -n 1)
    archer=$(dirname "${archer:-.}")/libarcher.so
    if [[ -e $archer ]]; then
        local -x OMP_TOOL_LIBRARIES=$archer
    else
        echo "skipped: archer: no libarcher.so beside libomp; expect false alarms"
    fi
    choose_wrapper
    queue_unit build-tsan
    run tsan build-tsan/results
}

stage_layers() {
    local -a queue=("layers|scripts/layers.sh")
    mkdir -p build-check
    run rules build-check/results
}

begin=$(now)
mkdir -p build-check
for stage in "${stages[@]}"; do "stage_$stage"; done

echo "== all: $(since "$begin") s"
for line in "${failures[@]}"; do echo "failed: $line"; done
if ((skipped)); then
    summary="$passed passed, $failed failed, $skipped skipped"
else
    summary="$passed passed, $failed failed"
fi
echo "$summary" | tee build-check/summary
((failed == 0))
