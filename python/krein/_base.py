"""What all estimators do: keywords become specs, rows become data, fits become models.

The classes work without scikit-learn. Where it is installed they are its estimators, regressors and
classifiers.
"""

from __future__ import annotations

import contextlib
import ctypes
import inspect
import os
import types
import warnings
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from . import _context, _library, _rows, _together
from . import _interface as c
from ._context import Context
from ._report import Report, read
from .errors import KEYWORDS, ArgumentError, ArgumentTypeError, MemoryLimitError
from .model import Model, _Asked, coverage_of, named

_lib = _library.library


# ---- scikit-learn, where it is ------------------------------------------------------------------

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.exceptions import DataConversionWarning, NotFittedError

    HAVE_SKLEARN = True
except ImportError:
    HAVE_SKLEARN = False

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """The estimator has not been fitted."""

    class DataConversionWarning(UserWarning):  # type: ignore[no-redef]
        """The labels were brought into another shape."""

    class BaseEstimator:  # type: ignore[no-redef]
        """Keywords as parameters, as in scikit-learn."""

        @classmethod
        def _get_param_names(cls) -> List[str]:
            return sorted(p for p in inspect.signature(cls.__init__).parameters if p != "self")

        def get_params(self, deep: bool = True) -> Dict[str, Any]:
            """The keywords and their values."""
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params: Any) -> Any:
            """Changes keywords."""
            known = self._get_param_names()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(
                        "Invalid parameter %r for estimator %r. Valid parameters are: %r."
                        % (name, self, known)
                    )
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            given = [
                "%s=%r" % (name, getattr(self, name))
                for name, p in inspect.signature(type(self).__init__).parameters.items()
                if name != "self" and getattr(self, name) is not p.default
            ]
            return "%s(%s)" % (type(self).__name__, ", ".join(given))

    class RegressorMixin:  # type: ignore[no-redef]
        _estimator_type = "regressor"

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """The coefficient of determination of the predictions."""
            y, p = np.asarray(y, dtype=float), self.predict(X)  # type: ignore[attr-defined]
            w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
            y, p = y.reshape(len(y), -1), p.reshape(len(y), -1)
            mean = np.average(y, axis=0, weights=w)
            lost = ((y - p) ** 2 * w[:, None]).sum(0) / ((y - mean) ** 2 * w[:, None]).sum(0)
            return float(np.mean(1 - lost))

    class ClassifierMixin:  # type: ignore[no-redef]
        _estimator_type = "classifier"

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """The share of rows whose class is predicted."""
            right = self.predict(X) == np.asarray(y)  # type: ignore[attr-defined]
            return float(np.average(right, weights=sample_weight))


class available:
    """A method that is there only where `check` says so, for hasattr."""

    def __init__(self, check: Callable[[Any], Optional[str]]) -> None:
        self.check = check
        self.function: Any = None

    def __call__(self, function: Any) -> "available":
        self.function = function
        self.__doc__ = function.__doc__
        return self

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self.function
        problem = self.check(instance)
        if problem:
            raise AttributeError(problem)
        return types.MethodType(self.function, instance)


# ---- keywords for the library -------------------------------------------------------------------


def spec(name: str, options: Dict[str, Any]) -> str:
    """name(key=value, ...) of the options that are not None."""
    parts = []
    for key, value in options.items():
        if value is None:
            continue
        if isinstance(value, (bool, np.bool_)):
            value = "yes" if value else "no"
        elif isinstance(value, (float, np.floating)):
            value = repr(float(value))
        elif isinstance(value, str) and "(" in value and '"' not in value:
            value = '"%s"' % value  # a spec inside a spec
        parts.append("%s=%s" % (key, value))
    return "%s(%s)" % (name, ", ".join(parts)) if parts else name


