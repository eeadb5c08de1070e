#!/usr/bin/env python3
"""Criteria against scikit-learn's models, through the command line, on small data.

    leave_one_out, folds   KernelRidge, refitted without the rows that are held out: with an
                           intercept on the centred kernel (KernelCenterer), without one as it is
                           (numbers are less the mean of all rows then).
                           Leave-one-out keeps the penalty n lambda of all rows; folds are one
                           --group each, with the penalty of the rows that are left
    gcv                    residuals and trace of the smoother matrix; RidgeCV where the kernel is
                           linear and n lambda its alpha
    evidence               GaussianProcessRegressor.log_marginal_likelihood, RBF + WhiteKernel(n lambda)
    alignments             on sklearn's centred kernel
    features               the same on exported features: Ridge, refitted

Inputs are multiples of 1/256, which float32 holds exactly.
"""
import json

import common  # says so and ends where scikit-learn is not there
import numpy as np
from sklearn.datasets import load_diabetes, load_iris
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.preprocessing import KernelCenterer, StandardScaler


def rounded(X):
    return np.round(StandardScaler().fit_transform(X) * 256) / 256


def diabetes(n=80):
    X, y = load_diabetes(return_X_y=True)
    return rounded(X[:n, :5]), np.round((y[:n] - 150) / 50 * 256) / 256


def iris(classes=3):
    X, y = load_iris(return_X_y=True)
    keep = np.arange(0, 150, 2) if classes == 3 else np.arange(50, 150)
    return rounded(X[keep]), y[keep]


def codes(y):
    """One column of 1 and -1 for two classes, one for each of several; numbers less their mean."""
    y = np.asarray(y)
    if y.dtype.kind == "f":
        return (y - y.mean()).reshape(len(y), -1)
    names = np.unique(y)
    return np.column_stack([np.where(y == c, 1.0, -1.0) for c in (names[1:] if len(names) == 2 else names)])


def select(X, y, kernels, *criteria, columns=(), args=()):
    """The report on a file of labels, further columns and inputs."""
    names = ["y"] + [c for c, _ in columns] + ["x%d" % i for i in range(X.shape[1])]
    common.write("data.csv", y, *[v for _, v in columns], X, header=names)
    task = "regression" if np.asarray(y).dtype.kind == "f" else "classification"
    flags = [flag for c in criteria for flag in ("-c", c)]
    report = json.loads(common.krein("select", "data.csv", "--label", "y", "--task", task, "--scale", "none",
                                     "--kernels", kernels, *flags, "-q", "--json", *args))
    return report["criteria"]


def scores(*args, **more):
    return np.array([[s["score"] for s in c["scores"]] for c in select(*args, **more)])


def held_out(K, Y, train, test, shift, intercept):
    """Predictions of the rows `test` by KernelRidge on the rows `train`."""
    inner, outer = K[np.ix_(train, train)], K[np.ix_(test, train)]
    mean = np.zeros(Y.shape[1])
    if intercept:
        centre = KernelCenterer().fit(inner)
        inner, outer = centre.transform(inner), centre.transform(outer)
        mean = Y[train].mean(0)
    model = KernelRidge(alpha=shift, kernel="precomputed").fit(inner, Y[train] - mean)
    return model.predict(outer).reshape(len(test), -1) + mean


def error(Y, F):
    """Share of wrong classes, or root mean square."""
    if set(np.unique(Y)) <= {-1.0, 1.0}:
        wrong = (F > 0) != (Y > 0) if Y.shape[1] == 1 else F.argmax(1)[:, None] != Y.argmax(1)[:, None]
        return wrong.mean()
    return np.sqrt(((Y - F) ** 2).mean())


SIGMAS = (0.7, 1.5, 4.0)
FAMILY = "; ".join("gaussian(sigma=%g)" % s for s in SIGMAS)


# ---- tests -----------------------------------------------------------------

def leave_one_out():
    for X, y in (diabetes(), iris(2), iris(3)):
        Y, n = codes(y), len(X)
        everyone = np.arange(n)
        for lam in (1e-3, 1e-1):
            for intercept in (True, False):
                spec = "loo(lambda=%g, intercept=%s)" % (lam, "yes" if intercept else "no")
                want = []
                for sigma in SIGMAS:
                    K = common.gaussian(X, None, sigma)
                    F = np.vstack([held_out(K, Y, np.delete(everyone, i), [i], n * lam, intercept) for i in range(n)])
                    want.append(error(Y, F))
                common.close("%s, %d outputs" % (spec, Y.shape[1]), scores(X, y, FAMILY, spec), [want], 1e-9)


