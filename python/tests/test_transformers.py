"""Feature maps, principal components and clusters: scikit-learn's checks, independent computations,
and what the program writes for the same rows, to the last bit."""

import doctest
import pickle
import unittest
import warnings

import numpy as np

from common import Case, krein, needs_pandas, needs_program, needs_sklearn, pandas, program, sklearn
from krein import transformers
from krein._tables import TABLES

if sklearn is not None:
    from sklearn.utils import estimator_checks

CLASSES = (krein.FeatureMap, krein.KernelPCA, krein.KernelKMeans, krein.SpectralClustering)
X, Y = krein.generate("friedman", 200)


def gaussian(A, B, sigma):
    squares = ((A[:, None, :].astype(float) - B[None, :, :].astype(float)) ** 2).sum(2)
    return np.exp(-squares / (2 * sigma**2))


def same_clusters(a, b):
    """Whether two clusterings are the same but for the numbers of the clusters."""
    pairs = set(zip(a.tolist(), b.tolist()))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))


@needs_sklearn
class Checks(Case):
    def generator(self, estimator):
        if hasattr(estimator_checks, "estimator_checks_generator"):
            return estimator_checks.estimator_checks_generator(estimator, legacy=True)
        return estimator_checks.check_estimator(estimator, generate_only=True)

    def check(self, name, check, *arguments):
        named = getattr(check, "func", check).__name__
        with self.subTest(name, check=named), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(*arguments)

    def test_all_columns_of_a_file_are_inputs(self):
        X = np.random.RandomState(0).rand(30, 4)
        np.save(self.path("rows.npy"), X)
        for estimator in (krein.FeatureMap(features=8), krein.KernelPCA(2), krein.KernelKMeans(2)):
            self.assertEqual(estimator.fit(self.path("rows.npy")).n_features_in_, 4)

    def test_check_estimator(self):
        for kind in CLASSES:
            for estimator, check in self.generator(kind()):
                self.check(kind.__name__, check, estimator)

    def test_weights_of_few_rows(self):
        """Checks whose rows are fewer than the clusters that are the default."""
        for kind in (krein.KernelKMeans, krein.SpectralClustering):
            for name in kind._explained:
                check = getattr(estimator_checks, name, None)
                if check is not None:
                    self.check(kind.__name__, check, kind.__name__, kind(3))

    def test_more_checks(self):
        """Those that check_estimator of scikit-learn 1.2 leaves out."""
        names = [
            "check_n_features_in_after_fitting",
            "check_dataframe_column_names_consistency",
        ]
        of_transformers = [
            "check_transformer_get_feature_names_out",
            "check_transformer_get_feature_names_out_pandas",
            "check_set_output_transform",
            "check_set_output_transform_pandas",
            "check_global_output_transform_pandas",
        ]
        for kind in CLASSES:
            more = of_transformers if hasattr(kind, "transform") else []
            for name in names + more:
                check = getattr(estimator_checks, name, None)
                if check is not None:
                    self.check(kind.__name__, check, kind.__name__, kind())

    def test_nothing_else_is_excused(self):
        for kind in CLASSES:
            few = [why for why in kind._explained.values() if "four different rows" in why]
            self.assertEqual(len(few), len(kind._explained))
            self.assertEqual(len(few), 3 * hasattr(kind(), "n_clusters"))


