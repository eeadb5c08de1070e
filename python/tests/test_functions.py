"""Functions: kernel values against formulas, reports against the program's, generated rows, lists."""

import doctest
import json
import pickle
import unittest

import numpy as np

from common import Case, krein, needs_pandas, needs_program, needs_sklearn, pandas, program
from krein import functions
from krein._tables import TABLES

X, Y = krein.generate("friedman", 120, 5)


def distances(A, B, p):
    return (np.abs(A[:, None, :].astype(float) - B[None, :, :].astype(float)) ** p).sum(2)


class Gram(Case):
    FORMULAS = {
        "gaussian(sigma=0.7)": lambda A, B: np.exp(-distances(A, B, 2) / (2 * 0.7**2)),
        "laplacian(sigma=2)": lambda A, B: np.exp(-distances(A, B, 1) / 2),
        "exponential(sigma=2)": lambda A, B: np.exp(-np.sqrt(distances(A, B, 2)) / 2),
        "rq(alpha=2, sigma=1.5)": lambda A, B: (1 + distances(A, B, 2) / (4 * 1.5**2)) ** -2.0,
        "linear": lambda A, B: A @ B.T,
        "poly(degree=3, c=0.5, gamma=2)": lambda A, B: (2 * A @ B.T + 0.5) ** 3,
        "tanh(gamma=0.5, c=-0.2)": lambda A, B: np.tanh(0.5 * A @ B.T - 0.2),
        "intersection": lambda A, B: np.minimum(A[:, None, :], B[None, :, :]).sum(2),
        "0.5*gaussian(sigma=0.7) - linear*tl1(rho=2)": lambda A, B: (
            0.5 * np.exp(-distances(A, B, 2) / (2 * 0.7**2))
            - A @ B.T * np.maximum(2 - distances(A, B, 1), 0)
        ),
    }

    def test_formulas(self):
        A, B = X.astype(np.float64), X[:40].astype(np.float64)
        for kernel, formula in self.FORMULAS.items():
            with self.subTest(kernel=kernel):
                K = krein.gram(A, kernel=kernel, scale="none")
                self.assertEqual((K.shape, K.dtype), ((120, 120), np.float64))
                np.testing.assert_allclose(K, formula(A, A), rtol=2e-5, atol=2e-6)
                np.testing.assert_allclose(
                    krein.gram(A, B, kernel, scale="none"), formula(A, B), rtol=2e-5, atol=2e-6
                )

    def test_scaling_is_that_of_the_first_rows(self):
        A = X.astype(float)
        shift, factor = A.mean(0), A.std(0)
        wanted = ((A - shift) / factor) @ ((A[:10] - shift) / factor).T
        np.testing.assert_allclose(krein.gram(A, A[:10], "linear"), wanted, rtol=1e-4, atol=1e-5)

    @needs_sklearn
    def test_scikit_learn(self):
        from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

        K = krein.gram(X, X[:7], "gaussian(sigma=2)", scale="none")
        np.testing.assert_allclose(K, rbf_kernel(X, X[:7], gamma=1 / 8), rtol=1e-5)
        K = krein.gram(X, X[:7], "laplacian(sigma=2)", scale="none")
        np.testing.assert_allclose(K, laplacian_kernel(X, X[:7], gamma=0.5), rtol=1e-5)

    def test_rows_of_any_kind(self):
        import scipy.sparse

        K = krein.gram(X, kernel="gaussian(sigma=2)", scale="none")
        blocks = lambda: (X[i : i + 32] for i in range(0, 120, 32))
        np.testing.assert_array_equal(
            krein.gram(blocks, kernel="gaussian(sigma=2)", scale="none"), K
        )
        sparse = krein.gram(scipy.sparse.csr_matrix(X), kernel="gaussian(sigma=2)", scale="none")
        np.testing.assert_allclose(sparse, K, rtol=1e-5)
        both = krein.gram(blocks, X[:9], "gaussian(sigma=2)", scale="none")
        np.testing.assert_allclose(both, K[:, :9], rtol=1e-6)

    def test_left_out_rows(self):
        rows = X.copy()
        rows[3, 1] = np.nan
        K = krein.gram(rows, kernel="linear", scale="none", missing="drop")
        kept = np.delete(X, 3, 0).astype(float)
        np.testing.assert_allclose(K, kept @ kept.T, rtol=1e-5)

    def test_repair(self):
        kernel = "tanh(c=-1)"
        K, report = krein.gram(X, kernel=kernel, repair="none", return_report=True)
        np.testing.assert_allclose(K, krein.gram(X, kernel=kernel), rtol=1e-6, atol=1e-7)
        values, vectors = np.linalg.eigh((K + K.T) / 2)
        self.assertAlmostEqual(report.low, values[0], places=4)
        self.assertAlmostEqual(report.high, values[-1], places=4)
        self.assertGreater(report.negative, 0)
        clipped = krein.gram(X, kernel=kernel, repair="clip")
        np.testing.assert_allclose(
            clipped, (vectors * np.maximum(values, 0)) @ vectors.T, atol=1e-5
        )
        flipped = krein.gram(X, kernel=kernel, repair="flip")
        np.testing.assert_allclose(flipped, (vectors * np.abs(values)) @ vectors.T, atol=1e-5)
        shifted = krein.gram(X, kernel=kernel, repair="shift")
        self.assertGreater(np.linalg.eigvalsh(shifted)[0], -1e-6)

    def test_refusals(self):
        for words, call in (
            ("unknown kernel", lambda: krein.gram(X, kernel="gausian")),
            ("columns", lambda: krein.gram(X, X[:, :2])),
            ("`max_exact`", lambda: krein.gram(X, max_exact=10)),
            ("clip", lambda: krein.gram(X, repair="mend")),
            ("`repair`", lambda: krein.gram(X, X, repair="clip")),
            ("`scale`", lambda: krein.gram(X, scale="none at all")),
            ("2D", lambda: krein.gram(X[:, 0])),
        ):
            with self.assertRaisesRegex(ValueError, words):
                call()
        with self.assertRaisesRegex(TypeError, "kernle.*scale"):
            krein.gram(X, kernle="linear")


