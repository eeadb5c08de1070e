#!/usr/bin/env bash
# Places that cannot be written: the parent is a file, /dev/full for arrays, a full file system. A
# message, status 1, and nothing half-written. A directory that does not exist or is read-only,
# /dev/full as model and predictions and a file limit are in errors.sh.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export OMP_WAIT_POLICY=passive # many short runs, beside other tests
"$KREIN" generate friedman -n 30 -o ref.csv >/dev/null
cut -d, -f2- ref.csv >test.csv
run train ref.csv -k 'gaussian(sigma=1.5)' -l 1e-2 -o m.krein
ok "a model to predict with"

n_before=$(find . | wc -l)
for c in 'train ref.csv -o ref.csv/x.krein' 'predict m.krein test.csv -o test.csv/p.csv' \
    'gram ref.csv -o test.csv/K.npy' 'transform ref.csv -D 8 -o test.csv/z.npy' 'generate arm -n 9 -o test.csv/a.csv'; do
    # shellcheck disable=SC2086
    run $c
    status "$c: the parent is a file" 1
    has "$c: the parent is a file" err '^krein: .*(ref|test)\.csv/.*'
done
if [[ -w /dev/full ]]; then
    for c in 'gram ref.csv -o /dev/full' 'transform ref.csv -D 8 -o /dev/full' 'generate arm -n 9 -o -'; do
        # shellcheck disable=SC2086
        "$KREIN" $c >/dev/full 2>err
        rc=$? command=$c
        status "$c > /dev/full" 1
        has "$c > /dev/full" err 'No space left'
    done
else
    skip "/dev/full" "not there"
fi
is "places that cannot be written: no new file" "$n_before" "$(find . | wc -l)"
# A file system of 64 kB, in a mount namespace of its own.
mkdir small
cat >full.sh <<'SH'
mount -t tmpfs -o size=64k tmpfs small || exit 77
echo old >small/x.npy
cp small/x.npy small/x.krein
"$KREIN" "$@" >out 2>err
echo $? >code
ls small | tr '\n' ' ' >listing
cat small/* >content
SH
for c in 'train wide.csv -k gaussian(sigma=1) -l 1e-2 -m exact -o small/x.krein' 'gram wide.csv -o small/x.npy' \
    'transform wide.csv -D 200 -o small/x.npy' 'generate arm -n 9000 -o small/x.npy'; do
    [[ -s wide.csv ]] || "$KREIN" generate friedman -n 400 -d 60 -o wide.csv >/dev/null
    rm -f code
    # shellcheck disable=SC2086
    KREIN=$KREIN unshare -m bash full.sh $c 2>/dev/null
    if [[ ! -s code ]]; then
        skip "a full file system: ${c%% *}" "cannot mount one here"
        continue
    fi
    rc=$(cat code) command=$c
    status "a full file system: ${c%% *}" 1
    has "a full file system: ${c%% *}" err '^krein: small/x\.[a-z]+: (No space left|the rows take .* room for)'
    is "a full file system: ${c%% *}: no other file" "x.krein x.npy " "$(cat listing)"
    is "a full file system: ${c%% *}: the old files" "old old" "$(tr '\n' ' ' <content | sed 's/ $//')"
done

no_leftovers outputs
summary
