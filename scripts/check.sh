#!/usr/bin/env bash
# check.sh [gcc|clang|asan|tsan|layers] ... -- builds and tests; without argument all but tsan.
#
#   gcc      gcc -Werror into build-check/; the unit tests tests/test_*.c, those of several
#            processes under mpirun (tests/mpi), the command line tests tests/cli/*.sh, the
#            Python tests tests/py/*.py, those of the Python package (scripts/python.sh; with
#            current releases where KREIN_PYTHON_CURRENT names a Python that has them), its
#            wheel, the exported names, the installed package, what the documentation shows; figures and
#            reports in a browser (tests/browser/run.py, where chromium and python3-selenium are here)
#   clang    clang -Werror into build-clang/; compiled, not run; tests are not linked either
#   asan     address and undefined sanitizers into build-asan/; unit and command line tests;
#            several processes are connected by sockets, not by mpirun
#   tsan     thread sanitizer (clang) into build-tsan/; unit tests
#   layers   scripts/layers.sh
#
# The trees are built one after the other; then the tests of all stages run from one queue, the
# longest first. How long a test takes is what it took last time (build-check/seconds), else what
# scripts/long-tests says, else a second.
#
# Every test ends with a line "N passed, N failed[, N skipped]" on its standard output; they
# are added up, and the sum is the last line here. A test that crashes, hangs, ends badly or
# without that line, checks nothing, or leaves a sanitizer's report, counts as one failed. Exit
# status 1 when anything failed.
#
# Tests run from the root of the repository with KREIN (the program), KREIN_DATA (data sets;
# default ../shared/data), KREIN_LIBRARY (libkrein.so), TMPDIR (a folder of their own) and,
# under a sanitizer, KREIN_SANITIZED=1. Files in tests/cli and tests/mpi whose name begins with
# "lib" or is launch.sh are helpers and not run; tests/py/run.py runs all of tests/py/test_*.py.
#
#   V=1                   show the output of every test, not only of those that failed
#   KREIN_JOBS=N          builds with N processes (the CPUs)
#   KREIN_TEST_JOBS=N     runs N tests at a time (two more than CPUs, or 1 on one: some wait for signals, processes and
#                         files)
#   KREIN_TEST_TIMEOUT=S  seconds that a test may take (600)
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
ulimit -c 0
export LC_ALL=C

cpus=$(nproc 2>/dev/null || echo 2)
jobs=${KREIN_JOBS:-$cpus}
test_jobs=${KREIN_TEST_JOBS:-$((cpus > 1 ? cpus + 2 : 1))}
limit=${KREIN_TEST_TIMEOUT:-600}
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
# What `times` of a shell says of its children, in seconds. (The shell itself has to say it: a
# $(...) around it has had none.)
cpu_seconds() { awk 'NR == 2 { split($1 " " $2, t, /[ms ]+/); printf "%.1f\n", 60 * t[1] + t[2] + 60 * t[3] + t[4] }' "$1"; }
fail() { # name, why
    failed=$((failed + 1))
    failures+=("$1: $2")
    echo "FAILED $1: $2"
}
skip() { # name, why
    skipped=$((skipped + 1))
    echo "skipped: $1: $2"
}

# ---- building ------------------------------------------------------------

if command -v ninja >/dev/null; then
    generator=Ninja keep_going=(-k 0)
else
    generator="Unix Makefiles" keep_going=(-k)
fi

# What a stage builds: folder, compiler, options.
tree_of() { # stage
    options=(-DKREIN_WERROR=ON -DKREIN_TESTS=ON)
    case $1 in
    gcc)
        folder=build-check compiler=gcc
        options+=(-DCMAKE_BUILD_TYPE=Release)
        ;;
    clang) # -g: scripts/abi.sh reads it
        folder=build-clang compiler=clang
        options+=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-g -DKREIN_LINK_TESTS=OFF)
        ;;
    asan)
        # Undefined behaviour traps, and the address sanitizer reports the trap: all reports go
        # to one log with one exit status. gcc's own messages would go to stderr with status 1,
        # which a command line test may take for an ordinary failure of the program. No -Werror:
        # the sanitizers' code makes gcc see uninitialised variables where there are none.
        folder=build-asan compiler=gcc
        options+=(-DCMAKE_BUILD_TYPE=Debug -DKREIN_WERROR=OFF -DKREIN_SANITIZE=address,undefined
            -DCMAKE_C_FLAGS=-fsanitize-undefined-trap-on-error)
        ;;
    tsan)
        folder=build-tsan compiler=clang
        options+=(-DCMAKE_BUILD_TYPE=Debug -DKREIN_WERROR=OFF -DKREIN_SANITIZE=thread)
        ;;
    esac
}