class Reports(Case):
    def test_approx(self):
        report = krein.approx(
            X, maps=["rff", "nystrom"], features=[32, 120], repeats=2, kernel="gaussian(sigma=2)"
        )
        self.assertEqual((report.n, report.d, report.repeats), (120, 5, 2))
        self.assertEqual([r.D for r in report.results], [32, 120, 32, 120])
        self.assertLess(report.results[3].error_mean, 1e-3)  # all rows are landmarks
        self.assertLess(report.results[1].error_mean, report.results[0].error_mean)
        refused = krein.approx(X, maps="binning", features=16, kernel="laplacian(sigma=2)")
        self.assertEqual(refused.results[0].map[:7], "binning")
        pickle.loads(pickle.dumps(report))
        with self.assertRaisesRegex(ValueError, "`maps`"):
            krein.approx(X, maps=[])
        with self.assertRaisesRegex(ValueError, "`features`"):
            krein.approx(X, features="many")

    def test_compare(self):
        rows, names = X[:60], np.where(Y[:60] > np.median(Y), "high", "low")
        sets = {"all": (X, np.where(Y > np.median(Y), "high", "low")), "half": (rows, names)}
        report = krein.compare(
            sets,
            learners="krr; svm",
            kernels="gaussian",
            commands={"low": ": {train}; awk '{print \"low\"}' {test} >{out}"},
            repeats=3,
            results=self.path("kept"),
        )
        self.assertEqual((report.measure, report.task), ("error", "classification"))
        self.assertEqual([s.name for s in report.sets], ["all", "half"])
        names = [method.name for method in report.methods]
        self.assertEqual(names, ["krr / gaussian", "svm / gaussian", "low"])
        self.assertEqual({r.set for r in report.results}, {"all", "half"})
        self.assertAlmostEqual(report.results[2].mean, 0.5, delta=0.05)  # half of each split
        self.assertEqual(sum(r.best for r in report.results), 2)
        self.assertTrue(np.isfinite(report.difference))
        again = krein.compare(
            sets, learners="krr; svm", kernels="gaussian", repeats=3, results=self.path("kept")
        )
        self.assertEqual(again.reused, 12)
        np.testing.assert_array_equal(again.results[0].values, report.results[0].values)
        pickle.loads(pickle.dumps(report))
        for words, call in (
            ("`measure`", lambda: krein.compare(X, Y, measure="mse")),
            ("one split", lambda: krein.compare(X, Y, repeats=1)),
            ("take rmse", lambda: krein.compare(X, Y, measure="auc")),
            ("out", lambda: krein.compare(X, Y, commands={"a": "cat {train} {test}"})),
            ("many times", lambda: krein.compare(lambda: iter([]))),
        ):
            with self.assertRaisesRegex(ValueError, words):
                call()

    def test_select(self):
        report = krein.select(
            X,
            Y,
            kernels=[krein.kernels.gaussian(sigma="0.5..8:4"), "linear"],
            criteria=["loo", "kta"],
        )
        self.assertEqual(len(report.kernels), 5)
        self.assertEqual([len(ranking.scores) for ranking in report.rankings], [5, 5])
        loo = report.rankings[0]
        scores = [score.score for score in loo.scores]
        self.assertEqual(loo.best, int(np.argmin(scores)))
        self.assertEqual(report.best, report.kernels[loo.best])
        self.assertTrue(report.rankings[1].larger)
        with self.assertRaisesRegex(ValueError, "labels"):
            krein.select(X)

    def test_alignment_by_formula(self):
        """kta = <K, y y'> / (|K| |y y'|)."""
        kernel = "gaussian(sigma=2)"
        signs = np.where(Y > np.median(Y), 1.0, -1.0)
        report = krein.select(X, signs > 0, kernels=kernel, criteria="kta")
        self.assertEqual(report.task, "classification")
        K = krein.gram(X, kernel=kernel)
        wanted = signs @ K @ signs / (np.linalg.norm(K) * len(signs))
        self.assertAlmostEqual(report.rankings[0].scores[0].score, wanted, places=4)

    def test_advise(self):
        report = krein.advise(X, Y, kernel="gaussian(sigma=2)", rows=100)
        self.assertEqual((report.n, report.rows, report.task), (120, 100, "regression"))
        lambdas = [point.lambda_ for point in report.spectrum]
        self.assertEqual(lambdas, sorted(lambdas, reverse=True))
        self.assertTrue(np.isnan(krein.advise(X).sample_lambda))

    def test_effective_dimension_by_formula(self):
        """N(lambda) = trace K (K + n lambda I)^-1, lambda in the kernel's own unit."""
        report = krein.advise(X, kernel="gaussian(sigma=2)")
        values = np.linalg.eigvalsh(krein.gram(X, kernel="gaussian(sigma=2)"))
        for point in report.spectrum[:3]:
            wanted = (values / (values + 120 * point.lambda_)).sum()
            self.assertAlmostEqual(point.dimension / wanted, 1, places=3)

    def test_plan(self):
        report = krein.plan(X, Y, kernel="gaussian", map="rff(D=50)", max_memory="1G")
        self.assertEqual((report.n, report.d, report.D, report.fits), (120, 5, 50, 1))
        self.assertEqual(krein.plan(X, Y > 14).task, "classification")
        self.assertEqual(krein.plan(X, Y, task="regression").task, "regression")
        with self.assertRaisesRegex(TypeError, "kernle.*lambda_"):
            krein.plan(X, Y, kernle="linear")

    @needs_pandas
    def test_labels_by_name(self):
        frame = pandas.DataFrame(X, columns=list("abcde"))
        frame["y"] = Y
        with_name = krein.select(frame, "y", kernels="linear", criteria="loo")
        apart = krein.select(X, Y, kernels="linear", criteria="loo")
        self.assertAlmostEqual(
            with_name.rankings[0].scores[0].score, apart.rankings[0].scores[0].score, places=6
        )

    def test_options_of_all_are_documented(self):
        for name in ("gram", "approx", "select", "compare", "advise", "plan", "generate"):
            function = getattr(krein, name)
            code = function.__code__
            for keyword in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
                self.assertIn(keyword, function.__doc__)