def seed_of(random_state: Any) -> Optional[int]:
    """The seed of the keyword `random_state`."""
    if random_state is None:
        return None
    if isinstance(random_state, (bool, np.bool_)):
        raise ArgumentError("`random_state` is a whole number, not %r" % (random_state,))
    seed = _context.whole(random_state)
    if seed is not None:
        if not 0 <= seed < 2**64:
            raise ArgumentError("`random_state` is at least 0 and less than 2**64, not %d" % seed)
        return seed
    draw = getattr(random_state, "randint", None) or getattr(random_state, "integers", None)
    if draw is None:
        raise ArgumentTypeError(
            "`random_state` is a whole number, RandomState or Generator, not %s"
            % type(random_state).__name__
        )
    return int(draw(2**31 - 1))


_NUMBERS = {
    "features": int,
    "lambda": float,
    "max_exact": int,
    "time_limit": float,
    "holdout": float,
    "effort": float,
    "clip": float,
    "components": int,
    "clusters": int,
    "neighbours": int,
    "restarts": int,
    "rows": int,
    "repeats": int,
    "level": float,
    "parallel": int,
    "n": int,
    "d": int,
    "noise": float,
    "ways": int,
    "shots": int,
    "queries": int,
    "tasks": int,
    "dimensions": int,
    "steps": int,
    "test_steps": int,
    "meta_steps": int,
    "meta_tasks": int,
    "meta_queries": int,
    "epochs": int,
    "path_epochs": int,
    "validation_tasks": int,
    "validate_every": int,
    "rate": float,
    "meta_rate": float,
    "record_dimensions": int,
    "record_every": int,
    "record_epochs": int,
}
_POSITIVE = ("features", "time_limit", "effort", "clip")


def number(name: str, value: Any) -> Any:
    """A keyword that is a number."""
    keyword = KEYWORDS.get(name, name)
    kind = _NUMBERS[name]
    if isinstance(value, (bool, np.bool_)) or np.ndim(value) > 0:
        raise ArgumentTypeError("`%s` is a number, not %r" % (keyword, value))
    try:
        made = kind(value)
    except Exception:  # whatever __int__ or __float__ of the object raises
        raise ArgumentTypeError("`%s` is a number, not %r" % (keyword, value)) from None
    if kind is int and (made != value or abs(made) >= 2**63):
        raise ArgumentError("`%s` is a whole number, not %r" % (keyword, value))
    if name == "lambda" and not made >= 0:
        raise ArgumentError("`lambda_` is a number of at least 0, or None, not %r" % (value,))
    if name in _POSITIVE and not made > 0:  # 0 is the library's word for None
        raise ArgumentError("`%s` is a number above 0, or None, not %r" % (keyword, value))
    return made


def train_options(
    kernels: Any = None,
    random_state: Any = None,
    probabilities: Any = None,
    uncertainty: Any = None,
    **given: Any,
) -> Any:
    """A krein_train_options of keywords; those that are None keep the library's default."""
    made = _library.options(c.krein_train_options)
    for name, value in given.items():
        if value is None:
            continue
        name = {"lambda_": "lambda"}.get(name, name)
        if name in _NUMBERS:
            setattr(made, name, number(name, value))
        else:
            setattr(made, name, _rows.text(value, name))
    if kernels is not None:
        if not isinstance(kernels, str) and hasattr(kernels, "__iter__"):
            kernels = "; ".join(str(kernel) for kernel in kernels)
        made.kernels = _rows.text(kernels, "kernels")
    seed = seed_of(random_state)
    if seed is not None:
        made.seed = seed
    made.probabilities = int(bool(probabilities))
    made.uncertainty = int(bool(uncertainty))
    return made


CLASSES = ("classification", "multilabel")  # tasks whose labels are names


def _remove(checkpoint: Optional[bytes]) -> None:
    """The state of a training that is done."""
    if checkpoint is not None:
        with contextlib.suppress(OSError):
            os.remove(checkpoint)


