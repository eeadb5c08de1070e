#!/usr/bin/env python3
"""All of tests/py/test_*.py in one process: scikit-learn takes longer to load than most tests to run."""
import glob
import importlib
import os

import common  # says so and ends where scikit-learn is not there

here = os.path.dirname(os.path.abspath(__file__))
files = {}
for path in sorted(glob.glob(os.path.join(here, "test_*.py"))):
    name = os.path.basename(path)[:-3]
    try:
        files[name] = importlib.import_module(name).TESTS
    except Exception as problem:
        common.check(name, False, "%s: %s" % (type(problem).__name__, problem))
common.run(files)
