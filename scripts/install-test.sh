#!/usr/bin/env bash
# install-test.sh BUILD -- installs a finished build into a temporary prefix and uses it
# as a stranger would: the program (also under mpirun), the header from C and C++, every program
# in examples/ through pkg-config, and both CMake targets.
# shellcheck disable=SC2046 # pkg-config's answer is several words
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
cc=${CC:-gcc}
stage=$(mktemp -d "${TMPDIR:-/tmp}/krein-install.XXXXXX")
trap 'rm -rf "$stage"' EXIT
prefix=$stage/prefix
bad=0

step() { # what, command...
    local what=$1
    shift
    "$@" >"$stage/log" 2>&1 </dev/null && return 0
    echo "install: $what failed (status $?):"
    tail -n 40 "$stage/log"
    bad=1
    return 1
}
finish() {
    ((bad)) && echo "0 passed, 1 failed" || echo "1 passed, 0 failed"
    exit $bad
}

step "cmake --install" env -u DESTDIR cmake --install "$build" --prefix "$prefix" || finish
pc=$(find "$prefix" -name krein.pc)
libdir=$(dirname "$(dirname "${pc:-/nowhere/else}")")
export PKG_CONFIG_PATH=${pc%/*} LD_LIBRARY_PATH=$libdir
for file in include/krein.h share/doc/krein/LICENSE; do
    step "$file" test -s "$prefix/$file"
done
step "soname link" test -L "$libdir/libkrein.so"
step "static library" test -s "$libdir/libkrein.a"
step "other headers" test "$(find "$prefix/include" -type f)" = "$prefix/include/krein.h"
if [[ -x $build/krein ]]; then
    step "installed krein help" "$prefix/bin/krein" help
    for file in share/man/man1/krein.1 share/bash-completion/completions/krein; do
        [[ -s $prefix/$file ]] || echo "skipped: install: the program wrote no $file"
    done
fi

# shellcheck source=tests/mpi/launch.sh
source "$root/tests/mpi/launch.sh"
if ! no_mpi "$build" >/dev/null; then
    step "libkrein_mpi.so" test -s "$libdir/krein/libkrein_mpi.so"
    step "the installed program finds it" launch 2 "$prefix/bin/krein" ranks
fi

cd "$stage" || exit 1
cat >hello.c <<'END'
#include <krein.h>
#include <stdio.h>
#include <string.h>
int main(void) {
    krein_entry entry = KREIN_SIZED(krein_entry);
    krein_report report = KREIN_SIZED(krein_report);
    krein_rows_view view;
    krein_rows_source source;
    krein_train_options options;
    krein_rows_view_init(&view);
    krein_rows_source_init(&source);
    krein_train_options_init(&options);
    if (view.size != sizeof view || source.size != sizeof source || options.size != sizeof options ||
        report.size != sizeof report || report.kernel || !krein_list(0, &entry))
        return 1;
    puts(krein_version());
    return strcmp(krein_version(), KREIN_VERSION_STRING) != 0;
}
END
flags() { pkg-config "$@" krein; }
step "the header in C11, pedantic" "$cc" -std=c11 -pedantic-errors -Wall -Wextra -Werror $(flags --cflags) -c hello.c -o hello.o
if command -v g++ >/dev/null; then
    step "the header in C++" g++ -x c++ -std=c++11 -pedantic-errors -Wall -Wextra -Werror $(flags --cflags) -c hello.c -o hello++.o &&
        step "linking a C++ program" g++ hello++.o -o hello++ $(flags --libs) &&
        step "running it" ./hello++
fi
step "linking the shared library" "$cc" hello.o -o hello $(flags --libs) && step "running with it" ./hello
# Static: the archive by name, then what pkg-config says it needs.
step "linking the static library" "$cc" hello.o -o hello-static "$libdir/libkrein.a" \
    $(flags --static --libs | tr ' ' '\n' | grep -vx -- -lkrein) &&
    step "running with it" env -u LD_LIBRARY_PATH ./hello-static

for example in "$root"/examples/*.c; do
    [[ -e $example ]] || continue
    name=$(basename "$example" .c) compiler=$cc start=(timeout 120)
    if [[ $name == mpi ]]; then # where there is MPI, in two processes
        if no_mpi "$build" || ! command -v mpicc; then continue; fi >/dev/null
        compiler=mpicc start=(launch 2)
    fi
    mkdir -p "run-$name"
    step "compiling examples/$name.c" "$compiler" -O1 -Wall -Wextra -Werror $(flags --cflags) "$example" \
        -o "run-$name/$name" $(flags --libs) -lm &&
        (cd "run-$name" && step "running examples/$name" "${start[@]}" "./$name") || bad=1
done

mkdir user && cat >user/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(user C)
find_package(krein REQUIRED COMPONENTS static)
add_executable(shared ../hello.c)
target_link_libraries(shared PRIVATE krein::krein)
add_executable(static ../hello.c)
target_link_libraries(static PRIVATE krein::krein_static)
END
step "find_package(krein)" cmake -S user -B user/build -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" &&
    step "building with krein::krein and krein::krein_static" cmake --build user/build &&
    step "running with krein::krein" user/build/shared &&
    step "running with krein::krein_static" user/build/static
finish
