"""Kernel values, comparisons of maps and kernels, plans, generated rows, and what there is."""

from __future__ import annotations

import contextlib
import ctypes
import os
import tempfile
from typing import Any, Dict, List, Tuple, Union

import numpy as np

from . import _calls, _library, _rows
from . import _interface as c
from ._base import spec, train_options
from ._context import Context, bytes_of, level_of, threads_of
from ._report import Report, read
from .errors import ArgumentError

__all__ = ["gram", "approx", "select", "compare", "advise", "plan", "generate", "fewshot"]
__all__ += ["list_methods"]

_lib = _library.library
_REPAIRS = {
    "none": c.KREIN_REPAIR_NONE,
    "clip": c.KREIN_REPAIR_CLIP,
    "flip": c.KREIN_REPAIR_FLIP,
    "shift": c.KREIN_REPAIR_SHIFT,
}


def gram(
    X: Any,
    Y: Any = None,
    kernel: Any = None,
    *,
    repair: Any = None,
    return_report: bool = False,
    max_exact: Any = None,
    max_memory: Any = None,
    n_jobs: Any = None,
    random_state: Any = None,
    verbose: Any = False,
    **reading: Any,
) -> Any:
    """Kernel values of rows with rows.

    The columns are scaled by the mean and standard deviation that they have in X, as before
    training; ``scale="none"`` takes the rows as they are.

    Parameters
    ----------
    X : array, sparse matrix, frame, file name, or callable that returns blocks
    Y : the same, optional
        Other rows; those of X when None.
    kernel : str or Kernel, optional
        "gaussian" when None. A free scale is the median distance of the rows.
    repair : {"none", "clip", "flip", "shift"}, optional
        Makes the matrix of X positive semidefinite, by its negative eigenvalues: they become 0, or
        positive, or the diagonal grows. The report then has the eigenvalues from before, with
        "none" too.
    return_report : bool
        Whether to return the report as well.
    max_exact : int, optional
        Most rows of a matrix without Y; 10,000 when None.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G".
    n_jobs : int, optional
        Threads; all CPUs when None or -1.
    random_state : int or RandomState, optional
        Seed of the rows for the median distance; 1 when None.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    **reading
        How rows are read: scale, missing, categories, unknown, types, and of files label, weights,
        group, id, ignore, header, delimiter, format.

    Returns
    -------
    array of shape (n, n) or (n, m), float64
        With `return_report` a pair of it and the report.

    Examples
    --------
    >>> import numpy as np
    >>> import krein
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    >>> krein.gram(X, kernel="linear", scale="none")
    array([[0., 0., 0.],
           [0., 1., 0.],
           [0., 0., 4.]])
    >>> K, report = krein.gram(X, kernel="tanh(c=-1)", repair="clip", return_report=True)
    >>> report.negative > 0, bool(np.linalg.eigvalsh(K).min() > -1e-12)
    (True, True)
    """
    _calls.known(reading, _calls.READING, "gram")
    asked = train_options(kernel=kernel, max_exact=max_exact, random_state=random_state)
    if repair is not None and repair not in _REPAIRS:
        raise ArgumentError("`repair` is one of %s, not %r" % (", ".join(_REPAIRS), repair))
    if repair is not None and Y is not None:
        raise ArgumentError("`repair` is for the matrix of the rows of X alone: leave Y out")
    with _calls.opened(X, n_jobs=n_jobs, max_memory=max_memory, verbose=verbose, **reading) as (
        context,
        data,
    ):
        if repair is not None:
            K, report = _repaired(context, data, asked, _REPAIRS[repair])
        elif Y is None:
            K, report = _values(context, data, None, asked)
        else:
            with _rows.Data(context, Y, options=_rows.data_options(**reading)) as other:
                K, report = _values(context, data, other, asked)
    return (K, report) if return_report else K


