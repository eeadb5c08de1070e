"""Ctrl-C, warnings, errors, threads, fork, and wrong input of every kind."""

import gc
import io
import os
import resource
import signal
import sys
import threading
import unittest
import warnings
from contextlib import redirect_stderr

import numpy as np
from common import Case, classes, joblib, krein, needs_joblib, numbers
from scipy import sparse

from krein import _context, _library


class Interrupt(Case):
    LONG = {"kernel": "gaussian", "steps": 10000000}  # would take hours

    def fit_and_interrupt(self, **keywords):
        """SIGINT as soon as the main thread is in the library."""
        X, y = numbers(400)
        main = threading.get_ident()

        def strike():
            while sys._current_frames()[main].f_code.co_name != "train":
                pass
            os.kill(os.getpid(), signal.SIGINT)

        fit = krein.GradientDescentRegressor(**{**self.LONG, **keywords})
        worker = threading.Thread(target=strike)
        worker.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                fit.fit(X, y)
        finally:
            worker.join()
        return fit

    def test_ctrl_c(self):
        fit = self.fit_and_interrupt()
        self.assertFalse(hasattr(fit, "model_"))
        X, y = numbers()
        self.assertGreater(krein.KernelRidge().fit(X, y).score(X, y), 0.9)  # all is well again

    def test_ctrl_c_with_progress(self):
        with redirect_stderr(io.StringIO()):
            self.fit_and_interrupt(verbose=2)

    def test_checkpoint(self):
        """Ctrl-C in the middle of a fit: the same fit goes on, and its model is the same."""
        X, y = numbers(400)
        state = os.path.join(self.folder, "state")
        fast = {"kernel": "gaussian(sigma=1)", "D": 32, "patience": 0, "epochs": 1500}
        fit = krein.AsklRegressor(checkpoint=state, **fast)

        def strike():
            while not os.path.exists(state):
                pass
            os.kill(os.getpid(), signal.SIGINT)

        worker = threading.Thread(target=strike)
        worker.start()
        with self.assertRaises(KeyboardInterrupt):
            fit.fit(X, y)
        worker.join()
        self.assertTrue(os.path.exists(state))
        with self.assertRaisesRegex(krein.errors.ArgumentError, "belongs to another training: data was"):
            fit.fit(X[::-1], y)
        with self.assertRaisesRegex(krein.errors.ArgumentError, "seed was 1, and is 2"):
            krein.AsklRegressor(checkpoint=state, random_state=2, **fast).fit(X, y)
        fit.fit(X, y)
        self.assertFalse(os.path.exists(state))
        whole = krein.AsklRegressor(**fast).fit(X, y)
        np.testing.assert_array_equal(fit.predict(X), whole.predict(X))
        self.assertEqual(fit.report_.refit, whole.report_.refit)
        with self.assertRaisesRegex(krein.errors.ArgumentError, "svr keeps no state"):
            krein.Regressor(learner="svr", checkpoint=state).fit(X, y)

    def test_handlers_that_raise(self):
        """Any signal whose handler raises, also while a message or progress is shown."""
        X, y = numbers(400)

        class Alarm(Exception):
            pass

        def handler(number, frame):
            raise Alarm

        class Screen(io.StringIO):
            def write(self, text):
                os.kill(os.getpid(), signal.SIGUSR1)
                return len(text)

        before = signal.signal(signal.SIGUSR1, handler)
        try:
            with redirect_stderr(Screen()), self.assertRaises(Alarm):
                krein.GradientDescentRegressor(verbose=2, **self.LONG).fit(X, y)
        finally:
            signal.signal(signal.SIGUSR1, before)

    def test_in_blocks(self):
        X, y = numbers()

        def blocks():
            yield X, y
            os.kill(os.getpid(), signal.SIGINT)
            yield X, y

        with self.assertRaises(KeyboardInterrupt):
            krein.KernelRidge().fit(blocks)

    def test_callbacks_find_their_place_again(self):
        """A message that was cut off by an exception does not shift those after it."""
        context = _context.Context()
        log = context.options.log
        log(None, 2, b"first")
        send = _context._start(_context._messages(context))
        for value in (None, 2, 7, None, 2, b"second"):  # 7 is no text: an exception
            send(value)
        self.assertEqual(context.warned, ["first", "second"])
        self.assertIsInstance(context.stopped, AttributeError)
        with self.assertRaises(AttributeError):
            context.end(0)
        context.end(0)


