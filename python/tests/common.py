"""What the tests share: the library under test, and what is installed.

Environment: KREIN_LIBRARY (build/libkrein.so), KREIN (the program, build/krein), TMPDIR.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.abspath(os.environ.get("KREIN", os.path.join(ROOT, "build", "krein")))
os.environ.setdefault("KREIN_LIBRARY", os.path.join(ROOT, "build", "libkrein.so"))
os.environ.setdefault("OMP_NUM_THREADS", "1")  # the data are too small for more
if os.environ.get("KREIN_PACKAGE") != "installed":
    sys.path.insert(0, os.path.join(ROOT, "python"))

import numpy as np  # noqa: E402

import krein  # noqa: E402

try:
    import sklearn
except ImportError:
    sklearn = None
try:
    import pandas
except ImportError:
    pandas = None
try:
    import joblib
except ImportError:
    joblib = None

needs_sklearn = unittest.skipIf(sklearn is None, "scikit-learn is not installed")
needs_pandas = unittest.skipIf(pandas is None, "pandas is not installed")
needs_joblib = unittest.skipIf(joblib is None, "joblib is not installed")
needs_program = unittest.skipIf(not os.access(PROGRAM, os.X_OK), "no program at " + PROGRAM)


class Case(unittest.TestCase):
    """A test in a folder of its own, in which warnings of the library are silent."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("ignore", krein.KreinWarning)

    def path(self, name):
        return os.path.join(self.folder, name)

    def same(self, a, b):
        self.assertTrue(np.array_equal(a, b), "%r\nis not\n%r" % (a, b))


def program(*arguments):
    """Runs the program; its standard output."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def numbers(n=120, d=3, seed=0):
    """Inputs and a smooth target."""
    draw = np.random.RandomState(seed)
    X = draw.rand(n, d)
    return X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.05 * draw.randn(n)


def classes(n=120, d=3, k=2, seed=0):
    """Inputs and classes by slices of the first column."""
    draw = np.random.RandomState(seed)
    X = draw.rand(n, d)
    return X, np.minimum((X[:, 0] * k).astype(int), k - 1)


def write_csv(path, *columns, header=None):
    """A CSV without loss."""
    table = np.column_stack(columns)
    with open(path, "w") as file:
        if header:
            file.write(",".join(header) + "\n")
        for row in table:
            file.write(",".join(repr(float(v)) for v in row) + "\n")
    return path
