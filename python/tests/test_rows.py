"""Rows of all kinds give the same predictions, and are not copied where that can be avoided."""

import unittest

import numpy as np
from common import Case, classes, krein, needs_pandas, numbers, pandas, write_csv
from scipy import sparse

from krein import _rows
from krein._context import Context


class Arrays(Case):
    def setUp(self):
        super().setUp()
        self.X, self.y = numbers()
        self.fit = krein.KernelRidge(kernel="gaussian(sigma=1)").fit(self.X, self.y)
        self.expected = self.fit.predict(self.X)

    def test_no_copy(self):
        X = self.X
        wide = np.zeros((240, 8))
        wide[::2, 1:7:2] = X
        forms = {
            "C": X,
            "Fortran": np.asfortranarray(X),
            "strided": wide[::2, 1:7:2],
            "backwards": X[::-1],
            "float32": X.astype(np.float32),
            "int64": (1000 * X).astype(np.int64),
            "int32": (1000 * X).astype(np.int32),
            "read-only": np.frombuffer(X.tobytes()).reshape(X.shape),
        }
        for name, array in forms.items():
            with self.subTest(name):
                view = _rows.View(array).view
                self.assertEqual(view.x, array.__array_interface__["data"][0])

    def test_copies(self):
        odd = np.zeros(1 + self.X.nbytes, dtype=np.uint8)[1:].view(np.float64).reshape(self.X.shape)
        odd[:] = self.X
        record = np.zeros(120, dtype=[("c", "u1"), ("x", np.float64, 3)])
        record["x"] = self.X
        forms = {
            "unaligned": odd,
            "part of a record": record["x"],
            "big endian": self.X.astype(">f8"),
            "long double": self.X.astype(np.longdouble),
            "object": self.X.astype(object),
            "list": self.X.tolist(),
            "text": self.X.astype(str).astype(object).astype(np.float64),
            "broadcast": np.broadcast_to(self.X[0], (3, 3)),
        }
        for name, array in forms.items():
            with self.subTest(name):
                expected = self.expected[[0, 0, 0]] if name == "broadcast" else self.expected
                self.same(self.fit.predict(array), expected)

    def test_small_types(self):
        for dtype in (
            bool,
            np.int8,
            np.uint8,
            np.int16,
            np.uint16,
            np.uint32,
            np.uint64,
            np.float16,
        ):
            with self.subTest(np.dtype(dtype).name):
                X = np.random.RandomState(1).randint(0, 2, (50, 3)).astype(dtype)
                self.same(self.fit.predict(X), self.fit.predict(X.astype(np.float64)))

    def test_strides(self):
        wide = np.zeros((240, 8))
        wide[::2, 1:7:2] = self.X
        for name, array in {
            "Fortran": np.asfortranarray(self.X),
            "strided": wide[::2, 1:7:2],
            "backwards": self.X[::-1, ::-1][::-1, ::-1],
        }.items():
            with self.subTest(name):
                self.same(self.fit.predict(array), self.expected)
        self.same(self.fit.predict(self.X[::-1]), self.expected[::-1])
        self.same(self.fit.predict(self.X[5:6]), self.expected[5:6])

    def test_fit_is_the_same(self):
        for name, array in {
            "Fortran": np.asfortranarray(self.X),
            "backwards": np.ascontiguousarray(self.X[::-1])[::-1],
            "object": self.X.astype(object),
        }.items():
            with self.subTest(name):
                fit = krein.KernelRidge(kernel="gaussian(sigma=1)").fit(array, self.y)
                self.assertEqual(fit.model_.to_bytes(), self.fit.model_.to_bytes())

    def test_memory_map_out_of_core(self):
        """Rows that are larger than max_memory."""
        n, d = 120000, 16
        mapped = np.memmap(self.path("x"), dtype=np.float32, mode="w+", shape=(n, d))
        draw = np.random.RandomState(2)
        mapped[:] = draw.rand(n, d)
        mapped.flush()
        y = np.asarray(mapped[:, 0], dtype=float)
        limit = 6 << 20
        self.assertGreater(mapped.nbytes, limit)
        given = {"kernel": "gaussian(sigma=2)", "map": "rff(D=32)", "n_jobs": 1}
        whole = krein.KernelRidge(**given).fit(np.array(mapped), y)
        fit = krein.KernelRidge(max_memory=limit, **given).fit(
            np.memmap(self.path("x"), dtype=np.float32, mode="r", shape=(n, d)), y
        )
        self.assertEqual(fit.model_.to_bytes(), whole.model_.to_bytes())
        self.assertLess(fit.report_.bytes_peak, limit)