class Messages(Case):
    def test_warnings_are_python_warnings(self):
        X, y = numbers()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            krein.SemiSupervisedRegressor(kernel="gaussian").fit(X, y)
        said = [w for w in caught if issubclass(w.category, krein.KreinWarning)]
        self.assertTrue(any("every row has a label" in str(w.message) for w in said))
        for warning in said:
            self.assertEqual(os.path.basename(warning.filename), "test_manners.py")

    def test_warnings_as_errors(self):
        X, y = numbers()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(krein.KreinWarning):
                krein.SemiSupervisedRegressor(kernel="gaussian").fit(X, y)

    def test_verbose(self):
        X, y = numbers()
        for verbose, expected in ((False, False), (True, True), (2, True)):
            said = io.StringIO()
            with redirect_stderr(said):
                krein.Regressor(verbose=verbose, effort=0.2).fit(X, y)
            self.assertEqual(bool(said.getvalue()), expected)

    def test_nothing_on_standard_output(self):
        from contextlib import redirect_stdout

        X, y = numbers()
        said = io.StringIO()
        with redirect_stdout(said):
            krein.Regressor(effort=0.2).fit(X, y).predict(X)
        self.assertEqual(said.getvalue(), "")

    def test_time_limit(self):
        """A fit that would take hours ends, with what it has or with an exception."""
        X, y = numbers(400)
        try:
            krein.GradientDescentRegressor(time_limit=0.1, **Interrupt.LONG).fit(X, y)
        except TimeoutError as problem:
            self.assertIn("`time_limit`", str(problem))


class Threads(Case):
    def test_several_fits_at_once(self):
        X, y = numbers()
        results = [None] * 4

        def work(i):
            results[i] = krein.Regressor(effort=0.2, n_jobs=2, random_state=i % 2).fit(X, y)

        workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for i, fit in enumerate(results):
            expected = krein.Regressor(effort=0.2, random_state=i % 2).fit(X, y)
            self.same(fit.predict(X), expected.predict(X))

    def test_models_die_in_other_threads(self):
        X, y = numbers()
        fits = [krein.KernelRidge(kernel="gaussian").fit(X, y) for _ in range(8)]

        def drop():
            while fits:
                fits.pop().predict(X)
            gc.collect()

        worker = threading.Thread(target=drop)
        worker.start()
        worker.join()
        self.assertEqual(fits, [])

    def test_a_signal_handler_may_predict(self):
        """The context of an interrupted call is not used twice."""
        X, y = numbers()
        model = krein.KernelRidge(kernel="gaussian").fit(X, y).model_
        seen = []

        def handler(number, frame):
            seen.append(model.predict(X))

        before = signal.signal(signal.SIGUSR1, handler)
        try:

            def blocks():
                yield X
                os.kill(os.getpid(), signal.SIGUSR1)
                yield X

            twice = model.predict(blocks)
        finally:
            signal.signal(signal.SIGUSR1, before)
        self.same(twice[:120], seen[0])

    @needs_joblib
    def test_joblib(self):
        X, y = numbers()
        expected = krein.KernelRidge(kernel="gaussian", n_jobs=2).fit(X, y).predict(X)
        for backend in ("loky", "multiprocessing", "threading"):
            with self.subTest(backend):
                fits = joblib.Parallel(n_jobs=2, backend=backend)(
                    joblib.delayed(krein.KernelRidge(kernel="gaussian", n_jobs=2).fit)(X, y)
                    for _ in range(3)
                )
                for fit in fits:
                    self.same(fit.predict(X), expected)


