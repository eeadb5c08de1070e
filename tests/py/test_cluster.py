#!/usr/bin/env python3
"""Clusters against scikit-learn's, through the command line, on small data.

    kmeans       KMeans: partition and inertia; inertia in the kernel's space from the kernel matrix;
                 new rows by the nearest centre
    spectral     SpectralClustering on the kernel matrix, and on nearest neighbours
    measures     silhouette_score, adjusted_rand_score, normalized_mutual_info_score
"""
import json
import warnings

import common  # says so and ends where scikit-learn is not there
import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, silhouette_score


def blobs(rng, n, d, k, spread):
    y = rng.integers(0, k, n)
    return np.round((rng.standard_normal((k, d)) * 4)[y] * 256) / 256 + common.grid(rng, n, d, spread), y


def rings(rng, n):
    y = np.arange(n) % 2
    angle = rng.uniform(0, 2 * np.pi, n)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + 2 * y[:, None])
    return np.round(X * 256) / 256 + common.grid(rng, n, 2, 0.05), y


def moons(rng, n):
    y = np.arange(n) % 2
    angle = rng.uniform(0, np.pi, n)
    X = np.where(y[:, None] == 0, np.column_stack([np.cos(angle), np.sin(angle)]),
                 np.column_stack([1 - np.cos(angle), 0.5 - np.sin(angle)]))
    return np.round(X * 256) / 256 + common.grid(rng, n, 2, 0.05), y


def cluster(X, y, k, *args):
    common.write("data.csv", y, X)
    return json.loads(common.krein("cluster", "data.csv", "--clusters", k, "--scale", "none", "-q", "--json", *args))


def same(name, a, b):
    score = adjusted_rand_score(a, b)
    common.check(name, score == 1, "adjusted Rand index %.4f" % score)


def kernel_inertia(K, labels):
    total = np.trace(K)
    for c in np.unique(labels):
        inside = labels == c
        total -= K[np.ix_(inside, inside)].sum() / inside.sum()
    return total


# ---- tests -----------------------------------------------------------------

def kmeans():
    rng = np.random.default_rng(1)
    for n, d, k in ((400, 2, 3), (500, 6, 5), (300, 20, 8)):
        X, y = blobs(rng, n, d, k, 0.3)
        want = KMeans(k, n_init=10, random_state=0).fit(X)
        for options in (("-k", "linear"), ("-k", "linear", "-m", "exact"), ("-k", "linear", "-m", "nystrom", "-D", d + 1)):
            got = cluster(X, y, k, *options)
            same("%d clusters %s" % (k, " ".join(map(str, options))), got["labels"], want.labels_)
            common.close("inertia of them", got["inertia"], want.inertia_, 1e-5)
            common.check("sizes", got["sizes"] == sorted(np.bincount(want.labels_), reverse=True))


def overlapping():
    """Where clusters overlap, ten runs are as good as scikit-learn's, within a percent."""
    rng = np.random.default_rng(2)
    X, y = blobs(rng, 600, 4, 9, 2.5)
    want = KMeans(9, n_init=10, random_state=0).fit(X)
    got = cluster(X, y, 9, "-k", "linear")
    common.check("inertia of overlapping clusters", got["inertia"] < 1.01 * want.inertia_,
                 "%g, scikit-learn's is %g" % (got["inertia"], want.inertia_))


def kernel_kmeans():
    rng = np.random.default_rng(3)
    X, y = blobs(rng, 300, 3, 4, 1.5)
    K = common.gaussian(X, None, 2.0)
    got = cluster(X, y, 4, "-k", "gaussian(sigma=2)", "-m", "exact")
    labels = np.array(got["labels"])
    common.close("inertia in the kernel's space", got["inertia"], kernel_inertia(K, labels), 1e-9)
    # no row is nearer to another centre
    distance = np.column_stack([K[:, labels == c].mean(1) * -2 + K[np.ix_(labels == c, labels == c)].mean()
                                for c in range(1, 5)])
    common.check("nearest centres", (distance.argmin(1) + 1 == labels).all())
    # close to that on many features
    fine = cluster(X, y, 4, "-k", "gaussian(sigma=2)", "-m", "nystrom", "-D", 200)
    common.close("inertia on features", fine["inertia"], got["inertia"], 1e-2)


def new_rows():
    rng = np.random.default_rng(4)
    X, y = blobs(rng, 300, 3, 5, 1.0)
    T = common.grid(rng, 200, 3, 4.0)
    common.write("new.csv", np.zeros(200), T)
    for k in (2, 5):
        labels = np.array(cluster(X, y, k, "-k", "linear", "--model", "m.krein")["labels"])
        centres = np.array([X[labels == c].mean(0) for c in range(1, k + 1)])
        want = ((T[:, None] - centres) ** 2).sum(2).argmin(1) + 1
        common.check("new rows, %d clusters" % k, (common.predict("new.csv")[:, 0] == want).all())


def spectral():
    rng = np.random.default_rng(5)
    for name, (X, y), k, sigma in (("rings", rings(rng, 400), 2, 0.3), ("blobs", blobs(rng, 300, 3, 4, 0.3), 4, 1.5)):
        want = SpectralClustering(k, affinity="precomputed", random_state=0).fit(common.gaussian(X, None, sigma)).labels_
        for options in (("-m", "exact"), ("-m", "nystrom", "-D", 150)):
            got = cluster(X, y, k, "--method", "spectral", "-k", "gaussian(sigma=%g)" % sigma, *options)
            same("spectral, %s, %s" % (name, options[1]), got["labels"], want)
    for name, (X, y), k in (("rings", rings(rng, 400), 2), ("moons", moons(rng, 500), 2),
                            ("blobs", blobs(rng, 300, 3, 4, 0.3), 4)):
        want = SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=11, random_state=0).fit(X).labels_
        got = cluster(X, y, k, "--method", "spectral", "--graph", "knn")
        same("neighbours, %s" % name, got["labels"], want)
        same("neighbours, %s, the truth" % name, got["labels"], y)


def measures():
    rng = np.random.default_rng(6)
    for n, d, k, classes in ((200, 2, 3, 4), (300, 5, 6, 2), (250, 3, 2, 7)):
        X, y = blobs(rng, n, d, classes, 2.0)
        got = cluster(X, y, k, "-k", "linear", "-m", "exact")
        common.close("silhouette", got["silhouette"], silhouette_score(X, got["labels"]), 1e-9)
        common.close("adjusted Rand index", got["ari"], adjusted_rand_score(y, got["labels"]), 1e-9)
        common.close("mutual information", got["nmi"], normalized_mutual_info_score(y, got["labels"]), 1e-9)
        # on features, their own distances
        common.write("data.csv", y, X)
        Z = common.transform("data.csv", "-k", "gaussian(sigma=2)", "-m", "rff", "-D", 64, "--scale", "none")
        got = cluster(X, y, k, "-k", "gaussian(sigma=2)", "-m", "rff", "-D", 64)
        common.close("silhouette on features", got["silhouette"], silhouette_score(Z, got["labels"]), 1e-5, 1)


TESTS = (kmeans, overlapping, kernel_kmeans, new_rows, spectral, measures)
warnings.simplefilter("ignore", UserWarning)  # a graph in pieces is no news here

if __name__ == "__main__":
    common.run({"cluster": TESTS})