class Sparse(Case):
    def setUp(self):
        super().setUp()
        self.X = sparse.random(150, 20, 0.3, format="csr", random_state=0)
        self.y = np.asarray(self.X.sum(1)).ravel()
        self.fit = krein.KernelRidge(kernel="linear").fit(self.X, self.y)
        self.expected = self.fit.predict(self.X)

    def test_no_copy(self):
        view = _rows.View(self.X).view
        for field, array in (("indptr", self.X.indptr), ("indices", self.X.indices)):
            self.assertEqual(getattr(view, field), array.ctypes.data)
        self.assertEqual(view.values, self.X.data.ctypes.data)

    def test_formats(self):
        for form in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
            with self.subTest(form):
                self.same(self.fit.predict(self.X.asformat(form)), self.expected)
        wide = self.X.copy()
        wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
        self.same(self.fit.predict(wide), self.expected)

    def test_duplicates_and_disorder(self):
        halves = self.X.tocoo()
        twice = sparse.coo_matrix(
            (
                np.concatenate([halves.data / 2] * 2),
                (np.concatenate([halves.row] * 2), np.concatenate([halves.col] * 2)),
            ),
            shape=self.X.shape,
        )
        self.same(self.fit.predict(twice), self.expected)
        plain = sparse.csr_matrix(
            (
                np.concatenate([self.X.data, self.X.data]) / 2,
                np.concatenate([self.X.indices, self.X.indices]),
                np.concatenate([self.X.indptr, self.X.indptr[1:] + self.X.nnz]),
            ),
            shape=(300, 20),
        )
        before = plain.copy()
        self.fit.predict(plain)
        self.same(before.data, plain.data)

    def test_dense_rows_for_a_model_of_sparse_rows(self):
        np.testing.assert_allclose(self.fit.predict(self.X.toarray()), self.expected, rtol=1e-6)

    def test_sparse_rows_for_a_model_of_dense_rows(self):
        dense = krein.KernelRidge(kernel="linear").fit(self.X.toarray(), self.y)
        self.same(dense.predict(self.X), dense.predict(self.X.toarray()))


class Blocks(Case):
    def test_fit_and_predict(self):
        X, y = numbers(300)
        whole = krein.KernelRidge(kernel="gaussian(sigma=1)", map="rff(D=64)").fit(X, y)
        calls = []

        def blocks():
            calls.append(1)
            for i in range(0, 300, 70):
                yield X[i : i + 70], y[i : i + 70]

        fit = krein.KernelRidge(kernel="gaussian(sigma=1)", map="rff(D=64)").fit(blocks)
        self.assertEqual(fit.model_.to_bytes(), whole.model_.to_bytes())
        self.same(fit.predict(lambda: (X[i : i + 9] for i in range(0, 300, 9))), whole.predict(X))
        self.assertGreater(len(calls), 0)

    def test_weights(self):
        X, y = numbers()
        w = np.arange(120) % 3 + 1.0
        fit = krein.KernelRidge(kernel="gaussian(sigma=1)")
        expected = fit.fit(X, y, sample_weight=w).predict(X)
        self.same(fit.fit(lambda: iter([(X, y, w)])).predict(X), expected)

    def test_classes_in_blocks(self):
        X, y = classes()
        names = np.array(["no", "yes"])[y]
        fit = krein.SVC(kernel="gaussian(sigma=1)", C=10)
        fit.fit(lambda: ((X[i::2], names[i::2]) for i in range(2)))
        self.assertEqual(fit.classes_.tolist(), ["no", "yes"])
        self.assertGreater(fit.score(X, names), 0.9)

    def test_trouble_comes_through(self):
        X, y = numbers()

        def broken():
            yield X[:50], y[:50]
            raise LookupError("the tape has torn")

        def uneven():
            yield X[:50], y[:50]
            yield X[:50, :2], y[:50]

        for factory, kind in (
            (broken, LookupError),
            (uneven, ValueError),
            (lambda: iter([(X, y, None, None)]), ValueError),
            (lambda: X, TypeError),
            (lambda: 3, TypeError),
            (lambda: iter([]), ValueError),
            (lambda: iter(["text"]), (ValueError, TypeError)),
        ):
            with self.subTest(kind=kind), self.assertRaises(kind):
                krein.KernelRidge().fit(factory)


