"""Inputs and keywords of every kind at random, for everything that the package offers.

    test_fuzz.py --cases FROM TO [SEED]     runs those cases in this process, and names each before it

The test runs them in a child. A case ends with a result or with an exception of the family KreinError,
a ValueError or a TypeError; no input is written to. KREIN_FUZZ=N runs N times as many cases, with other
seeds. A case depends on its number and the seed alone.
"""

import faulthandler
import inspect
import os
import resource
import subprocess
import sys
import tempfile
import traceback
import unittest
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
from common import Case, krein, numbers, pandas
from scipy import sparse

from krein import kernels

CASES = 3000
ALLOWED = (krein.KreinError, ValueError, TypeError)
ESTIMATORS = [
    getattr(krein, name)
    for name in sorted(krein.__all__)
    if inspect.isclass(getattr(krein, name)) and hasattr(getattr(krein, name), "fit")
]


# ---- values ---------------------------------------------------------------------------------------


class Evil:
    """An object whose conversions all fail."""

    def fail(self, *unused):
        raise ValueError("evil")

    __float__ = __int__ = __index__ = __len__ = __iter__ = __getitem__ = __str__ = __bool__ = fail
    __array__ = __fspath__ = __call__ = fail
    __hash__ = object.__hash__

    def __repr__(self):
        return "Evil()"


class Many:
    """An object that says it is a very large number."""

    def __index__(self):
        return 2**200

    def __repr__(self):
        return "Many()"


ODD = [
    None, True, False, 0, -1, 1, 2, 3, 8, -(2**63), 2**63, 2**64, 10**400, 0.5, -0.5, 1e-300, 1e308,
    float("nan"), float("inf"), -float("inf"), 1j, Decimal("1.5"), Fraction(1, 3), Many(), Evil(),
    "", " ", "auto", "none", "exact", "no such", "1", "-1", "1e400", "a\0b", "\udcff", "\ud800", "äß",
    "x" * 5000, "(" * 400, "gaussian", "gaussian(", "gaussian(sigma=1e999)", "gaussian(sigma=-1)",
    "gaussian*", "1e308*gaussian*1e308", "2", "%s%n%n", "linear + - linear", "nystrom(D=-1)",
    "nystrom(D=5)", "rff(D=99999999999)", "orf(D=16)", "krr(", "krr(solver=nothing)", "svm", "loo",
    "cv(k=0)", "cv(k=99999)", "512M", "1Q", "0", "/", "/no/such/file", b"", b"gaussian", b"\xff\0",
    Path("/no/such/file"), [], [1], [None], ["gaussian", "linear"], ["a\0"], (), (1, 2), {}, {"a": 1},
    set(), object(), object, len, lambda: None, np.float32(2), np.float64("nan"), np.int64(3),
    np.uint64(2**63), np.bool_(True), np.str_("gaussian"), np.array(3), np.array([1.0, 2.0]),
    np.array([], dtype=object), np.ma.masked, np.datetime64("2020-01-01"), np.random.RandomState(0),
    np.random.default_rng(0), range(3), Ellipsis, NotImplemented, slice(1, 2),
]  # fmt: skip
LARGE = [2**31 - 1, 2**31, 2**40, 2**62]  # for keywords whose size is checked before the work
SIZES = {
    "features",
    "max_exact",
    "random_state",
    "n_components",
    "n_clusters",
    "n_neighbors",
    "rows",
}
ENDLESS = {"time_limit"}  # without one some methods may take for ever


def pick(draw, values):
    return values[draw.randint(len(values))]


def odd(draw, name=""):
    return pick(draw, ODD + LARGE if name in SIZES else ODD)


# ---- arrays ---------------------------------------------------------------------------------------

DTYPES = [
    "f2",
    "f4",
    "f8",
    "g",
    "i1",
    "u1",
    "i2",
    "i4",
    "u4",
    "i8",
    "u8",
    "?",
    "O",
    "c8",
    "c16",
    "U5",
]
DTYPES += ["S5", "M8[s]", "M8[ns]", "m8[us]", "V8", ">f4", ">f8", ">i8", "f4", "f8", "f4", "f8"]
DTYPES += [[("a", "f8"), ("b", "i4")], [("a", "f4", (2,))]]


