"""Several labels a row: matrices of 0 and 1, sets of names, files."""

import os
import sys
import unittest

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import Case, needs_sklearn  # noqa: E402

import krein  # noqa: E402

X, Y = krein.generate("multilabel", 250, labels=4, random_state=1)
T, V = krein.generate("multilabel", 150, labels=4, random_state=2)
NAMES = np.array(["air", "earth", "fire", "water"])
SETS = [set(NAMES[row > 0]) for row in Y]


def classifier(**keywords):
    return krein.Classifier(kernel="gaussian(sigma=1.5)", lambda_=1e-3, **keywords)


class Labels(Case):
    def test_matrix(self):
        model = classifier().fit(X, Y)
        predicted = model.predict(T)
        self.assertEqual((predicted.shape, set(predicted.ravel())), ((150, 4), {0, 1}))
        self.assertGreater(np.mean(predicted == V), 0.85)
        self.assertEqual(model.classes_.tolist(), [0, 1, 2, 3])
        self.assertEqual(model.score(T, V), np.mean((predicted == V).all(axis=1)))
        p, f = model.predict_proba(T), model.decision_function(T)
        self.assertEqual((p.shape, f.shape), ((150, 4), (150, 4)))
        self.assertTrue(((p > 0) & (p < 1)).all())
        for c in range(4):  # probabilities rise with the scores
            self.assertTrue((np.diff(p[np.argsort(f[:, c]), c]) >= 0).all())
        thresholds = np.ravel(model.model_.arrays["thresholds"])
        self.same(predicted, (f > thresholds).astype(int))

    def test_forms_of_y(self):
        wanted = classifier().fit(X, Y).predict(T)
        for y in (Y.astype(bool), Y.astype(float), Y.tolist(), sp.csr_matrix(Y)):
            self.same(classifier().fit(X, y).predict(T), wanted)
        named = classifier().fit(X, SETS, multilabel=True)
        self.assertEqual(named.classes_.tolist(), NAMES.tolist())
        self.same(named.predict(T), wanted)
        weighed = classifier().fit(X, sp.csr_matrix(Y), sample_weight=np.arange(250) % 3)
        self.assertEqual(weighed.predict(T).shape, (150, 4))

    def test_column_without_rows(self):
        y = Y.copy()
        y[:, 1] = 0
        model = classifier().fit(X, y)
        self.assertEqual(model.predict(T).shape, (150, 4))
        self.assertFalse(model.predict(T)[:, 1].any() or model.predict_proba(T)[:, 1].any())

    def test_file(self):
        path = self.path("rows.csv")
        with open(path, "w") as file:
            file.write("tags,a,b,c,d,e\n")
            for row, names in zip(X, SETS):
                cells = ["|".join(sorted(names))] + [repr(float(v)) for v in row]
                file.write(",".join(cells) + "\n")
        model = classifier().fit(path, "tags", multilabel=True)
        self.assertEqual(model.classes_.tolist(), NAMES.tolist())
        self.assertEqual(model.predict(path).shape, (250, 4))
        self.assertEqual(
            model.score(path, "tags"), np.mean((model.predict(path) == Y).all(axis=1))
        )
        again = krein.Model.from_bytes(model.model_.to_bytes())
        self.same(again.predict(path), model.predict(path))
        self.assertEqual(again.task, "multilabel")

    @needs_sklearn
    def test_metrics(self):
        from sklearn import metrics

        model = classifier().fit(X, Y)
        report, predicted = model.model_.evaluate(T, V), model.predict(T)
        f = model.decision_function(T)
        for name, value in (
            ("hamming_loss", metrics.hamming_loss(V, predicted)),
            ("micro_f1", metrics.f1_score(V, predicted, average="micro")),
            ("macro_f1", metrics.f1_score(V, predicted, average="macro")),
            ("subset_accuracy", metrics.accuracy_score(V, predicted)),
            ("ranking_loss", metrics.label_ranking_loss(V, f)),
            ("auc", metrics.roc_auc_score(V, f)),
        ):
            self.assertAlmostEqual(getattr(report, name), value, 12, name)
        np.testing.assert_allclose(report.label_auc, metrics.roc_auc_score(V, f, average=None))
        self.same(report.label_rows, V.sum(axis=0))

    @needs_sklearn
    def test_search(self):
        from sklearn.model_selection import cross_val_score

        scores = cross_val_score(classifier(), X, Y, scoring="f1_micro", cv=3)
        self.assertTrue((scores > 0.7).all(), scores)

    def test_refusals(self):
        for words, call in (
            ("should be a 1d array", lambda: classifier().fit(X, 2 * Y)),
            ("no row has a label", lambda: classifier().fit(X, 0 * Y)),
            ("cannot be called", lambda: classifier().fit(X, [["a|b"]] * 250, multilabel=True)),
            ("list of sets", lambda: classifier().fit(X, ["a"] * 250, multilabel=True)),
            ("4 labels", lambda: classifier().fit(X, Y).model_.evaluate(T, V[:, :3])),
            ("leave multi out", lambda: krein.SVC(multi="ovo").fit(X, Y)),
        ):
            with self.assertRaises(krein.KreinError) as caught:
                call()
            self.assertIn(words, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
