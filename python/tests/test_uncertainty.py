"""How sure predictions are: against scikit-learn's Gaussian process, on new rows, from arrays, files
and blocks, and the program's."""

import unittest

import numpy as np
from common import Case, krein, needs_program, needs_sklearn, program, write_csv


def rows(n, seed, targets=1):
    draw = np.random.RandomState(seed)
    X = draw.rand(n, 2).astype(np.float32)
    y = np.stack([np.sin(5 * X[:, 0] + c) + X[:, 1] ** 2 for c in range(targets)], axis=1)
    y = y + 0.2 * draw.randn(n, targets)
    return X, y[:, 0] if targets == 1 else y


class Numbers(Case):
    def setUp(self):
        super().setUp()
        self.X, self.y = rows(150, 1)
        self.new, self.labels = rows(400, 2)

    def fitted(self, **keywords):
        keywords = {"kernel": "gaussian(sigma=0.5)", "lambda_": 1e-3, "scale": "none", **keywords}
        return krein.KernelRidge(uncertainty=True, **keywords).fit(self.X, self.y)

    @needs_sklearn
    def test_gaussian_process(self):
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel

        ridge, variances = 150 * 1e-3, []
        for flat in (1e4, 2e4):  # a flat intercept: what is missing falls as 1 / flat
            kernel = RBF(0.5, "fixed") + ConstantKernel(flat, "fixed")
            process = GaussianProcessRegressor(kernel, alpha=ridge, optimizer=None)
            process.fit(self.X.astype(float), self.y)
            mean, std = process.predict(self.new.astype(float), return_std=True)
            variances.append(std**2)
        q = (2 * variances[1] - variances[0]) / ridge
        fit = self.fitted(map="exact")
        f, of_mean = fit.predict(self.new, return_std="mean")
        same, of_new = fit.predict(self.new, return_std=True)
        self.same(f, same)
        self.same(f, fit.predict(self.new))
        noise = np.sqrt(of_new**2 - of_mean**2)
        self.assertLess(np.ptp(noise), 1e-9)
        self.assertLess(np.abs(of_mean / (noise * np.sqrt(q)) - 1).max(), 1e-6)
        self.assertLess(np.abs(of_new / (noise * np.sqrt(1 + q)) - 1).max(), 1e-6)
        self.assertLess(np.abs(f - mean).max(), 1e-3)
        self.assertLess(abs(noise[0] / 0.2 - 1), 4 / np.sqrt(2 * 130))  # about 20 were fitted

    def test_intervals(self):
        for chosen in ("exact", "orf(D=64)", "nystrom(D=50)"):
            fit = self.fitted(map=chosen, lambda_=None)
            for level in (0.5, 0.9):
                bounds = fit.predict_interval(self.new, level)
                self.assertEqual(bounds.shape, (400, 2))
                inside = (bounds[:, 0] <= self.labels) & (self.labels <= bounds[:, 1])
                room = 4 * np.sqrt(level * (1 - level) * (1 / 150 + 1 / 400))
                self.assertLess(abs(inside.mean() - level), room)
                report = fit.model_.evaluate(self.new, self.labels, interval=level)
                self.assertAlmostEqual(report.coverage, inside.mean())
                self.assertAlmostEqual(report.width, np.ptp(bounds, axis=1).mean())

    def test_all_ways(self):
        """Arrays, lists, files, blocks; the estimator and its model; a model read again."""
        fit = self.fitted(map="exact")
        bounds, novel = fit.predict_interval(self.new), fit.novelty(self.new)
        std = fit.predict(self.new, return_std=True)[1]
        again = krein.Model.from_bytes(fit.model_.to_bytes())
        for model in (fit.model_, again):
            self.same(model.predict_interval(self.new), bounds)
            self.same(model.predict_std(self.new), std)
            self.same(model.novelty(self.new), novel)
        blocks = lambda: iter([(self.new[:150],), (self.new[150:],)])  # noqa: E731
        self.same(fit.predict_interval(blocks), bounds)
        self.same(fit.novelty(blocks), novel)
        self.same(fit.predict(blocks, return_std=True)[1], std)
        self.same(fit.novelty(self.new.tolist()), novel)
        self.assertGreater(fit.novelty([[50, 50]])[0], 1)

    def test_targets(self):
        X, y = rows(80, 3, targets=2)
        fit = krein.KernelRidge(kernel="gaussian(sigma=0.5)", uncertainty=True).fit(X, y)
        f, std = fit.predict(X, return_std=True)
        bounds = fit.predict_interval(X, 0.8)
        self.assertEqual((f.shape, std.shape, bounds.shape), ((80, 2), (80, 2), (80, 2, 2)))
        self.assertTrue((bounds[:, :, 0] < bounds[:, :, 1]).all())
        self.same(f, fit.predict(X))

    @needs_program
    def test_program(self):
        fit = self.fitted(map="exact")
        fit.model_.save(self.path("m.krein"))
        write_csv(self.path("new.csv"), self.new)
        said = program("predict", self.path("m.krein"), self.path("new.csv"), "--std", "--interval", "0.9")
        got = np.array([line.split(",") for line in said.split()], dtype=float)
        expected = np.column_stack(
            fit.predict(self.new, return_std=True) + (fit.predict_interval(self.new),)
        )
        self.assertLess(np.abs(got - expected).max(), 1e-6)

    def test_refused(self):
        fit = self.fitted()
        plain = krein.KernelRidge(kernel="gaussian(sigma=1)").fit(self.X, self.y)
        for call in (
            lambda: plain.predict(self.X, return_std=True),
            lambda: plain.predict_interval(self.X),
            lambda: plain.novelty(self.X),
            lambda: plain.model_.evaluate(self.X, self.y, interval=0.9),
        ):
            with self.assertRaisesRegex(krein.errors.ArgumentError, "uncertainty"):
                call()
        for wrong in (0, 1, -0.5, float("nan")):
            with self.assertRaisesRegex(krein.errors.ArgumentError, "between 0 and 1"):
                fit.predict_interval(self.X, wrong)
        with self.assertRaisesRegex(TypeError, "number"):
            fit.predict_interval(self.X, "wide")
        with self.assertRaisesRegex(krein.errors.ArgumentError, "return_std"):
            fit.predict(self.X, return_std="both")
        with self.assertRaisesRegex(krein.errors.DataError, "at least 60"):
            krein.SVR(kernel="gaussian(sigma=0.5)", uncertainty=True).fit(self.X[:59], self.y[:59])

    def test_kept(self):
        """Other learners keep a fifth of the rows from the training."""
        for made in (
            krein.SVR(kernel="gaussian(sigma=0.5)", uncertainty=True),
            krein.Regressor(learner="kgd", kernel="gaussian(sigma=0.5)", uncertainty=True),
        ):
            fit = made.fit(self.X, self.y)
            self.assertEqual(fit.report_.n, 120)
            bounds = fit.predict_interval(self.new, 0.8)
            inside = (bounds[:, 0] <= self.labels) & (self.labels <= bounds[:, 1])
            room = 4 * np.sqrt(0.16 * (1 / 30 + 1 / 400))
            self.assertLess(abs(inside.mean() - 0.8), room)
            self.assertLess(np.ptp(bounds[:, 1] - bounds[:, 0]), 1e-9)
            for call in (fit.novelty, lambda X: fit.predict(X, return_std=True)):  # noqa: B023
                with self.assertRaisesRegex(krein.errors.ArgumentError, "krr"):
                    call(self.X)