class Maps(Case):
    KERNELS = {
        "binning": "laplacian",
        "hybrid": "laplacian",
        "explicit": "poly(degree=2)",
        "maclaurin": "poly",
        "tensorsketch": "poly",
        "arccos": "arccos",
        "ntkrf": "ntk",
        "ntksketch": "ntk",
        "spline": "spline",
    }

    def test_every_map(self):
        for name in TABLES["maps"]:
            if name == "exact":  # has no features
                continue
            with self.subTest(map=name):
                made = krein.FeatureMap(
                    map=name,
                    kernel=self.KERNELS.get(name),
                    features=None if name in ("explicit", "network") else 64,
                    scale="minmax",
                ).fit(X[:100], Y[:100])
                Z = made.transform(X)
                self.assertEqual(Z.dtype, np.float32)
                self.assertEqual(Z.shape, (200, len(made.get_feature_names_out())))
                self.assertEqual(made.signs_.shape, (Z.shape[1],))
                self.assertTrue(np.isfinite(Z).all())
                self.assertTrue(made.map_.startswith(name))
                again = pickle.loads(pickle.dumps(made))
                np.testing.assert_array_equal(again.transform(X), Z)

    def test_features_approximate_the_kernel(self):
        K = gaussian(X, X, 2.0)
        for name, bound in (("rff", 0.15), ("orf", 0.15), ("nystrom", 1e-3)):
            features = 200 if name == "nystrom" else 4000
            made = krein.FeatureMap(
                map=name, kernel="gaussian(sigma=2)", features=features, scale="none"
            )
            Z = made.fit_transform(X).astype(float)
            self.assertLess(np.abs(Z @ Z.T - K).max(), bound, name)

    def test_signs(self):
        """Features of an indefinite kernel: a difference of two Gaussians."""
        kernel = "gaussian(sigma=1) - 0.5*gaussian(sigma=3)"
        made = krein.FeatureMap(map="grff", kernel=kernel, features=8000, scale="none").fit(X)
        self.assertEqual(set(made.signs_.tolist()), {-1, 1})
        self.assertEqual(made.report_.negative, (made.signs_ == -1).sum())
        Z = made.transform(X).astype(float)
        K = gaussian(X, X, 1.0) - 0.5 * gaussian(X, X, 3.0)
        self.assertLess(np.abs((Z * made.signs_) @ Z.T - K).max(), 0.15)

    def test_labels(self):
        with self.assertRaisesRegex(ValueError, "needs labels"):
            krein.FeatureMap(map="aligned", features=16).fit(X)
        numbers = krein.FeatureMap(map="aligned", features=16).fit(X, Y)
        classes = krein.FeatureMap(map="aligned", features=16).fit(X, np.where(Y > 14, "a", "b"))
        self.assertFalse(np.array_equal(numbers.transform(X), classes.transform(X)))

    def test_exact_has_none(self):
        with self.assertRaisesRegex(ValueError, "nystrom"):
            krein.FeatureMap(map="exact").fit(X)

    def test_rows_of_any_kind(self):
        made = krein.FeatureMap(map="rff", features=32, kernel="gaussian(sigma=2)").fit(X)
        Z = made.transform(X)
        for rows in (X.astype(np.float64), np.asfortranarray(X), X[::-1][::-1]):
            np.testing.assert_array_equal(made.transform(rows), Z)
        blocks = krein.FeatureMap(map="rff", features=32, kernel="gaussian(sigma=2)").fit(
            lambda: (X[i : i + 50] for i in range(0, 200, 50))
        )
        np.testing.assert_array_equal(blocks.transform(X), Z)
        with self.assertRaises(ValueError):
            made.transform(X[:, :3])
        with self.assertRaises(ValueError):
            made.transform(lambda: iter([X]))

    def test_sparse(self):
        import scipy.sparse

        S = scipy.sparse.random(60, 30, density=0.2, format="csr", random_state=0)
        made = krein.FeatureMap(map="orf", features=64, scale="none", kernel="gaussian(sigma=1)")
        sparse = made.fit_transform(S)
        np.testing.assert_allclose(made.fit_transform(S.toarray()), sparse, atol=1e-5)

    @needs_pandas
    def test_frames(self):
        frame = pandas.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0.5, "x", "y")})
        made = krein.FeatureMap(map="rff", features=16).fit(frame)
        self.assertEqual(made.feature_names_in_.tolist(), ["a", "b"])
        self.assertEqual(made.n_features_in_, 2)
        if hasattr(made, "set_output"):
            out = made.set_output(transform="pandas").transform(frame)
            self.assertEqual(list(out.columns), ["featuremap%d" % i for i in range(16)])

    @needs_sklearn
    def test_pipelines(self):
        from sklearn.linear_model import Ridge
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline

        pipe = make_pipeline(krein.FeatureMap(features=100), Ridge(0.01))
        search = GridSearchCV(pipe, {"featuremap__kernel": ["gaussian", "laplacian"]}, cv=3)
        search.fit(X, Y)
        self.assertGreater(search.best_score_, 0.5)


