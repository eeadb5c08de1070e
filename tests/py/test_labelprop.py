#!/usr/bin/env python3
"""labelprop and selftrain against scikit-learn's LabelSpreading, LabelPropagation and
SelfTrainingClassifier.

The graph is made here from scikit-learn's neighbours and given to its classes as their kernel. The
model follows the values on the graph as closely as wanted: with a narrow kernel and a small lambda the
decision values of the training rows are 2 p - 1.
"""
import common  # says so and ends where scikit-learn is not there
import numpy as np
from common import check, close, grid, predict, train
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier

FIXED = ["--no-header", "--label", "first", "--scale", "none"]
CLOSE = ["-k", "gaussian(sigma=0.02)", "-m", "exact", "--lambda", "1e-10"]


def rows(classes, n=150, labelled=24):
    """Clouds that touch; the label of most rows is -1."""
    rng = np.random.default_rng(11)
    y = np.arange(n) % classes
    X = grid(rng, n, 3) + 1.5 * np.eye(3)[y]
    X = np.unique(X, axis=0)  # sorted: labels come from where they are
    y = np.argmax(X[:, :classes], axis=1)
    known = np.where(np.arange(len(X)) % (n // labelled) == 0, y, -1)
    return X, y, known


def write(name, X, known):
    with open(name, "w") as file:
        for label, x in zip(known, X):
            file.write(("?" if label < 0 else str(label)) + "".join(",%r" % float(v) for v in x) + "\n")
    return name


def affinity(X, k, heat):
    """W of the graph in which either names the other."""
    distance, near = NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(X)
    names = np.zeros((len(X), len(X)), dtype=bool)
    names[np.repeat(np.arange(len(X)), k), near[:, 1:].ravel()] = True
    names |= names.T
    if not heat:
        return names.astype(float)
    width = np.sort(distance[:, -1])[len(X) // 2]
    square = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.where(names, np.exp(-square / (2 * width**2)), 0)


def shares(X, known, options):
    """What labelprop says of the training rows: a share a class."""
    train(write("d.csv", X, known), "-t", "classification", *FIXED, *CLOSE, "--learner",
          "labelprop(%s)" % options)
    score = predict("--scores", *FIXED[:1], write("x.csv", X, known))
    return score


def spreading():
    for classes in 2, 3:
        X, y, known = rows(classes)
        for k, heat, alpha in (7, True, 0.2), (5, False, 0.9):
            W = affinity(X, k, heat)
            peer = LabelSpreading(kernel=lambda a, b: W, alpha=alpha, max_iter=100000, tol=1e-12)
            peer.fit(X, known)
            p = peer.label_distributions_
            want = 2 * p - 1 if classes > 2 else 2 * p[:, 1:] - 1
            got = shares(X, known, "method=spreading, alpha=%g, k=%d, edges=%s"
                         % (alpha, k, "heat" if heat else "binary"))
            close("spreading, %d classes, alpha %g" % (classes, alpha), got[:, -want.shape[1]:], want, 1e-5)


def harmonic():
    for classes in 2, 3:
        X, y, known = rows(classes)
        W = affinity(X, 8, True)
        peer = LabelPropagation(kernel=lambda a, b: W, max_iter=1000000, tol=1e-13).fit(X, known)
        p = peer.label_distributions_
        want = 2 * p - 1 if classes > 2 else 2 * p[:, 1:] - 1
        got = shares(X, known, "k=8")
        close("harmonic, %d classes" % classes, got[:, -want.shape[1]:], want, 1e-5)


def selftrain():
    """On the inputs themselves (a linear kernel, explicit), lambda = 1 / (2 n C) in every round."""
    X, y, known = rows(2)
    train(write("d.csv", X, known), "-t", "classification", *FIXED, "-k", "linear", "-m", "explicit", "--lambda",
          "0.01", "--learner", 'selftrain(base="logistic(tol=1e-7)", threshold=0.8, rounds=4)')
    ours = predict("--scores", *FIXED[:1], write("x.csv", X, known))[:, -1]

    class Ridge(LogisticRegression):
        def fit(self, X, y):
            self.C = 1 / (2 * len(X) * 0.01)
            return super().fit(X, y)

    base = Ridge(tol=1e-10, max_iter=10000)
    try:
        peer = SelfTrainingClassifier(estimator=base, threshold=0.8, max_iter=4)
    except TypeError:  # before scikit-learn 1.6
        peer = SelfTrainingClassifier(base, threshold=0.8, max_iter=4)
    peer.fit(X, known)
    check("some rows got labels, some did not", 0 < (peer.transduction_ < 0).sum() < (known < 0).sum())
    close("selftrain", ours, peer.decision_function(X), 1e-3)


TESTS = spreading, harmonic, selftrain

if __name__ == "__main__":
    common.run({"labelprop": TESTS})
