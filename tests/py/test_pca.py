#!/usr/bin/env python3
"""Kernel principal components against scikit-learn's, through the command line.

    exact        KernelPCA with Gaussian, polynomial and linear kernels: eigenvalues, scores, new rows;
                 PCA for the linear kernel, and its explained variance
    features     PCA of the features that transform writes
    many rows    the iteration for few of many eigenvalues, against KernelPCA's dense solver

Scores are compared up to the sign of a component; scikit-learn's eigenvalues are n times the
variance.
"""
import json

import common  # says so and ends where scikit-learn is not there
import numpy as np
from sklearn.decomposition import PCA, KernelPCA
from sklearn.preprocessing import StandardScaler


def pca(*args):
    """The report, and the scores in full precision."""
    report = json.loads(common.krein("pca", *args, "-o", "s.npy", "--model", "p.krein", "-q", "--json"))
    return report, np.load("s.npy")


def predict(name):
    text = common.krein("predict", "p.krein", name, "-q").splitlines()
    return np.array([[float(v) for v in line.split(",")] for line in text])


def same(name, got, want, tol):
    """Columns agree up to their signs, to tol of each column's largest value."""
    if got.shape != want.shape:
        common.check(name, False, "shape %s instead of %s" % (got.shape, want.shape))
        return
    sign = np.sign(np.sum(got * want, axis=0))
    worst = np.max(np.max(np.abs(got * sign - want), axis=0) / np.max(np.abs(want), axis=0))
    common.check(name, worst <= tol, "off by %.2g, allowed are %.2g" % (worst, tol))


def data(seed, n, m):
    rng = np.random.default_rng(seed)
    spread = np.array([2.0, 1.5, 1.0, 0.7, 0.4])
    X, T = common.grid(rng, n, 5) * spread, common.grid(rng, m, 5) * spread
    X, T = np.round(X * 256) / 256, np.round(T * 256) / 256
    common.write("train.csv", np.zeros(n), X)
    common.write("test.csv", np.zeros(m), T)
    return X, T


KERNELS = (("gaussian(sigma=2)", dict(kernel="rbf", gamma=1 / 8)),
           ("poly(degree=3, c=1)", dict(kernel="poly", degree=3, gamma=1, coef0=1)),
           ("linear", dict(kernel="linear")))


def exact():
    X, T = data(1, 200, 50)
    for kernel, theirs in KERNELS:
        report, scores = pca("train.csv", "-k", kernel, "--components", 5, "--scale", "none")
        model = KernelPCA(5, eigen_solver="dense", **theirs).fit(X)
        common.check(kernel + ": exact", report["map"] == "exact")
        common.close(kernel + ": variance", np.array(report["variance"]) * 200, model.eigenvalues_, 1e-9)
        same(kernel + ": scores", scores, model.transform(X), 1e-6)
        same(kernel + ": new rows", predict("test.csv"), model.transform(T), 1e-6)
    # The linear kernel is ordinary PCA, whose variances have n - 1 below.
    report, scores = pca("train.csv", "-k", "linear", "--components", 4)
    scaled = StandardScaler().fit_transform(X)
    plain = PCA(4).fit(scaled)
    same("PCA of scaled columns", scores, plain.transform(scaled), 1e-5)
    common.close("explained variance", np.array(report["variance"]) * 200 / 199, plain.explained_variance_, 1e-6)
    common.close("ratio", report["ratio"], plain.explained_variance_ratio_, 1e-6)


def features():
    X, _ = data(2, 2500, 10)
    for spec in "orf(D=64)", "nystrom(D=40)", "orf(D=1024)":
        args = ("train.csv", "-k", "gaussian(sigma=2)", "-m", spec, "--scale", "none", "-s", 3)
        Z = common.transform(*args)
        report, scores = pca(*args, "--components", 4)
        plain = PCA(4, svd_solver="full").fit(Z)
        same(spec + ": scores", scores, plain.transform(Z), 1e-4)
        common.close(spec + ": variance", np.array(report["variance"]) * 2500 / 2499, plain.explained_variance_, 1e-5)
        common.close(spec + ": ratio", report["ratio"], plain.explained_variance_ratio_, 1e-5)


def many_rows():
    X, T = data(3, 1500, 20)
    for kernel, theirs in KERNELS:
        report, scores = pca("train.csv", "-k", kernel, "--components", 4, "--scale", "none")
        model = KernelPCA(4, eigen_solver="dense", **theirs).fit(X)
        common.close(kernel + ", 1500 rows: variance", np.array(report["variance"]) * 1500, model.eigenvalues_, 1e-9)
        same(kernel + ", 1500 rows: scores", scores, model.transform(X), 1e-6)
        same(kernel + ", 1500 rows: new rows", predict("test.csv"), model.transform(T), 1e-6)


TESTS = (exact, features, many_rows)

if __name__ == "__main__":
    common.run({"pca": TESTS})