def folds():
    k = 5
    for X, y in (diabetes(), iris(3)):
        Y, n = codes(y), len(X)
        group = np.arange(n) % k
        for lam in (1e-3, 1e-1):
            for intercept in (True, False):
                spec = "cv(k=%d, lambda=%g, intercept=%s)" % (k, lam, "yes" if intercept else "no")
                want = []
                for sigma in SIGMAS:
                    K, F = common.gaussian(X, None, sigma), np.zeros(Y.shape)
                    for g in range(k):
                        train, test = np.flatnonzero(group != g), np.flatnonzero(group == g)
                        F[test] = held_out(K, Y, train, test, len(train) * lam, intercept)
                    want.append(error(Y, F))
                got = scores(X, y, FAMILY, spec, columns=[("g", group)], args=("--group", "g"))
                common.close("%s, %d outputs" % (spec, Y.shape[1]), got, [want], 1e-9)


def gcv_of(K, Y, shift):
    n = len(K)
    centred = KernelCenterer().fit_transform(K)
    H = 1 / n + centred @ np.linalg.inv(centred + shift * np.eye(n))
    return ((Y - H @ Y) ** 2).mean() / (1 - np.trace(H) / n) ** 2


def gcv():
    for X, y in (diabetes(), iris(2), iris(3)):
        Y, n = codes(y), len(X)
        for lam in (1e-3, 1e-1):
            want = [gcv_of(common.gaussian(X, None, s), Y, n * lam) for s in SIGMAS]
            common.close("gcv at %g" % lam, scores(X, y, FAMILY, "gcv(lambda=%g)" % lam), [want], 1e-9)
        # over a path: as good as any lambda of a fine grid, within its steps
        got = select(X, y, FAMILY, "gcv")[0]["scores"]
        for s, one in zip(SIGMAS, got):
            K = common.gaussian(X, None, s)
            if one["lambda"] > 1e-8:  # below, this formula is rounding
                common.close("gcv at its lambda", one["score"], gcv_of(K, Y, n * one["lambda"]), 1e-6)
            grid = [gcv_of(K, Y, n * lam) for lam in 10.0 ** np.arange(-8, 2, 0.25)]
            common.check("gcv: the best lambda", one["score"] <= min(grid) * 1.01,
                         "%g, the least is %g" % (one["score"], min(grid)))


def linear_gcv():
    """On d inputs the residuals and degrees of freedom of Ridge itself."""
    X, y = diabetes(200)
    n, lam = len(X), 0.01
    model = Ridge(alpha=n * lam, tol=1e-12).fit(X, y)
    centred = X - X.mean(0)
    freedom = 1 + np.trace(centred @ np.linalg.solve(centred.T @ centred + n * lam * np.eye(X.shape[1]), centred.T))
    want = ((y - model.predict(X)) ** 2).mean() / (1 - freedom / n) ** 2
    common.close("gcv of Ridge", scores(X, y, "linear", "gcv(lambda=%g)" % lam), [[want]], 1e-9)
    common.close("gcv of Ridge, on features", scores(X, y, "linear", "gcv(lambda=%g)" % lam, args=("-m", "explicit")),
                 [[want]], 1e-6)


def likelihood(X, Y, sigma, noise, scale=1.0):
    """log p of the centred targets, columns independent: sklearn sums over them."""
    kernel = ConstantKernel(scale, "fixed") * RBF(sigma, "fixed") + WhiteKernel(scale * noise, "fixed")
    process = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X, Y - Y.mean(0))
    return process.log_marginal_likelihood_value_


