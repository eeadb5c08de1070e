#!/usr/bin/env python3
"""Krein's numbers against scikit-learn's, through the command line, on small data.

    gram         kernel values, scalers, one-hot columns, imputed cells
    train        kernel ridge regression: KernelRidge on the centred kernel, alpha = n lambda;
                 row weights, two classes, several targets; leave-one-out by n refits
    transform    nystrom against K and against Nystroem; rff and orf against RBFSampler,
                 compared by their standard errors; a model on features against Ridge on them
    logistic     on exported features against LogisticRegression, C = 1 / (2 n lambda)
    cluster      k-means of weighted rows against KMeans

Inputs are multiples of 1/256, which float32 holds exactly: what is left of the difference is
arithmetic. The seeds are fixed: a result does not change from run to run.
"""
import json
import math

import common  # says so and ends where scikit-learn is not there
import numpy as np
from common import check, close, gaussian, gram, grid, krein, predict, relative, train, transform, write
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.datasets import dump_svmlight_file
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, polynomial_kernel
from sklearn.preprocessing import (KernelCenterer, MaxAbsScaler, MinMaxScaler, Normalizer,
                                   OneHotEncoder, StandardScaler)


# ---- kernel values ---------------------------------------------------------

def laplacian(X, Y=None, sigma=1.0):
    return laplacian_kernel(X, Y, gamma=1 / sigma)


def poly(X, Y=None, degree=3, c=1.0, gamma=1.0):
    return polynomial_kernel(X, Y, degree=degree, coef0=c, gamma=gamma)


KERNELS = {
    "gaussian(sigma=1.7)": lambda X, Y=None: gaussian(X, Y, 1.7),
    "gaussian(sigma=0.3)": lambda X, Y=None: gaussian(X, Y, 0.3),
    "laplacian(sigma=2.5)": lambda X, Y=None: laplacian(X, Y, 2.5),
    "linear": linear_kernel,
    "poly(degree=2, c=0.7, gamma=0.4)": lambda X, Y=None: poly(X, Y, 2, 0.7, 0.4),
    "poly": poly,
    "poly(degree=5, c=-0.3, gamma=0.1)": lambda X, Y=None: poly(X, Y, 5, -0.3, 0.1),
    "gaussian(sigma=2) + laplacian(sigma=3)": lambda X, Y=None: gaussian(X, Y, 2) + laplacian(X, Y, 3),
    "0.3*gaussian(sigma=2) + 1.9*linear": lambda X, Y=None: 0.3 * gaussian(X, Y, 2) + 1.9 * linear_kernel(X, Y),
    "gaussian(sigma=3) * laplacian(sigma=4)": lambda X, Y=None: gaussian(X, Y, 3) * laplacian(X, Y, 4),
    "2*gaussian(sigma=1) - gaussian(sigma=4)": lambda X, Y=None: 2 * gaussian(X, Y, 1) - gaussian(X, Y, 4),
    "gaussian(sigma=3) * (linear + 0.5*poly(degree=2))":
        lambda X, Y=None: gaussian(X, Y, 3) * (linear_kernel(X, Y) + 0.5 * poly(X, Y, 2)),
}


def kernel_values():
    rng = np.random.default_rng(11)
    X, Y = grid(rng, 40, 5), grid(rng, 23, 5, 1.5)
    X += [0, 3, -2, 0.5, 7]  # inner products see a shift
    Y += [0, 3, -2, 0.5, 7]
    write("x.csv", X)
    write("y.csv", Y)
    scaler = StandardScaler().fit(X)
    for spec, oracle in KERNELS.items():
        for scale, f in ("none", lambda A: A), ("standard", scaler.transform):
            one = gram("x.csv", "--label", "none", "-k", spec, "--scale", scale)
            relative("gram %s, %s" % (spec, scale), one, oracle(f(X)))
            two = gram("x.csv", "y.csv", "--label", "none", "-k", spec, "--scale", scale)
            relative("gram %s, %s, two files" % (spec, scale), two, oracle(f(X), f(Y)))
            check("gram %s, %s: symmetric" % (spec, scale), np.array_equal(one, one.T))
    write("xl.csv", np.arange(40) % 3, X)
    relative("gram leaves the label out", gram("xl.csv", "-k", "linear", "--scale", "none"), linear_kernel(X))


