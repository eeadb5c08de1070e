#!/usr/bin/env python3
"""Support vector machines against scikit-learn's, through the command line.

    exact        svm and svr on the kernel matrix: decision values of SVC (two classes, pairs of
                 four, balanced) and SVR with the same C, gamma and epsilon, on new rows
    weights      the same with row weights, some of them 0, against sample_weight
    features     svm and svr on the features that transform writes: objectives and accuracy of
                 SVC(kernel="linear") and SVR, and of LinearSVC without an intercept
    C            the value that cross-validation chooses is as good as the best of scikit-learn's
"""
import json

import common  # says so and ends where scikit-learn is not there
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC, SVR, LinearSVC

SIGMA = 1.5
GAMMA = 1 / (2 * SIGMA ** 2)
KERNEL = "gaussian(sigma=%r)" % SIGMA


def scores(name):
    return np.array(json.loads(common.krein("predict", "m.krein", name, "-q", "--scores", "--json"))["scores"])


def train(*args):
    return json.loads(common.krein("train", "train.csv", *args, "--scale", "none", "-o", "m.krein", "-q", "--json"))


def rows(seed, n, classes):
    """Noisy classes (or numbers where classes is 0), in files of training and other rows."""
    rng = np.random.default_rng(seed)
    X, T = common.grid(rng, n, 4), common.grid(rng, 60, 4)

    def label(Z):
        f = np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + 0.4 * rng.standard_normal(len(Z))
        if classes == 0:
            return np.round(512 * f) / 256 + 3
        return np.clip(np.floor((f + 2) / 4 * classes), 0, classes - 1) if classes > 2 else (f > 0.3) * 1.0

    y, t = label(X), label(T)
    common.write("train.csv", y, X)
    common.write("test.csv", t, T)
    return X, y, T, t


def exact_classes():
    X, y, T, _ = rows(1, 220, 2)
    for C in (0.3, 20):
        for weights in ("equal", "balanced"):
            train("--learner", "svm(C=%g, class_weights=%s, tol=1e-6)" % (C, weights), "-m", "exact", "-k", KERNEL,
                  "--task", "classification")
            want = SVC(C=C, gamma=GAMMA, tol=1e-6, class_weight=None if weights == "equal" else "balanced").fit(X, y)
            common.close("SVC, C=%g, %s" % (C, weights), scores("test.csv")[:, 0], want.decision_function(T), 1e-3, 1)
    X, y, T, _ = rows(2, 240, 4)
    train("--learner", "svm(C=2, multi=ovo, tol=1e-6)", "-m", "exact", "-k", KERNEL, "--task", "classification")
    want = SVC(C=2, gamma=GAMMA, tol=1e-6, decision_function_shape="ovo").fit(X, y)
    # Pairs in the same order; a positive value speaks for the second class here, for the first there.
    common.close("SVC, pairs", -scores("test.csv"), want.decision_function(T), 1e-3, 1)
    train("--learner", "svm(C=2, tol=1e-6)", "-m", "exact", "-k", KERNEL, "--task", "classification")
    got = scores("test.csv")
    for c in range(4):
        want = SVC(C=2, gamma=GAMMA, tol=1e-6).fit(X, y == c)
        common.close("SVC, class %d against the rest" % c, got[:, c], want.decision_function(T), 1e-3, 1)


def exact_numbers():
    X, y, T, _ = rows(3, 200, 0)
    for C, epsilon in ((0.5, 0.1), (10, 0.4)):
        train("--learner", "svr(C=%g, epsilon=%g, tol=1e-6)" % (C, epsilon), "-m", "exact", "-k", KERNEL)
        got = np.array([float(v) for v in common.krein("predict", "m.krein", "test.csv", "-q").split()])
        want = SVR(C=C, epsilon=epsilon, gamma=GAMMA, tol=1e-6).fit(X, y).predict(T)
        common.close("SVR, C=%g, epsilon=%g" % (C, epsilon), got, want, 1e-3, np.std(y))


def exact_weights():
    for classes in 2, 3, 0:
        X, y, T, _ = rows(7 + classes, 180, classes)
        rng = np.random.default_rng(classes)
        w = np.round(rng.gamma(0.7, 1, len(y)) * 64) / 64
        w[::11] = 0
        header = ["y", "w", "a", "b", "c", "d"]
        common.write("train.csv", y, w, X, header=header)
        common.write("test.csv", T, header=header[2:])
        columns = ("--weights", "w", "-m", "exact", "-k", KERNEL)
        for C, balanced in (0.4, False), (20, False), (2, True):
            if classes == 0:
                train("--learner", "svr(C=%g, epsilon=0.1, tol=1e-6)" % C, *columns, "-t", "regression")
                got = np.array([float(v) for v in common.krein("predict", "m.krein", "test.csv", "-q").split()])
                want = SVR(C=C, epsilon=0.1, gamma=GAMMA, tol=1e-7).fit(X, y, sample_weight=w).predict(T)
                common.close("SVR with weights, C=%g" % C, got, want, 1e-4, np.std(y))
                continue
            spec = "svm(C=%g, multi=ovo, tol=1e-6, class_weights=%s)" % (C, "balanced" if balanced else "equal")
            train("--learner", spec, *columns, "-t", "classification")
            mass = np.bincount(y.astype(int), weights=w)
            each = w * w.sum() / (classes * mass[y.astype(int)]) if balanced else w
            want = SVC(C=C, gamma=GAMMA, tol=1e-7, decision_function_shape="ovo").fit(X, y, sample_weight=each)
            name = "SVC with weights, %d classes, C=%g" % (classes, C)
            f = want.decision_function(T)
            common.close(name, scores("test.csv"), f[:, None] if classes == 2 else -f, 1e-4, 1)