def train(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    task: str = "auto",
    n_jobs: Any = None,
    max_memory: Any = None,
    verbose: Any = False,
    comm: Any = None,
    scale: Any = None,
    missing: Any = None,
    categories: Any = None,
    unknown: Any = None,
    types: Any = None,
    image: Any = None,
    **options: Any,
) -> Tuple[Model, Report]:
    """krein_train of rows. Texts as y, sample_weight and groups name columns of a file or frame.
    With comm, a communicator or _together.Others, the rows are those of this process."""
    columns: Dict[str, Any] = {}
    if isinstance(y, str):
        columns["label"], y = y, None
    if isinstance(sample_weight, str):
        columns["weights"], sample_weight = sample_weight, None
    if isinstance(groups, str):
        columns["group"], groups = groups, None
    asked = train_options(**options)
    given = _rows.data_options(
        task=task,
        scale=scale,
        missing=missing,
        categories=categories,
        unknown=unknown,
        types=types,
        image=image,
        **columns,
    )
    if isinstance(y, np.ndarray) and y.ndim == 2 and task == "regression":
        given.targets = y.shape[1]
    handle, report = ctypes.c_void_p(), _library.sized(c.krein_report)
    with _together.of(comm) as others:
        context = Context(
            _context.threads_of(n_jobs), _context.bytes_of(max_memory), _context.level_of(verbose)
        )
        context.fit = True
        given.own_rows = int(others.on and not isinstance(X, (str, bytes, os.PathLike)))
        with _rows.Data(
            context, X, y, sample_weight, groups, classes=task in CLASSES, options=given
        ) as data:
            others.begin(context)
            asked.seed = others.first(asked.seed)
            try:
                status = _lib.krein_train(
                    context.handle,
                    data.handle,
                    ctypes.byref(asked),
                    ctypes.byref(report),
                    ctypes.byref(handle),
                )
                model = Model._made(context, handle, status)
                _remove(asked.checkpoint)
                return model, read(report)
            finally:
                _lib.krein_report_clear(context.handle, ctypes.byref(report))
                others.end(context)


# ---- what fit is given --------------------------------------------------------------------------


def is_stream(X: Any) -> bool:
    """A file, or a function that returns blocks."""
    if hasattr(X, "__next__"):
        raise ArgumentTypeError(
            "X is an iterator, which can be read only once: give a function that returns one"
        )
    return isinstance(X, (str, bytes, os.PathLike)) or (
        callable(X) and not hasattr(X, "__array__") and not _rows.is_frame(X)
    )


def as_column(y: Any) -> np.ndarray:
    """Labels of one column."""
    array = np.asarray(y)
    if array.dtype.kind == "c":
        raise ArgumentError("Complex data not supported: `y`")
    if array.ndim == 2 and array.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=_context._caller(),
        )
        return array.ravel()
    if array.ndim != 1:
        raise ArgumentError(
            "y should be a 1d array, got an array of shape %s instead." % (array.shape,)
        )
    return array


def as_classes(y: Any, unlabelled: bool = False) -> Tuple[np.ndarray, np.ndarray]:
    """Labels as whole numbers, floats or texts, and the distinct ones, sorted. Missing ones (NaN,
    None) are allowed where `unlabelled`."""
    array = as_column(y)
    gone = np.zeros(len(array), dtype=bool)
    if array.dtype.kind == "f":
        gone = np.isnan(array)
        if np.isinf(array).any() or (gone.any() and not unlabelled):
            raise ArgumentError("Input y contains NaN or infinity.")
        if not np.array_equal(array[~gone], np.rint(array[~gone])):
            raise ArgumentError(
                "Unknown label type: continuous. The labels of a classifier are classes: texts or "
                "whole numbers; for numbers use a regressor."
            )
    elif array.dtype.kind == "O":
        gone = np.array([_rows._missing(value) for value in array], dtype=bool)
        if gone.any() and not unlabelled:
            raise ArgumentError("Input y contains NaN.")
        kinds = {type(value) for value in array[~gone]}
        if all(issubclass(kind, (bool, int, np.integer, np.bool_)) for kind in kinds) and kinds:
            if gone.any():
                return as_classes(np.where(gone, np.nan, array).astype(np.float64), True)
            array = array.astype(np.int64)
        elif not all(issubclass(kind, (str, bytes)) for kind in kinds):
            if all(issubclass(kind, (int, float, np.number)) for kind in kinds):
                array = np.where(gone, np.nan, array).astype(np.float64)
                return as_classes(array, unlabelled)
            raise ArgumentTypeError(
                "Unknown label type: %s. The labels of a classifier are texts or whole numbers."
                % ", ".join(sorted(kind.__name__ for kind in kinds))
            )
    elif array.dtype.kind not in "biuUS":
        raise ArgumentTypeError("Unknown label type: %s" % (array.dtype,))
    return array, np.unique(array[~gone])