class Generate(Case):
    def test_every_generator(self):
        for name in TABLES["generators"]:
            rows, y = krein.generate(name, 50, random_state=3)
            self.assertEqual((len(rows), len(y), rows.dtype), (50, 50, np.float32))
            again, _ = krein.generate(name, 50, random_state=3)
            np.testing.assert_array_equal(rows, again)
            other, _ = krein.generate(name, 50, random_state=4)
            self.assertFalse(np.array_equal(rows, other))
        self.assertEqual(krein.generate("blobs", 90, classes=5)[1].max(), 4)
        self.assertEqual(krein.generate("arm", 5, 3)[0].shape, (5, 3))
        rows, y = krein.generate("multilabel", 40, 4, labels=3)
        self.assertEqual((rows.shape, y.shape, set(y.ravel())), ((40, 4), (40, 3), {0, 1}))

    def test_formula(self):
        rows, y = krein.generate("friedman", 100, noise=0)
        a, b, c, d, e = rows.T[:5].astype(float)
        wanted = 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
        np.testing.assert_allclose(y, wanted, rtol=1e-5)

    def test_refusals(self):
        for words, call in (
            ("unknown generator", lambda: krein.generate("frieden")),
            ("turns", lambda: krein.generate("moons", turns=2)),
            ("at least 1", lambda: krein.generate("moons", 0)),
            ("`n`", lambda: krein.generate("moons", 2.5)),
            ("inputs", lambda: krein.generate("moons", d=3)),
            ("`random_state`", lambda: krein.generate("moons", random_state=-1)),
        ):
            with self.assertRaisesRegex(ValueError, words):
                call()


