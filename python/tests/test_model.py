"""Models: files, bytes, what they tell of themselves, and the program's."""

import ctypes
import gc
import pickle
import shutil
import subprocess
import threading
import unittest

import numpy as np
from common import Case, classes, krein, needs_program, numbers, program, write_csv
from scipy.sparse import csr_matrix

from krein import _library


class Files(Case):
    def setUp(self):
        super().setUp()
        self.X, self.y = numbers()
        self.fit = krein.KernelRidge(kernel="gaussian(sigma=1)", lambda_=1e-3).fit(self.X, self.y)
        self.model = self.fit.model_

    def test_round_trips(self):
        expected = self.model.predict(self.X)
        self.model.save(self.path("m.krein"))
        for model in (
            krein.load(self.path("m.krein")),
            krein.Model.from_bytes(self.model.to_bytes()),
            krein.Model.from_bytes(bytearray(self.model.to_bytes())),
            pickle.loads(pickle.dumps(self.model)),
        ):
            self.same(model.predict(self.X), expected)
            self.assertEqual(model.to_bytes(), self.model.to_bytes())
            self.assertEqual(model.kernel, "gaussian(sigma=1)")
            self.assertEqual(model.lambda_, 1e-3)

    def test_export(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            self.skipTest("no C compiler")
        self.model.export(self.path("f.c"), name="f", header=self.path("f.h"), libm=False)
        subprocess.run([compiler, "-std=c99", "-O1", "-shared", "-fPIC", "-o", self.path("f.so"), self.path("f.c")], check=True)
        predict = ctypes.CDLL(self.path("f.so")).f_predict
        got = np.zeros(len(self.X))
        for i, row in enumerate(np.ascontiguousarray(self.X, dtype=np.float32)):
            score = (ctypes.c_float * 1)()
            predict(row.ctypes.data_as(ctypes.c_void_p), score)
            got[i] = score[0]
        np.testing.assert_allclose(got, self.model.predict(self.X), atol=1e-3 * np.std(self.y))
        with self.assertRaises(krein.KreinError):
            self.model.export(self.path("f.c"), name="not a name")

    def test_quantize(self):
        model = krein.KernelRidge(kernel="gaussian(sigma=1)", map="rff(D=64)", lambda_=1e-3).fit(self.X, self.y).model_
        expected = model.predict(self.X)
        for rows in (self.X, None):
            small = model.quantize(8, rows)
            self.assertIn("bits=8", small.map)
            self.assertLess(np.sqrt(np.mean((small.predict(self.X) - expected) ** 2)), 0.05 * np.std(expected))
            self.same(krein.Model.from_bytes(small.to_bytes()).predict(self.X), small.predict(self.X))
        with self.assertRaises(krein.KreinError):
            model.quantize(3)
        landmarks = krein.KernelRidge(kernel="gaussian(sigma=1)", map="nystrom(D=30)", lambda_=1e-2).fit(self.X, self.y).model_
        expected, got = landmarks.predict(self.X), landmarks.quantize(8, self.X).predict(self.X)
        self.assertLess(np.sqrt(np.mean((got - expected) ** 2)), 0.2 * np.std(expected))
        other = krein.KernelRidge(kernel="laplacian(sigma=1)", map="nystrom(D=30)", lambda_=1e-2).fit(self.X, self.y).model_
        with self.assertRaises(krein.KreinError):
            other.quantize(8)  # not computed from inner products

    def test_damage(self):
        data = self.model.to_bytes()
        for wrong in (b"", b"x", data[:-1], data[: len(data) // 2], data[:100] + b"?" + data[101:]):
            with self.subTest(size=len(wrong)), self.assertRaises(krein.KreinError):
                krein.Model.from_bytes(wrong)
        with self.assertRaises(OSError):
            krein.load(self.path("nowhere.krein"))
        with self.assertRaises(OSError):
            self.model.save(self.path("no/folder.krein"))

    def test_arrays(self):
        arrays = self.model.arrays
        self.assertEqual(arrays["weights"].shape, (120, 1))
        self.assertIn("landmarks", list(arrays))
        self.assertEqual(len(arrays), len(dict(arrays)))
        self.assertNotIn("nothing", arrays)
        with self.assertRaises(KeyError):
            arrays["nothing"]
        with self.assertRaises(ValueError):
            arrays["weights"][0] = 1
        weights = arrays["weights"]
        before = weights.copy()
        del arrays
        self.model = self.fit = None
        gc.collect()
        self.same(weights, before)  # the array keeps the model

    def test_description(self):
        told = self.model.describe()
        self.assertEqual((told.n, told.d, told.task), (120, 3, "regression"))
        self.assertEqual(self.model.n_features_in, 3)
        self.assertIsNone(self.model.columns)
        self.assertIsNone(self.model.classes)
        self.assertEqual(len(self.model.encoded_names), 3)
        self.assertIn("gaussian", repr(self.model))
        self.assertIn("gaussian", repr(told))
        self.assertIsInstance(self.model.notes, list)
        landmarks = krein.KernelRidge(map="nystrom(D=20)", kernel="gaussian").fit(self.X, self.y)
        self.assertIsInstance(landmarks.model_.facts, dict)

    def test_what_was_tried(self):
        self.assertEqual((self.model.candidates, self.model.searched), ([], []))
        np.testing.assert_allclose(self.model.ranges, np.c_[self.X.min(0), self.X.max(0)], rtol=1e-6, atol=1e-7)
        fitted = krein.KernelRidge().fit(self.X, self.y)
        for model in (fitted.model_, pickle.loads(pickle.dumps(fitted.model_))):
            self.assertEqual([c.kernel for c in model.candidates], [c.kernel for c in fitted.report_.tried])
            self.assertGreater(len(model.searched), 2)
            for one in model.searched:
                self.assertEqual((one.parameter, one.criterion), ("sigma", "loo"))
                self.assertIn("%.4g" % one.value, one.kernel)
                self.assertGreaterEqual(one.score, 0)
                self.assertLessEqual(one.rows, len(self.X))
        table = [["a", 1.5], ["b", -2.0], ["a", 7.25], ["b", 0.5]] * 5
        named = krein.KernelRidge(kernel="gaussian(sigma=1)").fit(np.array(table, dtype=object), np.arange(20.0))
        np.testing.assert_array_equal(named.model_.ranges, [[np.nan, np.nan], [-2, 7.25]])

    def test_names_of_inputs_without_a_name(self):
        X, y = krein.generate("friedman", 60, random_state=1)
        X = X[:, :4].astype(object)
        X[3, 1] = np.nan
        X[:, 2] = np.where(y > 14, "2020-01-03", "2021-05-02")
        date = ["x2 (year)", "x2 (month)", "x2 (weekday)", "x2 (days)"]
        wanted = ["x0", "x1", "x1 (missing)"] + date + ["x3"]
        notes = [
            "dates, year first: x2: year, month, weekday and days",
            "missing cells: x1: the mean, and a column that says where",
        ]
        ridge = krein.KernelRidge(kernel="gaussian(sigma=3)", lambda_=0.1)
        for targets in (y, np.c_[y, y, y]):
            model = ridge.fit(X, targets, groups=np.arange(60)).model_
            self.assertEqual((model.encoded_names, model.notes), (wanted, notes))
        model = krein.FeatureMap(features=8).fit(X).model_
        self.assertEqual((model.encoded_names, model.notes), (wanted, notes))
        np.savetxt(self.path("rows.csv"), np.c_[X[:, :2], y, X[:, 3]].astype(float), delimiter=",")
        model = ridge.fit(self.path("rows.csv"), "3").model_
        self.assertEqual(model.encoded_names, ["x0", "x1", "x1 (missing)", "x2"])
        sparse = csr_matrix(np.eye(60)[:, :3])
        self.assertEqual(ridge.fit(sparse, y).model_.encoded_names, ["x0", "x1", "x2"])

    def test_evaluate(self):
        told = self.model.evaluate(self.X, self.y)
        error = np.sqrt(np.mean((self.model.predict(self.X) - self.y) ** 2))
        self.assertAlmostEqual(told.rmse, error)

    def test_evaluate_classes(self):
        X, y = classes(k=3)
        model = krein.KernelRidgeClassifier().fit(X, y).model_
        told = model.evaluate(X, y)
        self.assertEqual(told.confusion.shape, (3, 3))
        self.assertEqual(told.confusion.sum(), 120)
        self.assertAlmostEqual(told.accuracy, np.mean(model.predict(X) == y))

    def test_features(self):
        fit = krein.KernelRidge(kernel="gaussian(sigma=1)", map="rff(D=16)").fit(self.X, self.y)
        features = fit.model_.transform(self.X)
        self.assertEqual((features.shape, features.dtype), ((120, 16), np.float32))
        with self.assertRaises(krein.KreinError):
            self.model.transform(self.X)  # exact has none

    def test_wrong_width(self):
        for X in (self.X[:, :2], np.ones((2, 4))):
            with self.assertRaises(ValueError):
                self.model.predict(X)
            with self.assertRaises(ValueError):
                self.fit.predict(X)
        self.assertEqual(self.model.predict(np.ones((0, 3))).shape, (0,))

    def test_threads_share_a_model(self):
        expected, wrong = self.model.predict(self.X), []

        def work():
            for _ in range(50):
                if not np.array_equal(self.model.predict(self.X), expected):
                    wrong.append(1)

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(wrong, [])

    def test_garbage_with_cycles(self):
        """The context of a model must not go first."""
        for _ in range(20):
            loop = {"model": krein.Model.from_bytes(self.model.to_bytes())}
            loop["loop"] = loop
            del loop
        gc.collect()

    def test_classes(self):
        X, y = classes(k=3)
        for labels, expected in (
            (y, [0, 1, 2]),
            (y - 1, [-1, 0, 1]),
            (y + 0.0, [0, 1, 2]),
            (np.array(["b", "a", "ä"])[y], ["a", "b", "ä"]),
            (np.array([b"b", b"a", b"c"])[y], ["a", "b", "c"]),
        ):
            with self.subTest(expected=expected):
                fit = krein.KernelRidgeClassifier(kernel="gaussian").fit(X, labels)
                self.assertEqual(fit.model_.classes.tolist(), expected)
                self.same(fit.classes_[fit.model_.labels(X)], fit.predict(X))
                self.same(np.unique(labels), fit.classes_)
                self.assertEqual(fit.model_.decision_function(X).shape, (120, 3))


@needs_program
class Program(Case):
    def test_both_ways(self):
        """The same rows make the same model, whoever trains it, and it predicts the same."""
        X, y = numbers()
        data = write_csv(self.path("data.csv"), y, X)
        for name, flags, keywords in (
            ("ridge", ["-k", "gaussian"], {"kernel": "gaussian"}),
            (
                "features",
                ["-k", "gaussian(sigma=1)", "-m", "orf(D=32)"],
                {"kernel": "gaussian(sigma=1)", "map": "orf(D=32)"},
            ),
            ("default", [], {}),
        ):
            with self.subTest(name):
                path = self.path(name + ".krein")
                program("train", data, "--no-header", "-t", "regression", *flags, "-o", path)
                theirs, ours = krein.load(path), krein.Regressor(**keywords).fit(X, y)
                self.same(theirs.predict(X), ours.predict(X))
                self.same(theirs.predict(data), ours.predict(X))
                mine = self.path(name + "-python.krein")
                ours.model_.save(mine)
                lines = program("predict", mine, data).split()
                self.assertEqual(lines, program("predict", path, data).split())
                np.testing.assert_allclose([float(v) for v in lines], ours.predict(X), rtol=1e-6)

    def test_classes(self):
        X, y = classes(k=3)
        names = np.array(["red", "green", "blue"])[y]
        data = self.path("data.csv")
        with open(data, "w") as file:
            for name, row in zip(names, X):
                file.write(name + "," + ",".join(repr(float(v)) for v in row) + "\n")
        path = self.path("c.krein")
        program("train", data, "--no-header", "--learner", "logistic", "-o", path)
        theirs = krein.load(path)
        ours = krein.LogisticRegression().fit(X, names)
        self.same(theirs.predict_proba(X), ours.predict_proba(X))
        self.same(theirs.predict(X), ours.predict(X))
        ours.model_.save(self.path("p.krein"))
        said = program("predict", self.path("p.krein"), data).split()
        self.assertEqual(said, ours.predict(X).tolist())


class Loading(Case):
    def test_blas_settings_are_taken_back(self):
        import os
        import subprocess
        import sys

        from common import ROOT

        code = (
            "import os; before = dict(os.environ); import krein; "
            "assert before == dict(os.environ), 'the environment has changed'"
        )
        environment = dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python"))
        environment.pop("OPENBLAS_CORETYPE", None)
        subprocess.check_call([sys.executable, "-c", code], env=environment)

    def test_no_library(self):
        import os
        import subprocess
        import sys

        from common import ROOT

        environment = dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python"))
        environment["KREIN_LIBRARY"] = self.path("libnone.so")
        done = subprocess.run(
            [sys.executable, "-c", "import krein"],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("KREIN_LIBRARY", done.stderr)
        self.assertTrue(_library.library)


if __name__ == "__main__":
    unittest.main()