def as_targets(y: Any, unlabelled: bool = False) -> np.ndarray:
    """Targets as doubles, one or several a row."""
    array = _rows.numbers(y, "y", (1, 2))
    if np.isinf(array).any() or (np.isnan(array).any() and not unlabelled):
        raise ArgumentError("Input y contains NaN or infinity.")
    return array


def weighed(X: Any, y: Any, sample_weight: Any, groups: Any) -> Tuple[Any, Any, Any, Any]:
    """Rows of weight 0 are as if they were not there, and weights that are all 1 as if none were
    given. The rows of a memory map are left as they are, for the library to skip."""
    if sample_weight is None or isinstance(sample_weight, str) or is_stream(X):
        return X, y, sample_weight, groups
    array = np.asarray(sample_weight)
    if array.ndim > 1:
        raise ArgumentError("Sample weights must be 1D array or scalar")
    if array.ndim == 0:
        n = _rows.as_table(X).shape[0]
        try:
            array = np.full(n, _rows.numbers(array, "sample_weight", (0,)))
        except MemoryError:
            raise MemoryLimitError("`sample_weight`: no memory for %d numbers" % n) from None
    weights = _rows.numbers(array, "sample_weight")
    if np.all(weights == 1):
        _same_length(X, weights)
        return X, y, None, groups
    if np.all(weights) or isinstance(X, np.memmap):
        return X, y, weights, groups
    X = _rows.as_table(X)
    _same_length(X, weights)
    kept = np.flatnonzero(weights)
    if len(kept) == 0:
        raise ArgumentError("`sample_weight`: all weights are zero")
    try:
        X = X.iloc[kept] if _rows.is_frame(X) else (X.tocsr() if _rows.is_sparse(X) else X)[kept]
    except MemoryError as problem:
        raise _rows.no_memory(problem) from None
    y, groups = (
        v if v is None or isinstance(v, str) or len(v) != len(weights) else np.asarray(v)[kept]
        for v in (y, groups)
    )
    return weighed(X, y, weights[kept], groups)


def _same_length(X: Any, weights: np.ndarray) -> None:
    n = _rows.as_table(X).shape[0]
    if n != len(weights):
        raise ArgumentError(
            "Found input variables with inconsistent numbers of samples: X has %d rows, "
            "`sample_weight` %d" % (n, len(weights))
        )


# ---- the classes --------------------------------------------------------------------------------

# Checks of scikit-learn that no estimator which tunes itself can pass, and why.
_REPEATED = (
    "leave-one-out leaves out a row with all its weight, but only one of several equal rows, and "
    "the default map depends on the number of rows"
)
EXPLAINED = {
    "check_sample_weight_equivalence_on_dense_data": _REPEATED,
    "check_sample_weight_equivalence_on_sparse_data": _REPEATED,
}