class Classes(Case):
    def test_sets(self):
        draw = np.random.RandomState(5)
        X = draw.rand(700, 2)
        y = np.array(["a", "b", "c"])[np.clip((3 * X[:, 0] + 0.4 * draw.randn(700)), 0, 2.9).astype(int)]
        for made in (
            krein.KernelRidgeClassifier(kernel="gaussian(sigma=0.5)", uncertainty=True),
            krein.SVC(kernel="gaussian(sigma=0.5)", uncertainty=True),
            krein.LogisticRegression(kernel="gaussian(sigma=0.5)", uncertainty=True),
            krein.GradientDescentClassifier(kernel="gaussian(sigma=0.5)", uncertainty=True),
        ):
            fit = made.fit(X[:300], y[:300])
            held = {"LogisticRegression": 60, "GradientDescentClassifier": 30}.get(type(made).__name__, 300)
            sets, p = fit.predict_set(X[300:], 0.8), fit.predict_proba(X[300:])
            self.assertEqual((sets.shape, sets.dtype.kind), ((400, 3), "b"))
            best = fit.predict(X[300:])
            self.assertTrue((sets[np.arange(400), np.searchsorted(fit.classes_, best)]).all())
            covered = sets[np.arange(400), np.searchsorted(fit.classes_, y[300:])].mean()
            self.assertGreater(covered, 0.8 - 4 * np.sqrt(0.16 * (1 / held + 1 / 400)))
            self.assertLess(p[~sets].max(), p.max())
            wider = fit.predict_set(X[300:], 0.99)
            self.assertTrue((wider >= sets).all())
            self.assertGreater(wider.sum(), sets.sum())
            self.same(fit.model_.predict_set(X[300:], 0.8), sets)

    def test_novelty(self):
        X = np.random.RandomState(6).rand(200, 2)
        fit = krein.KernelRidgeClassifier(kernel="gaussian(sigma=0.5)", uncertainty=True)
        fit.fit(X, X[:, 0] > 0.5)
        self.assertLess(np.median(fit.novelty(X)), 1)


if __name__ == "__main__":
    unittest.main()
