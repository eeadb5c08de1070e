"""Type hints by mypy, which also finds syntax that Python 3.9 does not have."""

import os
import subprocess
import sys
import unittest

import numpy as np

from common import ROOT, Case


class Types(Case):
    def test_mypy(self):
        try:
            import mypy  # noqa: F401
        except ImportError:
            self.skipTest("mypy is not installed (scripts/deps.sh test installs it)")
        if int(np.__version__.split(".")[0]) > 1:
            self.skipTest("the type hints of NumPy 2 are for a later Python than 3.9")
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--python-version", "3.9", "--ignore-missing-imports"]
            + ["--disallow-untyped-defs", "--cache-dir", self.path("cache"), "krein"],
            cwd=os.path.join(ROOT, "python"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