class Files(Case):
    def test_file(self):
        X, y = numbers()
        path = write_csv(self.path("data.csv"), y, X, header=["y", "a", "b", "c"])
        fit = krein.KernelRidge(kernel="gaussian(sigma=1)").fit(path)
        self.assertEqual(fit.feature_names_in_.tolist(), ["a", "b", "c"])
        array = krein.KernelRidge(kernel="gaussian(sigma=1)").fit(X, y)
        self.same(fit.predict(path), array.predict(X))
        named = krein.KernelRidge(kernel="gaussian(sigma=1)").fit(path, "b")
        self.assertEqual(named.feature_names_in_.tolist(), ["y", "a", "c"])
        with self.assertRaises(ValueError):
            fit.fit(path, y)
        with self.assertRaises(OSError):
            fit.fit(self.path("none.csv"))


@needs_pandas
class Frames(Case):
    def frame(self, n=300):
        frame = pandas.DataFrame(
            {
                "number": np.arange(float(n)),
                "whole": np.arange(n) % 7,
                "small": np.arange(n).astype(np.int8),
                "kind": pandas.Categorical(np.array(["x", "y", "z"])[np.arange(n) % 3]),
                "text": np.array(["low", "high"], dtype=object)[np.arange(n) % 2],
                "nullable": pandas.array(np.arange(n) % 5, dtype="Int64"),
                "truth": np.arange(n) % 3 == 0,
                "day": pandas.date_range("2020-01-01", periods=n),
                "span": pandas.to_timedelta(np.arange(n), unit="h"),
            }
        )
        frame.loc[3, "text"] = None
        frame.loc[4, "number"] = np.nan
        frame.loc[5, "nullable"] = pandas.NA
        frame.loc[6, "kind"] = np.nan
        frame.loc[7, "day"] = pandas.NaT
        return frame

    def test_columns_of_all_kinds(self):
        frame = self.frame()
        y = np.sin(np.arange(300) / 50.0)
        fit = krein.Regressor(effort=0.2).fit(frame, y)
        self.assertEqual(fit.feature_names_in_.tolist(), list(frame.columns))
        self.assertIn("kind=x", fit.model_.encoded_names)
        self.assertIn("day (weekday)", fit.model_.encoded_names)
        self.assertGreater(fit.score(frame, y), 0.9)
        again = krein.Model.from_bytes(fit.model_.to_bytes())
        self.same(again.predict(frame), fit.predict(frame))
        other = frame[frame.columns[::-1]]
        self.same(again.predict(other), fit.predict(frame))
        with self.assertRaises(ValueError):
            fit.predict(other)

    def test_categories_that_are_numbers(self):
        frame = pandas.DataFrame({"a": np.arange(60.0) % 7, "k": np.arange(60) % 3})
        frame["k"] = pandas.Categorical(frame["k"])
        y = frame["a"] + (np.arange(60) % 3 == 1)
        fit = krein.KernelRidge(kernel="linear", lambda_=1e-6).fit(frame, y)
        self.assertEqual(sorted(fit.model_.encoded_names), ["a", "k=0", "k=1", "k=2"])
        self.assertGreater(fit.score(frame, y), 0.999)
        frame.to_csv(self.path("rows.csv"), index=False)
        self.same(fit.predict(self.path("rows.csv")), fit.predict(frame))

    def test_labels_by_name(self):
        frame = pandas.DataFrame({"a": np.arange(60.0) % 7, "b": np.arange(60.0) % 11})
        y = frame["a"] - frame["b"]
        full = frame.assign(w=1 + np.arange(60) % 2, y=y, side=y > 0)
        fit = krein.KernelRidge(kernel="linear", lambda_=1e-3).fit(frame, y)
        score = fit.score(frame, y, sample_weight=full["w"])
        self.assertAlmostEqual(fit.score(full, "y", sample_weight="w"), score, places=12)
        self.assertAlmostEqual(fit.score(lambda: iter([(frame, y, full["w"])])), score, places=12)
        full.drop(columns="side").to_csv(self.path("rows.csv"), index=False)
        path = self.path("rows.csv")
        self.assertAlmostEqual(fit.score(path, "y", sample_weight="w"), score, places=12)
        for wrong in (lambda: fit.score(frame), lambda: fit.score(full, "y", full["w"])):
            self.assertRaises(krein.KreinError, wrong)
        side = krein.SVC(kernel="linear").fit(full[["a", "b", "side"]], "side")
        self.assertEqual(side.classes_.tolist(), [False, True])
        self.assertEqual(side.classes_.dtype, bool)
        self.assertEqual(side.score(full, "side"), side.score(frame, full["side"]))

    def test_no_copy_of_numbers(self):
        frame = pandas.DataFrame({"a": np.arange(10.0), "b": np.arange(10.0)})
        view = _rows.View(frame).view
        address = frame["a"].to_numpy().__array_interface__["data"][0]
        self.assertEqual(view.columns[0].numbers, address)

    def test_same_as_array(self):
        X, y = numbers()
        frame = pandas.DataFrame(X, columns=["a", "b", "c"])
        a = krein.KernelRidge().fit(X, y).predict(X)
        self.same(krein.KernelRidge().fit(frame, y).predict(frame), a)
        self.same(krein.KernelRidge().fit(frame.assign(y=y), "y").predict(frame), a)
        plain = pandas.DataFrame(X)
        self.same(krein.KernelRidge().fit(plain, pandas.Series(y)).predict(plain), a)

    def test_words_that_look_alike(self):
        frame = pandas.DataFrame({"v": ["é", "e", " e", "日本", ""] * 20, "n": np.arange(100.0)})
        fit = krein.Regressor(kernel="gaussian", missing="auto").fit(frame, np.arange(100.0))
        self.assertIn("v=日本", fit.model_.encoded_names)

    def test_unknown_category(self):
        frame = pandas.DataFrame({"k": ["a", "b"] * 50, "n": np.arange(100.0)})
        new = pandas.DataFrame({"k": ["c"], "n": [1.0]})
        fit = krein.KernelRidge().fit(frame, np.arange(100.0))
        with self.assertRaises(krein.KreinError):
            fit.predict(new)
        fit = krein.KernelRidge(unknown="ignore").fit(frame, np.arange(100.0))
        self.assertEqual(fit.predict(new).shape, (1,))

    def test_mixed_names(self):
        frame = pandas.DataFrame(np.ones((3, 2)), columns=["a", 1])
        with self.assertRaises(TypeError):
            krein.KernelRidge().fit(frame, [1, 2, 3])


