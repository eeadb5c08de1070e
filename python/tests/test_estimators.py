"""Estimators: scikit-learn's own checks, its tools, keywords, examples."""

import doctest
import inspect
import io
import pickle
import unittest
import warnings

import numpy as np
from common import Case, classes, joblib, krein, needs_joblib, needs_sklearn, numbers

from krein import estimators
from krein._tables import TABLES

CLASSES = [getattr(krein, name) for name in estimators.__all__]
# Fewer candidates, steps or epochs where the checks would take long.
QUICK = {
    "AsklClassifier": {"epochs": 10},
    "AsklRegressor": {"epochs": 10},
    "DeepClassifier": {"epochs": 20},
    "DeepRegressor": {"epochs": 20},
    "GradientDescentClassifier": {"kernel": "gaussian", "steps": 200},
    "GradientDescentRegressor": {"kernel": "gaussian", "steps": 200},
    "MKLClassifier": {"kernels": "gaussian; linear"},
    "MKLRegressor": {"kernels": "gaussian; linear"},
    "VectorValuedClassifier": {"kernel": "gaussian", "epochs": 30},
    "VectorValuedRegressor": {"kernel": "gaussian", "epochs": 30},
}


@needs_sklearn
class Checks(Case):
    def test_check_estimator(self):
        """Every check of every class; one that is skipped must be explained."""
        from sklearn.exceptions import SkipTestWarning
        from sklearn.utils import estimator_checks

        for cls in CLASSES:
            estimator = cls(**QUICK.get(cls.__name__, {}))
            explained = estimator._expected_failed_checks()
            if hasattr(estimator_checks, "estimator_checks_generator"):
                results = estimator_checks.check_estimator(
                    estimator, on_fail=None, on_skip=None, expected_failed_checks=explained
                )
                for result in results:
                    with self.subTest(cls.__name__ + "." + result["check_name"]):
                        if result["status"] == "failed":
                            raise result["exception"]
                continue
            for instance, check in estimator_checks.check_estimator(estimator, generate_only=True):
                name = getattr(check, "func", check).__name__
                with self.subTest(cls.__name__ + "." + name), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        check(instance)
                    except unittest.SkipTest as reason:
                        if "does not have a predict_proba method" in str(reason):
                            continue  # of several labels, where there are no probabilities
                        self.assertIn(str(reason).split(": ")[-1], explained.values())
            warnings.simplefilter("ignore", SkipTestWarning)


@needs_sklearn
class Tools(Case):
    def test_pipeline_and_grid(self):
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        X, y = classes(k=3)
        pipe = make_pipeline(StandardScaler(), krein.SVC(kernel="gaussian(sigma=1)"))
        grid = GridSearchCV(pipe, {"svc__C": [0.01, 10]}, cv=3).fit(X, y)
        self.assertEqual(grid.best_params_, {"svc__C": 10})
        self.assertGreater(grid.score(X, y), 0.9)

    def test_cross_validation(self):
        from sklearn.model_selection import cross_val_predict, cross_val_score

        X, y = classes(k=3)
        names = np.array(["a", "b", "c"])[y]
        p = cross_val_predict(krein.LogisticRegression(), X, names, method="predict_proba", cv=3)
        np.testing.assert_allclose(p.sum(1), 1)
        self.assertGreater(np.mean(np.argmax(p, 1) == y), 0.8)
        X, y = numbers()
        self.assertGreater(cross_val_score(krein.Regressor(effort=0.2), X, y, cv=3).mean(), 0.8)

    def test_calibration_and_votes(self):
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.ensemble import VotingClassifier

        X, y = classes()
        names = np.array(["no", "yes"])[y]
        p = CalibratedClassifierCV(krein.SVC(C=1, kernel="gaussian"), cv=3).fit(X, names)
        self.assertEqual(p.predict_proba(X).shape, (120, 2))
        vote = VotingClassifier(
            [
                ("ridge", krein.KernelRidgeClassifier(probabilities=True)),
                ("logistic", krein.LogisticRegression()),
            ],
            voting="soft",
        ).fit(X, names)
        self.assertGreater(vote.score(X, names), 0.9)

    def test_clone_and_output(self):
        from sklearn.base import clone

        for cls in CLASSES:
            with self.subTest(cls.__name__):
                given = cls(lambda_=0.5, n_jobs=1, scale="none")
                self.assertEqual(clone(given).get_params(), given.get_params())

    def test_chain(self):
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.multioutput import MultiOutputRegressor

        X, y = numbers()
        both = MultiOutputRegressor(krein.SVR(kernel="gaussian", C=1)).fit(X, np.c_[y, -y])
        self.assertEqual(both.predict(X).shape, (120, 2))
        X, y = classes(k=3)
        rest = OneVsRestClassifier(krein.SVC(kernel="gaussian", C=1)).fit(X, y)
        self.assertGreater(rest.score(X, y), 0.9)


