#!/usr/bin/python3
"""probabilities.py [--sets A,B] -- log loss and calibration of krein's probabilities.

The rows of a set are shuffled; a quarter of them (at most 5,000) is the test set, of the rest at
most 10,000 are for training. All of krein's learners have the same features, nystrom(D=512) of the
gaussian kernel whose sigma krr chose:

krr            train --probabilities: Platt's sigmoid, or a softmax, on leave-one-out scores
isotonic       the scores of the same krr through isotonic regression, fitted to the scores of five
               folds at the same sigma and lambda; several classes: each against the rest, divided
               by their sum. No probability is below 1 / (n + 2): log loss would be infinite
svm, logistic  train --probabilities with that learner
boosting       scikit-learn's HistGradientBoostingClassifier, as it is

Log loss, and the expected calibration error: the test rows in 15 bins of equal width by the
probability of the class that is most probable; the mean over the rows of the distance between the
bin's mean probability and its share of right ones.

The sets are those of KREIN_DATA; those that are not there are skipped.
"""

import argparse
import sys

import numpy as np

import common

SETS = {
    "german.numer": ["german.numer"],
    "phishing": ["phishing"],
    "magic": ["magic"],
    "a9a": ["a9a.train", "a9a.test"],
    "segment": ["segment"],
    "satimage": ["satimage.train", "satimage.test"],
    "letter": ["letter.train", "letter.test"],
}
TRAIN, TEST, BINS, FOLDS, D = 10000, 5000, 15, 5, 512
METHODS = ["krr", "isotonic", "svm", "logistic", "boosting"]


def rows_of(name):
    paths = [common.data() / f"{stem}.csv.gz" for stem in SETS[name]]
    if not all(p.exists() for p in paths):
        return None
    return np.concatenate([np.loadtxt(p, delimiter=",", ndmin=2) for p in paths])


def save(path, rows):
    np.savetxt(path, rows, delimiter=",", fmt="%.9g")
    return path


def measure(p, y):
    """Log loss, expected calibration error, share of wrong classes."""
    n = len(y)
    loss = -np.mean(np.log(np.maximum(p[np.arange(n), y], 1e-15)))
    top, right = p.max(axis=1), p.argmax(axis=1) == y
    bins = np.minimum((top * BINS).astype(int), BINS - 1)
    ece = sum(abs(top[bins == b].sum() - right[bins == b].sum()) for b in range(BINS)) / n
    return loss, ece, 1 - right.mean()


class Program:
    """Models of krein on the files of one set."""

    def __init__(self, folder):
        self.folder, self.model = folder, folder / "model.krein"

    def train(self, path, *options):
        return common.krein("train", path, "-t", "classification", "-m", f"nystrom(D={D})", *options,
                            "-o", self.model)

    def predict(self, path):
        j = common.krein("predict", self.model, path, "--probabilities", "--scores")
        return np.array(j["probabilities"]), np.array(j["scores"])


def isotonic(held, y, scores, classes):
    from sklearn.isotonic import IsotonicRegression

    least = 1 / (len(y) + 2)

    def fit(column, positive, of):
        r = IsotonicRegression(y_min=least, y_max=1 - least, out_of_bounds="clip")
        return r.fit(column, positive).predict(of)

    if classes == 2:
        p = fit(held[:, 0], y == 1, scores[:, 0])
        return np.stack([1 - p, p], axis=1)
    p = np.stack([fit(held[:, c], y == c, scores[:, c]) for c in range(classes)], axis=1)
    return p / p.sum(axis=1, keepdims=True)


def one(name, folder):
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows = rows_of(name)
    if rows is None:
        return None
    rows = rows[np.random.default_rng(1).permutation(len(rows))]
    rows[:, 0] = np.unique(rows[:, 0], return_inverse=True)[1]
    m = min(TEST, len(rows) // 4)
    test, train = rows[:m], rows[m : m + TRAIN]
    y, classes, n = test[:, 0].astype(int), int(rows[:, 0].max()) + 1, len(train)
    a, b = save(folder / "train.csv", train), save(folder / "test.csv", test)
    krein, out = Program(folder), {}
    info = krein.train(a, "--probabilities")
    kernel, given = info["kernel"], ["-k", info["kernel"], "-l", info["lambda"]]
    p, scores = krein.predict(b)
    out["krr"] = measure(p, y)
    held = np.empty((n, scores.shape[1]))
    for f in range(FOLDS):
        inside = np.arange(n) % FOLDS == f
        krein.train(save(folder / "fold.csv", train[~inside]), "--probabilities", *given)
        held[inside] = krein.predict(save(folder / "held.csv", train[inside]))[1]
    out["isotonic"] = measure(isotonic(held, train[:, 0].astype(int), scores, classes), y)
    for learner in ("svm", "logistic"):
        krein.train(a, "--learner", learner, "--probabilities", "-k", kernel)
        out[learner] = measure(krein.predict(b)[0], y)
    peer = HistGradientBoostingClassifier(random_state=1).fit(train[:, 1:], train[:, 0])
    out["boosting"] = measure(peer.predict_proba(test[:, 1:]), y)
    return n, classes, out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    lines, folder = [], common.folder()
    for name in parser.parse_args().sets.split(","):
        result = one(name, folder)
        if result is None:
            continue
        n, classes, out = result
        lines.append([name, f"{n:,}", classes] + [f"{out[m][0]:.3f}, {100 * out[m][1]:.1f}" for m in METHODS])
        for m in METHODS:
            print(name, m, "log loss %.4f, ece %.4f, error %.4f" % out[m], file=sys.stderr, flush=True)
    print(common.table(["set", "rows", "classes"] + METHODS, lines), end="")


if __name__ == "__main__":
    main()