def _values(context: Context, data: Any, other: Any, asked: Any) -> Tuple[np.ndarray, Report]:
    second = None if other is None else other.handle
    columns = data.rows if other is None else other.rows

    def call(out: Any, room: int) -> Report:
        return _calls.reported(
            context,
            c.krein_transform_report,
            lambda report: _lib.krein_gram_values(
                context.handle, data.handle, second, ctypes.byref(asked), out, room, report
            ),
        )

    if data.rows >= 0 and columns >= 0:
        values = np.empty(data.rows * columns)
        report = call(values.ctypes.data, values.size)
        if report.n * report.D < values.size:  # rows were left out for missing cells
            values = values[: report.n * report.D].copy()
        return values.reshape(report.n, report.D), report
    with _npy() as path:  # nobody knows how many rows there are
        report = _calls.reported(
            context,
            c.krein_transform_report,
            lambda report: _lib.krein_gram(
                context.handle, data.handle, second, ctypes.byref(asked), path, report
            ),
        )
        return np.load(path), report


def _repaired(context: Context, data: Any, asked: Any, how: int) -> Tuple[np.ndarray, Report]:
    spectrum = _library.sized(c.krein_gram_spectrum)
    with _npy() as path:
        report = _calls.reported(
            context,
            c.krein_transform_report,
            lambda report: _lib.krein_gram_check(
                context.handle,
                data.handle,
                ctypes.byref(asked),
                how,
                path,
                ctypes.byref(spectrum),
                report,
            ),
        )
        report.__dict__.update(read(spectrum).__dict__)
        return np.load(path), report


class _npy:
    """The name of a temporary .npy file."""

    def __enter__(self) -> bytes:
        self.folder = tempfile.TemporaryDirectory(prefix="krein-")
        return os.fsencode(os.path.join(self.folder.name, "values.npy"))

    def __exit__(self, *unused: Any) -> None:
        self.folder.cleanup()


def approx(
    X: Any,
    y: Any = None,
    *,
    maps: Any = ("rff", "orf", "nystrom"),
    kernel: Any = None,
    features: Any = None,
    rows: Any = None,
    repeats: Any = None,
    max_exact: Any = None,
    max_memory: Any = None,
    n_jobs: Any = None,
    random_state: Any = None,
    verbose: Any = False,
    **reading: Any,
) -> Report:
    """How well feature maps approximate a kernel on a sample of rows.

    Parameters
    ----------
    X : array, sparse matrix, frame, file name, or callable that returns blocks
    y : array of shape (n,), or str, optional
        Labels, for maps that use them, or the name of their column.
    maps : str or list of str
        Feature maps, as "orf" or "nystrom(D=500)".
    kernel : str or Kernel, optional
        "gaussian" when None. A free scale is the median distance of the rows.
    features : int or list of int, optional
        Numbers of features to try, for the maps that do not say theirs.
    rows : int, optional
        Rows of the sample; 1,000 when None.
    repeats : int, optional
        Draws of the features; 10 when None.
    max_exact, max_memory, n_jobs, random_state, verbose, **reading
        As for `gram`.

    Returns
    -------
    Report
        `results` has one for each map and number of features: map, D, error_mean, error_sd (of
        |K - Khat| / |K|, Frobenius norms), worst, seconds, refused, facts.

    Examples
    --------
    >>> import numpy as np
    >>> import krein
    >>> X = np.random.RandomState(0).rand(200, 3)
    >>> report = krein.approx(X, maps=["rff", "orf"], features=[64, 1024], repeats=3)
    >>> [(result.map, result.D) for result in report.results]
    [('rff(D=64, phase=no)', 64), ('rff(D=1024, phase=no)', 1024), ('orf(D=64)', 64), ('orf(D=1024)', 1024)]
    >>> report.results[1].error_mean < report.results[0].error_mean
    True
    """
    _calls.known(reading, _calls.READING, "approx")
    asked = _calls.options(
        c.krein_approx_options,
        kernel=kernel,
        rows=rows,
        repeats=repeats,
        max_exact=max_exact,
        random_state=random_state,
    )
    names = _calls.texts(maps, "maps")
    if len(names) == 0:
        raise ArgumentError("approx needs at least one map: `maps`")
    asked.maps, asked.nmaps = names, len(names)
    if features is not None:
        sizes = _sizes(features)
        asked.features, asked.nfeatures = sizes.ctypes.data, len(sizes)
    with _calls.opened(X, y, n_jobs=n_jobs, max_memory=max_memory, verbose=verbose, **reading) as (
        context,
        data,
    ):
        return _calls.reported(
            context,
            c.krein_approx_report,
            lambda report: _lib.krein_approx(
                context.handle, data.handle, ctypes.byref(asked), report
            ),
        )


