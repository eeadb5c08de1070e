"""Kernel objects: what they print, how they combine, and that the library takes them as they print."""

import copy
import doctest
import pickle
import unittest

import numpy as np

from common import Case, krein, needs_sklearn
from krein import kernels
from krein._tables import TABLES
from krein.kernels import Kernel, gaussian, laplacian, linear, poly, precomputed

X = np.random.RandomState(0).randn(30, 3)


def values(kernel):
    return krein.gram(X, kernel=kernel, scale="none")


class Printing(Case):
    def test_texts(self):
        g, l = gaussian(sigma=2.0), laplacian()
        for kernel, text in (
            (g, "gaussian(sigma=2)"),
            (l, "laplacian"),
            (gaussian(sigma=np.float32(0.5)), "gaussian(sigma=0.5)"),
            (poly(degree=2, c=0.1), "poly(degree=2, c=0.1)"),
            (kernels.sigmoid(gamma=0.5), "tanh(gamma=0.5)"),
            (gaussian(sigma="0.1..10:20"), "gaussian(sigma=0.1..10:20)"),
            (precomputed(file="a, b.npy"), 'precomputed(file="a, b.npy")'),
            (0.5 * g + l, "0.5*gaussian(sigma=2) + laplacian"),
            (g + l + g, "gaussian(sigma=2) + laplacian + gaussian(sigma=2)"),
            (g + (l + g), "gaussian(sigma=2) + laplacian + gaussian(sigma=2)"),
            (g - 2 * l, "gaussian(sigma=2) - 2*laplacian"),
            (g - (l - g), "gaussian(sigma=2) - (laplacian - gaussian(sigma=2))"),
            (g + -3 * l, "gaussian(sigma=2) - 3*laplacian"),
            (2 * g * (3 * l), "6*gaussian(sigma=2)*laplacian"),
            ((g + l) * (g - l), "(gaussian(sigma=2) + laplacian)*(gaussian(sigma=2) - laplacian)"),
            (2 * (g + l) / 4, "0.5*(gaussian(sigma=2) + laplacian)"),
            (-g, "-1*gaussian(sigma=2)"),
            (sum([g, l]), "gaussian(sigma=2) + laplacian"),
            (np.float64(3) * l, "3*laplacian"),
            (np.int32(3) * l, "3*laplacian"),
            ("linear" + l, "linear + laplacian"),
            (l * "linear + gaussian", "laplacian*(linear + gaussian)"),
            (1e-300 * l, "1e-300*laplacian"),
            (0.1 * l + 1 / 3 * l, "0.1*laplacian + 0.3333333333333333*laplacian"),
        ):
            with self.subTest(text=text):
                self.assertEqual(str(kernel), text)
                self.assertEqual(repr(kernel), text)

    def test_library_reads_and_prints_the_same(self):
        g, l = gaussian(sigma=2), laplacian(sigma=0.7)
        for kernel in (
            g,
            0.5 * g + l,
            g - 0.1 * l,
            (g + l) * (g - 0.25 * l),
            2 * g * l,
            -g,
            g * (l + g) * l,
            1 / 3 * g,
        ):
            _, report = krein.gram(X, kernel=kernel, return_report=True)
            self.assertEqual(report.kernel, str(kernel))

    def test_every_kernel_has_a_function(self):
        for name, method in TABLES["kernels"].items():
            function = getattr(kernels, name)
            self.assertEqual(str(function()), name)
            for option in method.options:
                self.assertIn(option.name, function.__doc__)
                value = {"text": "file.npy"}.get(option.type, option.default or 1)
                number = value if option.type == "text" else float(value)
                function(**{option.name: number}).check()

    def test_equal_and_copied(self):
        kernel = 2 * gaussian(sigma=1) + linear()
        self.assertEqual(kernel, 2 * gaussian(sigma=1.0) + "linear")
        self.assertEqual(kernel, "2*gaussian(sigma=1) + linear")
        self.assertNotEqual(kernel, linear())
        self.assertNotEqual(kernel, 2)
        self.assertEqual(len({kernel, copy.deepcopy(kernel), linear()}), 2)
        again = pickle.loads(pickle.dumps(kernel))
        self.assertEqual(again, kernel)
        self.assertEqual(str(3 * again), "3*(2*gaussian(sigma=1) + linear)")