class Fits(Case):
    def test_attributes(self):
        X, y = numbers()
        fit = krein.Regressor().fit(X, y)
        self.assertEqual(fit.n_features_in_, 3)
        self.assertFalse(hasattr(fit, "feature_names_in_"))
        self.assertEqual(fit.kernel_, fit.report_.kernel)
        self.assertEqual(fit.regularization_, fit.report_.lambda_)
        self.assertGreater(len(fit.report_.tried), 0)
        self.assertIn("kernel", repr(fit.report_))
        again = krein.Regressor(
            kernel=fit.kernel_, map=fit.map_, learner=fit.learner_, lambda_=fit.regularization_
        ).fit(X, y)
        if fit.importances_ is None and np.isinf(fit.model_.describe().clip):
            self.same(again.predict(X), fit.predict(X))

    def test_importances(self):
        draw = np.random.RandomState(0)
        X = draw.rand(600, 8)
        y = np.sin(9 * X[:, 2]) + 0.1 * draw.randn(600)
        fit = krein.KernelRidge(metric="diagonal").fit(X, y)
        self.assertEqual(int(np.argmax(fit.importances_)), 2)
        self.same(fit.importances_, fit.report_.factor)
        self.assertEqual(fit.report_.metric, "diagonal")

    def test_several_targets(self):
        X, y = numbers()
        Y = np.column_stack([y, X[:, 0], -y])
        fit = krein.KernelRidge(kernel="gaussian(sigma=1)", lambda_=1e-3)
        together = fit.fit(X, Y).predict(X)
        self.assertEqual(together.shape, (120, 3))
        np.testing.assert_allclose(together[:, 0], fit.fit(X, y).predict(X), rtol=1e-6)
        np.testing.assert_allclose(together[:, 0], -together[:, 2], rtol=1e-6)

    def test_weights_are_repetitions(self):
        X, y = numbers()
        w = np.arange(120) % 4
        rows = np.repeat(np.arange(120), w)
        fit = krein.KernelRidge(kernel="gaussian(sigma=1)", lambda_=1e-2)
        np.testing.assert_allclose(
            fit.fit(X, y, sample_weight=w).predict(X),
            fit.fit(X[rows], y[rows]).predict(X),
            rtol=1e-9,
        )

    def test_rows_without_weight(self):
        X, y = numbers()
        labels = np.array(["a", "b", "c"])[np.arange(120) % 3]
        labels[X[:, 0] > 0.5] = "b"
        w = (np.arange(120) % 3 > 0).astype(float)
        kept = w > 0
        for cls in CLASSES:
            target = y if hasattr(cls, "_task") and cls._task == "regression" else labels
            keywords = {"kernels": "gaussian; linear"} if cls._kernels else {"kernel": "gaussian"}
            if cls._learner == "net":  # features of its own
                keywords = {}
            if cls._learner in ("deep", "vvr"):
                keywords["epochs"] = 20
            with self.subTest(cls.__name__):
                a = cls(**keywords).fit(X, target, sample_weight=w)
                b = cls(**keywords).fit(X[kept], target[kept])
                self.assertEqual(a.model_.to_bytes(), b.model_.to_bytes())
                c = cls(**keywords).fit(X[kept], target[kept], sample_weight=np.ones(kept.sum()))
                self.assertEqual(c.model_.to_bytes(), b.model_.to_bytes())

    def test_probabilities(self):
        X, y = classes(k=3)
        for cls, wanted in (
            (krein.KernelRidgeClassifier, True),
            (krein.SVC, True),
            (krein.LogisticRegression, None),
        ):
            with self.subTest(cls.__name__):
                keywords = {} if wanted is None else {"probabilities": True}
                fit = cls(kernel="gaussian", **keywords)
                self.assertTrue(hasattr(fit, "predict_proba"))
                p = fit.fit(X, y).predict_proba(X)
                np.testing.assert_allclose(p.sum(1), 1)
                np.testing.assert_allclose(np.log(p), fit.predict_log_proba(X))
        fit = krein.SVC(kernel="gaussian")
        self.assertFalse(hasattr(fit, "predict_proba"))
        self.assertFalse(hasattr(fit.fit(X, y), "predict_proba"))
        with self.assertRaises(AttributeError):
            fit.predict_proba(X)

    def test_unlabelled(self):
        X, y = numbers(200)
        y[50:] = np.nan
        fit = krein.SemiSupervisedRegressor(kernel="gaussian(sigma=1)").fit(X, y)
        self.assertEqual(fit.report_.n >= 50, True)
        with self.assertRaises(ValueError):
            krein.KernelRidge().fit(X, y)
        X, y = classes(200)
        for labels in (
            np.where(np.arange(200) < 60, y, np.nan),
            np.where(np.arange(200) < 60, np.array(["a", "b"], dtype=object)[y], None),
            np.where(np.arange(200) < 60, y.astype(object), None),
        ):
            fit = krein.SemiSupervisedClassifier(kernel="gaussian(sigma=1)").fit(X, labels)
            self.assertEqual(len(fit.classes_), 2)
            self.same(fit.predict(X), fit.classes_[fit.model_.labels(X)])
            with self.assertRaises(ValueError):
                krein.KernelRidgeClassifier().fit(X, labels)

    def test_groups(self):
        X, y = numbers()
        for groups in (np.arange(120) // 10, np.array(list("abcd"))[np.arange(120) % 4]):
            fit = krein.KernelRidge(kernel="gaussian", select="cv").fit(X, y, groups=groups)
            self.assertGreater(fit.score(X, y), 0.5)

    def test_seed(self):
        X, y = numbers()
        fit = krein.KernelRidge(kernel="gaussian", map="rff(D=8)")
        first = fit.set_params(random_state=3).fit(X, y).predict(X)
        self.same(fit.fit(X, y).predict(X), first)
        self.assertFalse(np.array_equal(fit.set_params(random_state=4).fit(X, y).predict(X), first))
        for state in (np.random.RandomState(1), np.random.default_rng(1), np.int64(7)):
            fit.set_params(random_state=state).fit(X, y)

    def test_threads_do_not_matter(self):
        X, y = numbers(300)
        one = krein.Regressor(n_jobs=1, effort=0.2).fit(X, y)
        two = krein.Regressor(n_jobs=2, effort=0.2).fit(X, y)
        self.assertEqual(one.model_.to_bytes(), two.model_.to_bytes())

    def test_holdout(self):
        X, y = numbers(200)
        fit = krein.KernelRidge(kernel="gaussian", holdout=0.25).fit(X, y)
        self.assertEqual(fit.report_.test.n, 50)

    def test_weighing_with_options(self):
        X, y = classes()
        fit = krein.MKLClassifier(kernels=["gaussian", "linear"], method="easymkl(lambda=0.3)")
        self.assertIn("lambda=0.3", fit.fit(X, y).learner_)
        self.assertEqual(len(fit.report_.weights), 2)
        self.assertAlmostEqual(sum(w.weight for w in fit.report_.weights), 1)

    def test_pickle(self):
        X, y = classes(k=3)
        for cls in (krein.SVC, krein.KernelRidgeClassifier):
            fit = cls(kernel="gaussian").fit(X, y)
            data = pickle.dumps(fit)
            self.assertIn(fit.model_.to_bytes(), data)
            self.same(pickle.loads(data).predict(X), fit.predict(X))

    @needs_joblib
    def test_joblib(self):
        X, y = numbers()
        fit = krein.KernelRidge(kernel="gaussian").fit(X, y)
        joblib.dump(fit, self.path("fit.joblib"))
        self.same(joblib.load(self.path("fit.joblib")).predict(X), fit.predict(X))


class Keywords(Case):
    def test_all_options_are_keywords(self):
        for name, method in TABLES["learners"].items():
            made = [cls for cls in CLASSES if cls._learner == name]
            self.assertEqual(len(made), len(set(method.tasks) - {"multilabel"}), name)
            for cls in made:
                known = set(inspect.signature(cls.__init__).parameters)
                for option in method.options:
                    self.assertTrue({option.name, option.name + "_"} & known, (name, option.name))
                    self.assertIn(option.name, cls.__doc__)

    def test_options_arrive(self):
        X, y = classes()
        fit = krein.SVC(C=3, loss="hinge2", intercept=False, kernel="gaussian", map="rff(D=8)")
        learner = fit.fit(X, y).learner_
        for text in ("C=3", "hinge2", "intercept=no"):
            self.assertIn(text, learner)

    def test_wrong_ones(self):
        X, y = numbers()
        for keywords, kind, text in (
            ({"kernel": "gausian"}, ValueError, "did you mean"),
            ({"map": "orf(Q=1)"}, ValueError, "Q"),
            ({"lambda_": -1}, ValueError, "`lambda_`"),
            ({"lambda_": "x"}, TypeError, "`lambda_`"),
            ({"features": 2.5}, ValueError, "`features`"),
            ({"features": -3}, ValueError, "features"),
            ({"effort": -1}, ValueError, "effort"),
            ({"max_memory": "1k"}, MemoryError, "`max_memory`"),
            ({"max_memory": "much"}, ValueError, "`max_memory`"),
            ({"n_jobs": 0}, ValueError, "`n_jobs`"),
            ({"n_jobs": 1.5}, ValueError, "`n_jobs`"),
            ({"random_state": -1}, ValueError, "`random_state`"),
            ({"random_state": "x"}, TypeError, "`random_state`"),
            ({"scale": "some"}, ValueError, "`scale`"),
            ({"missing": 3}, ValueError, "`missing`"),
            ({"holdout": 2}, ValueError, "holdout"),
            ({"kernel": "gaussian", "kernels": "linear; gaussian"}, ValueError, "kernels"),
            ({"kernel": "gaus\0sian"}, ValueError, "zero character"),
            ({"comm": 3}, (TypeError, ValueError), "`comm`"),
            ({"norm": "some"}, ValueError, "norm"),
        ):
            with self.subTest(keywords=keywords):
                with self.assertRaises(kind) as caught:
                    krein.KernelRidge(**keywords).fit(X, y)
                self.assertIn(text, str(caught.exception))
                self.assertIsInstance(caught.exception, krein.KreinError)

    def test_without_sklearn(self):
        """The same classes where scikit-learn is not installed."""
        import os
        import subprocess
        import sys

        from common import ROOT

        code = (
            "import sys; sys.modules['sklearn'] = None; import numpy as np, krein, warnings\n"
            "warnings.simplefilter('ignore'); assert not krein._base.HAVE_SKLEARN\n"
            "X = np.random.RandomState(0).rand(60, 2); y = X[:, 0]\n"
            "fit = krein.KernelRidge(kernel='gaussian').fit(X, y)\n"
            "assert fit.score(X, y) > 0.9 and 'gaussian' in repr(fit)\n"
            "assert fit.set_params(lambda_=1).get_params()['lambda_'] == 1\n"
            "assert krein.SVC(C=1).fit(X, y > 0.5).score(X, y > 0.5) > 0.9\n"
            "try: krein.SVC().predict(X)\n"
            "except ValueError as problem: assert 'not fitted' in str(problem)\n"
            "else: raise SystemExit('predicted without a fit')\n"
        )
        environment = dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python"))
        subprocess.check_call([sys.executable, "-c", code], env=environment)


class Examples(Case):
    def test_docstrings(self):
        for cls in CLASSES:
            with self.subTest(cls.__name__):
                finder, said = doctest.DocTestFinder(recurse=False), io.StringIO()
                runner = doctest.DocTestRunner(verbose=False)
                for test in finder.find(cls, cls.__name__):
                    self.assertGreater(len(test.examples), 3)
                    runner.run(test, out=said.write)
                self.assertEqual(runner.failures, 0, said.getvalue())


if __name__ == "__main__":
    unittest.main()