def _sizes(features: Any) -> np.ndarray:
    array = np.atleast_1d(np.asarray(features))
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ArgumentError("`features` is a whole number or a list of them, not %r" % (features,))
    return np.ascontiguousarray(array, dtype=np.int64)


def select(
    X: Any,
    y: Any = None,
    *,
    kernels: Any = None,
    criteria: Any = None,
    map: Any = None,
    features: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    time_limit: Any = None,
    max_exact: Any = None,
    max_memory: Any = None,
    n_jobs: Any = None,
    random_state: Any = None,
    verbose: Any = False,
    **reading: Any,
) -> Report:
    """Scores kernels by criteria.

    Parameters
    ----------
    X : array, sparse matrix, frame, file name, or callable that returns blocks
    y : array of shape (n,), or str, optional
        Labels, or the name of their column; some criteria do without.
    kernels : str or list, optional
        Kernels; a range makes a family, as "gaussian(sigma=0.1..10:20)". Gaussians of 21 widths
        around the median distance when None.
    criteria : str or list of str, optional
        "loo" when None; see ``list_methods("criteria")``.
    map : str, optional
        Feature map to score by; the kernel matrix itself on few rows, else by the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    sample_weight, groups : array of shape (n,), optional
    time_limit : float, optional
        Seconds after which no kernel is begun.
    max_exact, max_memory, n_jobs, random_state, verbose, **reading
        As for `gram`; ``task`` says "regression" or "classification" where the labels do not.

    Returns
    -------
    Report
        `kernels` are complete specs. `rankings` has one for each criterion: criterion, larger
        (whether the larger score is better), scores (score, lambda_, refused), best (number of the
        kernel, or -1). `best` is the best kernel by the first criterion, or None.

    Examples
    --------
    >>> import numpy as np
    >>> import krein
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = X @ [1.0, -2.0]
    >>> krein.select(X, y, kernels=["laplacian(sigma=0.1)", "linear"]).best
    'linear'
    """
    _calls.known(reading, _calls.READING, "select")
    asked = _calls.options(
        c.krein_select_options,
        kernels=_calls.kernel_list(kernels),
        map=map,
        features=features,
        time_limit=time_limit,
        max_exact=max_exact,
        random_state=random_state,
    )
    if criteria is not None:
        names = _calls.texts(criteria, "criteria")
        asked.criteria, asked.ncriteria = names, len(names)
    with _calls.opened(
        X,
        y,
        sample_weight,
        groups,
        n_jobs=n_jobs,
        max_memory=max_memory,
        verbose=verbose,
        **reading,
    ) as (context, data):
        found = _calls.reported(
            context,
            c.krein_select_report,
            lambda report: _lib.krein_select(
                context.handle, data.handle, ctypes.byref(asked), report
            ),
        )
    first = found.rankings[0].best if found.rankings else -1
    found.best = found.kernels[first] if first >= 0 else None
    return found


_MEASURES = {
    "auto": c.KREIN_MEASURE_AUTO,
    "rmse": c.KREIN_MEASURE_RMSE,
    "error": c.KREIN_MEASURE_ERROR,
    "logloss": c.KREIN_MEASURE_LOGLOSS,
    "auc": c.KREIN_MEASURE_AUC,
}