class FewShot(Case):
    SMALL = dict(
        ways=3, shots=2, queries=4, tasks=4, arch="convnet(1-3)", dimensions=3, steps=2, test_steps=3,
        meta_steps=4, meta_tasks=2, validate_every=2, validation_tasks=2, epochs=1, path_epochs=3,
    )  # fmt: skip

    def images(self, classes):
        y = np.tile(np.arange(classes), 8)
        noise = np.random.RandomState(1).rand(len(y), 6, 6)
        pattern = np.sin(np.arange(36).reshape(6, 6) * (1 + y[:, None, None]) + y[:, None, None])
        return (100 + 60 * pattern + 40 * noise).astype(np.uint8), y

    def test_methods(self):
        X, y = self.images(15)
        asked = dict(methods=["meta", "nearest", "ntk"], class_split=(7, 4, 4), **self.SMALL)
        report = krein.fewshot(X, y, n_jobs=1, **asked)
        self.assertEqual([r.method for r in report.results], ["meta", "nearest", "nearest", "ntk"])
        self.assertEqual(report.classes, (7, 4, 4))
        self.assertGreater(report.results[1].accuracy, 0.6)
        self.assertEqual(list(report.results[0].look_step), [0, 2, 4])
        self.assertEqual(list(report.results[0].step), [0, 1, 2, 3])
        for result in report.results:
            self.assertAlmostEqual(result.accuracy, result.values.mean())
        again = krein.fewshot(X.reshape(len(X), 36), y, image=(6, 6, 1), n_jobs=2, **asked)
        for a, b in zip(report.results, again.results):
            np.testing.assert_array_equal(a.values, b.values)

    def test_two_sets(self):
        (X, y), (X2, y2) = self.images(12), self.images(5)
        asked = dict(methods="ntk", class_split=(8, 4), **self.SMALL)
        report = krein.fewshot(X, y, X2, y2, **asked)
        self.assertEqual(report.classes, (8, 4, 5))
        with self.assertRaisesRegex(krein.KreinError, "same size"):
            krein.fewshot(X, y, X2[:, :5, :5], y2, **asked)

    def test_refusals(self):
        X, y = self.images(6)
        with self.assertRaisesRegex(krein.KreinError, "classes: tasks of ways=3 need"):
            krein.fewshot(X, y, methods="ntk", **self.SMALL)
        with self.assertRaisesRegex(krein.KreinError, 'did you mean "meta"'):
            krein.fewshot(X, y, methods="metta", **self.SMALL)
        with self.assertRaisesRegex(TypeError, "no keyword `way`"):
            krein.fewshot(X, y, methods="ntk", way=3)


class Lists(Case):
    def test_all(self):
        tables = krein.list_methods()
        self.assertEqual(list(tables), list(TABLES))
        for table, methods in tables.items():
            self.assertEqual([m.name for m in methods], list(TABLES[table]))
            self.assertEqual(krein.list_methods(table), methods)
            for method in methods:
                known = TABLES[table][method.name]
                self.assertEqual([o.name for o in method.options], [o.name for o in known.options])
        self.assertEqual(tables["kernels"][0].family, "radial, positive definite")
        with self.assertRaisesRegex(ValueError, "kernels, maps"):
            krein.list_methods("kernel")