class Values(Case):
    """Combinations of kernels are combinations of their matrices."""

    def test_combinations(self):
        g, l, p = gaussian(sigma=2), laplacian(sigma=3), poly(degree=2)
        G, L, P = values(g), values(l), values(p)
        for kernel, matrix in (
            (g + l, G + L),
            (g - 2 * l, G - 2 * L),
            (0.5 * (g + p) * l, 0.5 * (G + P) * L),
            (g - (l - p), G - L + P),
            (-(g + p) / 3, -(G + P) / 3),
            (g + "linear", G + X @ X.T),
        ):
            with self.subTest(kernel=str(kernel)):
                np.testing.assert_allclose(values(kernel), matrix, rtol=1e-5, atol=1e-6)

    def test_estimators_take_them(self):
        y = np.sin(X[:, 0])
        kernel = gaussian(sigma=2) + 0.5 * linear()
        made = krein.KernelRidge(kernel=kernel, lambda_=1e-3).fit(X, y)
        same = krein.KernelRidge(kernel=str(kernel), lambda_=1e-3).fit(X, y)
        self.assertEqual(made.kernel_, str(kernel))
        np.testing.assert_array_equal(made.predict(X), same.predict(X))
        several = krein.Regressor(kernels=[gaussian(), linear()]).fit(X, y)
        self.assertTrue(several.kernel_.startswith(("gaussian", "linear")))

    @needs_sklearn
    def test_clone(self):
        from sklearn.base import clone

        copied = clone(krein.KernelRidge(kernel=2 * gaussian(sigma=2)))
        self.assertEqual(copied.kernel, "2*gaussian(sigma=2)")


class Refusals(Case):
    def refused(self, kind, words, function):
        with self.assertRaises(kind) as raised:
            function()
        for word in words:
            self.assertIn(word, str(raised.exception))

    def test_refusals(self):
        g = gaussian()
        self.refused(TypeError, ["sgma", "sigma"], lambda: gaussian(sgma=2))
        self.refused(TypeError, ["number"], lambda: gaussian(sigma=[1]))
        self.refused(ValueError, ["finite"], lambda: gaussian(sigma=float("nan")))
        self.refused(ValueError, ["finite"], lambda: gaussian(sigma=10**400))
        self.refused(ValueError, ["sigma", "(0, "], lambda: gaussian(sigma=-1).check())
        self.refused(TypeError, ["number*kernel"], lambda: g + 1)
        self.refused(TypeError, ["number*kernel"], lambda: 1 - g)
        self.refused(TypeError, [], lambda: g + [])
        self.refused(TypeError, [], lambda: g * None)
        self.refused(TypeError, [], lambda: 2 / g)
        self.refused(ZeroDivisionError, [], lambda: g / 0)
        self.refused(ValueError, ["large"], lambda: 1e300 * g * 1e300)
        self.refused(ValueError, ["gausian"], lambda: Kernel("gausian"))
        self.refused(ValueError, ["number*kernel"], lambda: Kernel("2"))
        self.refused(ValueError, ["kernels"], lambda: Kernel("gaussian; linear"))
        self.refused(AttributeError, ["gausian", "gaussian"], lambda: kernels.gausian)
        self.refused(ValueError, ["quote"], lambda: precomputed(file='a"b'))
        self.assertFalse(hasattr(kernels, "__wrapped__"))

    def test_families_by_range(self):
        report = krein.select(X, X[:, 0], kernels=[gaussian(sigma="0.5..8:3"), linear()])
        self.assertEqual(len(report.kernels), 4)


def load_tests(loader, tests, ignore):
    tests.addTests(doctest.DocTestSuite(kernels))
    return tests


if __name__ == "__main__":
    unittest.main()
