#!/usr/bin/env python3
"""Weights of several kernels against numpy (_mkl_oracle.py), through the command line, on small data.

    itself                 the oracle against the reference values of its formulas
    matrices               map=exact: every method, two and three classes, numbers
    features               map=explicit, whose features have the kernels' values: the same weights
    accuracies             pwmk: from the leave-one-out errors that `select` reports
    descent                smsd and ufo: near those of many passes in another order
    summed                 the model is that of the base learner on the sum that the weights say

Inputs are multiples of 1/256, which float32 holds exactly.
"""
import json

import common  # says so and ends where scikit-learn is not there
import numpy as np
import _mkl_oracle as oracle
from sklearn.metrics.pairwise import laplacian_kernel

LIST = "gaussian(sigma=1); gaussian(sigma=4); linear; poly(degree=2); laplacian(sigma=2)"
EXPLICIT = "linear; poly(degree=2); poly(degree=3, gamma=0.5)"
LAMBDA = 0.003


def matrices(X):
    G = X @ X.T
    return [common.gaussian(X), common.gaussian(X, sigma=4), G, (1 + G) ** 2, laplacian_kernel(X, gamma=0.5)]


def polynomials(X):
    G = X @ X.T
    return [G, (1 + G) ** 2, (1 + G / 2) ** 3]


def rows(seed, n, classes):
    """Noisy classes (or numbers where classes is 0) that depend on two of four columns."""
    rng = np.random.default_rng(seed)
    X = common.grid(rng, n, 4)
    f = np.sin(2 * X[:, 0]) + X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n)
    if classes == 0:
        return X, np.round(256 * f) / 256
    return X, np.searchsorted(np.quantile(f, np.arange(1, classes) / classes), f)


def weights(X, y, options, kernels, *args):
    common.write("data.csv", y, X)
    task = "regression" if y.dtype.kind == "f" else "classification"
    report = common.train("data.csv", "--label", "first", "--task", task, "--scale", "none", "--learner",
                          "mkl(%s)" % options, "--kernels", kernels, *args)
    return np.array([w["weight"] for w in report["weights"]])


def expected(method, Ks, y):
    """The oracle's weights of a method with its options as written."""
    Ks, Y, penalty = [oracle.unit(K) for K in Ks], oracle.codes(y), LAMBDA * len(y)
    return {"method=average": lambda: oracle.average(Ks),
            "method=alignment": lambda: oracle.alignment(Ks, Y),
            "method=centered": lambda: oracle.centered(Ks, Y),
            "method=easymkl, lambda=0.1": lambda: oracle.easymkl(Ks, Y, 0.1),
            "method=easymkl, lambda=0.7": lambda: oracle.easymkl(Ks, Y, 0.7),
            "method=lp, p=1": lambda: oracle.lp(Ks, Y, penalty, 1.0),
            "method=lp, p=2": lambda: oracle.lp(Ks, Y, penalty, 2.0),
            "method=lp, p=6": lambda: oracle.lp(Ks, Y, penalty, 6.0),
            "method=conv, p=2, theta=2": lambda: oracle.conv(Ks, Y, penalty, 2, 2.0)}[method]()


NUMBERS = ["method=average", "method=alignment", "method=centered", "method=lp, p=1", "method=lp, p=2",
           "method=lp, p=6", "method=conv, p=2, theta=2"]
CLASSES = NUMBERS + ["method=easymkl, lambda=0.1", "method=easymkl, lambda=0.7"]


def compare(what, methods, X, y, kernels, Ks, tol, *args):
    for method in methods:
        got = weights(X, y, method, kernels, "-l", LAMBDA, *args)
        common.close("%s, %s" % (method, what), got, expected(method, Ks, y), tol, 1)


def itself():
    oracle.check_itself(lambda name, got, want, tol: common.close("oracle: " + name, got, want, tol, 1))


def by_matrices():
    for classes, methods in ((2, CLASSES), (3, CLASSES), (0, NUMBERS)):
        X, y = rows(classes, 70, classes)
        compare("%d classes, matrices" % classes, methods, X, y, LIST, matrices(X), 2e-4, "-m", "exact")


def by_features():
    for classes, methods in ((2, CLASSES), (3, CLASSES), (0, NUMBERS)):
        X, y = rows(10 + classes, 80, classes)
        compare("%d classes, features" % classes, methods, X, y, EXPLICIT, polynomials(X), 2e-4, "-m", "explicit")


def accuracies():
    X, y = rows(21, 120, 3)
    common.write("data.csv", y, X)
    report = json.loads(common.krein("select", "data.csv", "--label", "first", "--task", "classification", "--scale",
                                     "none", "--kernels", LIST, "-c", "loo", "-q", "--json"))
    got = weights(X, y, "method=pwmk, delta=0.6", LIST, "-m", "exact")
    want = oracle.pwmk([1 - s["score"] for s in report["criteria"][0]["scores"]], 0.6)
    common.close("pwmk", np.sort(got), np.sort(want), 1e-6, 1)


def descent():
    X, y = rows(31, 60, 3)
    Ks = [oracle.unit(K) for K in matrices(X)[:4]]
    kernels = ";".join(LIST.split(";")[:4])
    rng = np.random.default_rng(5)
    orders = np.concatenate([rng.permutation(60) for _ in range(400)])
    for name, r in (("smsd", [oracle.tail(K, 3) / 60 for K in Ks]), ("ufo", np.ones(4))):
        want = oracle.shares(oracle.Mirror(Ks, y, 0.02, 0.02, r).run(orders).mu)
        more = ", theta=3" if name == "smsd" else ""
        got = weights(X, y, "method=%s, alpha=0.02, beta=0.02, epochs=400%s" % (name, more), kernels, "-m", "exact")
        common.close(name, got, want, 0.03, 1)


def summed():
    """The sum's own text, given to the base learner, makes the same predictions."""
    X, y = rows(41, 90, 2)
    mu = weights(X, y, "method=alignment", LIST, "-m", "exact", "-l", LAMBDA)
    got = common.predict("data.csv", "--label", "first", "--scores")
    factors = mu / np.array([np.mean(np.diag(K)) for K in matrices(X)])
    total = " + ".join("%.17g*%s" % (f, k.strip()) for f, k in zip(factors, LIST.split(";")))
    common.train("data.csv", "--label", "first", "--task", "classification", "--scale", "none", "-k", total, "-m",
                 "exact", "-l", LAMBDA)
    common.close("the sum", got, common.predict("data.csv", "--label", "first", "--scores"), 1e-4)


TESTS = (itself, by_matrices, by_features, accuracies, descent, summed)

if __name__ == "__main__":
    common.run({"mkl": TESTS})