def evidence():
    for X, y in (diabetes(), iris(2), iris(3)):
        Y, n = codes(y), len(X)
        for lam in (1e-3, 1e-1):
            want = [likelihood(X, Y, s, n * lam) for s in SIGMAS]
            got = scores(X, y, FAMILY, "evidence(lambda=%g, scale=one)" % lam)
            common.close("evidence at %g, %d outputs" % (lam, Y.shape[1]), got, [want], 1e-9)
        # the scale that is best: known, and no other is better
        lam, sigma = 0.01, 1.5
        C = common.gaussian(X, None, sigma) + n * lam * np.eye(n)
        centred = Y - Y.mean(0)
        scale = (centred * np.linalg.solve(C, centred)).sum() / Y.size
        got = scores(X, y, "gaussian(sigma=%g)" % sigma, "evidence(lambda=%g)" % lam)[0, 0]
        common.close("evidence of the best scale", got, likelihood(X, Y, sigma, n * lam, scale), 1e-9)
        for factor in (0.8, 1.25):
            common.check("no other scale is better", likelihood(X, Y, sigma, n * lam, factor * scale) < got)


def best_evidence():
    """Noise and scale that scikit-learn's optimiser finds are not better than the path's by more than
    a step of it is worth."""
    X, y = diabetes()
    Y = codes(y)
    for sigma, one in zip(SIGMAS, select(X, y, FAMILY, "evidence")[0]["scores"]):
        kernel = ConstantKernel(1.0, (1e-5, 1e5)) * RBF(sigma, "fixed") + WhiteKernel(0.1, (1e-6, 1e3))
        found = GaussianProcessRegressor(kernel, alpha=0.0, n_restarts_optimizer=3, random_state=0).fit(X, Y)
        common.close("evidence, all chosen, sigma %g" % sigma, one["score"], found.log_marginal_likelihood_value_,
                     0.5, 1)


def alignments():
    X, y = iris(2)
    n, t = len(X), codes(y)[:, 0]
    plain, centred = [], []
    for sigma in SIGMAS:
        K = common.gaussian(X, None, sigma)
        plain.append(t @ K @ t / (n * np.linalg.norm(K)))
        Kc, tc = KernelCenterer().fit_transform(K), t - t.mean()
        centred.append(tc @ Kc @ tc / (np.linalg.norm(Kc) * (tc @ tc)))
    common.close("kta and ckta", scores(X, y, FAMILY, "kta", "ckta"), [plain, centred], 1e-10)
    # three classes: the ideal kernel, 1 within a class and -1/2 between two
    X, y = iris(3)
    T = np.where(y[:, None] == y, 1.0, -0.5)
    Tc = KernelCenterer().fit_transform(T)
    plain, centred = [], []
    for sigma in SIGMAS:
        K = common.gaussian(X, None, sigma)
        Kc = KernelCenterer().fit_transform(K)
        plain.append((K * T).sum() / np.linalg.norm(K) / np.linalg.norm(T))
        centred.append((Kc * Tc).sum() / np.linalg.norm(Kc) / np.linalg.norm(Tc))
    got = scores(X, y, FAMILY, "kta(classes=ideal)", "ckta(classes=ideal)")
    common.close("kta and ckta of three classes", got, [plain, centred], 1e-10)


def features():
    """Ridge on the features that transform writes, refitted without the rows."""
    X, y = diabetes(120)
    n, k, lam = len(X), 4, 0.01
    group = np.arange(n) % k
    options = ("-m", "rff(D=40)", "--seed", 5)
    kernel = "gaussian(sigma=2)"
    common.write("plain.csv", y, X)
    Z = common.transform("plain.csv", "-k", kernel, "--scale", "none", *options)
    alone, grouped = np.zeros(n), np.zeros(n)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        alone[i] = Ridge(alpha=n * lam, tol=1e-12).fit(Z[rest], y[rest]).predict(Z[[i]])[0]
    for g in range(k):
        rest = group != g
        grouped[~rest] = Ridge(alpha=rest.sum() * lam, tol=1e-12).fit(Z[rest], y[rest]).predict(Z[~rest])
    want = [[np.sqrt(((y - f) ** 2).mean())] for f in (alone, grouped)]
    got = scores(X, y, kernel, "loo(lambda=%g)" % lam, "cv(k=%d, lambda=%g)" % (k, lam),
                 columns=[("g", group)], args=("--group", "g") + options)
    common.close("loo and cv on features", got, want, 1e-5)
    want = gcv_of(Z @ Z.T, y[:, None], n * lam)
    common.close("gcv on features", scores(X, y, kernel, "gcv(lambda=%g)" % lam, args=options), [[want]], 1e-5)


TESTS = (leave_one_out, folds, gcv, linear_gcv, evidence, best_evidence, alignments, features)

if __name__ == "__main__":
    common.run({"select": TESTS})
