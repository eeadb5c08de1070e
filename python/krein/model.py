"""Models: what training makes, and what a model file holds."""

from __future__ import annotations

import ctypes
import os
import re
import types
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _context, _library, _rows
from . import _interface as c
from ._context import Context, _Callback, _keep, _start
from ._report import Report, _WORDS, copied, read
from .errors import ArgumentError, ArgumentTypeError, DataError, KreinError
from .page import Page

_lib = _library.library
_predict_into = _lib.krein_predict_into
_data_from_rows = _lib.krein_data_from_rows
_data_close = _lib.krein_data_close
_ARRAYS_SIZE = ctypes.sizeof(c.krein_prediction_arrays)
_DTYPES = {
    c.KREIN_TYPE_BYTES: np.int8,
    c.KREIN_TYPE_I32: np.int32,
    c.KREIN_TYPE_I64: np.int64,
    c.KREIN_TYPE_F32: np.float32,
    c.KREIN_TYPE_F64: np.float64,
}


def _text(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode("utf-8", "replace")


class _Memory:
    """Memory of a model as an array, which keeps the model alive and must not be written to."""

    def __init__(self, model: "Model", array: Any) -> None:
        self.model = model
        dtype = np.dtype(_DTYPES[array.type])
        self.__array_interface__ = {
            "version": 3,
            "typestr": dtype.str,
            "shape": (array.rows, array.columns),
            "data": (array.at, True),
        }


class _Asked(NamedTuple):
    """Several arrays of a prediction, side by side as numbers."""

    names: Tuple[str, ...]  # fields of krein_prediction_arrays
    interval: float = 0.0
    of_mean: bool = False


def coverage_of(interval: Any) -> float:
    """A keyword that is the coverage of intervals."""
    try:
        made = float(interval)
    except Exception:
        raise ArgumentTypeError("`interval` is a number, not %r" % (interval,)) from None
    if not 0 < made < 1:
        raise ArgumentError("`interval` is the coverage, between 0 and 1, not %r" % (interval,))
    return made


class Arrays(Mapping[str, np.ndarray]):
    """The arrays of a model by name, as the C interface names them: weights, landmarks, ...

    They are not copied, and cannot be written to.
    """

    def __init__(self, model: "Model") -> None:
        self._model = model
        names: List[str] = []
        while True:
            name = _lib.krein_model_array_name(model._handle, len(names))
            if name is None:
                break
            names.append(name.decode("utf-8", "replace"))
        self._names = names

    def __getitem__(self, name: str) -> np.ndarray:
        array = c.krein_array()
        found = isinstance(name, str) and _lib.krein_model_array(
            self._model._handle, name.encode("utf-8", "replace"), ctypes.byref(array)
        )
        if not found:
            raise KeyError(name)
        if not array.at or array.rows * array.columns == 0:
            return np.zeros((array.rows, array.columns), dtype=_DTYPES[array.type])
        return np.asarray(_Memory(self._model, array))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return "Arrays(%s)" % ", ".join("%s: %s" % (k, v.shape) for k, v in self.items())


class Model:
    """A trained model, or a fitted feature map. It never changes, and any number of threads may use
    it at once.

    Models come from `krein.load`, from `Model.from_bytes` and from the attribute ``model_`` of a
    fitted estimator. They can be pickled.

    Attributes
    ----------
    task : str
        "regression", "classification", "multilabel" (several labels a row) or "auto" (a feature
        map).
    learner, kernel, map : str
        Complete specs: given to an estimator, they make such a model again.
    lambda_ : float
        Regularisation; NaN where the learner has none.
    classes : ndarray or None
        Classes, or labels, in the order of the columns of `predict_proba`.
    columns : list of str or None
        Names of the inputs.
    n_features_in : int
        Number of inputs of a row.
    notes : list of str
        What was decided about the columns at training.
    encoded_names : list of str
        Names of the encoded inputs; inputs without a name are x0, x1, ...
    ranges : ndarray
        Least and greatest value of each input in the training rows, one row an input; NaN for inputs
        that are texts, and in models of versions before 0.3.
    candidates : list of Report
        What was tried before the training: kernel, map, learner, metric, rows, error.
    searched : list of Report
        Values of free kernel parameters that were tried: kernel, parameter, criterion, metric, rows,
        value, lambda, score. Values of lambda are in `arrays`, path.lambda and path.error.
    facts : dict
        What the fitted map tells of itself.
    arrays : Mapping
        Weights, landmarks, frequencies and the encoding, by name.
    """

    def __init__(self, handle: int, context: Context) -> None:
        self._handle: Optional[int] = handle
        self._context = context
        context.hold()
        info = _library.sized(c.krein_model_info)
        _lib.krein_model_describe(handle, ctypes.byref(info))
        self._refuses_dense = False
        self._outputs: int = info.outputs
        self._probabilities = bool(info.probabilities)
        self.task: str = _WORDS["task"][info.task]
        self.learner = _text(info.learner)
        self.kernel = _text(info.kernel)
        self.map = _text(info.map)
        self.lambda_: float = getattr(info, "lambda")
        self.n_features_in: int = info.inputs
        self.columns = self._columns(info.inputs)
        self.classes = self._classes(info.classes)
        self._info = self._described(info)

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None:
            _lib.krein_model_destroy(handle)
            self._context.drop()

    # ---- files ----

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "Model":
        """The model of a file that `save` or the program ``krein`` wrote."""
        context, handle = Context(), ctypes.c_void_p()
        status = _lib.krein_model_load(context.handle, os.fsencode(path), ctypes.byref(handle))
        return cls._made(context, handle, status)

    @classmethod
    def from_bytes(cls, data: Any) -> "Model":
        """The model of the bytes of a model file."""
        context, handle = Context(), ctypes.c_void_p()
        data = bytes(data)
        status = _lib.krein_model_load_memory(context.handle, data, len(data), ctypes.byref(handle))
        return cls._made(context, handle, status)

    @classmethod
    def _made(cls, context: Context, handle: Any, status: int) -> "Model":
        """The model of a call that has just returned, or its exception."""
        if not handle.value:
            context.end(status)
            raise ArgumentError("no model was made")
        model = cls(handle.value, context)
        context.end(status)
        return model

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the model to a file, which the program ``krein`` reads too."""
        context = _context.take()
        try:
            context.end(_lib.krein_model_save(context.handle, self._handle, os.fsencode(path)))
        finally:
            _context.give(context)

    def export(self, path: Union[str, "os.PathLike[str]"], name: str = "model",
               header: Optional[Union[str, "os.PathLike[str]"]] = None, libm: bool = True,
               stored: bool = False) -> None:
        """Writes the model as one C99 file with ``int NAME_predict(const float *x, float *scores)``.

        ``x`` has the input columns in their order, categories by the number that the comment at the top of the file gives
        them, missing values as NaN. ``header`` names a header file to write as well; without ``libm`` the program does
        not use math.h. Frequencies that a seed gives are drawn again for every row where that takes less room; ``stored``
        keeps them as constants, which is faster. A model that cannot be written so raises.
        """
        options = c.krein_export_options(size=ctypes.sizeof(c.krein_export_options))
        options.name, options.no_libm, options.stored = name.encode(), not libm, stored
        options.header = os.fsencode(header) if header is not None else None
        context = _context.take()
        try:
            context.end(_lib.krein_model_export(context.handle, self._handle, os.fsencode(path),
                                                ctypes.byref(options), None))
        finally:
            _context.give(context)

    def quantize(self, bits: int = 8, X: Any = None) -> "Model":
        """The same model in 8, 4, 2 or 1 bits, for models on random features or landmarks.

        Frequencies, features and weights become whole numbers, rounded so that the scores of the rows ``X`` (at most
        2,000 are used; random ones when None) change least.
        """
        context, handle = Context(), ctypes.c_void_p()
        if X is None:
            status = _lib.krein_model_quantize(context.handle, self._handle, bits, None, ctypes.byref(handle))
            return Model._made(context, handle, status)
        with _rows.Data(context, X, named=self.columns is not None) as data:
            status = _lib.krein_model_quantize(
                context.handle, self._handle, bits, data.handle, ctypes.byref(handle)
            )
            return Model._made(context, handle, status)

    def to_bytes(self) -> bytes:
        """The bytes of the model file."""
        context, size = _context.take(), ctypes.c_int64()
        try:
            ask = _lib.krein_model_save_memory
            context.end(ask(context.handle, self._handle, None, 0, ctypes.byref(size)))
            buffer = ctypes.create_string_buffer(max(1, size.value))
            context.end(ask(context.handle, self._handle, buffer, size.value, ctypes.byref(size)))
            return buffer.raw[: size.value]
        finally:
            _context.give(context)

    def __reduce__(self) -> Tuple[Any, Tuple[bytes]]:
        return Model.from_bytes, (self.to_bytes(),)

    def __copy__(self) -> "Model":
        return self

    def __deepcopy__(self, memo: Any) -> "Model":
        return self

    # ---- description ----

    def _columns(self, n: int) -> Optional[List[str]]:
        names = [_text(_lib.krein_model_column(self._handle, j)) for j in range(n)]
        return None if n == 0 or None in names else names  # type: ignore[return-value]

    def _classes(self, n: int) -> Optional[np.ndarray]:
        if n <= 0:
            return None
        values = Arrays(self).get("classes")
        if values is not None and values.size == n:
            numbers = np.array(values, dtype=np.float64).ravel()
            if np.all(numbers == np.rint(numbers)) and np.all(np.abs(numbers) < 2.0**53):
                return numbers.astype(np.int64)
            return numbers
        return np.array([_text(_lib.krein_model_class(self._handle, k)) for k in range(n)])

    def _described(self, info: Any) -> Dict[str, Any]:
        known = read(info).__dict__
        known["variance"] = copied(info.variance, info.outputs, np.float64)
        known["weights"] = (
            {_text(info.weights[i].kernel): info.weights[i].weight for i in range(info.kernels)}
            if info.weights
            else {}
        )
        known.pop("kernels", None)
        known["probabilities"] = bool(info.probabilities)
        return known

    def describe(self) -> Report:
        """Everything that the library tells of the model: sizes, specs, scaling, metric."""
        return Report(**self._info)

    @property
    def arrays(self) -> Arrays:
        return Arrays(self)

    @property
    def notes(self) -> List[str]:
        lines: List[str] = []
        while True:
            line = _lib.krein_model_note(self._handle, len(lines))
            if line is None:
                return lines
            lines.append(self._renamed(line.decode("utf-8", "replace")))

    @property
    def ranges(self) -> np.ndarray:
        low, high = ctypes.c_double(), ctypes.c_double()
        known = np.full((self.n_features_in, 2), np.nan)
        for j in range(self.n_features_in):
            if _lib.krein_model_range(self._handle, j, ctypes.byref(low), ctypes.byref(high)):
                known[j] = low.value, high.value
        return known

    @property
    def candidates(self) -> List[Report]:
        return self._listed(_lib.krein_model_tried)

    @property
    def searched(self) -> List[Report]:
        return self._listed(_lib.krein_model_searched)

    def _listed(self, ask: Any) -> List[Report]:
        """All that a function of the library gives one by one."""
        known: List[Report] = []
        while True:
            one = ask(self._handle, len(known))
            if not one:
                return known
            known.append(read(one.contents))

    @property
    def facts(self) -> Dict[str, Any]:
        known: Dict[str, Any] = {}
        fact, i = c.krein_fact(), 0
        while _lib.krein_model_fact(self._handle, i, ctypes.byref(fact)):
            known[_text(fact.name) or ""] = fact.value if fact.text is None else _text(fact.text)
            i += 1
        return known

    @property
    def encoded_names(self) -> List[str]:
        """Names of the encoded inputs, which the factors of a metric belong to. Inputs without a
        name are x0, x1, ..."""
        names: List[str] = []
        buffer = ctypes.create_string_buffer(1024)
        while _lib.krein_model_encoded_name(self._handle, len(names), buffer, len(buffer)):
            names.append(buffer.value.decode("utf-8", "replace"))
        if self.columns is not None:
            return names
        numbers = self._numbers()
        return [self._renamed(name, numbers) for name in names]

    def _numbers(self) -> Dict[int, int]:
        """Inputs by their number in the library's texts, which counts the labels too."""
        ask = _lib.krein_model_column_number
        return {ask(self._handle, j): j for j in range(self.n_features_in)}

    def _renamed(self, text: str, numbers: Optional[Dict[int, int]] = None) -> str:
        """A text of the library with x0, x1, ... in the place of inputs without a name."""
        if self.columns is not None:
            return text
        known = self._numbers() if numbers is None else numbers

        def name(match: Any) -> str:
            number = int(match.group(1))
            return "x%d" % known[number] if number in known else match.group()

        return re.sub(r"\bcolumn (\d+)\b", name, text)

    def __repr__(self) -> str:
        return "Model(task=%r, learner=%r, kernel=%r, map=%r)" % (
            self.task,
            self.learner,
            self.kernel,
            self.map,
        )

    # ---- prediction ----

    def _check_width(self, d: int) -> None:
        if d != self.n_features_in:
            raise ArgumentError(
                "X has %d features, but Model is expecting %d features as input."
                % (d, self.n_features_in)
            )

    def _results(
        self, X: Any, wanted: Any, threads: int = 0, max_memory: int = 0, options: Any = None
    ) -> np.ndarray:
        """Labels, scores or probabilities of rows, or what an _Asked names."""
        if type(X) is not np.ndarray and (
            isinstance(X, (str, bytes, os.PathLike))
            or (callable(X) and not hasattr(X, "__array__"))
        ):
            return self._streamed(X, wanted, threads, max_memory, options)
        plain = options is None and isinstance(wanted, str)
        if plain and _rows.is_plain(X) and not self._refuses_dense:
            return self._plain(X, wanted, threads, max_memory)

        def compute(rows: Any) -> np.ndarray:
            return self._predicted(rows, wanted, threads, max_memory, options)

        return _either_form(compute, X)

    def _plain(self, X: np.ndarray, wanted: str, threads: int, max_memory: int) -> np.ndarray:
        """The same for an array as it mostly comes, with as little in between as there can be."""
        n, d = X.shape
        if d != self.n_features_in:
            self._check_width(d)
        out = self._room(n, wanted)
        view = _rows.plain_view(X, n, d)
        arrays = c.krein_prediction_arrays(_ARRAYS_SIZE, n)
        setattr(arrays, wanted, _rows.address(out))
        handle = ctypes.c_void_p()
        context = _context.take(threads, max_memory)
        try:
            status = _data_from_rows(context.handle, ctypes.byref(view), None, ctypes.byref(handle))
            if status == c.KREIN_OK:
                status = _predict_into(context.handle, self._handle, handle, ctypes.byref(arrays))
                _data_close(handle)
            if status == c.KREIN_EDATA and context.stopped is None:
                self._refuses_dense = True  # perhaps; the general way finds out, and says it
                context.warned.clear()
            else:
                context.end(status)
                return out
        finally:
            _context.give(context, threads, max_memory)
        return self._results(X, wanted, threads, max_memory)

    def _predicted(
        self, X: Any, wanted: Any, threads: int, max_memory: int, options: Any
    ) -> np.ndarray:
        asked = wanted if isinstance(wanted, _Asked) else _Asked((wanted,))
        named = self.columns is not None
        context = _context.take(threads, max_memory)
        try:
            with _rows.Data(
                context, X, options=options, named=named, check=None if named else self._check_width
            ) as data:
                if named and not _rows.is_frame(X):
                    self._check_width(data.view.view.d)
                n = data.rows
                parts = [self._room(n, name) for name in asked.names]
                arrays = c.krein_prediction_arrays(size=_ARRAYS_SIZE, capacity=n)
                arrays.interval, arrays.std_of_mean = asked.interval, asked.of_mean
                for name, part in zip(asked.names, parts):
                    setattr(arrays, name, part.ctypes.data)
                context.end(
                    _predict_into(context.handle, self._handle, data.handle, ctypes.byref(arrays))
                )
                return parts[0] if asked is not wanted else np.column_stack(parts).astype(float)
        finally:
            _context.give(context, threads, max_memory)

    def _room(self, n: int, wanted: str) -> np.ndarray:
        if wanted == "labels":
            return np.empty(n, dtype=np.int64)
        if wanted in ("probabilities", "sets", "label_sets"):
            kind = np.float64 if wanted == "probabilities" else np.int8
            return np.empty((n, 0 if self.classes is None else len(self.classes)), dtype=kind)
        if wanted == "novelty":
            return np.empty((n, 1))
        return np.empty((n, self._outputs))

    def _streamed(
        self, X: Any, wanted: Any, threads: int, max_memory: int, options: Any
    ) -> np.ndarray:
        """Rows of which nobody knows how many there are: those of a file, or blocks."""
        context = Context(threads, max_memory)
        rows: List[Any] = []
        asked = wanted if isinstance(wanted, _Asked) else _Asked((wanted,))
        widths = [self._room(0, name).shape[1:] for name in asked.names]
        width = (sum(w[0] for w in widths),) if all(widths) else ()
        fields = [(name, w[0] if w else 0) for name, w in zip(asked.names, widths)]
        send = _start(_collect(context, rows, fields))
        told = _library.sized(c.krein_predict_options)
        told.std = 1 + asked.of_mean if "std" in asked.names else 0
        told.interval, told.novelty = asked.interval, "novelty" in asked.names
        declared = ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.py_object, ctypes.POINTER(c.krein_prediction)
        )
        function = declared(types.BuiltinFunctionType.__call__)  # see _context
        if wanted == "probabilities" and not self._probabilities:
            raise ArgumentError("the model has no probabilities; train it with `probabilities`")
        with _rows.Data(context, X, options=options, named=self.columns is not None) as data:
            status = _lib.krein_predict_with(
                context.handle,
                self._handle,
                data.handle,
                ctypes.byref(told),
                ctypes.cast(function, c.krein_predict_fn),
                id(send),
            )
            context.end(status)
        kinds = {"labels": np.int64, "label_sets": np.int8}
        out = np.array(rows, dtype=kinds.get(wanted, np.float64))
        return out.reshape((len(rows),) + width)

    def labels(self, X: Any, n_jobs: Optional[int] = None, max_memory: Any = None) -> np.ndarray:
        """The number of the class of every row; -1 for a row that was left out."""
        return self._results(
            X, "labels", _context.threads_of(n_jobs), _context.bytes_of(max_memory)
        )

    def label_sets(
        self, X: Any, n_jobs: Optional[int] = None, max_memory: Any = None
    ) -> np.ndarray:
        """Of several labels a row: a matrix with a column for each of `classes`, 1 where the row
        has the label, else 0; -1 in a row that was left out."""
        return self._results(
            X, "label_sets", _context.threads_of(n_jobs), _context.bytes_of(max_memory)
        )

    def decision_function(
        self, X: Any, n_jobs: Optional[int] = None, max_memory: Any = None
    ) -> np.ndarray:
        """Scores of rows: one a row for two classes and for one target, else one a class, pair of
        classes, label or target.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks
        n_jobs : int, optional
            Threads; all CPUs when None.
        max_memory : int or str, optional
            Most bytes to use, as 2**30 or "1G".
        """
        scores = self._results(
            X, "scores", _context.threads_of(n_jobs), _context.bytes_of(max_memory)
        )
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any, n_jobs: Optional[int] = None, max_memory: Any = None) -> np.ndarray:
        """Predictions for rows: numbers, classes, or `label_sets`.

        A row that was left out for a missing cell (missing="drop") gets NaN, or None where the
        classes are not floating-point numbers.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks
        n_jobs : int, optional
            Threads; all CPUs when None.
        max_memory : int or str, optional
            Most bytes to use, as 2**30 or "1G".
        """
        if self.classes is None:
            return self.decision_function(X, n_jobs, max_memory)
        if self.task == "multilabel":
            return self.label_sets(X, n_jobs, max_memory)
        return named(self.labels(X, n_jobs, max_memory), self.classes)

    def predict_proba(
        self, X: Any, n_jobs: Optional[int] = None, max_memory: Any = None
    ) -> np.ndarray:
        """Probabilities of the classes, in the order of `classes`, for models that have them."""
        return self._results(
            X, "probabilities", _context.threads_of(n_jobs), _context.bytes_of(max_memory)
        )

    def _told(self, X: Any, asked: _Asked, n_jobs: Optional[int], max_memory: Any) -> np.ndarray:
        return self._results(
            X, asked, _context.threads_of(n_jobs), _context.bytes_of(max_memory)
        )

    def predict_std(
        self,
        X: Any,
        of_mean: bool = False,
        n_jobs: Optional[int] = None,
        max_memory: Any = None,
    ) -> np.ndarray:
        """The standard deviation of a new observation at each row, of a model that was trained with
        `uncertainty`.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks
        of_mean : bool
            Without the noise: how well the mean is known.
        n_jobs : int, optional
            Threads; all CPUs when None.
        max_memory : int or str, optional
            Most bytes to use, as 2**30 or "1G".

        Returns
        -------
        array of shape (n,) or (n, targets)
        """
        std = self._told(X, _Asked(("std",), 0.0, bool(of_mean)), n_jobs, max_memory)
        return std.ravel() if std.shape[1] == 1 else std

    def predict_interval(
        self,
        X: Any,
        interval: float = 0.9,
        n_jobs: Optional[int] = None,
        max_memory: Any = None,
    ) -> np.ndarray:
        """Bounds between which a share `interval` of new labels lies, of a model that was trained
        with `uncertainty`.

        Returns
        -------
        array of shape (n, 2) or (n, targets, 2)
        """
        asked = _Asked(("lower", "upper"), coverage_of(interval))
        both = self._told(X, asked, n_jobs, max_memory)
        k = both.shape[1] // 2
        return both if k == 1 else np.stack((both[:, :k], both[:, k:]), axis=2)

    def predict_set(
        self,
        X: Any,
        interval: float = 0.9,
        n_jobs: Optional[int] = None,
        max_memory: Any = None,
    ) -> np.ndarray:
        """Which classes are in a set that has the right one in a share `interval` of new rows, of a
        model that was trained with `uncertainty`.

        Returns
        -------
        array of bool of shape (n, classes), in the order of `classes`
        """
        asked = _Asked(("sets",), coverage_of(interval))
        return self._told(X, asked, n_jobs, max_memory) > 0

    def novelty(self, X: Any, n_jobs: Optional[int] = None, max_memory: Any = None) -> np.ndarray:
        """How far rows are from those trained on; above 1: farther than 99 % of these are from the
        others. For `krr` that was trained with `uncertainty`."""
        return self._told(X, _Asked(("novelty",)), n_jobs, max_memory).ravel()

    def transform(self, X: Any, n_jobs: Optional[int] = None, max_memory: Any = None) -> np.ndarray:
        """Features of rows by the model's map, as float32."""
        threads, most = _context.threads_of(n_jobs), _context.bytes_of(max_memory)

        def compute(rows: Any) -> np.ndarray:
            return self._features(rows, threads, most)

        return _either_form(compute, X)

    def _features(self, X: Any, threads: int, most: int) -> np.ndarray:
        context, filled = _context.take(threads, most), ctypes.c_int64()
        try:
            with _rows.Data(context, X, named=self.columns is not None) as data:
                if data.rows < 0:
                    raise ArgumentError("features are made of arrays, sparse matrices and frames")
                if self.columns is None or not _rows.is_frame(X):
                    self._check_width(data.view.view.d)
                out = np.empty((data.rows, self._info["D"]), dtype=np.float32)
                status = _lib.krein_model_features(
                    context.handle,
                    self._handle,
                    data.handle,
                    out.ctypes.data,
                    data.rows,
                    ctypes.byref(filled),
                )
                context.end(status)
                return out
        finally:
            _context.give(context, threads, most)

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        n_jobs: Optional[int] = None,
        interval: Optional[float] = None,
        **options: Any,
    ) -> Report:
        """Errors on rows with labels: rmse, mae, r2, or accuracy, confusion, auc and others; of
        several labels a row hamming_loss, micro_f1, macro_f1, subset_accuracy, ranking_loss, auc.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks
        y : array, optional
            Labels; those of files are in a column. Several labels a row are a matrix of 0 and 1
            with a column for each of `classes`, or a list of sets of names.
        sample_weight : array, optional
        interval : float, optional
            Coverage of the intervals (sets of classes) whose coverage and width are counted, of a
            model that was trained with `uncertainty`; 0.9 when None.
        options
            Of files: label, weights, header, delimiter, ...
        """
        return self._errors(X, y, sample_weight, n_jobs, options, interval=interval)

    def report(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        train: Any = None,
        curve: bool = False,
        title: Optional[str] = None,
        rows: int = 2000,
        seed: int = 1,
        n_jobs: Optional[int] = None,
        **options: Any,
    ) -> Page:
        """A page about the model on these rows: what it is, how good with intervals and beside
        baselines, which inputs matter, what is odd, the kernel; of clusters and principal
        components their plane. It shows itself in a notebook.

        Parameters
        ----------
        X : array, sparse matrix, frame or file name
            Rows, as for `evaluate`; not those that the model was trained on.
        y : array, optional
            Labels; those of files are in a column. Clusters and components need none.
        sample_weight : array, optional
        train : (X, y), (X, y, sample_weight) or file name, optional
            The rows that the model was trained on: for duplicates, baselines and `curve`.
        curve : bool
            A learning curve: trains the model again on parts of `train`.
        title : str, optional
        rows : int
            Rows sampled for inputs and kernel, at most.
        seed : int
        options
            Of files: label, weights, header, delimiter, ...
        """
        context = Context(_context.threads_of(n_jobs))
        asked = c.krein_page_options(size=ctypes.sizeof(c.krein_page_options))
        for name, value in (("rows", rows), ("seed", seed)):
            number = _context.whole(value)
            if number is None:
                raise ArgumentTypeError("`%s` is a whole number, not %r" % (name, value))
            if number < 0:
                raise ArgumentError("`%s` is not negative, not %r" % (name, value))
            setattr(asked, name, number)
        asked.curve = bool(curve)
        asked.title = (title if title is not None else "%s model" % self.learner).encode()
        made = _library.sized(c.krein_page)
        with self._rows_of(context, (X, y, sample_weight), options) as data:
            if train is None:
                return self._page(context, data, asked, made)
            given = train if isinstance(train, tuple) else (train,)
            with self._rows_of(context, given, options) as trained:
                asked.train = trained.handle
                return self._page(context, data, asked, made)

    def _rows_of(self, context: Context, given: Any, options: Dict[str, Any]) -> _rows.Data:
        """Rows with labels (X, y, sample_weight), of which the last may be missing."""
        X, y, sample_weight = (tuple(given) + (None, None))[:3]
        if self.task == "multilabel" and y is not None:
            y = self._named_sets(y)
        return _rows.Data(
            context,
            X,
            y,
            sample_weight,
            classes=self.classes is not None,
            options=_rows.data_options(**options) if options else None,
            named=self.columns is not None,
        )

    def _page(self, context: Context, data: _rows.Data, asked: Any, made: Any) -> Page:
        status = _lib.krein_model_report(
            context.handle, self._handle, data.handle, ctypes.byref(asked), ctypes.byref(made)
        )
        try:
            context.end(status)
            return Page(_text(made.html) or "", _text(made.json) or "{}", made.seconds)
        finally:
            _lib.krein_page_clear(context.handle, ctypes.byref(made))

    def _named_sets(self, y: Any) -> Any:
        """Several labels a row as texts; columns of a matrix are the labels in their order."""
        texts, columns = _rows.label_sets(y)
        known = [str(name) for name in self.classes]  # type: ignore[union-attr]
        if columns is None:
            return texts
        if len(columns) != len(known):
            raise ArgumentError(
                "y has %d columns, and the model has %d labels" % (len(columns), len(known))
            )
        named = {text: "|".join(known[int(k)] for k in text.split("|") if k) for text in set(texts)}
        return np.array([named[text] for text in texts], dtype=object)

    def _errors(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        n_jobs: Optional[int],
        options: Dict[str, Any],
        fit: bool = False,
        interval: Optional[float] = None,
    ) -> Report:
        context = Context(_context.threads_of(n_jobs))
        context.fit = fit
        metrics = _library.sized(c.krein_metrics)
        with self._rows_of(context, (X, y, sample_weight), options) as data:
            given = (context.handle, self._handle, data.handle)
            if interval is None:
                status = _lib.krein_evaluate(*given, ctypes.byref(metrics))
            else:
                level = coverage_of(interval)
                status = _lib.krein_evaluate_interval(*given, level, ctypes.byref(metrics))
            try:
                context.end(status)
                return read(metrics)
            finally:
                _lib.krein_metrics_clear(context.handle, ctypes.byref(metrics))