def compare(
    X: Any,
    y: Any = None,
    *,
    learners: Any = None,
    kernels: Any = None,
    maps: Any = None,
    commands: Any = None,
    repeats: Any = None,
    holdout: Any = None,
    measure: str = "auto",
    level: Any = None,
    results: Any = None,
    parallel: Any = None,
    features: Any = None,
    lambda_: Any = None,
    select: Any = None,
    metric: Any = None,
    effort: Any = None,
    clip: Any = None,
    time_limit: Any = None,
    max_exact: Any = None,
    max_memory: Any = None,
    n_jobs: Any = None,
    random_state: Any = None,
    verbose: Any = False,
    **reading: Any,
) -> Report:
    """Several methods on the same seeded splits, with paired tests.

    Parameters
    ----------
    X : array, sparse matrix, frame, file name; or a dict of these
        In a dict the keys name data sets, and a value is X or a pair (X, y).
    y : array of shape (n,), or str, optional
        Labels, or the name of their column; of all sets that bring none.
    learners, kernels, maps : str or list of str, optional
        Methods are all combinations. "default" is what training takes by itself, and so is None. A
        range of a kernel makes a family; "{k1; k2}" are several kernels of one mkl.
    commands : dict of str, optional
        Other programs by name: shell commands with {train}, {test}, {out} and {model}; see
        docs/compare.md.
    repeats : int, optional
        Splits; 30 when None.
    holdout : float, optional
        Part of the rows that a split tests on; 0.3 when None.
    measure : {"auto", "rmse", "error", "logloss", "auc"}
    level : float, optional
        Of the tests; 0.05 when None.
    results : str, optional
        File that every result is appended to, and from which a comparison goes on.
    parallel : int, optional
        Trainings at a time, each on one thread; as many as there are threads when None.
    features, lambda_, select, metric, effort, clip, time_limit
        Of every training, as for the estimators.
    max_exact, max_memory, n_jobs, random_state, verbose, **reading
        As for `select`.

    Returns
    -------
    Report
        `results` has one for each set and method: set, method, mean, sd, half (of the interval of
        the mean), rank, p, best, similar, wins, ties, losses, seconds, cpu, bytes, failures,
        failed, values. `methods` has what holds over all sets: name, rank, p, wins, ties, losses; f, f_p
        and difference are of the Friedman test.

    Examples
    --------
    >>> import krein
    >>> X, y = krein.generate("friedman", 150, random_state=1)
    >>> report = krein.compare(X, y, kernels=["gaussian", "linear"], repeats=5)
    >>> [(result.method, result.best) for result in report.results]
    [('gaussian', 1), ('linear', 0)]
    >>> report.results[0].mean < report.results[1].mean
    True
    """
    _calls.known(reading, _calls.READING, "compare")
    if measure not in _MEASURES:
        raise ArgumentError("`measure` is one of %s, not %r" % (", ".join(_MEASURES), measure))
    asked = _calls.options(
        c.krein_compare_options,
        learners=_calls.kernel_list(learners),
        kernels=_calls.kernel_list(kernels),
        maps=_calls.kernel_list(maps),
        repeats=repeats,
        holdout=holdout,
        level=level,
        parallel=parallel,
        results=None if results is None else os.fspath(results),
    )
    shared = train_options(
        features=features,
        lambda_=lambda_,
        select=select,
        metric=metric,
        effort=effort,
        clip=clip,
        time_limit=time_limit,
        max_exact=max_exact,
        random_state=random_state,
    )
    given = X if isinstance(X, dict) else {"data": X}
    sets = []
    for rows in given.values():
        rows, labels = rows if isinstance(rows, tuple) else (rows, y)
        sets.append(_Rows(rows, labels, dict(reading)))
    names = _calls.texts([str(name) for name in given], "X")
    asked.sets, asked.names = len(sets), names
    if commands:
        shell = _calls.texts(["%s: %s" % pair for pair in commands.items()], "commands")
        asked.commands, asked.ncommands = shell, len(shell)
    asked.measure = _MEASURES[measure]
    asked.open = c.krein_open_fn(lambda user, ctx, i, out: sets[i].open(ctx, out))
    asked.train = ctypes.pointer(shared)
    context = Context(threads_of(n_jobs), bytes_of(max_memory), level_of(verbose))
    context.memory = all(one.view is not None for one in sets)
    report = _calls.reported(
        context,
        c.krein_compare_report,
        lambda report: _lib.krein_compare(context.handle, ctypes.byref(asked), report),
    )
    for result in report.results:
        result.set = report.sets[result.set].name
        result.method = report.methods[result.method].name
    return report


