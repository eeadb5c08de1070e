#!/usr/bin/env python3
"""run.py [test_NAME ...] -- the tests of the Python package, in one process.

A subtest counts as a test. The last line is "N passed, N failed[, N skipped]"; the exit status is 1
where something failed.
"""

import glob
import importlib
import os
import platform
import sys
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)


class Result(unittest.TextTestResult):
    passed = 0

    def startTest(self, test):
        super().startTest(test)
        self.inside = self.bad = 0

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        self.inside += 1
        self.bad += error is not None
        self.passed += error is None

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += self.inside == 0

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print("skipped: %s: %s" % (test, reason))


def say_versions():
    found = ["Python " + platform.python_version()]
    for name in ("numpy", "scipy", "sklearn", "pandas", "joblib"):
        try:
            found.append("%s %s" % (name, importlib.import_module(name).__version__))
        except ImportError:
            print("skipped: python package: %s is not installed, nor tested with" % name)
    print("with " + ", ".join(found), flush=True)


def main(names):
    files = sorted(glob.glob(os.path.join(here, "test_*.py")))
    names = names or [os.path.basename(path)[:-3] for path in files]
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    say_versions()
    runner = unittest.TextTestRunner(stream=sys.stderr, resultclass=Result, verbosity=0)
    result = runner.run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = len(result.skipped)
    print(
        "%d passed, %d failed%s"
        % (result.passed, failed, ", %d skipped" % skipped if skipped else "")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
