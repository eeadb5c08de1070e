"""What the tests against scikit-learn share: the program, its files, checks, and run().

    import common  # says so and ends where scikit-learn is not there
    ...
    TESTS = one_test, another
    if __name__ == "__main__":
        common.run({"name": TESTS})

A test is a function without arguments; it works in a folder of its file that is removed at the
end. An exception is one failed check, and so is a test that makes none. Environment: KREIN (the
program), TMPDIR. The exit status is 1 when something failed.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile


def nothing(why):
    print("skipped: scikit-learn oracles: %s" % why)
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)


def right_core():
    """numpy loads the same OpenBLAS as the program, which knows what to tell it on a new CPU."""
    if os.environ.get("OPENBLAS_CORETYPE") or not os.access(PROGRAM, os.X_OK):
        return
    with tempfile.TemporaryDirectory() as folder:
        said = subprocess.run([PROGRAM, "generate", "arm", "-n", "2", "-v", "-o", folder + "/x.csv"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
    better = re.search(r"restarted with (\w+)", said)
    if better:
        os.environ["OPENBLAS_CORETYPE"] = better.group(1)


PROGRAM = os.path.abspath(os.environ.get("KREIN", "build/krein"))
os.environ["OMP_NUM_THREADS"] = "1"  # the data are too small for more
right_core()  # before numpy is loaded, like the above
try:
    import numpy as np
    from sklearn.metrics.pairwise import rbf_kernel
except ImportError as missing:
    nothing(missing)

passed, failed = 0, 0


def check(name, good, detail=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("FAILED: %s%s" % (name, ": " + detail if detail else ""))


def krein(*args):
    """Runs the program; its standard output, or an exception with its complaint."""
    done = subprocess.run([PROGRAM, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError("krein %s: status %d: %s"
                           % (" ".join(map(str, args)), done.returncode, done.stderr.strip()[:300]))
    return done.stdout


def write(name, *columns, header=None):
    """A CSV of numeric columns, without loss."""
    table = np.column_stack([np.asarray(c, dtype=float) for c in columns])
    with open(name, "w") as file:
        if header:
            file.write(",".join(header) + "\n")
        for row in table:
            file.write(",".join(repr(float(v)) for v in row) + "\n")
    return name


def grid(rng, n, d, spread=1.0):
    """Normal numbers rounded to multiples of 1/256."""
    return np.round(rng.standard_normal((n, d)) * spread * 256) / 256


def gram(*args):
    krein("gram", *args, "-o", "K.npy", "-q")
    return np.load("K.npy")


def transform(*args):
    krein("transform", *args, "-o", "z.npy", "-q")
    return np.load("z.npy").astype(float)


def train(*args):
    return json.loads(krein("train", *args, "-o", "m.krein", "-q", "--json"))


def predict(*args):
    """Predictions as rows of numbers."""
    text = krein("predict", "m.krein", *args, "-q").splitlines()
    return np.array([[float(v) for v in line.split(",")] for line in text])


def close(name, got, want, tol, scale=None):
    """Largest difference at most tol times `scale` (default: the largest wanted value)."""
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    if got.shape != want.shape:
        check(name, False, "shape %s instead of %s" % (got.shape, want.shape))
        return
    scale = np.max(np.abs(want)) if scale is None else scale
    worst = np.max(np.abs(got - want)) / scale
    check(name, worst <= tol, "off by %.2g, allowed are %.2g" % (worst, tol))


def relative(name, got, want, tol=1e-5):
    """Entry by entry, with a floor for entries that are nearly zero."""
    if got.shape != want.shape:
        check(name, False, "shape %s instead of %s" % (got.shape, want.shape))
        return
    worst = np.max(np.abs(got - want) / (np.abs(want) + 1e-2 * np.max(np.abs(want))))
    check(name, worst <= tol, "off by %.2g, allowed are %.2g" % (worst, tol))


def gaussian(X, Y=None, sigma=1.0):
    return rbf_kernel(X, Y, gamma=1 / (2 * sigma ** 2))


def attempt(test):
    before = passed + failed
    try:
        test()
    except Exception as problem:
        check(test.__name__, False, "%s: %s" % (type(problem).__name__, problem))
    if passed + failed == before:
        check(test.__name__, False, "made no check")


def run(files):
    """Runs the tests of some files, {name: tests}, says how they went, and ends."""
    if not os.access(PROGRAM, os.X_OK):
        nothing("no program %s (KREIN)" % PROGRAM)
    for name, tests in files.items():
        folder = tempfile.mkdtemp(prefix="krein-%s-" % name)
        os.chdir(folder)
        try:
            for test in tests:
                attempt(test)
        finally:
            os.chdir("/")
            shutil.rmtree(folder, ignore_errors=True)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    sys.exit(1 if failed else 0)