class _Rows:
    """Rows that are opened again for every training, by any thread."""

    def __init__(self, X: Any, y: Any, reading: Dict[str, Any]) -> None:
        self.path = os.fsencode(X) if isinstance(X, (str, bytes, os.PathLike)) else None
        if callable(X) and not hasattr(X, "__array__"):
            raise ArgumentError("a comparison reads its rows many times: give an array or a file")
        y, classes = _calls.labelled(y, reading)
        self.options = _rows.data_options(**reading)
        self.view = None
        if self.path is None:
            if y is not None and y.ndim == 2 and not classes and y.shape[1] > 1:
                self.options.targets = y.shape[1]
            self.view = _rows.View(X, y, None, None, classes, True)
        elif y is not None:
            raise ArgumentError(
                "rows of a file have their labels in its columns: `label` names them"
            )

    def open(self, ctx: Any, out: Any) -> int:
        options = ctypes.byref(self.options)
        if self.view is None:
            return _lib.krein_data_open(ctx, self.path, options, out)
        return _lib.krein_data_from_rows(ctx, ctypes.byref(self.view.view), options, out)


def advise(
    X: Any,
    y: Any = None,
    *,
    kernel: Any = None,
    rows: Any = None,
    sample_weight: Any = None,
    max_exact: Any = None,
    max_memory: Any = None,
    n_jobs: Any = None,
    random_state: Any = None,
    verbose: Any = False,
    **reading: Any,
) -> Report:
    """What learning theory asks for: regularisation, features, landmarks and parts.

    Parameters
    ----------
    X : array, sparse matrix, frame, file name, or callable that returns blocks
    y : array of shape (n,), or str, optional
        Labels, or the name of their column.
    kernel : str or Kernel, optional
        "gaussian" when None. A free scale is the median distance of the rows.
    rows : int, optional
        Rows of the sample; 2,000 when None.
    sample_weight : array of shape (n,), optional
    max_exact, max_memory, n_jobs, random_state, verbose, **reading
        As for `gram`.

    Returns
    -------
    Report
        gamma, decay, r, lambda_, dimension, features, landmarks, parts by theory; sample_lambda,
        practical_lambda, practical_features, practical_parts with the constants of the sample;
        spectrum: the effective dimension at powers of ten.

    Examples
    --------
    >>> import numpy as np
    >>> import krein
    >>> X = np.random.RandomState(0).rand(300, 2)
    >>> report = krein.advise(X, np.sin(3 * X[:, 0]), kernel="gaussian(sigma=1)")
    >>> report.rows, 0 < report.gamma <= 1, report.practical_features > 0
    (300, True, True)
    """
    _calls.known(reading, _calls.READING, "advise")
    asked = _calls.options(
        c.krein_advise_options,
        kernel=kernel,
        rows=rows,
        max_exact=max_exact,
        random_state=random_state,
    )
    with _calls.opened(
        X, y, sample_weight, n_jobs=n_jobs, max_memory=max_memory, verbose=verbose, **reading
    ) as (context, data):
        return _calls.reported(
            context,
            c.krein_advise_report,
            lambda report: _lib.krein_advise(
                context.handle, data.handle, ctypes.byref(asked), report
            ),
        )


_TRAINING = (
    "learner",
    "kernel",
    "map",
    "features",
    "lambda_",
    "kernels",
    "select",
    "metric",
    "effort",
    "clip",
    "max_exact",
    "time_limit",
    "holdout",
    "probabilities",
    "uncertainty",
)


def plan(
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    max_memory: Any = None,
    n_jobs: Any = None,
    random_state: Any = None,
    verbose: Any = False,
    **keywords: Any,
) -> Report:
    """What training would need: memory, operations, passes over the rows. Nothing is trained.

    Parameters
    ----------
    X : array, sparse matrix, frame, file name, or callable that returns blocks
    y : array of shape (n,) or (n, targets), or str, optional
        Labels, or the name of their column.
    sample_weight, groups : array of shape (n,), optional
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    n_jobs, random_state, verbose
        As for `gram`.
    **keywords
        Those of `Regressor` and `Classifier`: learner, kernel, map, features, lambda_, kernels,
        select, metric, effort, clip, max_exact, time_limit, holdout, probabilities, uncertainty;
        and how rows are read, as for `gram`.

    Returns
    -------
    Report
        n, d, D, passes, flops, bytes_peak, fits (whether it is within `max_memory`), advice (what
        would fit, where it does not), learner, kernel, map.

    Examples
    --------
    >>> import numpy as np
    >>> import krein
    >>> X = np.random.RandomState(0).rand(500, 2)
    >>> report = krein.plan(X, X[:, 0], kernel="gaussian", map="rff(D=100)")
    >>> report.n, report.D, bool(report.fits)
    (500, 100, True)
    """
    _calls.known(keywords, _TRAINING + _calls.READING, "plan")
    training = {name: value for name, value in keywords.items() if name in _TRAINING}
    reading = {name: value for name, value in keywords.items() if name not in _TRAINING}
    asked = train_options(random_state=random_state, **training)
    with _calls.opened(
        X,
        y,
        sample_weight,
        groups,
        n_jobs=n_jobs,
        max_memory=max_memory,
        verbose=verbose,
        **reading,
    ) as (context, data):
        return _calls.reported(
            context,
            c.krein_report,
            lambda report: _lib.krein_plan(
                context.handle, data.handle, ctypes.byref(asked), report
            ),
        )