_BLOCK = 1 << 23  # numbers of dense rows that are made of sparse ones at a time


def _either_form(compute: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
    """The library takes dense rows for a model of dense rows, and sparse ones for one of sparse
    rows. Here both will do: where the first row is welcome in the other form, all are."""
    try:
        return compute(X)
    except DataError as problem:
        if _rows.is_sparse(X):
            rows = X.tocsr()
            step = max(1, _BLOCK // max(1, rows.shape[1]))
            starts = range(0, rows.shape[0], step)
            parts: Iterator[Any] = (rows[i : i + step].toarray() for i in starts)
        elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf":
            from scipy.sparse import csr_matrix

            rows = X
            parts = iter((csr_matrix(X),))
        else:
            raise
        try:
            compute(rows[:1].toarray() if _rows.is_sparse(X) else csr_matrix(rows[:1]))
        except KreinError:
            raise problem from None
        return np.concatenate([compute(part) for part in parts])


def named(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Classes of their numbers."""
    left_out = labels < 0
    if not left_out.any():
        return classes[labels]
    out = classes[np.where(left_out, 0, labels)]
    if out.dtype.kind != "f":
        out = out.astype(object)
    out[left_out] = np.nan if out.dtype.kind == "f" else None
    return out


# Fields of krein_prediction that are not as those of krein_prediction_arrays, or no real numbers.
_FIELDS: Dict[str, Tuple[str, Any, Any]] = {
    "sets": ("set", 0, ctypes.c_int8),
    "label_sets": ("labels", -1, ctypes.c_int8),
}


def _numbers_of(given: Any, name: str, width: int) -> List[Any]:
    """What a krein_prediction has of that name."""
    if name == "novelty":
        return [given.novelty]
    field, absent, kind = _FIELDS.get(name, (name, np.nan, ctypes.c_double))
    address = getattr(given, field)
    if not address:
        return [absent] * width
    return list((kind * width).from_address(address))


def _collect(context: Context, rows: List[Any], fields: List[Tuple[str, int]]) -> _Callback:
    """fn(user, prediction) of krein_predict_with, for fields with so many numbers each."""
    labels = fields[0][0] == "labels"
    status = c.KREIN_OK
    while True:
        try:
            while True:
                given = (yield status).contents
                if labels:
                    rows.append(given.label)
                else:
                    rows.append([x for name, n in fields for x in _numbers_of(given, name, n)])
        except BaseException as problem:
            _keep(context, problem)
            status = c.KREIN_ECANCEL


def load(path: Union[str, "os.PathLike[str]"]) -> Model:
    """The model of a file that `Model.save` or the program ``krein`` wrote.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Model
    """
    return Model.load(path)