def scalers():
    rng = np.random.default_rng(12)
    X, Y = grid(rng, 30, 4), grid(rng, 9, 4, 2)
    X *= [1, 50, 0.1, 1]
    X[:, 3] = 2.5  # constant
    X[:, 2] += 1e5
    X = np.round(X * 256) / 256
    Y[:, 3] = 2.5
    Y[:, 2] = Y[:, 2] / 10 + 1e5
    write("s.csv", X)
    write("s2.csv", Y)
    spec = "gaussian(sigma=1.3) + 0.2*linear"
    oracle = lambda A, B=None: gaussian(A, B, 1.3) + 0.2 * linear_kernel(A, B)
    for name, scaler in ("standard", StandardScaler()), ("minmax", MinMaxScaler()), ("unit", Normalizer()):
        A = scaler.fit_transform(X)
        B = scaler.transform(Y)
        options = ("--label", "none", "-k", spec, "--scale", name)
        relative("scale %s: a constant column, an offset" % name, gram("s.csv", *options), oracle(A))
        relative("scale %s: DATA2 by DATA's statistics" % name, gram("s.csv", "s2.csv", *options), oracle(A, B))
    # A column constant in DATA and not in DATA2: centred and not divided.
    Y[:, 3] += np.arange(9) / 4
    write("s3.csv", Y)
    scaler = StandardScaler().fit(X)
    relative("standard: constant in DATA only", gram("s.csv", "s3.csv", "--label", "none", "-k", spec),
             oracle(scaler.transform(X), scaler.transform(Y)))
    # The divisor of the standard deviation is n: visible on few rows.
    write("few.csv", [[0.0], [1.0], [5.0]])
    K = gram("few.csv", "--label", "none", "-k", "linear")
    relative("standard: divisor n", K, linear_kernel(StandardScaler().fit_transform([[0.0], [1.0], [5.0]])))
    check("standard: the trace is n", abs(np.trace(K) - 3) < 1e-5, "%r" % np.trace(K))
    # Sparse rows are divided and not centred.
    S = grid(rng, 30, 6)
    S[rng.random(S.shape) < 0.6] = 0
    S[0, 5] = 1.5
    dump_svmlight_file(sparse.csr_matrix(S), rng.standard_normal(30), "s.libsvm", zero_based=False)
    for name, scaler in (("standard", StandardScaler(with_mean=False)), ("minmax", MaxAbsScaler()),
                         ("unit", Normalizer())):
        A = scaler.fit_transform(S)
        relative("scale %s, sparse" % name, gram("s.libsvm", "-k", spec, "--scale", name), oracle(A))
    relative("scale none, sparse", gram("s.libsvm", "-k", spec, "--scale", "none"), oracle(S))


def preparation():
    rng = np.random.default_rng(13)
    words = np.array(["red", "green", "blue"], dtype=object)[rng.integers(0, 3, 25)]
    X = grid(rng, 25, 2)
    with open("cat.csv", "w") as file:
        file.write("colour,a,b\n")
        for w, row in zip(words, X):
            file.write("%s,%r,%r\n" % (w, row[0], row[1]))
    table = np.column_stack([words, X.astype(object)])
    encode = ColumnTransformer([("c", OneHotEncoder(), [0])], remainder="passthrough", sparse_threshold=0)
    A = StandardScaler().fit_transform(encode.fit_transform(table).astype(float))
    relative("one-hot columns, standard", gram("cat.csv", "--label", "none", "-k", "gaussian(sigma=2)"),
             gaussian(A, None, 2))
    H = X.copy()
    H[3, 0] = H[10, 1] = H[11, 1] = np.nan
    with open("hole.csv", "w") as file:
        for (a, b), cell in zip(H, ["", "?", "nan", "NaN"] * 7):
            file.write(",".join(cell if math.isnan(v) else repr(v) for v in (a, b)) + "\n")
    # Statistics are those of the cells that are there; StandardScaler passes over NaN, too.
    A = SimpleImputer().fit_transform(StandardScaler().fit_transform(H))
    relative("missing mean", gram("hole.csv", "--label", "none", "--missing", "mean", "-k", "gaussian(sigma=2)"),
             gaussian(A, None, 2))
    A = StandardScaler().fit_transform(H[~np.isnan(H).any(axis=1)])
    relative("missing drop", gram("hole.csv", "--label", "none", "--missing", "drop", "-k", "gaussian(sigma=2)"),
             gaussian(A, None, 2))