class BaseKrein(BaseEstimator):
    """Fit and prediction of all estimators that train a model."""

    _learner: Optional[str] = None  # of a class for one learner
    _options: Tuple[str, ...] = ()  # keywords that are options of that learner
    _renamed: Dict[str, str] = {}  # those of them that have another name there
    _kernels: Optional[str] = None  # where neither kernel nor kernels are given
    _explained: Dict[str, str] = {}  # further checks that the class cannot pass
    _task: str = "auto"

    def _spec(self) -> Optional[str]:
        """The spec of the learner."""
        if self._learner is None:
            learner = getattr(self, "learner", None)
            return None if learner is None else str(learner)
        options = {self._renamed.get(name, name): getattr(self, name) for name in self._options}
        method = options.get("method")
        if isinstance(method, str) and method.endswith(")") and "(" in method:
            # easymkl(lambda=0.2): options of a weighing stand beside it
            name, inside = method[:-1].split("(", 1)
            options["method"] = name.strip() + (", " + inside if inside.strip() else "")
        return spec(self._learner, options)

    def _described(self) -> Any:
        """What the tables know of the learner, or None."""
        from ._tables import TABLES

        name = (self._spec() or "krr").split("(")[0].strip()
        return TABLES["learners"].get(name)

    def _keywords(self) -> Dict[str, Any]:
        """Everything for `train`."""
        given = self.get_params(deep=False)
        for name in self._options:
            given.pop(name, None)
        given["learner"] = self._spec()
        given["probabilities"] = False
        if given["kernel"] is None and given["kernels"] is None:
            given["kernels"] = self._kernels
        return given

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, others: Any) -> None:
        if not is_stream(X):
            self._take_names(X, first=True, few=others.on)
        keywords = self._keywords()
        keywords["comm"] = others
        model, report = train(X, y, sample_weight, groups, task=self._task, **keywords)
        self.model_ = model
        self.report_ = report
        self.n_features_in_ = model.n_features_in
        self.kernel_, self.map_, self.learner_ = model.kernel, model.map, model.learner
        self.regularization_ = model.lambda_
        factors = model.arrays.get("encoding.metric")
        self.importances_ = None if factors is None else np.array(factors).ravel()
        if is_stream(X) or isinstance(y, str) or others.on:
            self._take_columns(model.columns)

    # ---- names and numbers of columns ----

    def _take_columns(self, columns: Optional[List[str]]) -> None:
        if columns is not None:
            self.feature_names_in_ = np.array(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _take_names(self, X: Any, first: bool, few: bool = False) -> Any:
        """The rows as a table whose columns are those of the fit. few: other processes have
        more."""
        X = _rows.as_table(X)
        names = _rows.column_names(X)
        n, d = X.shape
        if n == 0 and not few:
            raise _rows._too_few(n, "sample", X.shape)
        if first and n == 1 and not few:
            raise ArgumentError(
                "%s needs at least 2 rows, and there is one sample (n_samples=1)."
                % type(self).__name__
            )
        if first:
            self._take_columns(names)
            return X
        known = getattr(self, "feature_names_in_", None)
        if known is None and names is not None:
            self._warn("X has feature names, but %s was fitted without feature names")
        elif known is not None and names is None:
            self._warn("X does not have valid feature names, but %s was fitted with feature names")
        elif known is not None and names is not None and list(known) != names:
            raise ArgumentError(_names_differ(list(known), names))
        if d != self.n_features_in_:
            raise ArgumentError(
                "X has %d features, but %s is expecting %d features as input."
                % (d, type(self).__name__, self.n_features_in_)
            )
        return X

    def _warn(self, text: str) -> None:
        warnings.warn(text % type(self).__name__, UserWarning, stacklevel=_context._caller())

    # ---- prediction ----

    def _fitted(self) -> Model:
        model = self.__dict__.get("model_")
        if model is None:
            raise NotFittedError(
                "This %s instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator." % type(self).__name__
            )
        return model

    def novelty(self, X: Any) -> np.ndarray:
        """How far rows are from those trained on; above 1: farther than 99 % of these are from the
        others. For kernel ridge regression with `uncertainty=True`.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks

        Returns
        -------
        array of shape (n,)
        """
        return self._predicted(X, _Asked(("novelty",))).ravel()

    def _predicted(self, X: Any, wanted: Any) -> np.ndarray:
        model = self._fitted()
        if not is_stream(X):
            X = self._take_names(X, first=False)
        most = self.max_memory  # type: ignore[attr-defined]
        return model._results(
            X,
            wanted,
            _context.threads_of(self.n_jobs),  # type: ignore[attr-defined]
            0 if most is None else _context.bytes_of(most),
        )

    def _more_tags(self) -> Dict[str, Any]:
        return {
            "allow_nan": True,
            "X_types": ["2darray", "sparse"],
            "_xfail_checks": self._expected_failed_checks(),
        }

    def _expected_failed_checks(self) -> Dict[str, str]:
        """For `check_estimator(..., expected_failed_checks=...)` of scikit-learn 1.6 and later."""
        return {**EXPLAINED, **self._explained}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    def __getstate__(self) -> Dict[str, Any]:
        """Everything but the communicator, which is of the running processes."""
        inherited = getattr(super(), "__getstate__", None)
        state = dict((inherited() if inherited else self.__dict__) or {})
        if "comm" in state:
            state["comm"] = None
        return state


def _names_differ(known: List[str], given: List[str]) -> str:
    """In scikit-learn's words."""
    unexpected = sorted(set(given) - set(known))
    missing = sorted(set(known) - set(given))

    def listed(names: List[str]) -> str:
        shown = "".join("- %s\n" % name for name in names[:5])
        return shown + ("- ...\n" if len(names) > 5 else "")

    text = "The feature names should match those that were passed during fit.\n"
    if unexpected:
        text += "Feature names unseen at fit time:\n" + listed(unexpected)
    if missing:
        text += "Feature names seen at fit time, yet now missing:\n" + listed(missing)
    if not missing and not unexpected:
        text += "Feature names must be in the same order as they were in fit.\n"
    return text


def _evaluated(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Optional[Report]:
    """The errors on rows whose labels are in a column of a file or frame, or in blocks; None where
    they are in an array."""
    _need_labels(estimator, X, y)
    if not is_stream(X) and not isinstance(y, str):
        return None
    columns = {"label": y, "weights": sample_weight}
    if callable(X) and (y is not None or sample_weight is not None):
        raise ArgumentError("blocks of rows bring their labels and weights: (X, y, w)")
    for name, value in columns.items():
        if value is not None and not isinstance(value, str):
            raise ArgumentError(
                "rows whose labels are in a column have their weights there too: `y` and "
                "`sample_weight` are names"
            )
    given = {name: value for name, value in columns.items() if value is not None}
    return estimator._fitted()._errors(X, None, None, estimator.n_jobs, given, fit=True)


def _need_labels(estimator: Any, X: Any, y: Any) -> None:
    if y is None and not is_stream(X):
        raise ArgumentError(
            "This %s estimator requires y to be passed, but the target y is None."
            % type(estimator).__name__
        )


class BaseRegressor(RegressorMixin, BaseKrein):
    """An estimator for numbers."""

    _task = "regression"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Any:
        """Trains on rows.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks
            The callable returns a fresh iterator of (X, y) or (X, y, sample_weight). Arrays of
            float32 and float64, memory maps, CSR matrices and columns of frames are not copied.
        y : array of shape (n,) or (n, targets), or str
            Targets, or the name of their column in the file or frame. Blocks bring them.
        sample_weight : array of shape (n,), or str
        groups : array of shape (n,), or str
            Rows of one group stay together in cross-validation.

        Returns
        -------
        self
        """
        with _together.of(getattr(self, "comm", None)) as others:
            _need_labels(self, X, y)
            if not others.on:
                X, y, sample_weight, groups = weighed(X, y, sample_weight, groups)
            if y is not None and not isinstance(y, str):
                known = self._described()
                y = as_targets(y, known is not None and known.unlabelled)
            self._fit(X, y, sample_weight, groups, others)
        return self

    def predict(self, X: Any, return_std: Any = False) -> Any:
        """Predicts the targets of rows.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks
        return_std : bool or "mean"
            Also the standard deviation of a new observation at each row; "mean": without the
            noise. Needs `uncertainty=True`.

        Returns
        -------
        array of shape (n,) or (n, targets), or two of them
        """
        if isinstance(return_std, str) and return_std != "mean":
            raise ArgumentError('`return_std` is True, False or "mean", not %r' % (return_std,))
        if not return_std:
            values = self._predicted(X, "scores")
            return values.ravel() if values.shape[1] == 1 else values
        asked = _Asked(("scores", "std"), 0.0, isinstance(return_std, str))
        both = self._predicted(X, asked)
        k = both.shape[1] // 2
        return (both[:, 0], both[:, 1]) if k == 1 else (both[:, :k], both[:, k:])

    def predict_interval(self, X: Any, interval: float = 0.9) -> np.ndarray:
        """Bounds between which a share `interval` of new labels lies. Needs `uncertainty=True`.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks
        interval : float
            The coverage, between 0 and 1.

        Returns
        -------
        array of shape (n, 2) or (n, targets, 2)
            The lower and the upper bound.
        """
        both = self._predicted(X, _Asked(("lower", "upper"), coverage_of(interval)))
        k = both.shape[1] // 2
        return both if k == 1 else np.stack((both[:, :k], both[:, k:]), axis=2)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The coefficient of determination of the predictions.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks
        y : array, or str
            Labels, or the name of their column in the file or frame. Blocks bring them.
        sample_weight : array of shape (n,), or str

        Returns
        -------
        float
        """
        report = _evaluated(self, X, y, sample_weight)
        if report is not None:
            return float(report.r2)
        return super().score(X, y, sample_weight)

    def _more_tags(self) -> Dict[str, Any]:
        return {**super()._more_tags(), "multioutput": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _without_probabilities(self: Any) -> Optional[str]:
    model = self.__dict__.get("model_")
    have = model._probabilities if model is not None else self._wants_probabilities()
    if have:
        return None
    return "this %s has no predict_proba; `probabilities=True` makes it" % type(self).__name__


class BaseClassifier(ClassifierMixin, BaseKrein):
    """An estimator for classes."""

    _task = "classification"

    def _learns_labels(self) -> bool:
        known = self._described()
        return known is not None and "multilabel" in known.tasks

    def _more_tags(self) -> Dict[str, Any]:
        return {**super()._more_tags(), "multilabel": self._learns_labels()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._learns_labels()
        return tags

    def _wants_probabilities(self) -> bool:
        asked = getattr(self, "probabilities", None)
        if getattr(self, "uncertainty", None):
            return True
        if asked is not None:
            return bool(asked)
        known = self._described()
        return known is not None and known.probabilities == "always"

    def _keywords(self) -> Dict[str, Any]:
        return {**super()._keywords(), "probabilities": self._wants_probabilities()}

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        multilabel: bool = False,
    ) -> Any:
        """Trains on rows.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks
            The callable returns a fresh iterator of (X, y) or (X, y, sample_weight). Arrays of
            float32 and float64, memory maps, CSR matrices and columns of frames are not copied.
        y : array of shape (n,), or str
            Classes (texts or whole numbers), or the name of their column in the file or frame.
            Blocks bring them. Several labels a row are a matrix of 0 and 1 of shape (n, labels).
        sample_weight : array of shape (n,), or str
        groups : array of shape (n,), or str
            Rows of one group stay together in cross-validation.
        multilabel : bool
            The rows have several labels: texts in the column of a file or frame, with | or blanks
            between the names, or a list of sets of names as y. A matrix y says so itself.

        Returns
        -------
        self
        """
        classes: Any = None
        sets = bool(multilabel) or (not isinstance(y, str) and _rows.is_indicator(y))
        self._task = "multilabel" if sets else "classification"
        with _together.of(getattr(self, "comm", None)) as others:
            _need_labels(self, X, y)
            if sets and y is not None and not isinstance(y, str):
                y, classes = _rows.label_sets(y)
            if not others.on:
                X, y, sample_weight, groups = weighed(X, y, sample_weight, groups)
            if not sets and y is not None and not isinstance(y, str):
                described = self._described()
                y, classes = as_classes(y, described is not None and described.unlabelled)
                if len(classes) < 2 and not others.on:
                    raise ArgumentError(
                        "%s needs rows of at least 2 classes, but the labels have only one class: "
                        "%r" % (type(self).__name__, classes.tolist()[0] if len(classes) else None)
                    )
            elif (
                isinstance(y, str)
                and not sets
                and _rows.is_frame(X)
                and y in X.columns
                and not others.on
            ):
                told = np.asarray(X[y])
                classes = np.unique(told) if told.dtype.kind == "b" else None
            self._fit(X, y, sample_weight, groups, others)
            if not sets:
                classes = others.union(classes)
        known = self.model_.classes
        if sets:
            self.classes_ = known if classes is None else classes
            return self
        self.classes_ = known if classes is None else _same_classes(known, classes)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predicts the classes of rows.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks

        Returns
        -------
        array of shape (n,), or (n, labels) of 0 and 1 where rows have several labels
        """
        if self._several():
            return self._columns_of(self._predicted(X, "label_sets").astype(np.int64), 0)
        labels = self._predicted(X, "labels")
        return named(labels, self.classes_)  # type: ignore[arg-type]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows whose class, or whole set of labels, is predicted.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks
        y : array, or str
            Labels, or the name of their column in the file or frame. Blocks bring them.
        sample_weight : array of shape (n,), or str

        Returns
        -------
        float
        """
        report = _evaluated(self, X, y, sample_weight)
        if report is not None:
            return float(report.subset_accuracy if self._several() else report.accuracy)
        return super().score(X, y, sample_weight)

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of rows: one a row for two classes (above 0: the second), else one a class.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks

        Returns
        -------
        array of shape (n,) or (n, classes)
        """
        scores = self._predicted(X, "scores")
        if self._several():
            return self._columns_of(scores, -1)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def _several(self) -> bool:
        """Rows have several labels."""
        return self._fitted().task == "multilabel"

    def _columns_of(self, values: np.ndarray, absent: float) -> np.ndarray:
        """Columns of the model's labels as columns of `classes_`; no training row had the others."""
        known = self._fitted().classes
        if values.shape[1] == len(self.classes_):
            return values
        out = np.full((len(values), len(self.classes_)), absent, dtype=values.dtype)
        out[:, np.asarray(known).astype(int)] = values  # type: ignore[arg-type]
        return out
    def predict_set(self, X: Any, interval: float = 0.9) -> np.ndarray:
        """Which classes are in a set that has the right one in a share `interval` of new rows. Needs
        `uncertainty=True`.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks
        interval : float
            The coverage, between 0 and 1.

        Returns
        -------
        array of bool of shape (n, classes)
            In the order of `classes_`.
        """
        return self._predicted(X, _Asked(("sets",), coverage_of(interval))) > 0

    @available(_without_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, in the order of `classes_`.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks

        Returns
        -------
        array of shape (n, classes), whose rows add up to 1, or (n, labels), each for itself
        """
        return self._columns_of(self._predicted(X, "probabilities"), 0)

    @available(_without_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


def _same_classes(known: Any, classes: np.ndarray) -> np.ndarray:
    """The caller's classes in the model's order, which is theirs: both are sorted."""
    told = classes.astype(known.dtype) if known.dtype.kind in "if" else classes.astype(str)
    if classes.dtype.kind == "S":
        told = np.array([value.decode("utf-8", "replace") for value in classes])
    if len(told) != len(known) or not np.array_equal(told, known):
        raise ArgumentError("the labels %r became the classes %r" % (classes, known))
    return classes
