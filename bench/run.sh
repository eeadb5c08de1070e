#!/usr/bin/env bash
# run.sh [--small] [--quality] [--tabular] -- all benchmarks, in ten minutes or more on two cores.
#
# Wants a quiet machine: every ratio is taken within one run, but another program on the same
# cores disturbs them all the same. --quality adds quality.py (half an hour or more) and rewrites
# docs/results/quality.md, svc.py, and selection.py (an hour) with docs/results/selection.md;
# --tabular adds tabular.py (hours) and writes docs/results/tabular.md; --small is for trying the scripts out.
#
#   KREIN=PATH     the program (build/krein); bench_pipe, bench_maps, bench_easymkl, bench_quant, bench_sketch,
#                  bench_calls, bench_net and bench_conv
#                  are in bench/ beside it, and libkrein.so is beside it
#   PYTHON=PATH    a Python with numpy, sklearn, pandas (/usr/bin/python3)
#   KREIN_DATA     the real data sets for python_peers.py, net.py, --quality and --tabular (../shared/data beside the repository)
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export KREIN=${KREIN:-$here/../build/krein}
python=${PYTHON:-/usr/bin/python3}
small=() quality='' tabular=''
for word in "$@"; do
    case $word in
    --small) small=(--small) ;;
    --quality) quality=1 ;;
    --tabular) tabular=1 ;;
    *)
        echo "usage: bench/run.sh [--small] [--quality] [--tabular]" >&2
        exit 2
        ;;
    esac
done
[[ -x $KREIN ]] || { echo "$KREIN is not there: make bench builds it" >&2; exit 1; }
pipe=$(dirname "$KREIN")/bench/bench_pipe
[[ -x $pipe ]] || { echo "$pipe is not there: make bench builds it" >&2; exit 1; }
maps=$(dirname "$KREIN")/bench/bench_maps
[[ -x $maps ]] || { echo "$maps is not there: make bench builds it" >&2; exit 1; }

start=$SECONDS
bad=0
part() { # title command...
    echo "== $1"
    shift
    "$@" || { echo "failed: $*" >&2; bad=1; }
    echo
}

date -u '+%Y-%m-%d %H:%M UTC'
part "the pipe against the machine (bench_pipe)" "$pipe" "${small[@]}"
part "feature maps beside rff (bench_maps)" "$maps" "${small[@]}"
part "EasyMKL on ten matrices (bench_easymkl)" "$(dirname "$KREIN")/bench/bench_easymkl"
part "codes of a few bits (bench_quant)" "$(dirname "$KREIN")/bench/bench_quant"
part "startup (startup.sh)" bash "$here/startup.sh"
part "memory (memory.sh)" bash "$here/memory.sh" "${small[@]}"
part "more rows than memory (outofcore.sh)" bash "$here/outofcore.sh" "${small[@]}"
if "$python" -c 'import numpy, pandas, sklearn' 2>/dev/null; then
    part "peers (peers.py)" "$python" "$here/peers.py" "${small[@]}"
    part "sketches (tensorsketch.py)" "$python" "$here/tensorsketch.py" "${small[@]}"
    part "support vector machines (liblinear.sh)" bash "$here/liblinear.sh" "${small[@]}"
    part "kernel selection (select.py)" "$python" "$here/select.py" "${small[@]}"
    part "twenty kernels (kernels.py)" "$python" "$here/kernels.py" "${small[@]}"
    if "$python" -c 'import scipy' 2>/dev/null; then
        part "calls from Python (python_calls.py)" "$python" "$here/python_calls.py" "${small[@]}"
        if [[ -d ${KREIN_DATA:-$here/../../shared/data} ]]; then
            part "regressors in Python (python_peers.py)" "$python" "$here/python_peers.py" "${small[@]}"
        else
            echo "python_peers.py: skipped, there are no data sets (KREIN_DATA)"
        fi
    else
        echo "python_calls.py, python_peers.py: skipped, $python has no scipy (scripts/deps.sh python)"
    fi
    if command -v mpirun >/dev/null; then
        part "several processes (scale.py)" "$python" "$here/scale.py" "${small[@]}"
    else
        echo "scale.py: skipped, there is no mpirun (scripts/deps.sh mpi)"
    fi
    if "$python" -c 'import torch' 2>/dev/null; then
        part "convolutional networks (conv.py)" "$python" "$here/conv.py" "${small[@]}"
    else
        echo "conv.py: skipped, $python has no PyTorch (scripts/deps.sh torch)"
    fi
    if [[ -e ${KREIN_DATA:-$here/../../shared/data}/mnist.train.x.npy.gz ]]; then
        "$python" -c 'import torch' 2>/dev/null ||
            echo "net.py: without PyTorch, which $python does not have (scripts/deps.sh torch)"
        part "training by mini-batches (net.py)" "$python" "$here/net.py" "${small[@]}"
    else
        echo "net.py: skipped, there is no mnist (KREIN_DATA)"
    fi
    [[ ${#small[@]} -gt 0 ]] ||
        part "support vector machines (libsvm.py)" "$python" "$here/libsvm.py"
else
    echo "peers.py: skipped, $python has no numpy, pandas and sklearn (scripts/deps.sh bench)"
    quality='' tabular=''
fi
if [[ -n $quality ]]; then
    if [[ ${#small[@]} -gt 0 ]]; then
        part "quality (quality.py)" "$python" "$here/quality.py" --sets boston,satimage --splits 2
        part "selection of kernels (selection.py)" "$python" "$here/selection.py" --small
    else
        part "quality (quality.py)" "$python" "$here/quality.py" --write
        part "accuracy of svm (svc.py)" "$python" "$here/svc.py"
        part "selection of kernels (selection.py)" "$python" "$here/selection.py" --write
    fi
fi
if [[ -n $tabular ]]; then
    if [[ ${#small[@]} -gt 0 ]]; then
        part "tables (tabular.py)" "$python" "$here/tabular.py" --sets boston,vehicle --splits 1
    else
        part "tables (tabular.py)" "$python" "$here/tabular.py" --out "$here/../docs/results/tabular.md"
    fi
fi
echo "$((SECONDS - start)) s in all"
exit $bad