# ---- kernel ridge regression -------------------------------------------------

def centred_ridge(K, Kt, y, lam, w=None):
    """Predictions from K (train x train) and Kt (test x train); the intercept is not penalised.

    Centring in feature space (by weights) and centring y is what minimising over the intercept
    gives; KernelCenterer does it where there are no weights.
    """
    n = len(y)
    if w is None:
        centre = KernelCenterer().fit(K)
        Kc, Ktc = centre.transform(K), centre.transform(Kt)
        model = KernelRidge(alpha=n * lam, kernel="precomputed").fit(Kc, y - y.mean(axis=0))
        return model.predict(Ktc) + y.mean(axis=0)
    p = w / w.sum()
    A = np.eye(n) - np.outer(np.ones(n), p)
    Kc = A @ K @ A.T
    Ktc = (Kt - np.outer(np.ones(len(Kt)), p @ K)) @ A.T
    mean = p @ y
    model = KernelRidge(alpha=w.sum() * lam, kernel="precomputed").fit(Kc, y - mean, sample_weight=w)
    return model.predict(Ktc) + mean


def regression_data(seed, n, m, d=3):
    rng = np.random.default_rng(seed)
    X, T = grid(rng, n, d), grid(rng, m, d)
    f = lambda A: np.sin(1.5 * A[:, 0]) + A[:, 1] * A[:, 2] / 2 + 5
    y = np.round((f(X) + 0.2 * rng.standard_normal(n)) * 1024) / 1024
    return rng, X, T, y


def ridge_exact():
    rng, X, T, y = regression_data(21, 120, 50)
    write("train.csv", y, X)
    write("test.csv", T)
    scaler = StandardScaler().fit(X)
    for spec in "gaussian(sigma=1.2)", "laplacian(sigma=2)", "gaussian(sigma=3) + 0.1*linear":
        oracle = {"gaussian(sigma=1.2)": lambda A, B=None: gaussian(A, B, 1.2),
                  "laplacian(sigma=2)": lambda A, B=None: laplacian(A, B, 2),
                  "gaussian(sigma=3) + 0.1*linear":
                      lambda A, B=None: gaussian(A, B, 3) + 0.1 * linear_kernel(A, B)}[spec]
        for scale, f in ("none", lambda A: A), ("standard", scaler.transform):
            for lam in 1e-1, 1e-3, 1e-5:
                got = train("train.csv", "-m", "exact", "-k", spec, "--lambda", lam, "--scale", scale,
                            "-t", "regression")
                check("%s: lambda as given" % spec, got["lambda"] == lam and got["n"] == 120 and got["d"] == 3)
                want = centred_ridge(oracle(f(X)), oracle(f(T), f(X)), y, lam)
                close("%s, scale %s, lambda %g" % (spec, scale, lam), predict("test.csv")[:, 0], want,
                      2e-5 if lam > 1e-4 else 5e-4, y.std())


def ridge_weights():
    rng, X, T, y = regression_data(22, 90, 40)
    w = np.round(rng.gamma(0.7, 1, 90) * 64) / 64
    w[4] = 0
    header = ["y", "w", "a", "b", "c"]
    write("w.csv", y, w, X, header=header)
    write("test.csv", T, header=header[2:])
    for lam in 1e-2, 1e-4:
        train("w.csv", "--weights", "w", "-m", "exact", "-k", "gaussian(sigma=1.5)", "--lambda", lam,
              "--scale", "none")
        want = centred_ridge(gaussian(X, None, 1.5), gaussian(T, X, 1.5), y, lam, w)
        close("weights, lambda %g" % lam, predict("test.csv")[:, 0], want, 1e-4, y.std())
    # Twice the row is twice the weight.
    twice = np.concatenate([np.arange(90), np.arange(30)])
    w = np.concatenate([np.full(30, 2.0), np.ones(60)])
    write("w.csv", y, w, X, header=header)
    train("w.csv", "--weights", "w", "-m", "exact", "-k", "gaussian(sigma=1.5)", "--lambda", 1e-3, "--scale", "none")
    by_weight = predict("test.csv")[:, 0]
    write("twice.csv", y[twice], X[twice], header=["y", "a", "b", "c"])
    train("twice.csv", "-m", "exact", "-k", "gaussian(sigma=1.5)", "--lambda", 1e-3, "--scale", "none")
    close("a row twice is a row of weight two", by_weight, predict("test.csv")[:, 0], 1e-4, y.std())