class WrongInput(Case):
    """Arrays and labels of random shape, type and content: a result, or an error of the family."""

    KINDS = (np.float32, np.float64, np.int8, np.int64, bool, object, ">f8", str, complex)
    CALLS = (
        lambda X, y: krein.gram(X),
        lambda X, y: krein.gram(X, X, "laplacian"),
        lambda X, y: krein.gram(X, repair="clip"),
        lambda X, y: krein.approx(X, y, maps="rff(D=8)", repeats=1),
        lambda X, y: krein.select(X, y, kernels="gaussian; linear"),
        lambda X, y: krein.advise(X, y),
        lambda X, y: krein.plan(X, y),
        lambda X, y: krein.FeatureMap(map="aligned", features=8).fit(X, y).transform(X),
        lambda X, y: krein.KernelPCA().fit(X).transform(X),
        lambda X, y: krein.KernelKMeans(2).fit(X).predict(X),
        lambda X, y: krein.SpectralClustering(2, graph="knn", n_neighbors=2).fit(X),
    )

    def table(self, draw):
        shape = tuple(draw.randint(0, 7, draw.choice([0, 1, 2, 2, 2, 2, 3])))
        values = np.asarray(draw.standard_cauchy(shape) * 10.0 ** draw.randint(-3, 38))
        values = np.where(np.asarray(draw.rand(*shape)) < draw.choice([0, 0.3]), np.nan, values)
        with np.errstate(all="ignore"):
            values = values.astype(self.KINDS[draw.randint(len(self.KINDS))])
        values = values.T if draw.rand() < 0.3 else values[::-1] if values.ndim else values
        if draw.rand() < 0.3:
            values.flags.writeable = False
        return values

    def labels(self, draw, n):
        return (
            None,
            draw.randn(n),
            draw.randint(0, 2, n),
            np.array(["a", "b"])[draw.randint(0, 2, n)],
            draw.randn(n + 1),
            draw.randn(n, 2),
            np.full(n, np.nan),
            "no such column",
            object(),
            [None] * n,
            3,
        )[draw.randint(11)]

    def test_any(self):
        draw, made = np.random.RandomState(3), 0
        for _ in range(600):
            X = self.table(draw)
            y = self.labels(draw, len(X) if X.ndim else 1)
            call = self.CALLS[draw.randint(len(self.CALLS))]
            try:
                call(X, y)
                made += 1
            except krein.KreinError:
                pass
        self.assertGreater(made, 60)


@needs_program
class Program(Case):
    """The program gives the same for the same rows."""

    def setUp(self):
        super().setUp()
        np.save(self.path("rows.npy"), np.column_stack([Y, X]))

    def ask(self, command, *words):
        return json.loads(program(command, self.path("rows.npy"), "-q", "--json", *words))

    def test_gram(self):
        self.ask("gram", "-k", "matern", "-o", self.path("k.npy"))
        np.testing.assert_array_equal(krein.gram(X, kernel="matern"), np.load(self.path("k.npy")))
        K = krein.gram(self.path("rows.npy"), kernel="matern", label="first")
        np.testing.assert_array_equal(K, np.load(self.path("k.npy")))

    def test_generate(self):
        for spec, options in (("spiral(turns=3)", {"turns": 3}), ("arm", {})):
            name = spec.split("(")[0]
            program("generate", spec, "-n", "77", "-s", "5", "-q", "-o", self.path("g.npy"))
            rows, y = krein.generate(name, 77, random_state=5, **options)
            told = np.load(self.path("g.npy"))
            np.testing.assert_array_equal(rows, told[:, 1:])
            np.testing.assert_array_equal(y, told[:, 0])

    def test_select(self):
        told = self.ask("select", "--kernels", "gaussian(sigma=1..4:3)", "-c", "loo", "-c", "kta")
        report = krein.select(X, Y, kernels="gaussian(sigma=1..4:3)", criteria=["loo", "kta"])
        text = json.dumps(told)
        for kernel in report.kernels:
            self.assertIn(kernel, text)
        for ranking in report.rankings:
            for score in ranking.scores:
                self.assertIn(repr(score.score)[:7], text)

    def test_compare(self):
        text = self.ask("compare", "--kernels", "gaussian; linear", "--repeat", "4")
        report = krein.compare(X, Y, kernels=["gaussian", "linear"], repeats=4)
        for told, result in zip(text["results"], report.results):
            self.assertEqual(told["values"], list(result.values))
            self.assertEqual(told["p"] is None, np.isnan(result.p))

    def test_approx_and_advise(self):
        text = json.dumps(self.ask("approx", "-m", "orf", "-D", "32", "--repeat", "3"))
        report = krein.approx(X, maps="orf", features=32, repeats=3)
        self.assertIn(repr(report.results[0].error_mean)[:7], text)
        text = json.dumps(self.ask("advise"))
        advice = krein.advise(X, Y)
        for name in ("gamma", "practical_lambda"):
            self.assertIn(repr(getattr(advice, name))[:7], text)


def load_tests(loader, tests, ignore):
    tests.addTests(doctest.DocTestSuite(functions))
    return tests


if __name__ == "__main__":
    unittest.main()