class Missing(Case):
    def test_ways(self):
        X, y = numbers()
        X[3, 1] = np.nan
        for way in ("auto", "mean", "drop", None):
            with self.subTest(way):
                fit = krein.KernelRidge(missing=way).fit(X, y)
                values = fit.predict(X)
                self.assertEqual(np.isnan(values[3]), way == "drop")
        with self.assertRaises(ValueError):
            krein.KernelRidge(missing="error").fit(X, y)

    def test_classes_of_dropped_rows(self):
        X, y = classes()
        X[3, 1] = np.nan
        for labels in (y, np.array(["a", "b"])[y]):
            values = krein.KernelRidgeClassifier(missing="drop").fit(X, labels).predict(X)
            self.assertIsNone(values[3])
            self.assertIsNotNone(values[4])


class Options(Case):
    def test_memory(self):
        from krein._context import bytes_of

        for text, value in (
            ("512M", 2**29),
            ("1.5 GB", 3 * 2**29),
            ("100", 100),
            (7, 7),
            (None, 0),
        ):
            self.assertEqual(bytes_of(text), value)
        for wrong in ("", "G", "1X", -1, 0, float("nan"), True, [], "1Gx", 1e30):
            with self.subTest(wrong=wrong), self.assertRaises(ValueError):
                bytes_of(wrong)

    def test_a_context_counts(self):
        with _rows.Data(Context(), np.ones((3, 2))) as data:
            self.assertEqual(data.rows, 3)


if __name__ == "__main__":
    unittest.main()