def ridge_classes():
    rng, X, T, y = regression_data(23, 100, 60)
    side = y > np.quantile(y, 0.4)
    names = np.where(side, "yes", "no")
    with open("cls.csv", "w") as file:
        file.write("a,b,c,class\n")
        for row, name in zip(X, names):
            file.write(",".join(map(repr, row.tolist())) + "," + name + "\n")
    write("test.csv", T, header=["a", "b", "c"])
    lam = 1e-3
    got = train("cls.csv", "-m", "exact", "-k", "gaussian(sigma=1.5)", "--lambda", lam, "--scale", "none")
    check("classes: task", got["task"] == "classification", str(got["task"]))
    lines = [line.split(",") for line in krein("predict", "m.krein", "test.csv", "--scores", "-q").splitlines()]
    K, Kt = gaussian(X, None, 1.5), gaussian(T, X, 1.5)
    want = centred_ridge(K, Kt, np.where(side, 1.0, -1.0), lam)
    close("two classes: decision values", [float(l[1]) for l in lines], want, 1e-4)
    check("two classes: names", [l[0] for l in lines] == ["yes" if v > 0 else "no" for v in want])
    # Three classes: one column of -1 and +1 a class, the largest wins.
    y3 = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    write("cls3.csv", y3, X)
    write("test.csv", T)
    train("cls3.csv", "-m", "exact", "-k", "gaussian(sigma=1.5)", "--lambda", lam, "--scale", "none")
    rows = predict("test.csv", "--scores")
    want = centred_ridge(K, Kt, np.where(y3[:, None] == np.arange(3), 1.0, -1.0), lam)
    close("three classes: decision values", rows[:, 1:], want, 1e-4)
    check("three classes: names", np.array_equal(rows[:, 0], want.argmax(axis=1)))


def ridge_targets():
    rng, X, T, y = regression_data(24, 80, 40)
    Y = np.column_stack([y, np.round(np.cos(X[:, 0]) * 1024) - 3000])
    write("two.csv", Y, X)
    write("test.csv", T)
    train("two.csv", "--targets", 2, "-m", "exact", "-k", "gaussian(sigma=1.5)", "--lambda", 1e-3, "--scale", "none")
    want = centred_ridge(gaussian(X, None, 1.5), gaussian(T, X, 1.5), Y, 1e-3)
    got = predict("test.csv")
    for j in range(2):
        close("two targets: number %d" % (j + 1), got[:, j], want[:, j], 1e-4, Y[:, j].std())


def leave_one_out():
    """The reported error against n refits at the lambda chosen, alpha = n lambda held fixed."""
    rng, X, T, y = regression_data(25, 60, 5)

    def refits(K, target, lam):
        n = len(target)
        out = np.empty_like(target, dtype=float)
        for i in range(n):
            rest = np.delete(np.arange(n), i)
            # alpha = (n - 1) * (n lam / (n - 1)) = n lam
            out[i] = centred_ridge(K[np.ix_(rest, rest)], K[np.ix_([i], rest)], target[rest], n * lam / (n - 1))[0]
        return out

    for scale in "none", "standard":
        A = X if scale == "none" else StandardScaler().fit_transform(X)
        for sigma in 0.7, 2.0, 6.0:
            write("loo.csv", y, X)
            got = train("loo.csv", "-m", "exact", "-k", "gaussian(sigma=%g)" % sigma, "--lambda", "auto",
                        "--scale", scale)
            K = gaussian(A, None, sigma)
            rmse = lambda lam: math.sqrt(np.mean((y - refits(K, y, lam)) ** 2))
            want = rmse(got["lambda"])
            close("loo rmse, scale %s, sigma %g" % (scale, sigma), got["loo"]["rmse"], want, 1e-4)
            for factor in 0.2, 5:
                check("loo: lambda chosen is no worse than %g times it, sigma %g" % (factor, sigma),
                      want <= rmse(got["lambda"] * factor) * (1 + 1e-6))
    side = np.where(y > 5, 1.0, -1.0)
    write("loo.csv", side, X)
    got = train("loo.csv", "-m", "exact", "-k", "gaussian(sigma=1.5)", "--lambda", "auto", "--scale", "none")
    # A decision value at zero may fall on either side.
    values = refits(gaussian(X, None, 1.5), side, got["lambda"]) * side
    low, high = np.mean(values < -1e-4), np.mean(values < 1e-4)
    check("loo error of two classes", low - 1e-9 <= got["loo"]["error"] <= high + 1e-9,
          "%r is not in [%r, %r]" % (got["loo"]["error"], low, high))