def generate(
    name: str,
    n: int = 1000,
    d: Any = None,
    *,
    noise: Any = None,
    random_state: Any = None,
    n_jobs: Any = None,
    verbose: Any = False,
    **options: Any,
) -> Tuple[np.ndarray, np.ndarray]:
    """Rows of a synthetic data set, the same as the program ``krein generate`` writes.

    Parameters
    ----------
    name : str
        Generator, as "friedman" or "spiral(turns=3)"; see ``list_methods("generators")``.
    n : int
        Number of rows.
    d : int, optional
        Number of inputs; the generator's own when None.
    noise : float, optional
        Standard deviation of the noise; the generator's own when None.
    random_state : int or RandomState, optional
        Seed; 1 when None.
    n_jobs : int, optional
        Threads; all CPUs when None or -1.
    verbose : bool or int, optional
        Progress on standard error.
    **options
        Those of the generator, as turns=3.

    Returns
    -------
    X : array of shape (n, d), float32
    y : array of shape (n,)
        Numbers as float32, or classes as int64. Of "multilabel" a matrix of 0 and 1 with a column
        for each label.

    Examples
    --------
    >>> import krein
    >>> X, y = krein.generate("moons", 100, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 2), [0, 1])
    >>> X, y = krein.generate("spiral", 50, turns=3)
    """
    asked = _calls.options(
        c.krein_generate_options, n=n, d=d, noise=noise, random_state=random_state
    )
    text = _rows.text(spec(str(name), options), "name")
    context = Context(threads_of(n_jobs), verbose=level_of(verbose))
    with _npy() as path:
        context.end(_lib.krein_generate(context.handle, text, ctypes.byref(asked), path))
        rows = np.load(path)
    if str(name).split("(")[0].strip() == "multilabel":
        labels = int(np.argmin(np.isin(rows, (0, 1)).all(axis=0)))  # the inputs are normal
        return np.ascontiguousarray(rows[:, labels:]), rows[:, :labels].astype(np.int64)
    y = rows[:, 0].copy()
    if np.array_equal(y, np.rint(y)):
        y = y.astype(np.int64)
    return np.ascontiguousarray(rows[:, 1:]), y