# Leaves the status in FOLDER/configure.rc.
configure() { # stage
    local folder compiler stamp
    local -a options
    tree_of "$1"
    # A tree configured otherwise (other compiler or options, a moved checkout) is made anew:
    # on a change of compiler CMake would forget the options, the sanitizers among them.
    stamp="$root $generator $compiler ${options[*]}"
    [[ $(cat "$folder/configured" 2>/dev/null) == "$stamp" ]] || rm -rf "$folder"
    mkdir -p "$folder"
    cmake -S . -B "$folder" -G "$generator" -DCMAKE_C_COMPILER="$compiler" "${options[@]}" \
        >"$folder/configure.log" 2>&1
    echo $? >"$folder/configure.rc"
    echo "$stamp" >"$folder/configured"
}

# Says and counts it when the tree of a stage does not build. It has been configured.
build() { # stage
    local folder compiler start log
    local -a options
    tree_of "$1"
    start=$(now)
    if ! command -v "$compiler" >/dev/null; then
        skip "$1" "$compiler is not here (scripts/deps.sh test installs it)"
        return 1
    fi
    if [[ $(cat "$folder/configure.rc") != 0 ]]; then
        cat "$folder/configure.log"
        fail "$1/configure" "cmake found something wrong"
        return 1
    fi
    log=$folder/build.log
    # All the errors at once.
    if ! (
        cmake --build "$folder" -j "$jobs" -- "${keep_going[@]}" >"$log" 2>&1
        status=$?
        times >"$folder/build.times"
        exit $status
    ); then
        grep -vE '^\[ *[0-9/]+%?\]|^g?make' "$log" | head -n 120
        fail "$1/build" "does not build (all of it: $log)"
        return 1
    fi
    ((verbose)) && cat "$log"
    echo "== $1: built in $(since "$start") s ($(cpu_seconds "$folder/build.times") s of CPU)"
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
        [[ -e $file && ! $name =~ ^(_|lib|launch\.) ]] && echo "$file"
    done
}
python() {
    local candidate
    for candidate in /usr/bin/python3 python3; do
        "$candidate" -c 'import numpy' 2>/dev/null && echo "$candidate" && return
    done
    command -v python3
}

# ---- the queue -----------------------------------------------------------

results=$root/build-check/results
scratch=$results         # where tests have their folders: see choose_scratch
queue=()                 # "seconds|stage/name|command|argument|..."
settings=() wrapper=()   # of the stage that is being added: NAME=VALUE ..., command ...
sanitizer_options=''     # likewise
declare -A seconds_of runs cpu
while read -r seconds name; do
    [[ $seconds =~ ^[0-9.]+$ ]] && seconds_of[$name]=$seconds
done < <(cat scripts/long-tests build-check/seconds 2>/dev/null)

# In memory where there is plenty: tests write many small files, and wait for a disk longer than
# they compute.
choose_scratch() {
    local free available folder
    free=$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1)
    available=$(sed -nE 's/^MemAvailable: +([0-9]+) kB/\1/p' /proc/meminfo 2>/dev/null)
    [[ $(stat -f -c %T /dev/shm 2>/dev/null) == tmpfs ]] || return 0
    ((${free:-0} > 4000000 && ${available:-0} > 8000000)) || return 0
    folder=$(mktemp -d /dev/shm/krein-check.XXXXXX) || return 0
    trap 'rm -rf "$scratch"' EXIT
    scratch=$folder
    echo 'exit 0' >"$scratch/probe"
    chmod +x "$scratch/probe"
    "$scratch/probe" 2>/dev/null && return # some systems let no program start from there
    rm -rf "$scratch"
    scratch=$results
    trap - EXIT
}

