#!/usr/bin/env bash
# wheel-test.sh BUILD -- builds the Python wheel with pip and without a package index, as a user would
# from a checkout, looks into it (scripts/wheel_contents.py), and imports it from a fresh environment;
# then the source archive, from which the same wheel must come out, and an editable install.
#
# BUILD is a finished Release build of this checkout. Its objects are taken where they would come out
# the same (scripts/taken-object.sh), and all else is done as for a user: CMake, linking, packing.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
python=${PYTHON:-/usr/bin/python3}
stage=$(mktemp -d "${TMPDIR:-/tmp}/krein-wheel.XXXXXX")
trap 'rm -rf "$stage"' EXIT
unset "${!PIP_@}" KREIN_LIBRARY PYTHONPATH VIRTUAL_ENV SOURCE_DATE_EPOCH
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_CONFIG_FILE=/dev/null PIP_NO_COMPILE=1
passed=0 failed=0 skipped=0

# All builds below take the objects of BUILD; a compiler of another name would not.
"$python" "$root/scripts/taken_objects.py" "$build" "$root" "$stage/objects"
export CMAKE_C_COMPILER_LAUNCHER=$root/scripts/taken-object.sh TAKEN_OBJECTS=$stage/objects TAKEN_FROM=$root
CC=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt") && export CC
command -v ninja >/dev/null && export CMAKE_GENERATOR=Ninja

step() { # what, command...
    local what=$1 status
    shift
    "$@" >"$stage/log" 2>&1 </dev/null
    status=$?
    if ((status == 0)); then
        passed=$((passed + 1))
        return 0
    fi
    echo "wheel: $what failed (status $status):"
    tail -n 40 "$stage/log"
    failed=$((failed + 1))
    return 1
}
skip() { # what, why
    echo "skipped: wheel: $1: $2"
    skipped=$((skipped + 1))
}
finish() {
    ((skipped)) && echo "$passed passed, $failed failed, $skipped skipped" || echo "$passed passed, $failed failed"
    exit $((failed != 0))
}
refuses() { # pattern command...: it fails, and says that
    local pattern=$1 output
    shift
    output=$("$@" 2>&1) && echo "it did not fail" && return 1
    echo "$output"
    grep -qE -- "$pattern" <<<"$output" && ! grep -q Traceback <<<"$output"
}
only() { # folder: the one wheel in it
    set -- "$1"/krein-*.whl
    [[ $# == 1 && -s $1 ]] && echo "$1"
}

# The system's pip does as well as a copy, and so does bytecode that is not written.
own_pip=()
"$python" -m pip --version >/dev/null 2>&1 && own_pip=(--without-pip)
step "python3 -m venv" "$python" -m venv --system-site-packages "${own_pip[@]}" "$stage/venv" || finish
pip=("$stage/venv/bin/python" -m pip)
cd "$stage" || exit 1

# ---- the wheel of this checkout

step "pip wheel at the root" "${pip[@]}" wheel --no-deps --config-settings "build-dir=$stage/tree" -w root "$root" || finish
wheel=$(only root)
step "its contents" "$python" "$root/scripts/wheel_contents.py" "$wheel" "$root"
step "pip wheel in python/" "${pip[@]}" wheel --no-deps --config-settings "build-dir=$stage/tree" -w python "$root/python" &&
    step "the same bytes from python/" cmp "$wheel" "python/${wheel#root/}"

cat >use.py <<'END'
import ctypes, pathlib, sys
import krein
lib = pathlib.Path(krein.__file__).resolve().parent / "lib"
assert str(lib).startswith(sys.argv[1]), lib
assert krein.__version__ == sys.argv[2], krein.__version__
library = ctypes.CDLL(str(lib / "libkrein.so"))
library.krein_version.restype = ctypes.c_char_p
assert library.krein_version().decode() == sys.argv[2]
mapped = {line.split()[-1] for line in open("/proc/self/maps")}
for path in lib.iterdir():
    assert (str(path) in mapped) == (path.name != "libkrein_mpi.so"), f"{path.name}: is it loaded from the wheel?"
END
version=$(sed -n 's/^#define KREIN_VERSION_STRING "\(.*\)"/\1/p' "$root/include/krein.h")
step "pip install of the wheel" "${pip[@]}" install "$wheel" &&
    step "import krein" "$stage/venv/bin/python" use.py "$stage/venv" "$version"

# ---- what cannot be built

cp -r "$root/python" alone
step "a message where the C sources are missing" refuses 'krein: the C sources are not in' \
    "${pip[@]}" wheel --no-deps -w nothing ./alone
mkdir tools && ln -s /usr/bin/* tools/ && rm -f tools/patchelf tools/dpkg-query
step "a message where patchelf is missing" refuses 'apt-get install .*patchelf' \
    env PATH="$stage/tools" "${pip[@]}" wheel --no-deps -w nothing "$root"
step "a message where a library has no licence that is known" refuses 'libfftw3.so.3; LICENCES .* does not say' \
    env PYTHONPATH="$root/python" "$python" -c 'import backend_libraries as b; b.check_licences({"libfftw3.so.3": ""})'

# ---- the tag, by those who define it

if command -v auditwheel >/dev/null; then
    # Without the module of MPI, which is for the MPI of the system and is not loaded without one.
    mkdir audit && cp "$wheel" audit/
    step "a copy without MPI" "$python" "$root/scripts/wheel_contents.py" --without-mpi "audit/${wheel#root/}"
    step "auditwheel agrees with the tag" sh -c 'tag=${1##*-none-}; auditwheel show "$1" | tr "\n" " " | grep -F "platform tag: \"${tag%.whl}\""' \
        sh "audit/${wheel#root/}"
else
    skip "auditwheel" "not installed (Debian 12 has no package of it); the tag was compared with objdump's symbols"
fi

# ---- the source archive

step "the source archive" "$python" -c 'import sys; sys.path.insert(0, sys.argv[1]); import backend; print(backend.build_sdist("sdist"))' "$root/python" || finish
step "unpacking it" tar xf "sdist/krein-$version.tar.gz" || finish
unpacked=$stage/krein-$version
# An object is taken for a source of the same content only; headers count too.
export TAKEN_FROM=$unpacked
for folder in include src; do
    diff -rq "$root/$folder" "$unpacked/$folder" || unset CMAKE_C_COMPILER_LAUNCHER
done
step "pip wheel of the source archive" "${pip[@]}" wheel --no-deps --config-settings "build-dir=$stage/again" -w unpacked "$unpacked" &&
    step "the same bytes from the source archive" cmp "$wheel" "unpacked/${wheel#root/}"
step "pip install -e" "${pip[@]}" install --config-settings "build-dir=$stage/again" -e "$unpacked" &&
    step "import krein from the checkout" "$stage/venv/bin/python" use.py "$unpacked" "$version"
finish
