#!/usr/bin/env bash
# lint.sh [format] -- what a reader should not have to notice.
#
# Without argument: clang-format (check only), clang-tidy (.clang-tidy), cppcheck; exit 1
# when one of them complains. "format" rewrites the files instead.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

mapfile -t all < <(find include src tests bench examples -name '*.[ch]' 2>/dev/null | sort)
mapfile -t units < <(find src -name '*.c' | sort)
jobs=$(nproc 2>/dev/null || echo 2)
bad=0

need() { command -v "$1" >/dev/null || { echo "lint: $1 is not here; run scripts/deps.sh lint" >&2; exit 1; }; }

need clang-format
if [[ ${1:-} == format ]]; then
    clang-format -i "${all[@]}"
    exit
fi

echo "lint: clang-format"
for file in "${all[@]}"; do
    clang-format --dry-run -Werror "$file" 2>/dev/null && continue
    echo "$file: not as .clang-format has it (make format rewrites it)"
    bad=1
done

need clang-tidy
echo "lint: clang-tidy"
if cmake -S . -B build-lint -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug >/dev/null; then
    printf '%s\0' "${units[@]}" |
        xargs -0 -n 1 -P "$jobs" clang-tidy -p build-lint --quiet --warnings-as-errors='*' 2>/dev/null || bad=1
else
    bad=1
fi

# invalidPointerCast: scratch memory is cut into arrays of several types.
need cppcheck
echo "lint: cppcheck"
cppcheck --quiet -j "$jobs" --std=c11 --enable=warning,portability --inline-suppr \
    --suppress=missingIncludeSystem --suppress=invalidPointerCast --error-exitcode=1 -I include -I src src || bad=1

((bad)) && echo "lint: something to look at" || echo "lint: clean"
exit $bad