MAP = "rff(D=40)"


def features(name):
    return common.transform(name, "-k", KERNEL, "-m", MAP, "--scale", "none")


def linear(Z, f, intercept):
    """w and b of f = Zw + b, which more rows than features determine."""
    A = np.column_stack([Z, np.ones(len(Z))]) if intercept else Z
    w = np.linalg.lstsq(A, f, rcond=None)[0]
    common.check("scores are linear in the features", np.max(np.abs(A @ w - f)) < 1e-4 * np.max(np.abs(f)))
    return (w[:-1], w[-1]) if intercept else (w, 0.0)


def objective(loss, C, Z, y, w, b):
    f = Z @ w + b
    miss = {"hinge": lambda: np.maximum(0, 1 - y * f), "hinge2": lambda: np.maximum(0, 1 - y * f) ** 2,
            "epsilon": lambda: np.maximum(0, np.abs(y - f) - 0.2)}[loss]()
    return w @ w / 2 + C * np.sum(miss)


def on_features():
    X, y, T, t = rows(4, 300, 2)
    Z, ZT, sign = features("train.csv"), features("test.csv"), 2 * y - 1
    for C in (0.1, 30):
        for loss, theirs in (("hinge", SVC(C=C, kernel="linear", tol=1e-6)),
                             ("hinge", LinearSVC(C=C, loss="hinge", fit_intercept=False, tol=1e-6, max_iter=300000)),
                             ("hinge2", LinearSVC(C=C, dual=False, fit_intercept=False, tol=1e-8))):
            intercept = isinstance(theirs, SVC)
            name = "%s, %s, C=%g" % (type(theirs).__name__, loss, C)
            train("--learner", "svm(C=%g, loss=%s, intercept=%s, tol=1e-5)" % (C, loss, "yes" if intercept else "no"),
                  "-k", KERNEL, "-m", MAP, "--task", "classification")
            w, b = linear(Z, scores("train.csv")[:, 0], intercept)
            theirs.fit(Z, y)
            want = objective(loss, C, Z, sign, theirs.coef_[0], theirs.intercept_[0] if intercept else 0.0)
            common.close(name + ": objective", objective(loss, C, Z, sign, w, b), want, 1e-3)
            mine = np.mean((scores("test.csv")[:, 0] > 0) == (t == 1))
            common.check(name + ": accuracy", abs(mine - theirs.score(ZT, t)) < 0.035)
    X, y, T, t = rows(5, 300, 0)
    Z = features("train.csv")
    for C in (0.1, 10):
        train("--learner", "svr(C=%g, epsilon=0.2, tol=1e-5)" % C, "-k", KERNEL, "-m", MAP)
        f = np.array([float(v) for v in common.krein("predict", "m.krein", "train.csv", "-q").split()])
        w, b = linear(Z, f, True)
        theirs = SVR(C=C, epsilon=0.2, kernel="linear", tol=1e-6).fit(Z, y)
        want = objective("epsilon", C, Z, y, theirs.coef_[0], theirs.intercept_[0])
        common.close("SVR on features, C=%g" % C, objective("epsilon", C, Z, y, w, b), want, 1e-3)


def chosen():
    X, y, _, _ = rows(6, 400, 2)
    report = train("--learner", "svm", "-k", KERNEL, "-m", "exact", "--task", "classification")
    C = float(report["learner"].split("C=")[1].split(",")[0].rstrip(")"))
    grid = [2.0 ** e for e in range(-4, 13, 2)]
    error = {c: 1 - np.mean(cross_val_score(SVC(C=c, gamma=GAMMA), X, y, cv=5)) for c in grid}
    deviation = np.sqrt(min(error.values()) * (1 - min(error.values())) / len(y))
    common.check("C is one of the grid", C in grid, repr(C))
    common.check("C is as good as the best", error[C] <= min(error.values()) + 2 * deviation,
                 "C = %g: %.3f, best %.3f" % (C, error[C], min(error.values())))
    common.check("the error is that of cross-validation", abs(report["cv"]["error"] - error[C]) < 3 * deviation,
                 "%r, %r" % (report["cv"], error[C]))


TESTS = (exact_classes, exact_numbers, exact_weights, on_features, chosen)

if __name__ == "__main__":
    common.run({"svm": TESTS})