# ---- feature maps --------------------------------------------------------------

def error(K, Z):
    return np.linalg.norm(K - Z @ Z.T) / np.linalg.norm(K)


def z_score(a, b):
    """Difference of two means in standard errors."""
    a, b = np.asarray(a), np.asarray(b)
    return (a.mean() - b.mean()) / math.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))


def nystrom():
    rng = np.random.default_rng(31)
    n = 120
    X = grid(rng, n, 4)
    write("ny.csv", X)
    for spec, K in (("gaussian(sigma=1)", gaussian(X, None, 1)), ("laplacian(sigma=3)", laplacian(X, None, 3)),
                    ("gaussian(sigma=4)", gaussian(X, None, 4)),
                    ("poly(degree=2)", poly(X, None, 2)), ("linear", linear_kernel(X))):
        options = ("ny.csv", "--label", "none", "--scale", "none", "-k", spec)
        close("nystrom with all rows, %s" % spec, error(K, transform(*options, "-m", "nystrom(D=%d)" % n)), 0, 1e-4, 1)
    for sigma, m in (1.5, 12), (1.5, 40), (4, 15):
        K = gaussian(X, None, sigma)
        ours = [error(K, transform("ny.csv", "--label", "none", "--scale", "none", "-k", "gaussian(sigma=%g)" % sigma,
                                   "-m", "nystrom(D=%d)" % m, "-s", seed)) for seed in range(1, 11)]
        theirs = [error(K, Nystroem(gamma=1 / (2 * sigma ** 2), n_components=m, random_state=seed).fit_transform(X))
                  for seed in range(100)]
        z = z_score(ours, theirs)
        check("nystrom(D=%d), sigma %g, as good as Nystroem" % (m, sigma), abs(z) < 5,
              "means %.4g and %.4g, %.1f standard errors" % (np.mean(ours), np.mean(theirs), z))


def fourier():
    rng = np.random.default_rng(32)
    X = grid(rng, 80, 6)
    write("rf.csv", X)
    sigma, D, repeats = 3.0, 96, 20
    K = gaussian(X, None, sigma)
    theirs = [error(K, RBFSampler(gamma=1 / (2 * sigma ** 2), n_components=D, random_state=seed).fit_transform(X))
              for seed in range(200)]
    ours = {}
    for spec in "rff(D=96, phase=yes)", "rff(D=96)", "orf(D=96)":
        zs = [transform("rf.csv", "--label", "none", "--scale", "none", "-k", "gaussian(sigma=%g)" % sigma, "-m", spec,
                        "-s", seed) for seed in range(1, repeats + 1)]
        check("%s: D features" % spec, zs[0].shape == (80, D), str(zs[0].shape))
        check("%s: another seed, other features" % spec, not np.allclose(zs[0], zs[1]))
        ours[spec] = [error(K, Z) for Z in zs]
        # Unbiased: the mean of ZZ' is closer to K by the root of the number of repeats.
        mean = sum(Z @ Z.T for Z in zs) / repeats
        left = np.linalg.norm(K - mean) / np.linalg.norm(K) / math.sqrt(np.mean(np.square(ours[spec])) / repeats)
        check("%s: unbiased" % spec, left < 1.3, "%.2f of what is expected is left" % left)
    phase, pairs, orf = ours.values()
    z = z_score(phase, theirs)
    check("rff with phases is RBFSampler", abs(z) < 5,
          "means %.4g and %.4g, %.1f standard errors" % (np.mean(phase), np.mean(theirs), z))
    check("cos/sin pairs are better", np.mean(pairs) < np.mean(theirs) and z_score(pairs, theirs) < -3,
          "%.4g and %.4g" % (np.mean(pairs), np.mean(theirs)))
    check("orf is better", np.mean(orf) < np.mean(theirs) and z_score(orf, theirs) < -3,
          "%.4g and %.4g" % (np.mean(orf), np.mean(theirs)))
    check("orf is better than independent pairs", np.mean(orf) < np.mean(pairs),
          "%.4g and %.4g" % (np.mean(orf), np.mean(pairs)))