def contents(draw, shape):
    kind = draw.randint(10)
    values = draw.standard_normal(shape)
    if kind == 0:
        values = np.zeros(shape)
    elif kind == 1:
        values = np.where(draw.random_sample(shape) < 0.3, np.nan, values)
    elif kind == 2:
        values = np.where(draw.random_sample(shape) < 0.2, pick(draw, [np.inf, -np.inf]), values)
    elif kind == 3:
        values = values * pick(draw, [1e300, 1e38, 1e-310, 1e-40])
    elif kind == 4:
        values = np.full(shape, np.nan)
    elif kind == 5:
        values = draw.randint(-3, 4, shape).astype(float)
    return values


def shaped(draw):
    if draw.rand() < 0.8:
        return pick(draw, [0, 1, 2, 3, 20, 20, 20, 30, 200]), pick(
            draw, [0, 1, 2, 3, 3, 3, 3, 5, 40]
        )
    return tuple(draw.randint(0, 4, draw.randint(0, 5)))


def dense(draw, shape):
    dtype = pick(draw, DTYPES)
    values = contents(draw, shape)
    try:
        array = np.asarray(values).astype(dtype)
    except (TypeError, ValueError):  # no such cast
        array = np.zeros(shape, dtype)
    if array.dtype.kind == "O" and array.size:
        array = array.copy()
        flat = array.reshape(-1)
        for _ in range(draw.randint(3)):
            flat[draw.randint(flat.size)] = odd(draw)
    return array


