#!/usr/bin/env python3
"""Kernel principal components against scikit-learn's, through the command line.

    exact        KernelPCA with Gaussian, polynomial and linear kernels: eigenvalues, scores, new rows;
                 PCA for the linear kernel, and its explained variance
    features     PCA of the features that transform writes
    many rows    the iteration for few of many eigenvalues, against KernelPCA's dense solver

Scores are compared up to the sign of a component; scikit-learn's eigenvalues are n times the
variance. Helpers and environment: test_sklearn.py.
"""
import json
import os
import shutil
import sys
import tempfile

import test_sklearn as base  # says so and ends where scikit-learn is not there
import numpy as np
from sklearn.decomposition import PCA, KernelPCA
from sklearn.preprocessing import StandardScaler


def pca(*args):
    """The report, and the scores in full precision."""
    report = json.loads(base.krein("pca", *args, "-o", "s.npy", "--model", "p.krein", "-q", "--json"))
    return report, np.load("s.npy")


def predict(name):
    text = base.krein("predict", "p.krein", name, "-q").splitlines()
    return np.array([[float(v) for v in line.split(",")] for line in text])


def same(name, got, want, tol):
    """Columns agree up to their signs, to tol of each column's largest value."""
    if got.shape != want.shape:
        base.check(name, False, "shape %s instead of %s" % (got.shape, want.shape))
        return
    sign = np.sign(np.sum(got * want, axis=0))
    worst = np.max(np.max(np.abs(got * sign - want), axis=0) / np.max(np.abs(want), axis=0))
    base.check(name, worst <= tol, "off by %.2g, allowed are %.2g" % (worst, tol))


def data(seed, n, m):
    rng = np.random.default_rng(seed)
    spread = np.array([2.0, 1.5, 1.0, 0.7, 0.4])
    X, T = base.grid(rng, n, 5) * spread, base.grid(rng, m, 5) * spread
    X, T = np.round(X * 256) / 256, np.round(T * 256) / 256
    base.write("train.csv", np.zeros(n), X)
    base.write("test.csv", np.zeros(m), T)
    return X, T


KERNELS = (("gaussian(sigma=2)", dict(kernel="rbf", gamma=1 / 8)),
           ("poly(degree=3, c=1)", dict(kernel="poly", degree=3, gamma=1, coef0=1)),
           ("linear", dict(kernel="linear")))


def exact():
    X, T = data(1, 200, 50)
    for kernel, theirs in KERNELS:
        report, scores = pca("train.csv", "-k", kernel, "--components", 5, "--scale", "none")
        model = KernelPCA(5, eigen_solver="dense", **theirs).fit(X)
        base.check(kernel + ": exact", report["map"] == "exact")
        base.close(kernel + ": variance", np.array(report["variance"]) * 200, model.eigenvalues_, 1e-9)
        same(kernel + ": scores", scores, model.transform(X), 1e-6)
        same(kernel + ": new rows", predict("test.csv"), model.transform(T), 1e-6)
    # The linear kernel is ordinary PCA, whose variances have n - 1 below.
    report, scores = pca("train.csv", "-k", "linear", "--components", 4)
    scaled = StandardScaler().fit_transform(X)
    plain = PCA(4).fit(scaled)
    same("PCA of scaled columns", scores, plain.transform(scaled), 1e-5)
    base.close("explained variance", np.array(report["variance"]) * 200 / 199, plain.explained_variance_, 1e-6)
    base.close("ratio", report["ratio"], plain.explained_variance_ratio_, 1e-6)


def features():
    X, _ = data(2, 2500, 10)
    for spec in "orf(D=64)", "nystrom(D=40)", "orf(D=1024)":
        args = ("train.csv", "-k", "gaussian(sigma=2)", "-m", spec, "--scale", "none", "-s", 3)
        Z = base.transform(*args)
        report, scores = pca(*args, "--components", 4)
        plain = PCA(4, svd_solver="full").fit(Z)
        same(spec + ": scores", scores, plain.transform(Z), 1e-4)
        base.close(spec + ": variance", np.array(report["variance"]) * 2500 / 2499, plain.explained_variance_, 1e-5)
        base.close(spec + ": ratio", report["ratio"], plain.explained_variance_ratio_, 1e-5)


def many_rows():
    X, T = data(3, 1500, 20)
    for kernel, theirs in KERNELS:
        report, scores = pca("train.csv", "-k", kernel, "--components", 4, "--scale", "none")
        model = KernelPCA(4, eigen_solver="dense", **theirs).fit(X)
        base.close(kernel + ", 1500 rows: variance", np.array(report["variance"]) * 1500, model.eigenvalues_, 1e-9)
        same(kernel + ", 1500 rows: scores", scores, model.transform(X), 1e-6)
        same(kernel + ", 1500 rows: new rows", predict("test.csv"), model.transform(T), 1e-6)


def main():
    if not os.access(base.PROGRAM, os.X_OK):
        print("skipped: scikit-learn's components: no program %s (KREIN)" % base.PROGRAM)
        print("0 passed, 0 failed, 1 skipped")
        return 0
    folder = tempfile.mkdtemp(prefix="krein-pca-")
    os.chdir(folder)
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        for test in (exact, features, many_rows):
            try:
                test()
            except Exception as problem:
                base.check(test.__name__, False, "%s: %s" % (type(problem).__name__, problem))
    finally:
        os.chdir("/")
        shutil.rmtree(folder, ignore_errors=True)
    print("%d passed, %d failed, 0 skipped" % (base.passed, base.failed))
    return 1 if base.failed else 0


if __name__ == "__main__":
    sys.exit(main())