class Components(Case):
    def test_against_eigenvectors(self):
        K = gaussian(X, X, 2.0)
        J = np.eye(200) - 1 / 200
        values, vectors = np.linalg.eigh(J @ K @ J)
        made = krein.KernelPCA(3, kernel="gaussian(sigma=2)", map="exact", scale="none").fit(X)
        scores = made.transform(X)
        top = values[::-1][:3]
        np.testing.assert_allclose(made.explained_variance_, top / 200, rtol=1e-4)
        np.testing.assert_allclose(made.explained_variance_ratio_, top / values.sum(), rtol=1e-4)
        for i in range(3):
            wanted = vectors[:, -1 - i] * np.sqrt(top[i])
            wanted *= np.sign(wanted @ scores[:, i])
            np.testing.assert_allclose(scores[:, i], wanted, atol=1e-4)

    @needs_sklearn
    def test_against_scikit_learn(self):
        from sklearn.decomposition import KernelPCA

        new = krein.generate("friedman", 50, random_state=5)[0]
        other = KernelPCA(2, kernel="rbf", gamma=1 / 8).fit(X)
        made = krein.KernelPCA(2, kernel="gaussian(sigma=2)", map="exact", scale="none").fit(X)
        wanted, scores = other.transform(new), made.transform(new)
        wanted *= np.sign((wanted * scores).sum(0))
        np.testing.assert_allclose(scores, wanted, atol=1e-4)

    def test_names_and_pickle(self):
        made = krein.KernelPCA(2).fit(X)
        self.assertEqual(made.get_feature_names_out().tolist(), ["kernelpca0", "kernelpca1"])
        again = pickle.loads(pickle.dumps(made))
        np.testing.assert_array_equal(again.transform(X), made.transform(X))
        self.assertEqual(again.kernel_, made.kernel_)

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "`n_components`"):
            krein.KernelPCA(0).fit(X)
        with self.assertRaisesRegex(TypeError, "`n_components`"):
            krein.KernelPCA("two").fit(X)