@unittest.skipIf(not hasattr(os, "fork"), "no fork here")
class Fork(Case):
    def in_child(self, work):
        """True where a child that does the work ends well; a child that hangs is ended."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            signal.alarm(120)
            status = 1
            try:
                work()
                status = 0
            finally:
                os._exit(status)
        return os.waitpid(child, 0)[1] == 0

    def test_after_use(self):
        X, y = numbers(600)
        fit = krein.KernelRidge(kernel="gaussian(sigma=1)", lambda_=1e-3, n_jobs=2).fit(X, y)
        expected = fit.predict(X)

        def work():
            assert np.array_equal(fit.predict(X), expected)
            again = krein.KernelRidge(kernel="gaussian(sigma=1)", lambda_=1e-3, n_jobs=2).fit(X, y)
            assert np.array_equal(again.predict(X), expected)
            assert self.in_child(lambda: fit.predict(X))

        self.assertTrue(self.in_child(work))
        self.same(fit.predict(X), expected)

    def test_where_threads_cannot_be_ended(self):
        """The child then works on one thread."""
        X, y = numbers(600)
        fit = krein.KernelRidge(kernel="gaussian(sigma=1)", lambda_=1e-3, n_jobs=2).fit(X, y)
        expected = fit.predict(X)
        pause, _library._pause = _library._pause, None

        def work():
            assert _library.threads(2) == 1
            again = krein.KernelRidge(kernel="gaussian(sigma=1)", lambda_=1e-3, n_jobs=2).fit(X, y)
            assert np.array_equal(again.predict(X), expected)

        try:
            self.assertTrue(self.in_child(work))
        finally:
            _library._pause = pause
        self.assertEqual(_library.threads(2), 2)


def wrong_tables():
    """Inputs that are odd or wrong; each is refused by an exception, or works."""
    X, _ = numbers(20)
    huge = np.broadcast_to(np.zeros(1), (2**40, 2))
    loop = []
    loop.append(loop)
    frozen = X.copy()
    frozen.flags.writeable = False
    yield from {
        "None": None,
        "number": 3.5,
        "text": "no such file",
        "bytes": b"\0",
        "empty list": [],
        "nested lists": [[[1.0]]],
        "ragged": [[1.0], [1.0, 2.0]],
        "list in itself": loop,
        "no rows": np.zeros((0, 3)),
        "no columns": np.zeros((20, 0)),
        "one dimension": np.zeros(20),
        "three dimensions": np.zeros((20, 3, 2)),
        "scalar array": np.array(1.0),
        "complex": X + 1j,
        "complex object": (X + 1j).astype(object),
        "all missing": np.full((20, 3), np.nan),
        "some missing": np.where(X > 0.5, np.nan, X),
        "infinite": np.where(X > 0.5, np.inf, X),
        "minus infinity": np.where(X > 0.5, -np.inf, X),
        "large": X * 1e308,
        "beyond float32": X * 1e200,
        "tiny": X * 1e-300,
        "constant": np.ones((20, 3)),
        "read-only": frozen,
        "zero strides": np.broadcast_to(X[0], (20, 3)),
        "negative strides": X[::-1, ::-1],
        "odd strides": np.lib.stride_tricks.as_strided(X, (20, 3), (8, 8)),
        "object of None": np.full((20, 3), None),
        "object of lists": np.array([[[1], [2, 3]]] * 20, dtype=object),
        "object of dicts": np.full((20, 3), {}),
        "object of texts": np.full((20, 3), "text", dtype=object),
        "object of all kinds": np.array([[1, "a", None]] * 20, dtype=object),
        "unicode": X.astype(str),
        "bytes array": X.astype(str).astype("S8"),
        "zero in text": np.full((20, 3), "a\0b", dtype=object),
        "dates": np.full((20, 3), np.datetime64("2020-01-01")),
        "spans": np.full((20, 3), np.timedelta64(3, "s")),
        "records": np.zeros(20, dtype=[("a", float), ("b", int)]),
        "records in a table": np.zeros((20, 3), dtype=[("a", float)]),
        "void": np.zeros((20, 3), dtype="V8"),
        "long double": X.astype(np.longdouble),
        "half": X.astype(np.float16),
        "big endian": X.astype(">f4"),
        "truth": X > 0.5,
        "matrix": np.matrix(X),
        "masked": np.ma.masked_greater(X, 0.5),
        "huge": huge[:0],
        "class": krein.KernelRidge,
        "set": {1.0, 2.0},
        "dict": {"a": [1.0]},
        "generator": (row for row in X),
        "sparse": sparse.csr_matrix(X),
        "sparse of nothing": sparse.csr_matrix((20, 3)),
        "sparse of whole numbers": sparse.csr_matrix((X * 9).astype(int)),
        "sparse complex": sparse.csr_matrix(X + 1j),
        "sparse of missing": sparse.csr_matrix(np.where(X > 0.5, np.nan, X)),
        "sparse without rows": sparse.csr_matrix((0, 3)),
        "damaged sparse": damaged(),
        "sparse with long pointers": damaged(pointers=True),
    }.items()


def damaged(pointers=False):
    made = sparse.csr_matrix(np.eye(20, 3))
    if pointers:
        made.indptr[-1] = 1000
    else:
        made.indices[0] = 99
    return made


ALLOWED = (ValueError, TypeError, OSError, ArithmeticError, RecursionError)


class WrongInput(Case):
    def attempt(self, work):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                work()
            except ALLOWED as problem:
                self.assertTrue(str(problem))

    def test_fit(self):
        _, y = numbers(20)
        for name, X in wrong_tables():
            with self.subTest(name):
                self.attempt(lambda: krein.KernelRidge().fit(X, y))
                self.attempt(lambda: krein.KernelRidgeClassifier().fit(X, y > 1))

    def test_predict(self):
        X, y = numbers()
        fits = [krein.KernelRidge(kernel="gaussian").fit(X, y)]
        fits.append(krein.KernelRidge(kernel="linear").fit(sparse.csr_matrix(X), y))
        for name, table in wrong_tables():
            for fit in fits:
                with self.subTest(name):
                    self.attempt(lambda: fit.predict(table))
                    self.attempt(lambda: fit.model_.predict(table))
                    self.attempt(lambda: fit.model_.transform(table))

    def test_labels(self):
        X, y = numbers(20)
        for name, labels in {
            "None": None,
            "short": y[:5],
            "long": np.r_[y, y],
            "empty": [],
            "scalar": 1.0,
            "three dimensions": np.zeros((20, 1, 1)),
            "no targets": np.zeros((20, 0)),
            "missing": np.full(20, np.nan),
            "infinite": np.full(20, np.inf),
            "huge": y * 1e307,
            "complex": y + 1j,
            "constant": np.ones(20),
            "texts": ["a"] * 20,
            "two texts": ["a", "b"] * 10,
            "odd texts": ["", " "] * 10,
            "zero in text": ["a\0", "b"] * 10,
            "dicts": [{}] * 20,
            "mixed": [1, "a"] * 10,
            "None among texts": ["a", None] * 10,
            "truth": y > 1,
            "bytes": np.array([b"x", b"y"] * 10),
            "large numbers": np.arange(20) * 2**58,
            "unsigned": np.arange(20, dtype=np.uint64) + 2**63,
            "dates": np.full(20, np.datetime64("2020-01-01")),
            "sparse": sparse.csr_matrix(y.reshape(-1, 1)),
            "many": np.zeros((20, 3000)),
        }.items():
            for cls in (krein.Regressor, krein.Classifier, krein.SVC, krein.SVR):
                with self.subTest(name, cls=cls.__name__):
                    self.attempt(lambda: cls(kernel="gaussian").fit(X, labels))

    def test_sides(self):
        X, y = numbers(20)
        for name, values in {
            "negative": -np.ones(20),
            "missing": np.full(20, np.nan),
            "infinite": np.full(20, np.inf),
            "zero": np.zeros(20),
            "short": np.ones(3),
            "two dimensions": np.ones((20, 2)),
            "scalar": 2.0,
            "text": "weights",
            "texts": ["a"] * 20,
            "None among": [None] * 20,
            "complex": np.ones(20) + 1j,
        }.items():
            with self.subTest(name):
                self.attempt(lambda: krein.KernelRidge().fit(X, y, sample_weight=values))
                self.attempt(lambda: krein.KernelRidge(select="cv").fit(X, y, groups=values))

    def test_many_at_random(self):
        """Arrays of random shape, type, order and content."""
        draw = np.random.RandomState(7)
        fit = krein.KernelRidge(kernel="gaussian").fit(*numbers())
        kinds = [
            np.float32,
            np.float64,
            np.int8,
            np.int32,
            np.uint16,
            np.int64,
            bool,
            object,
            ">f8",
        ]
        for _ in range(300):
            shape = tuple(draw.randint(0, 6, draw.randint(0, 4)))
            table = (draw.standard_cauchy(shape) * 10.0 ** draw.randint(-3, 30)).astype(np.float64)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                array = np.asarray(table).astype(kinds[draw.randint(len(kinds))])
            for axis in range(array.ndim):
                step = [1, -1, 2][draw.randint(3)]
                array = array[tuple([slice(None)] * axis + [slice(None, None, step)])]
            if draw.rand() < 0.3:
                array = array.T
            labels = np.arange(len(array) if array.ndim else 0, dtype=float)
            self.attempt(lambda: fit.predict(array))
            self.attempt(lambda: krein.KernelRidge(kernel="gaussian").fit(array, labels))

    def test_keywords(self):
        """What is no number, no text or no level is refused by the wrapper."""
        X, y = numbers(20)
        with self.assertRaises(
            krein.KreinError
        ):  # a list of texts for the library, with NULL in it
            krein.approx(X, maps=None)
        with self.assertRaises(krein.KreinError):
            krein.select(X, y, criteria=[None])
        for verbose in (-float("inf"), "loud", 1j, np.ma.masked):
            with self.assertRaises(krein.KreinError):
                krein.KernelRidge(verbose=verbose).fit(X, y)
        for name in ("header", "targets"):
            for value in (float("inf"), 10**400, "first"):
                with self.assertRaises(krein.KreinError):
                    krein.plan(X, y, **{name: value})
        for name in ("n_jobs", "random_state", "max_exact", "features"):
            with self.assertRaises(krein.KreinError):
                krein.KernelRidge(**{name: np.ma.masked}).fit(X, y)

    def test_classes_without_columns(self):
        """As many labels are read as there are rows: fewer are refused."""
        X, _ = numbers(20)
        for dtype in ("U3", "O", "i8", "f8", "?"):
            none, two = np.zeros((20, 0), dtype), np.zeros((20, 2), dtype)
            for work in (
                lambda: krein.FeatureMap(map="aligned").fit(X, none),
                lambda: krein.plan(X, none, task="classification"),
                lambda: krein.plan(X, two, task="classification"),
                lambda: krein.KernelRidgeClassifier().fit(lambda: iter([(X, none)])),
                lambda: krein.KernelRidgeClassifier().fit(lambda: iter([(X, two)])),
            ):
                with self.subTest(dtype), self.assertRaises(ValueError):
                    work()

    def test_large_whole_numbers(self):
        X = np.array([[10**400, 1], [2, 3]] * 10, dtype=object)
        with self.assertRaises(ValueError):
            krein.KernelRidge().fit(X, np.arange(20.0))

    def test_huge(self):
        """Views of one number that seem to be large tables: a copy is refused, and nothing hangs."""
        _, y = numbers(20)
        weights = np.ones(20)
        weights[0] = 0
        limits = resource.getrlimit(resource.RLIMIT_AS)  # some systems promise any memory
        resource.setrlimit(resource.RLIMIT_AS, (2**34, limits[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_AS, limits)
        for dtype in ("f4", "f2", "U1"):
            for shape in ((2**40, 2), (20, 2**40), (20, 2**30)):
                X = np.broadcast_to(np.zeros(1, dtype), shape)
                with self.subTest("%s of %s" % (shape, dtype)):
                    with self.assertRaises(krein.KreinError):
                        krein.KernelRidge(max_memory="64M").fit(X, y)
                    with self.assertRaises(krein.KreinError):
                        krein.KernelRidge(max_memory="64M").fit(X, y, weights)
        with self.assertRaises(krein.KreinError):
            krein.KernelRidge().fit(np.ones((20, 2)), y, sample_weight=10**400)

    def test_not_fitted(self):
        for cls in (krein.Regressor, krein.Classifier):
            with self.assertRaises(ValueError):
                cls().predict(np.ones((2, 2)))

    def test_classes_are_left_alone(self):
        """Input is not written to."""
        X, y = classes()
        before, labels = X.copy(), y.copy()
        krein.Classifier(effort=0.2).fit(X, y).predict(X)
        self.same(X, before)
        self.same(y, labels)


if __name__ == "__main__":
    unittest.main()