def ridge_features():
    rng, X, T, y = regression_data(33, 300, 100)
    write("train.csv", y, X)
    write("test.csv", T)
    # One file that begins as the training file does: the same offsets are taken off.
    write("both.csv", np.concatenate([y, np.zeros(100)]), np.concatenate([X, T]))
    kernel = ("-k", "gaussian(sigma=1.5)", "-t", "regression")
    for spec in "orf(D=400)", "rff(D=400)", "rff(D=100, phase=yes)", "orf(D=60)":
        for lam in 1e-2, 1e-4:
            Z = transform("both.csv", *kernel, "-m", spec, "--scale", "none", "-s", 5)
            got = train("train.csv", *kernel, "-m", spec, "--scale", "none", "-s", 5, "--lambda", lam)
            check("%s: D" % spec, got["D"] == Z.shape[1])
            ridge = Ridge(alpha=300 * lam).fit(Z[:300], y)
            close("%s, lambda %g: test rows" % (spec, lam), predict("test.csv")[:, 0], ridge.predict(Z[300:]), 1e-3, y.std())
    # With nystrom, training leaves directions out that raw blocks in float32 do not resolve
    # (src/map/nystrom.c), and is the less like the ridge on all features the smaller lambda is.
    for spec, lam, tol in (("orf(D=400)", 1e-2, 1e-3), ("orf(D=400)", 1e-4, 1e-3), ("nystrom(D=300)", 1e-2, 1e-3),
                           ("nystrom(D=300)", 1e-4, 3e-2), ("nystrom(D=80)", 1e-2, 1e-1),
                           ("nystrom(D=80)", 1e-6, 1e-2)):
        Z = transform("train.csv", *kernel, "-m", spec, "-s", 5)
        train("train.csv", *kernel, "-m", spec, "-s", 5, "--lambda", lam)
        ridge = Ridge(alpha=300 * lam, solver="svd").fit(Z, y)
        close("%s, lambda %g, scaled" % (spec, lam), predict("train.csv")[:, 0], ridge.predict(Z), tol, y.std())
    # All rows as landmarks is the kernel itself.
    scaler = StandardScaler().fit(X)
    train("train.csv", *kernel, "-m", "nystrom(D=300)", "--lambda", 1e-3)
    want = centred_ridge(gaussian(scaler.transform(X), None, 1.5),
                         gaussian(scaler.transform(T), scaler.transform(X), 1.5), y, 1e-3)
    close("nystrom with all rows is exact", predict("test.csv")[:, 0], want, 3e-2, y.std())


def log_loss(Z, y, w, coef, intercept, lam):
    """The objective: weighted mean log loss + lambda |coef|^2; and the probabilities."""
    F = Z @ coef.T + intercept
    if F.shape[1] == 1:
        F = np.column_stack([np.zeros(len(F)), F[:, 0]])
    F = F - F.max(axis=1, keepdims=True)
    P = np.exp(F) / np.exp(F).sum(axis=1, keepdims=True)
    loss = -np.log(P[np.arange(len(y)), y])
    return np.sum(w * loss) / np.sum(w) + lam * np.sum(coef ** 2), P