class Clusters(Case):
    BLOBS = krein.generate("blobs", 300, random_state=3, separation=8)

    def test_blobs(self):
        rows, classes = self.BLOBS
        for kind in (krein.KernelKMeans, krein.SpectralClustering):
            made = kind(3).fit(rows)
            self.assertTrue(same_clusters(made.labels_, classes), kind.__name__)
            sizes = np.bincount(made.labels_)
            np.testing.assert_array_equal(sizes, np.sort(sizes)[::-1])
            np.testing.assert_array_equal(sizes, made.report_.sizes)
            np.testing.assert_array_equal(kind(3).fit_predict(rows), made.labels_)

    def test_predict(self):
        rows, _ = self.BLOBS
        for clusters in (2, 3, 12):
            made = krein.KernelKMeans(clusters).fit(rows)
            np.testing.assert_array_equal(made.predict(rows), made.labels_)
            again = pickle.loads(pickle.dumps(made))
            np.testing.assert_array_equal(again.predict(rows[:50]), made.labels_[:50])
            self.assertEqual(again.inertia_, made.inertia_)

    def test_inertia(self):
        """Of the linear kernel it is that of the rows."""
        rows = self.BLOBS[0].astype(float)
        made = krein.KernelKMeans(3, kernel="linear", scale="none").fit(rows)
        inertia = 0.0
        for k in range(3):
            mine = rows[made.labels_ == k]
            inertia += ((mine - mine.mean(0)) ** 2).sum()
        np.testing.assert_allclose(made.inertia_, inertia, rtol=1e-4)

    def test_weights(self):
        """As rows that are repeated; those of weight 0 are told their cluster."""
        rows, classes = self.BLOBS
        weights = np.arange(300) * 7 % 4
        many = np.repeat(rows, weights, axis=0)
        for made in (
            krein.KernelKMeans(3, kernel="gaussian(sigma=2)"),
            krein.KernelKMeans(3, kernel="linear"),
            krein.SpectralClustering(3, kernel="gaussian(sigma=2)"),
            krein.SpectralClustering(3, kernel="gaussian(sigma=2)", graph="knn"),
        ):
            labels = made.fit(rows, sample_weight=weights).labels_
            self.assertTrue(same_clusters(labels, classes))
            inertia, silhouette = getattr(made, "inertia_", 0.0), made.silhouette_
            np.testing.assert_array_equal(
                np.repeat(labels, weights), made.fit_predict(many), repr(made)
            )
            np.testing.assert_allclose(getattr(made, "inertia_", 0.0), inertia, rtol=1e-5)
            np.testing.assert_allclose(made.silhouette_, silhouette, rtol=1e-5)
            self.same(
                made.fit_predict(rows, sample_weight=np.ones(300)), made.fit_predict(rows)
            )
        with self.assertRaisesRegex(ValueError, "row 4: a weight"):
            made.fit(rows, sample_weight=np.where(np.arange(300) == 4, -1, 1))

    def test_one_cluster(self):
        rows, _ = self.BLOBS
        made = krein.KernelKMeans(1).fit(rows)
        np.testing.assert_array_equal(made.predict(rows), 0)
        with self.assertRaises(ValueError):
            made.predict(rows[:, :1])
        np.testing.assert_array_equal(krein.KernelKMeans(2).fit(rows).fit(rows).labels_ < 2, True)

    def test_moons_by_neighbours(self):
        rows, classes = krein.generate("moons", 300, noise=0.05)
        made = krein.SpectralClustering(2, graph="knn", n_neighbors=10).fit(rows)
        self.assertTrue(same_clusters(made.labels_, classes))
        self.assertIsNone(made.map_)
        self.assertFalse(hasattr(made, "predict"))

    def test_left_out_rows(self):
        rows = self.BLOBS[0].copy()
        rows[7, 0] = np.nan
        made = krein.KernelKMeans(3, missing="drop").fit(rows)
        self.assertEqual(made.labels_[7], -1)
        self.assertEqual((made.labels_ == -1).sum(), 1)
        self.assertEqual(made.predict(rows)[7], -1)

    def test_streams(self):
        rows, _ = self.BLOBS
        made = krein.KernelKMeans(3).fit(rows)
        blocks = krein.KernelKMeans(3).fit(lambda: (rows[i : i + 64] for i in range(0, 300, 64)))
        np.testing.assert_array_equal(blocks.labels_, made.labels_)
        np.save(self.path("rows.npy"), rows)
        of_file = krein.SpectralClustering(3).fit(self.path("rows.npy"), "none")
        self.same(of_file.labels_, krein.SpectralClustering(3).fit(rows).labels_)

    def test_refusals(self):
        rows, _ = self.BLOBS
        for words, made in (
            ("`n_clusters`", krein.KernelKMeans(0)),
            ("`n_clusters`", krein.KernelKMeans(2.5)),
            ("fewer", krein.KernelKMeans(1000)),
            ("`n_init`", krein.KernelKMeans(2, n_init=0)),
            ("`n_neighbors`", krein.SpectralClustering(2, graph="knn", n_neighbors=1000)),
            ("full, knn", krein.SpectralClustering(2, graph="all")),
            ("SpectralClustering", krein.KernelKMeans(2, kernel="tanh", map="exact")),
        ):
            with self.assertRaisesRegex(ValueError, words):
                made.fit(rows)
        with self.assertRaisesRegex(ValueError, "not fitted"):
            krein.KernelKMeans().predict(rows)


@needs_program
class Program(Case):
    """The program writes the same for the same rows, and each reads the other's models."""

    def setUp(self):
        super().setUp()
        np.save(self.path("rows.npy"), X)

    def ask(self, command, *words):
        program(command, self.path("rows.npy"), "--label", "none", "-q", *words)

    def test_transform(self):
        for map in ("orf(D=64)", "nystrom(D=30)", "grff(D=32)"):
            self.ask("transform", "-m", map, "-o", self.path("z.npy"))
            Z = krein.FeatureMap(map=map).fit_transform(X)
            np.testing.assert_array_equal(Z, np.load(self.path("z.npy")))

    def test_pca(self):
        self.ask("pca", "-o", self.path("s.npy"), "--model", self.path("m.krein"))
        made = krein.KernelPCA().fit(X)
        np.testing.assert_array_equal(made.transform(X), np.load(self.path("s.npy")))
        np.testing.assert_array_equal(
            krein.load(self.path("m.krein")).predict(X), made.transform(X)
        )

    def test_clusters(self):
        for method, kind in (
            ("kmeans", krein.KernelKMeans),
            ("spectral", krein.SpectralClustering),
        ):
            self.ask("cluster", "-c", "4", "--method", method, "-o", self.path("c.txt"))
            labels = kind(4).fit(X).labels_
            np.testing.assert_array_equal(labels + 1, np.loadtxt(self.path("c.txt"), dtype=int))


def load_tests(loader, tests, ignore):
    tests.addTests(doctest.DocTestSuite(transformers))
    return tests


if __name__ == "__main__":
    unittest.main()
