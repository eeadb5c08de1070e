#!/usr/bin/env python3
"""Several labels a row against scikit-learn, through the command line.

    metrics      hamming_loss, f1_score, accuracy_score, label_ranking_loss, roc_auc_score and log_loss of
                 the predictions that the program writes, with and without weights
    svm          one SVC for each label: scores
    thresholds   no cut of the leave-one-out scores has a larger F1: precision_recall_curve
"""
import json

import common  # says so and ends where scikit-learn is not there
import numpy as np
from sklearn import metrics
from sklearn.svm import SVC

LABELS = ["a", "b", "c", "d"]


def data(name, seed, n, weights=False):
    """A file, the inputs, the labels as a matrix, and weights of the rows."""
    rng = np.random.default_rng(seed)
    X = common.grid(rng, n, 3)
    Y = np.abs(X @ np.array([[1, 1, 0], [0, 1, -1], [1, -1, 1], [0, 0, 2]]).T) > [0.6, 0.9, 1.4, 1.7]
    w = rng.integers(0, 4, n).astype(float)
    with open(name, "w") as file:
        file.write("label,w,x,y,z\n" if weights else "label,x,y,z\n")
        for x, y, v in zip(X, Y, w):
            names = "|".join(l for l, has in zip(LABELS, y) if has)
            cells = [names] + (["%d" % v] if weights else []) + [repr(float(u)) for u in x]
            file.write(",".join(cells) + "\n")
    return X, Y, w


def train(*args):
    return json.loads(common.krein("train", "train.csv", "--multilabel", "--scale", "none", "-q",
                                   "--json", "-o", "m.krein", *args))


def predict(name):
    """Sets as a matrix, scores, probabilities."""
    j = json.loads(common.krein("predict", "m.krein", name, "-q", "--json", "--scores", "--probabilities"))
    assert j["classes"] == LABELS, j["classes"]
    sets = np.array([[l in names for l in LABELS] for names in j["predictions"]])
    return sets, np.array(j["scores"]), np.array(j["probabilities"])


def near(name, got, want, tol=1e-12):
    common.check(name, abs(got - want) <= tol * max(1, abs(want)), "%r instead of %r" % (got, want))


def same_metrics(name, m, Y, sets, f, p, w):
    near(name + ": Hamming loss", m["hamming_loss"], metrics.hamming_loss(Y, sets, sample_weight=w))
    near(name + ": subset accuracy", m["subset_accuracy"], metrics.accuracy_score(Y, sets, sample_weight=w))
    for mean in "micro", "macro":
        near(name + ": F1, " + mean, m[mean + "_f1"],
             metrics.f1_score(Y, sets, average=mean, sample_weight=w, zero_division=0))
    near(name + ": ranking loss", m["ranking_loss"], metrics.label_ranking_loss(Y, f, sample_weight=w))
    near(name + ": AUC", m["auc"], metrics.roc_auc_score(Y, f, average="macro", sample_weight=w))
    loss = [metrics.log_loss(Y[:, c], p[:, c], sample_weight=w, labels=[0, 1]) for c in range(len(LABELS))]
    near(name + ": log loss", m["log_loss"], np.mean(loss), 1e-9)
    for c, label in enumerate(m["labels"]):
        near("%s: F1 of %s" % (name, label["label"]), label["f1"],
             metrics.f1_score(Y[:, c], sets[:, c], sample_weight=w, zero_division=0))
        near("%s: AUC of %s" % (name, label["label"]), label["auc"],
             metrics.roc_auc_score(Y[:, c], f[:, c], sample_weight=w))


def evaluate():
    data("train.csv", 1, 300)
    train("-k", "gaussian(sigma=1)", "-l", "1e-2")
    _, Y, _ = data("test.csv", 2, 400)
    sets, f, p = predict("test.csv")
    report = json.loads(common.krein("evaluate", "m.krein", "test.csv", "-q", "--json"))["metrics"]
    same_metrics("plain", report, Y, sets, f, p, None)
    _, Y, w = data("test.csv", 3, 400, weights=True)
    sets, f, p = predict("test.csv")
    report = json.loads(common.krein("evaluate", "m.krein", "test.csv", "--weights", "w", "-q", "--json"))
    same_metrics("weights", report["metrics"], Y, sets, f, p, w)


def machines():
    X, Y, _ = data("train.csv", 4, 200)
    T, _, _ = data("test.csv", 5, 100)
    train("-k", "gaussian(sigma=1)", "-m", "exact", "--learner", "svm(C=2, tol=1e-6)")
    _, f, _ = predict("test.csv")
    for c, label in enumerate(LABELS):
        theirs = SVC(C=2, gamma=0.5, tol=1e-6).fit(X, Y[:, c]).decision_function(T)
        worst = np.max(np.abs(theirs - f[:, c]))
        common.check("SVC of label " + label, worst < 1e-4, "off by %.2g" % worst)


def thresholds():
    """Leave-one-out scores of ridge regression in closed form, with an intercept."""
    X, Y, _ = data("train.csv", 6, 150)
    n, lam = len(X), 1e-2
    train("-k", "gaussian(sigma=1)", "-m", "exact", "-l", repr(lam))
    K = common.rbf_kernel(X, gamma=0.5)
    A = np.block([[K + n * lam * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    inverse, y = np.linalg.inv(A), np.where(Y, 1.0, -1.0)
    alpha = inverse[:n, :n] @ y
    held = y - alpha / np.diag(inverse)[:n, None]
    # a row of the label alone: the sign of its score less the threshold says where that is
    sets, f, _ = predict("train.csv")
    for c, label in enumerate(LABELS):
        low = f[~sets[:, c], c].max(initial=-np.inf)
        high = f[sets[:, c], c].min(initial=np.inf)
        precision, recall, cuts = metrics.precision_recall_curve(Y[:, c], held[:, c])
        most = np.max(2 * precision * recall / np.maximum(precision + recall, 1e-300))
        # cuts between the two predictions next to the threshold
        inside = [t for t in np.concatenate([held[:, c], [low, high]]) if low <= t < high]
        got = max(metrics.f1_score(Y[:, c], held[:, c] > t) for t in inside)
        common.check("threshold of %s" % label, got >= most - 1e-9, "F1 %.6f of %.6f" % (got, most))


TESTS = evaluate, machines, thresholds
if __name__ == "__main__":
    common.run({"multilabel": TESTS})