def laid_out(draw, array):
    """The same array, or one of another order, alignment or class."""
    kind = draw.randint(16)
    if kind == 0:
        return np.asfortranarray(array)
    if kind == 1 and array.ndim:
        return array[::-1]
    if kind == 2 and array.ndim == 2:
        return array[::2, ::-1]
    if kind == 3:
        return array.T
    if kind == 4 and array.dtype.kind != "O":
        padded = np.frombuffer(b"\0" + array.tobytes(), dtype="u1")[1:]
        return padded.view(array.dtype).reshape(array.shape) if array.size else array
    if kind == 5:
        array = array.copy()
        array.flags.writeable = False
        return array
    if kind == 6 and array.ndim == 2 and len(array):
        return np.broadcast_to(array[:1], (20, array.shape[1]))
    if kind == 7 and array.size and array.dtype.kind not in "O":
        mapped = np.memmap("mapped", dtype=array.dtype, mode="w+", shape=array.shape or (1,))
        mapped[...] = array
        return mapped
    if kind == 8 and array.ndim == 2 and array.dtype.kind in "fiub":
        return np.asmatrix(array)
    if kind == 9 and array.dtype.kind in "fiu":
        return np.ma.masked_array(array, mask=draw.random_sample(array.shape) < 0.3)
    if kind == 10:
        return array.tolist()
    if kind == 11 and array.ndim == 2 and array.dtype.kind in "fiu" and array.size:
        return np.lib.stride_tricks.as_strided(array, (20, 3), (0, array.itemsize // 2))[:0]
    return array


def damaged(draw):
    made = sparse.random(20, 4, 0.5, "csr", random_state=draw)
    kind = draw.randint(7)
    if kind == 0:
        made.indices[draw.randint(made.nnz)] = pick(draw, [-1, 4, 2**31 - 1])
    elif kind == 1:
        made.indptr[draw.randint(1, 20)] = pick(draw, [-1, 1000, 2**31 - 1])
    elif kind == 2:
        made.indptr[0] = 3
    elif kind == 3:
        made.data = made.data[:-2]
    elif kind == 4:
        made.indices = made.indices[::-1].copy()
    elif kind == 5:
        made.indices = made.indices.astype(np.int64)
    else:
        made.indptr[10], made.indptr[11] = made.indptr[11], made.indptr[10]
    return made


def scattered(draw):
    if draw.rand() < 0.4:
        return damaged(draw)
    n, d = pick(draw, [0, 1, 20, 20, 20]), pick(draw, [1, 3, 3, 3, 2**31 - 1, 2**40])
    made = sparse.random(n, min(d, 4), 0.4, "csr", random_state=draw)
    if d > 4:
        return sparse.csr_matrix((made.data, made.indices, made.indptr), shape=(n, d))
    made.data = contents(draw, made.nnz).astype(pick(draw, ["f4", "f8", "i4", "?", "c16"]))
    form = pick(draw, ["csr", "csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = made.asformat(form)
        return getattr(sparse, form + "_array")(made) if draw.rand() < 0.3 else made


def column(draw, n):
    kind = draw.randint(12)
    values = contents(draw, n)
    if kind == 0:
        return pandas.Series(draw.randint(0, 3, n)).map({0: "a", 1: "b", 2: None})
    if kind == 1:
        return pandas.Categorical.from_codes(draw.randint(-1, 2, n), ["a", "b"])
    if kind == 2:
        return pandas.array(draw.randint(0, 3, n), dtype="Int64")
    if kind == 3:
        return pandas.array([pick(draw, [True, False, None]) for _ in range(n)], dtype="boolean")
    if kind == 4:
        return pandas.Series(draw.randint(0, 10**9, n)).astype("datetime64[ns]")
    if kind == 5:
        return pandas.Series(draw.randint(0, 10**9, n)).astype("timedelta64[ns]")
    if kind == 6:
        return pandas.array(["a" * draw.randint(3) for _ in range(n)], dtype="string")
    if kind == 7:
        cells = np.empty(n, dtype=object)
        for i in range(n):
            cells[i] = odd(draw)
        return pandas.Series(cells)
    if kind == 8:
        return pandas.arrays.SparseArray(values)
    if kind == 9:
        return pandas.period_range("2020", periods=n, freq="D")
    return values.astype(pick(draw, ["f4", "f8", "g"]))


def frame(draw):
    n, d = pick(draw, [0, 1, 20, 20]), pick(draw, [0, 1, 3, 3])
    names = pick(
        draw, [["a", "b", "c"], ["a", "a", "a"], [0, 1, 2], ["a", 1, None], ["", " ", "\0"]]
    )
    made = pandas.DataFrame({j: pandas.Series(column(draw, n)) for j in range(d)})
    made.columns = names[:d]
    if draw.rand() < 0.1 and d:
        made.columns = pandas.MultiIndex.from_tuples([(name, 1) for name in names[:d]])
    return made


def blocks(draw):
    """A function that returns blocks, good and bad ones."""
    made = []
    for _ in range(draw.randint(4)):
        X = laid_out(draw, dense(draw, (pick(draw, [0, 1, 10]), 3)))
        n = len(X) if hasattr(X, "__len__") else 1
        made.append(
            pick(
                draw,
                [
                    X,
                    (X, np.arange(float(n))),
                    (X, np.arange(n), np.ones(n)),
                    (X, [1]),
                    (),
                    odd(draw),
                ],
            )
        )

    def factory():
        yield from made
        if len(made) == 3:
            raise ValueError("no more")

    return pick(draw, [factory, factory, lambda: made, lambda: None, lambda: 3])


def table(draw):
    """X."""
    kind = draw.randint(12)
    if kind == 0:
        return odd(draw)
    if kind == 1:
        return scattered(draw)
    if kind == 2 and pandas is not None:
        return frame(draw)
    if kind == 3:
        return blocks(draw)
    if kind == 4:
        shape = pick(draw, [(2**40, 2), (20, 2**40), (2**30, 2**29)])
        return np.broadcast_to(np.zeros(1, pick(draw, ["f4", "f8", "i8", "f2", "U1"])), shape)
    return laid_out(draw, dense(draw, shaped(draw)))


def column_of(draw, n, whole):
    """y, weights or groups for n rows, mostly."""
    kind = draw.randint(10)
    if kind == 0:
        return odd(draw)
    if kind == 1:
        return laid_out(draw, dense(draw, shaped(draw)))
    if kind == 2:
        return laid_out(draw, dense(draw, (n,)))
    if kind == 3:
        return dense(draw, (n, pick(draw, [0, 1, 2])))
    if kind == 4:
        return np.array(["a", "b", "c"])[draw.randint(0, 3, n)]
    return draw.randint(0, 2, n) if whole else draw.rand(n)


def length(X):
    shape = getattr(X, "shape", None)
    if shape is None and isinstance(X, (list, tuple)):
        return len(X)
    return min(int(shape[0]), 300) if shape else 20


def good(draw):
    return numbers(pick(draw, [20, 30]), 3, draw.randint(10))


# ---- cases: each is a text and a function ----------------------------------------------------------


def keywords_of(function, names):
    return [name for name in inspect.signature(function).parameters if name not in names]


def settings(draw, cls):
    """Keywords of an estimator: a few odd ones, and limits."""
    names = keywords_of(cls.__init__, ("self",))
    given = {"kernel": "gaussian"} if "kernel" in names and draw.rand() < 0.8 else {}
    given.update({name: value for name, value in LIMITS.items() if name in names})
    for _ in range(pick(draw, [0, 1, 1, 2])):
        name = pick(draw, [name for name in names if name not in ENDLESS])
        given[name] = odd(draw, name)
    if draw.rand() < 0.05 and "time_limit" in names:
        given = {"kernel": "gaussian", "time_limit": odd(draw)}
    return given


LIMITS = {"max_memory": "256M", "time_limit": 0.3, "n_jobs": 1}


def use(fit, X, y):
    """All that a fitted estimator can be asked."""
    done = []
    for name in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(fit, name):
            done.append(attempt(lambda: getattr(fit, name)(X)))
    if hasattr(fit, "score"):
        attempt(lambda: fit.score(X, y))
    return done


def case_keywords(draw):
    cls = pick(draw, ESTIMATORS)
    given = settings(draw, cls)
    X, y = good(draw)
    y = (y > 1).astype(int) if "Classifier" in cls.__name__ or cls in CLASSIFIERS else y

    def run():
        fit = cls(**given).fit(X, y)
        repr(fit)
        use(fit, X, y)

    return "%s(%s)" % (cls.__name__, shown(given)), run, []


def case_fit(draw):
    cls = pick(draw, ESTIMATORS)
    X = table(draw)
    classes = cls in CLASSIFIERS
    y = column_of(draw, length(X), classes)
    more = {}
    for name in keywords_of(cls.fit, ("self", "X", "y")):
        if draw.rand() < 0.3:
            more[name] = column_of(draw, length(X), name == "groups")
    names = keywords_of(cls.__init__, ("self",))
    given = {"kernel": "gaussian", **{k: v for k, v in LIMITS.items() if k in names}}

    def run():
        use(cls(**given).fit(X, y, **more), X, y)

    return "%s.fit(%s, %s, %s)" % (cls.__name__, shown(X), shown(y), shown(more)), run, [X, y, more]


def case_predict(draw):
    fit = pick(draw, FITTED)
    X = table(draw)
    model = fit.model_
    method = pick(
        draw, ["predict", "decision_function", "predict_proba", "transform", "labels", "estimator"]
    )
    more = {}
    if draw.rand() < 0.2:
        name = pick(draw, ["n_jobs", "max_memory"])
        more[name] = odd(draw, name)

    def run():
        if method == "estimator":
            return use(fit, X, None)
        return getattr(model, method)(X, **more)

    return "%s.%s(%s, %s)" % (type(fit).__name__, method, shown(X), shown(more)), run, [X]


def case_evaluate(draw):
    fit = pick(draw, FITTED)
    X = table(draw)
    y, w = column_of(draw, length(X), True), column_of(draw, length(X), False)
    more = {}
    if draw.rand() < 0.4:
        more[
            pick(
                draw, ["label", "header", "delimiter", "scale", "missing", "targets", "task", "id"]
            )
        ] = odd(draw)
    return (
        "%s.evaluate(%s, %s, %s, %s)"
        % (type(fit).__name__, shown(X), shown(y), shown(w), shown(more)),
        lambda: fit.model_.evaluate(X, y, w, **more),
        [X, y, w],
    )


def case_function(draw):
    """gram, approx, select, advise and plan."""
    name = pick(draw, ["gram", "approx", "select", "advise", "plan"])
    function = getattr(krein, name)
    X, y = good(draw)
    arguments = [X, y]
    if draw.rand() < 0.5:
        X = table(draw)
        arguments = [X, column_of(draw, length(X), False)]
    if name == "gram":
        arguments[1] = pick(draw, [None, X, table(draw)])
    more = {"kernel": "gaussian", "n_jobs": 1, "max_memory": "256M"}
    if name == "select":
        more = {"kernels": "gaussian(sigma=1..2:2)", "n_jobs": 1, "max_memory": "256M"}
    if name == "approx":
        more.update(rows=20, repeats=1, features=8)
    names = keywords_of(function, ("X", "y", "Y", "reading", "keywords"))
    names += ["label", "header", "delimiter", "scale", "missing", "targets", "task", "nothing"]
    names += ["learner", "lambda_", "metric", "effort", "clip", "holdout"] if name == "plan" else []
    for _ in range(draw.randint(3)):
        key = pick(draw, names)
        more[key] = odd(draw, key)
    return (
        "%s(%s, %s)" % (name, shown(arguments), shown(more)),
        lambda: function(*arguments, **more),
        arguments,
    )


def case_generate(draw):
    name = pick(draw, GENERATORS) if draw.rand() < 0.7 else odd(draw)
    n = pick(draw, [1, 20, 100]) if draw.rand() < 0.6 else odd(draw)
    more = {}
    for key in ("d", "noise", "random_state", "n_jobs", "verbose", "turns", "classes", "nothing"):
        if draw.rand() < 0.2:
            more[key] = odd(draw)
    return (
        "generate(%s, %s, %s)" % (shown(name), shown(n), shown(more)),
        lambda: krein.generate(name, n, **more),
        [],
    )


def case_kernel(draw):
    made = [name for name in kernels.__all__ if name != "Kernel"]
    name = pick(draw, made)
    function = getattr(kernels, name)
    given = {key: odd(draw) for key in keywords_of(function, ()) if draw.rand() < 0.5}
    other = pick(draw, [odd(draw), kernels.linear(), 2])
    other = None if other is np.ma.masked else other  # NumPy itself fails, whatever is added to it
    how = draw.randint(8)

    def run():
        kernel = function(**given)
        attempt(kernel.check)
        for combine in (
            lambda: kernel + other,
            lambda: other - kernel,
            lambda: kernel * other,
            lambda: other * kernel,
            lambda: kernel / (other or 1),
            lambda: kernel == other,
            lambda: kernels.Kernel(other),
            lambda: kernels.check(other),
        )[how : how + 1]:
            return combine()

    return "kernels.%s(%s) with %s, %d" % (name, shown(given), shown(other), how), run, []


def case_model(draw):
    """Files and bytes of models: odd ones, and those with damage."""
    fit = pick(draw, FITTED)
    data = bytearray(fit.model_.to_bytes())
    kind = draw.randint(6)
    for _ in range(draw.randint(1, 4)):
        data[draw.randint(len(data))] = draw.randint(256)
    if kind == 0:
        del data[draw.randint(len(data)) :]
    value = odd(draw)
    X, _ = good(draw)

    def run():
        if kind < 3:
            model = krein.Model.from_bytes(bytes(data))
            for name in ("notes", "facts", "arrays", "encoded_names"):
                repr(getattr(model, name))
            return model.predict(X)
        if kind == 3:
            return krein.Model.from_bytes(value if not isinstance(value, (int, Many)) else 3)
        if kind == 4:
            return krein.load(value)
        return [
            attempt(lambda: fit.model_.save(value)),
            attempt(lambda: fit.model_.arrays.get(value)),
        ]

    return "model %d of %s, %s" % (kind, type(fit).__name__, shown(value)), run, []


def case_parameters(draw):
    cls = pick(draw, ESTIMATORS)
    value = odd(draw)
    name = pick(draw, keywords_of(cls.__init__, ("self",)) + ["nothing"])
    table_name = odd(draw)

    def run():
        attempt(lambda: krein.list_methods(table_name))
        made = cls()
        attempt(lambda: repr(made.set_params(**{name: value})))
        attempt(made.get_params)
        use(made, np.ones((2, 2)), [0, 1])
        return made.set_params(**{name: value}).get_params()[name]

    return "%s.set_params(%s=%s)" % (cls.__name__, name, shown(value)), run, []


KINDS = [
    case_keywords,
    case_keywords,
    case_fit,
    case_fit,
    case_predict,
    case_predict,
    case_evaluate,
    case_function,
    case_function,
    case_generate,
    case_kernel,
    case_model,
    case_parameters,
]
GENERATORS = [method.name for method in krein.list_methods("generators")]
CLASSIFIERS = {cls for cls in ESTIMATORS if getattr(cls, "_task", "") == "classification"}
FITTED = []


# ---- running ----------------------------------------------------------------------------------------


def shown(value):
    """A short text of anything."""
    if isinstance(value, np.ndarray):
        kind = type(value).__name__
        return "%s %s of %s, strides %s" % (kind, value.shape, value.dtype, value.strides)
    if sparse.issparse(value):
        return "%s %s of %s" % (type(value).__name__, value.shape, value.dtype)
    if hasattr(value, "dtypes"):
        kinds = [str(dtype) for dtype in value.dtypes]
        return "frame %s of %s, columns %r" % (value.shape, kinds, list(value.columns))
    if isinstance(value, dict):
        return "{%s}" % ", ".join("%s: %s" % (key, shown(v)) for key, v in value.items())
    if isinstance(value, list) and len(value) < 4:
        return "[%s]" % ", ".join(map(shown, value))
    text = ascii(value)
    return text if len(text) < 120 else text[:100] + "..."


def attempt(work):
    """Its result, or None where it was refused."""
    try:
        return work()
    except ALLOWED:
        return None


def frozen(inputs):
    """Contents of the arrays among the inputs."""
    return [
        array.tobytes()
        for array in inputs
        if type(array) is np.ndarray and array.nbytes < 10**6 and array.dtype != object
    ]


def run_cases(first, last, seed):
    """In the child."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, resource.RLIM_INFINITY))
    warnings.simplefilter("ignore")
    sys.stderr.flush()
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    X, y = numbers(30)
    FITTED.append(krein.KernelRidge(kernel="gaussian").fit(X, y))
    FITTED.append(
        krein.KernelRidge(kernel="gaussian", map="orf(D=16)").fit(X, np.column_stack([y, -y]))
    )
    FITTED.append(krein.LogisticRegression(kernel="gaussian").fit(X, np.where(y > 1, "a", "b")))
    FITTED.append(krein.SVC(kernel="linear").fit(sparse.csr_matrix(X), (3 * X[:, 0]).astype(int)))
    FITTED.append(krein.FeatureMap(map="orf(D=16)").fit(X))
    FITTED.append(krein.KernelPCA(2).fit(X))
    if pandas is not None:
        named = pandas.DataFrame(
            {"a": X[:, 0], "b": np.where(X[:, 1] > 0.5, "x", "z"), "c": X[:, 2]}
        )
        FITTED.append(krein.KernelRidge(kernel="gaussian").fit(named, y))
    results, refused, bad = 0, 0, []
    for number in range(first, last):
        draw = np.random.RandomState([seed, number])
        text, work, inputs = pick(draw, KINDS)(draw)
        print("%d: %s" % (number, text), flush=True)
        before = frozen(inputs)
        if number % 50 == 0:
            faulthandler.dump_traceback_later(240, exit=True)  # where one of them hangs
        try:
            work()
            results += 1
        except ALLOWED as problem:
            refused += 1
            bad += [] if str(problem) else ["%d: %s\nan exception without a text" % (number, text)]
        except Exception:
            bad.append("%d: %s\n%s" % (number, text, traceback.format_exc()))
        if frozen(inputs) != before:
            bad.append("%d: %s\nan input was written to" % (number, text))
    faulthandler.cancel_dump_traceback_later()
    print("%d results, %d refused, %d bad" % (results, refused, len(bad)), flush=True)
    for text in bad[:20]:
        print(text, file=sys.stderr)
    return 1 if bad else 0


class Fuzz(Case):
    def run_child(self, first, last, seed):
        done = subprocess.run(
            [sys.executable, __file__, "--cases", str(first), str(last), str(seed)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": self.folder},
        )
        said, problems = done.stdout.decode("utf-8", "replace"), done.stderr.decode(
            "utf-8", "replace"
        )
        lines = said.splitlines()
        if done.returncode:
            last = lines[-1] if lines else ""
            self.fail(
                "status %d, seed %d, after\n%s\n%s"
                % (done.returncode, seed, last, problems[-8000:])
            )
        for word in ("Exception ignored", "SystemError", "Fatal Python error"):
            self.assertNotIn(word, problems)
        results, refused = int(lines[-1].split()[0]), int(lines[-1].split()[2])
        self.assertEqual(results + refused, last - first)
        self.assertGreater(min(results, refused), (last - first) // 10)  # neither all nor nothing

    def test_cases(self):
        for turn in range(int(os.environ.get("KREIN_FUZZ", "1"))):
            with self.subTest(seed=turn):
                self.run_child(0, CASES, turn)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--cases"]:
        sys.exit(run_cases(*map(int, (sys.argv[2:] + ["0"])[:3])))
    else:
        unittest.main()