add() { # label name command...
    local name=$1/$2 prefix=$results/$1/$2 entry
    mkdir -p "$results/$1"
    shift 2
    printf -v entry '|%s' "$name" env "${settings[@]}" TMPDIR="$scratch/$name.tmp" \
        ASAN_OPTIONS="log_path=$prefix.san:$sanitizer_options" TSAN_OPTIONS="log_path=$prefix.san:$sanitizer_options" \
        timeout -k 10 "$limit" "${wrapper[@]}" "$@"
    queue+=("${seconds_of[$name]:-1}$entry")
}

# One test, in the background: leaves NAME.out, NAME.err, NAME.san.* and at last NAME.rc.
run_one() { # label/name command...
    local prefix=$results/$1 folder=$scratch/$1.tmp start child status
    shift
    start=$(now)
    mkdir -p "$folder"
    "$@" >"$prefix.out" 2>"$prefix.err" </dev/null &
    child=$!
    trap 'kill "$child" 2>/dev/null' TERM
    wait "$child"
    status=$?
    times >"$prefix.times"
    echo "$status $(since "$start") $(cpu_seconds "$prefix.times")" >"$prefix.rc.part"
    rm -rf "$folder"
    mv "$prefix.rc.part" "$prefix.rc"
}

# Reads what run_one left, counts it and says it.
count_result() { # label/name
    local name=$1 prefix=$results/$1 label=${1%%/*} status=-1 seconds=0 used=0 last p=0 f=0 s=0 why='' show=$verbose
    [[ -f $prefix.rc ]] && read -r status seconds used <"$prefix.rc"
    seconds_of[$name]=$seconds
    runs[$label]=$((${runs[$label]:-0} + 1))
    cpu[$label]="${cpu[$label]:-0} + $used"
    last=$(grep -v '^[[:space:]]*$' "$prefix.out" 2>/dev/null | tail -n 1)
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
        p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]} s=${BASH_REMATCH[4]:-0}
        ((f)) && why="$f failed"
        ((p + f + s)) || why="checked nothing"
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

# Runs the queue, the longest first.
run_queue() {
    local start entry name
    local -a pending=() left command
    start=$(now)
    report() { # the tests that have finished since
        left=()
        for name in "${pending[@]}"; do
            if [[ -f $results/$name.rc ]]; then count_result "$name"; else left+=("$name"); fi
        done
        pending=("${left[@]}")
    }
    mapfile -t queue < <(printf '%s\n' "${queue[@]}" | sort -t '|' -s -k 1,1nr)
    for entry in "${queue[@]}"; do
        while (($(jobs -rp | wc -l) >= test_jobs)); do # counted: one can end while none is waited for
            wait -n
            report
        done
        IFS='|' read -r -a command <<<"$entry"
        pending+=("${command[1]}")
        run_one "${command[1]}" "${command[@]:2}" 2>/dev/null &
    done
    wait
    report
    for name in "${pending[@]}"; do count_result "$name"; done
    for name in "${!runs[@]}"; do
        echo "== $name: ${runs[$name]} run, $(awk "BEGIN { printf \"%.1f\", ${cpu[$name]} }") s of CPU"
    done | sort
    echo "== tests: ${#queue[@]} run in $(since "$start") s"
    for name in "${!seconds_of[@]}"; do echo "${seconds_of[$name]} $name"; done | sort -rn >build-check/seconds
}
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM

add_unit() { # label folder
    local test
    for test in $(unit_tests "$2"); do add "$1" "${test##*/}" "$test"; done
}
add_cli() { # label folder
    local test
    [[ -x $2/krein ]] || return
    for test in $(scripts_in tests/cli sh); do add "$1" "cli-$(basename "$test" .sh)" bash "$test"; done
}

# ---- the stages: what they put into the queue ------------------------------