def logistic():
    rng = np.random.default_rng(41)
    n, d = 400, 4
    X = grid(rng, n, d)
    w = np.round(rng.gamma(2, 1, n) * 64) / 64 + 1 / 64
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] / 2 + 0.3 * rng.standard_normal(n)
    header = ["y", "w", "a", "b", "c", "d"]
    options = ("-k", "gaussian(sigma=1.5)", "-m", "orf(D=60)", "--scale", "none", "-s", 3)
    write("z.csv", f, X, header=["y"] + header[2:])
    Z = transform("z.csv", *options)
    for classes, cuts in (2, [0.3]), (4, [-0.9, 0.1, 1.0]):
        y = np.digitize(f, cuts)
        write("c.csv", y, w, X, header=header)
        for weighted, balanced, intercept, lam in ((0, 0, 1, 1e-2), (0, 0, 1, 1e-5), (1, 0, 1, 1e-3), (0, 1, 1, 1e-3),
                                                   (1, 1, 1, 1e-4), (0, 0, 0, 1e-3), (1, 0, 0, 1e-4)):
            name = "logistic, %d classes, %s%s%slambda %g" % (classes, "weights, " * weighted, "balanced, " * balanced,
                                                              "no intercept, " * (1 - intercept), lam)
            spec = "logistic(tol=1e-6, class_weights=%s, intercept=%s)" % (("equal", "balanced")[balanced],
                                                                          ("no", "yes")[intercept])
            columns = ("--weights", "w") if weighted else ("--ignore", "w")
            got = train("c.csv", "-t", "classification", *columns, *options, "--learner", spec, "--lambda", lam)
            said = float(got["learner"].split("lambda=")[1].split(",")[0])
            check("%s: what it says" % name, got["lambda"] == said == lam, got["learner"])
            lines = krein("predict", "m.krein", "c.csv", "--scores", "-q").splitlines()
            F = np.array([[float(v) for v in line.split(",")[1:]] for line in lines])
            rows = w if weighted else np.ones(n)
            if balanced:
                mass = np.bincount(y, weights=rows)
                rows = rows * rows.sum() / (classes * mass[y])
            theirs = LogisticRegression(C=1 / (2 * rows.sum() * lam), fit_intercept=bool(intercept), tol=1e-10,
                                        max_iter=5000).fit(Z, y, sample_weight=rows)
            best, want = log_loss(Z, y, rows, theirs.coef_, theirs.intercept_, lam)
            full = np.column_stack([np.zeros(n), F[:, 0]]) if classes == 2 else F
            full = full - full.max(axis=1, keepdims=True)
            P = np.exp(full) / np.exp(full).sum(axis=1, keepdims=True)
            close(name + ": probabilities", P, want, 1e-3, 1)
            # The weights behind the scores: F = Z W + b has a unique solution, n > D.
            one = np.column_stack([Z, np.ones(n)]) if intercept else Z
            W = np.linalg.lstsq(one, F, rcond=None)[0]
            value, _ = log_loss(Z, y, rows, W[:60].T, W[60] if intercept else 0, lam)
            check(name + ": objective", abs(value - best) <= 1e-6 * best, "%.10g, theirs %.10g" % (value, best))
            close(name + ": weights", W[:60].T, theirs.coef_, 1e-3)


def clusters():
    rng = np.random.default_rng(61)
    n, k = 300, 4
    middle = grid(rng, k, 3, 4)
    which = rng.integers(0, k, n)
    X = grid(rng, n, 3) + middle[which]
    w = np.round(rng.gamma(0.7, 1, n) * 64) / 64
    w[::9] = 0
    write("x.csv", w, X, header=["w", "a", "b", "c"])
    for weighted in False, True:
        columns = ("--weights", "w") if weighted else ("--ignore", "w")
        out = json.loads(krein("cluster", "x.csv", "--label", "none", *columns, "-k", "linear", "--scale", "none",
                               "--clusters", k, "--json", "-q"))
        theirs = KMeans(k, n_init=20, random_state=0).fit(X, sample_weight=w if weighted else None)
        name = "clusters%s" % (", weights" * weighted)
        check(name + ": inertia", abs(out["inertia"] / theirs.inertia_ - 1) < 1e-5,
              "%.8g, theirs %.8g" % (out["inertia"], theirs.inertia_))
        pairs = set(zip(out["labels"], theirs.labels_.tolist()))
        check(name + ": the same", len(pairs) == k, str(sorted(pairs)))
        mass = [np.sum((w if weighted else np.ones(n))[np.array(out["labels"]) == c + 1]) for c in range(k)]
        check(name + ": the heaviest first", mass == sorted(mass, reverse=True), str(mass))


TESTS = (kernel_values, scalers, preparation, ridge_exact, ridge_weights, ridge_classes, ridge_targets,
         leave_one_out, nystrom, fourier, ridge_features, logistic, clusters)

if __name__ == "__main__":
    common.run({"sklearn": TESTS})
