"""Texts of the library in Python's words: keywords, columns by name, rows counted from 0."""

import unittest

import numpy as np
from common import Case, krein, needs_pandas, pandas

X, Y = krein.generate("friedman", 60, random_state=1)
X = X[:, :3].astype(np.float64)


class Texts(Case):
    def refused(self, wanted, call, kind=krein.KreinError):
        with self.assertRaises(kind) as caught:
            call()
        self.assertIn(wanted, str(caught.exception))
        self.assertNotIn("(memory)", str(caught.exception))

    def test_rows_and_columns_count_from_0(self):
        holes = X.copy()
        holes[3, 1] = np.nan
        ridge = krein.KernelRidge(missing="error", kernel="gaussian")
        self.refused("row 3, column x1 is NaN", lambda: ridge.fit(holes, Y))
        weights = -np.ones(60)
        self.refused("row 0: a weight", lambda: ridge.fit(X, Y, sample_weight=weights))
        wrong = krein.KernelRidge(kernel="gaussian(sgma=2)")
        self.refused('"gaussian(sgma=2)", column 10', lambda: wrong.fit(X, Y))

    def test_rows_of_files_count_as_in_the_file(self):
        with open(self.path("rows.csv"), "w") as file:
            file.write("y,a\n" + "1,2\n" * 5 + "1\n")
        with self.assertRaises(krein.KreinError) as caught:
            krein.KernelRidge().fit(self.path("rows.csv"), "y")
        self.assertIn("rows.csv:7", str(caught.exception))

    @needs_pandas
    def test_columns_of_frames(self):
        frame = pandas.DataFrame(X, columns=["a", "b", "c"])
        self.refused(
            "`y` d: no such column; there are a, b, c", lambda: krein.Regressor().fit(frame, "d")
        )
        self.refused(
            "`sample_weight` d: no such column",
            lambda: krein.Regressor().fit(frame, "a", sample_weight="d"),
        )
        self.refused("`y` d: no such column", lambda: krein.FeatureMap().fit(frame, "d"))
        frame["c"] = np.where(X[:, 2] > 0.5, "red", "blue")
        model = krein.KernelRidge(kernel="gaussian").fit(frame, Y)
        frame.loc[2, "c"] = "green"
        self.refused('row 2: column "c" holds', lambda: model.predict(frame))
        self.refused('use `unknown="ignore"`', lambda: model.predict(frame))

    def test_the_other_class(self):
        self.refused("or a classifier", lambda: krein.Regressor(learner="logistic").fit(X, Y))
        self.refused("or a regressor", lambda: krein.Classifier(learner="svr").fit(X, Y > 14))

    def test_zero_does_not_mean_none(self):
        for name in ("features", "time_limit", "effort", "clip"):
            for value in (0, -1):
                with self.subTest(keyword=name, value=value):
                    estimator = krein.Regressor(**{name: value})
                    self.refused("`%s` is a number above 0" % name, lambda: estimator.fit(X, Y))
        model = krein.KernelRidge(kernel="gaussian", lambda_=0).fit(X, Y)
        self.assertEqual(model.regularization_, 0)

    def test_verbose(self):
        for value in ("a", -1, 1.5, []):
            estimator = krein.Regressor(verbose=value)
            self.refused("`verbose`", lambda: estimator.fit(X, Y), TypeError)

    def test_blocks(self):
        self.refused("a function that returns", lambda: krein.Regressor().fit(iter([(X, Y)])))
        self.refused("give `y`", lambda: krein.Regressor().fit(lambda: iter([X])))


if __name__ == "__main__":
    unittest.main()