def fewshot(
    X: Any,
    y: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    *,
    methods: Any,
    class_split: Any = None,
    image: Any = None,
    arch: Any = None,
    output: Any = None,
    checkpoint: Any = None,
    time_limit: Any = None,
    max_memory: Any = None,
    n_jobs: Any = None,
    random_state: Any = None,
    verbose: Any = False,
    **options: Any,
) -> Report:
    """Methods that learn from few examples, measured over many small tasks.

    Parameters
    ----------
    X : array of shape (n, h, w, c) or (n, h, w), or rows with `image`, or file name
        Images. Tasks are drawn of their classes.
    y : array of shape (n,)
        Classes.
    X_test, y_test : optional
        Images of other classes, to measure on; without them the classes of X are divided.
    methods : str or list of str
        "original", "pretrained", "well", "meta", "first-order", "nearest", "matching", "ridge",
        "ntk": see ``list_methods("fewshot")``.
    class_split : tuple of int, optional
        Classes for training, validation and tests.
    image : str or tuple, optional
        Shape of an image, "32x32x3", where X has rows of numbers.
    arch : str, optional
        Network; "convnet(C-32-32-32)" with the images' channels when None.
    output : str or path, optional
        File for the subspace that "meta" learns.
    checkpoint : str or path, optional
        File with the state of the training, from which the same call goes on.
    time_limit : float, optional
        Seconds that all methods share.
    max_memory, n_jobs, random_state, verbose
        As for `gram`.
    **options
        ways, shots, queries, tasks, dimensions, steps, rate, test_steps, meta_steps, meta_tasks,
        meta_rate, meta_queries, epochs, path_epochs, validation_tasks, validate_every: as the
        flags of ``krein fewshot``.

    Returns
    -------
    Report
        ways, shots, queries, classes, parameters, arch; `results` has one for each method (two for
        "nearest"): method, detail, accuracy, sd, interval, tasks, seconds, values, and where there
        are steps on a task step and curve, where something is learned over tasks look_step,
        look_loss, look_accuracy and kept.

    Examples
    --------
    >>> import numpy as np
    >>> import krein
    >>> y = np.repeat(np.arange(15), 6)
    >>> X = np.random.RandomState(0).rand(90, 4, 4) + y[:, None, None]
    >>> report = krein.fewshot(X, y, methods="nearest", ways=3, queries=4, tasks=5, epochs=1,
    ...                        class_split=(6, 4, 5), arch="mlp(8)", validation_tasks=2)
    >>> report.results[0].detail, report.results[0].accuracy > 0.9
    ('pixels', True)
    """
    _calls.known(options, _FEWSHOT, "fewshot")
    asked = _calls.options(
        c.krein_fewshot_options,
        arch=arch,
        output=output,
        checkpoint=checkpoint,
        time_limit=time_limit,
        random_state=random_state,
        **options,
    )
    names = _calls.texts(methods, "methods")
    asked.methods, asked.nmethods = names, len(names)
    for k, count in enumerate(class_split or ()):
        asked.split[k] = count
    reading = {"task": "classification", "image": image}
    with _calls.opened(
        X, y, n_jobs=n_jobs, max_memory=max_memory, verbose=verbose, **reading
    ) as (context, data), contextlib.ExitStack() as rest:
        test = None
        if X_test is not None:
            labels = None if y_test is None else np.asarray(y_test)
            given = _rows.data_options(**reading)
            test = rest.enter_context(
                _rows.Data(context, X_test, labels, classes=True, options=given)
            ).handle
        found = _calls.reported(
            context,
            c.krein_fewshot_report,
            lambda report: _lib.krein_fewshot(
                context.handle, data.handle, test, ctypes.byref(asked), report
            ),
        )
    return found


_FEWSHOT = (
    "ways",
    "shots",
    "queries",
    "tasks",
    "dimensions",
    "steps",
    "rate",
    "test_steps",
    "meta_steps",
    "meta_tasks",
    "meta_rate",
    "meta_queries",
    "epochs",
    "path_epochs",
    "validation_tasks",
    "validate_every",
)


def list_methods(table: Any = None) -> Union[List[Report], Dict[str, List[Report]]]:
    """What there is: kernels, maps, learners, criteria, weighings, solvers, generators, fewshot.

    Parameters
    ----------
    table : str, optional
        One of these; all when None.

    Returns
    -------
    list of Report, or dict of them by table
        Each has name, summary, details, cite, kernels, time, family, alias and options (name, type,
        default_value, range, help, low, high).

    Examples
    --------
    >>> import krein
    >>> [method.name for method in krein.list_methods("learners")][:3]
    ['krr', 'dckrr', 'sskrr']
    >>> krein.list_methods("kernels")[0].options[0].name
    'sigma'
    """
    tables: Dict[str, List[Report]] = {}
    i = 0
    while True:
        entry = _library.sized(c.krein_entry)
        if not _lib.krein_list(i, ctypes.byref(entry)):
            break
        method = read(entry)
        tables.setdefault(method.__dict__.pop("table"), []).append(method)
        method.options = []
        option = _library.sized(c.krein_option_info)
        while _lib.krein_list_option(i, len(method.options), ctypes.byref(option)):
            method.options.append(read(option))
        i += 1
    if table is None:
        return tables
    if table not in tables:
        raise ArgumentError("`table` is one of %s, not %r" % (", ".join(tables), table))
    return tables[table]
