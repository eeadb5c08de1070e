#!/usr/bin/env bash
# deps.sh [build|wheel|python|test|mpi|tsan|bench|torch|lint] ... -- the packages Krein needs from the system.
#
# Looks for what the named groups need (default: build; every group includes build;
# wheel is for building the Python package, python for using it; mpi is for several processes, torch for
# bench/net.py, bench/conv.py and tests/test_net_torch.c to compare with, and everything else works without them) and installs what is missing with apt-get. Where it may not (no apt-get, no way to
# become root, or KREIN_NO_INSTALL=1) it prints the one command to run and exits 1.
# Silent, and over in a moment, when all is there.
# shellcheck disable=SC2034 # the tables are used by name
set -euo pipefail

# package            probe (where dpkg does not know the package)
build='
gcc                  command gcc
libc6-dev            header stdio.h
make                 command make
cmake                command cmake
pkg-config           command pkg-config
libopenblas-dev      module openblas
librandom123-dev     header Random123/philox.h
zlib1g-dev           module zlib
libxxhash-dev        module libxxhash
libjansson-dev       module jansson'
wheel='
binutils             command strip
patchelf             command patchelf'
python='
python3              command python3
python3-numpy        python numpy
python3-scipy        python scipy
python3-venv         python ensurepip'
test='
ninja-build          command ninja
abigail-tools        command abidiff
clang                command clang
libomp-dev           clangomp -
python3              command python3
python3-numpy        python numpy
python3-scipy        python scipy
python3-sklearn      python sklearn
python3-pandas       python pandas
mypy                 python mypy
liblinear-dev        header linear.h
libsvm-dev           header libsvm/svm.h
gcc-multilib         gcc32 -'
mpi='
libopenmpi-dev       command mpicc
openmpi-bin          command mpirun
python3-mpi4py       python mpi4py'
tsan='
clang                command clang
libomp-dev           clangomp -
libclang-rt-dev      clangtsan -'
bench='
python3              command python3
python3-numpy        python numpy
python3-sklearn      python sklearn
python3-pandas       python pandas
python3-xgboost      python xgboost
liblinear-tools      command liblinear-train
liblinear-dev        header linear.h
libsvm-dev           header libsvm/svm.h
libsvm-tools         command svm-train'
torch='
python3-torch        python torch'
lint='
clang                command clang
libomp-dev           clangomp -
clang-format         command clang-format
clang-tidy           command clang-tidy
cppcheck             command cppcheck'

table=$build
for group in "$@"; do
    case $group in
    build) ;;
    wheel | python | test | mpi | tsan | bench | torch | lint) table+=${!group} ;;
    *)
        echo "usage: scripts/deps.sh [build|wheel|python|test|mpi|tsan|bench|torch|lint] ..." >&2
        exit 2
        ;;
    esac
done
names=$(awk 'NF && !seen[$1]++ { print $1 }' <<<"$table")

probe() { # kind thing
    local kind=$1 thing=$2 python
    case $kind in
    command) command -v "$thing" ;;
    module) pkg-config --exists "$thing" ;;
    header) echo "#include <$thing>" | ${CC:-cc} -E -x c - ;;
    gcc32) echo '#include <math.h>' | gcc -m32 -c -x c - -o /dev/null ;;
    clangtsan) echo 'int main(void) { return 0; }' | clang -fsanitize=thread -x c - -o /dev/null ;;
    clangomp) echo 'int main(void) { return 0; }' | clang -fopenmp -x c - -o /dev/null ;;
    python)
        for python in /usr/bin/python3 python3; do
            "$python" -c "import $thing" && return
        done
        return 1
        ;;
    esac >/dev/null 2>&1
}

# The packages of the table that are not here, one a line.
look() {
    local here='' name kind thing
    if command -v dpkg-query >/dev/null; then
        # shellcheck disable=SC2086
        here=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $names 2>/dev/null |
            sed -n 's/^installed //p' || true)
    fi
    while read -r name kind thing; do
        [[ -n $name ]] || continue
        grep -qxF -- "$name" <<<"$here" || probe "$kind" "$thing" || echo "$name"
    done <<<"$table" | sort -u
}

missing=$(look)
[[ -n $missing ]] || exit 0
missing=${missing//$'\n'/ }

by_hand() { # why
    local root=''
    [[ $(id -u) == 0 ]] || root='sudo '
    {
        echo "deps: not here: $missing"
        echo "deps: $1; please run"
        echo "  ${root}apt-get install --no-install-recommends $missing"
        command -v apt-get >/dev/null ||
            echo "deps: (Debian's names; your system calls the same things something similar)"
    } >&2
    exit 1
}

[[ ${KREIN_NO_INSTALL:-0} != 1 ]] || by_hand "KREIN_NO_INSTALL is set, so nothing is installed"
command -v apt-get >/dev/null || by_hand "there is no apt-get to install them with"
as_root=()
if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || by_hand "installing needs root, and there is no sudo"
    as_root=(sudo)
    if [[ ! -t 0 ]]; then
        sudo -n true 2>/dev/null || by_hand "installing needs root, and sudo asks for a password"
        as_root=(sudo -n)
    fi
fi

apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q
    -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3)
echo "deps: ${*:-build} needs packages that are not here: $missing"
echo "deps: + ${as_root[*]:+${as_root[*]} }apt-get update"
"${apt[@]}" update >/dev/null || echo "deps: apt-get update failed; trying with the lists there are" >&2
echo "deps: + ${as_root[*]:+${as_root[*]} }apt-get install --no-install-recommends $missing"
# shellcheck disable=SC2086
"${apt[@]}" install -y --no-install-recommends $missing >/dev/null || by_hand "apt-get failed"

missing=$(look)
missing=${missing//$'\n'/ }
[[ -z $missing ]] || by_hand "they are still not found after installing"