tests_gcc() { # folder
    local test interpreter
    settings=(KREIN="$root/$1/krein" KREIN_LIBRARY="$root/$1/libkrein.so")
    add_unit unit "$1"
    for test in $(scripts_in tests/mpi sh); do add mpi "$(basename "$test" .sh)" bash "$test" "$1"; done
    add_cli cli "$1"
    interpreter=$(python)
    if [[ -n $interpreter ]]; then
        add python all "$interpreter" tests/py/run.py
        add python package scripts/python.sh
        add python current scripts/python_current.sh
        add browser all "$interpreter" tests/browser/run.py
    else
        skip tests/py "no python3"
    fi
    add package exports scripts/exports.sh "$1/libkrein.so"
    add package install scripts/install-test.sh "$1"
    add package wheel scripts/wheel-test.sh "$1"
    add package docs scripts/doc-test.sh
}

tests_clang() { # folder: that it has been built is a test
    passed=$((passed + 1))
    settings=()
    add package abi scripts/abi.sh "$1/libkrein.so"
}

# Old sanitizer runtimes die at random where the kernel randomises addresses widely.
choose_wrapper() {
    wrapper=()
    local bits=0
    [[ -r /proc/sys/vm/mmap_rnd_bits ]] && bits=$(</proc/sys/vm/mmap_rnd_bits)
    ((bits > 28)) && setarch -R true 2>/dev/null && wrapper=(setarch -R)
}

tests_asan() { # folder
    local leaks=print_suppressions=0 probe=$1/probe
    [[ -f scripts/lsan.supp ]] && leaks+=:suppressions=$root/scripts/lsan.supp
    # 256 MB of freed memory would be held back, and new memory taken meanwhile: a fifth of the time.
    sanitizer_options=detect_leaks=1:allocator_may_return_null=1:handle_sigill=1:exitcode=99
    sanitizer_options+=:quarantine_size_mb=16:thread_local_quarantine_size_kb=256
    choose_wrapper
    # The leak check needs ptrace, which some containers forbid.
    echo 'int main(void) { return 0; }' | gcc -fsanitize=address -x c - -o "$probe"
    if ! ASAN_OPTIONS=$sanitizer_options "${wrapper[@]}" "$probe" >/dev/null 2>&1; then
        skip "leak check" "it does not work in this container (ptrace?)"
        sanitizer_options=${sanitizer_options/detect_leaks=1/detect_leaks=0}
    fi
    settings=(KREIN="$root/$1/krein" KREIN_SANITIZED=1 OMP_NUM_THREADS=2 LSAN_OPTIONS="$leaks")
    add_unit asan "$1"
    add_cli asan "$1"
}

tests_tsan() { # folder
    local archer
    settings=(KREIN="$root/$1/krein" KREIN_SANITIZED=1 OMP_NUM_THREADS=2)
    # gcc's libgomp is opaque to the sanitizer; libomp tells it of its barriers through archer.
    sanitizer_options=ignore_noninstrumented_modules=1:suppressions=$root/scripts/tsan.supp:exitcode=99
    archer=$(sed -n 's/^OpenMP_[a-z]*omp_LIBRARY:[A-Z]*=//p' "$1/CMakeCache.txt" | head -n 1)
    archer=$(dirname "${archer:-.}")/libarcher.so
    if [[ -e $archer ]]; then
        settings+=(OMP_TOOL_LIBRARIES="$archer")
    else
        echo "skipped: archer: no libarcher.so beside libomp; expect false alarms"
    fi
    choose_wrapper
    add_unit tsan "$1"
}

begin=$(now)
rm -rf "$results"
mkdir -p "$results"
choose_scratch
for stage in "${stages[@]}"; do
    [[ $stage == layers ]] || configure "$stage" &
done
wait
for stage in "${stages[@]}"; do
    settings=() wrapper=() sanitizer_options=''
    if [[ $stage == layers ]]; then
        add rules layers scripts/layers.sh
    elif build "$stage"; then
        tree_of "$stage"
        "tests_$stage" "$folder"
    fi
done
((${#queue[@]})) && run_queue

echo "== all: $(since "$begin") s"
for line in "${failures[@]}"; do echo "failed: $line"; done
if ((skipped)); then
    summary="$passed passed, $failed failed, $skipped skipped"
else
    summary="$passed passed, $failed failed"
fi
echo "$summary" | tee build-check/summary
((failed == 0))
