"""Rows for the library: arrays, sparse matrices, frames, blocks and files become a krein_data.

Nothing is copied that the library can read as it is: float32, float64, int32, int64 and uint8 in any
order and with any stride, compressed sparse rows, columns of a frame. Other numbers are converted, texts
become categories.
"""

from __future__ import annotations

import ctypes
import os
import types
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from . import _interface as c
from . import _library
from ._context import Context, _Callback, _keep, _start, whole
from .errors import ArgumentError, ArgumentTypeError, MemoryLimitError

_library_data_from_rows = _library.library.krein_data_from_rows
_close = _library.library.krein_data_close

ELEMENTS = {
    np.dtype(np.float32): c.KREIN_FLOAT32,
    np.dtype(np.float64): c.KREIN_FLOAT64,
    np.dtype(np.int32): c.KREIN_INT32,
    np.dtype(np.int64): c.KREIN_INT64,
    np.dtype(np.uint8): c.KREIN_UINT8,
}
_VIEW_SIZE = ctypes.sizeof(c.krein_rows_view)
_COLUMN_SIZE = ctypes.sizeof(c.krein_column_view)

_MOST_COLUMNS = 2**31 - 1
_MOST_TEXTS = 2**24  # columns that are arrays of their own: each costs time and memory

# ---- one array of numbers ------------------------------------------------------------------------


def no_memory(problem: MemoryError) -> MemoryLimitError:
    """For a copy in a form that the library can read."""
    return MemoryLimitError("there is no memory for a copy of the numbers: %s" % problem)


def _nearest(dtype: np.dtype) -> Any:
    """The type of element that holds such numbers, or None."""
    if dtype.kind == "b" or (dtype.kind in "iu" and dtype.itemsize < 4) or dtype == np.int32:
        return np.int32
    if dtype.kind == "i" or (dtype.kind == "u" and dtype.itemsize == 4):
        return np.int64
    if dtype.kind == "f":
        return np.float32 if dtype.itemsize <= 4 else np.float64
    return np.float64 if dtype.kind == "u" else None


def as_numbers(array: np.ndarray) -> np.ndarray:
    """The array itself where the library can read its elements, else a copy that it can read."""
    if array.dtype in ELEMENTS and array.flags.aligned:
        size = array.itemsize
        if all(step % size == 0 and (step or n < 2) for step, n in zip(array.strides, array.shape)):
            return array
        return np.ascontiguousarray(array)
    if array.dtype.kind == "c":
        raise ArgumentError("Complex data not supported: %s" % (array.dtype,))
    wanted = _nearest(array.dtype)
    if wanted is None:
        raise ArgumentTypeError("numbers are needed, not elements of the type %s" % (array.dtype,))
    return np.ascontiguousarray(array, dtype=wanted)


def numbers(values: Any, name: str, dimensions: Sequence[int] = (1,)) -> np.ndarray:
    """A keyword that is an array of doubles, row after row."""
    array = np.asarray(values)
    shape = array.shape
    if array.dtype.kind == "c":
        raise ArgumentError("Complex data not supported: `%s`" % name)
    try:
        array = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as problem:
        raise ArgumentError("`%s` must be numbers: %s" % (name, problem)) from None
    except MemoryError as problem:
        raise no_memory(problem) from None
    if len(shape) not in dimensions:
        raise ArgumentError(
            "`%s` has %d dimensions and should have %s"
            % (name, len(shape), " or ".join(map(str, dimensions)))
        )
    return array


# ---- texts ---------------------------------------------------------------------------------------


def _missing(value: Any) -> bool:
    """None, NaN, NaT and pandas.NA (which is not equal to anything, nor true or false)."""
    if value is None:
        return True
    if isinstance(value, (str, bytes)):
        return False
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


class Texts:
    """An array of C strings. None, NaN and the like are NULL."""

    def __init__(self, values: Sequence[Any], name: str) -> None:
        gone = np.fromiter((_missing(v) for v in values), dtype=bool, count=len(values))
        words = [b"" if lost else _bytes(v) for v, lost in zip(values, gone)]
        self.buffer = b"\0".join(words) + b"\0"
        if self.buffer.count(b"\0") != max(1, len(words)):
            raise ArgumentError("`%s`: a text has a zero character in it" % name)
        lengths = np.fromiter((len(w) + 1 for w in words), dtype=np.int64, count=len(words))
        base = ctypes.cast(ctypes.c_char_p(self.buffer), ctypes.c_void_p).value or 0
        self.pointers = base + np.cumsum(lengths) - lengths
        self.pointers[gone] = 0

    @property
    def at(self) -> Any:
        return ctypes.cast(self.pointers.ctypes.data, ctypes.POINTER(ctypes.c_char_p))


# ---- frames --------------------------------------------------------------------------------------


def is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "iloc")


def is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def column_names(X: Any) -> Optional[List[str]]:
    """The names of the columns, where all of them are texts."""
    if not is_frame(X):
        return None
    names = list(X.columns)
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        kinds = sorted({type(name).__name__ for name in names})
        raise ArgumentTypeError(
            "Feature names are only supported if all input features have string names, but your "
            "input has %s as feature name / column name types. If you want feature names to be "
            "stored and validated, you must convert them all to strings, by using "
            "X.columns = X.columns.astype(str) for example. Otherwise you can remove feature / "
            "column names from your input data, or convert them all to a non-string data type."
            % kinds
        )
    return names if names and all(texts) else None


def _codes(codes: Any, words: Sequence[Any], name: str, view: Any, keep: List[Any]) -> None:
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    texts = Texts(list(words), name)
    view.codes, view.words, view.nwords = codes.ctypes.data, texts.at, len(words)
    if len(codes) == 0:
        view.codes = texts.pointers.ctypes.data  # not NULL
    keep += [codes, texts]


def _number_column(array: np.ndarray, view: Any, keep: List[Any]) -> None:
    array = as_numbers(array)
    view.numbers, view.type = array.ctypes.data, ELEMENTS[array.dtype]
    view.stride = array.strides[0] // array.itemsize if len(array) > 1 else 1
    keep.append(array)


def _object_column(array: np.ndarray, name: str, view: Any, keep: List[Any]) -> None:
    """Numbers where all of them are numbers or missing, else categories."""
    for value in array[:1000]:
        if not (
            value is None or np.isscalar(value) or _missing(value) or hasattr(value, "isoformat")
        ):
            float(value)  # raises: "argument must be a string or a real number"
    try:
        if any(isinstance(value, (str, bytes)) for value in array):
            raise ValueError
        _number_column(
            np.array([np.nan if _missing(v) else v for v in array], dtype=np.float64), view, keep
        )
        return
    except OverflowError:
        raise ArgumentError("column %s has a number that is too large" % name) from None
    except (TypeError, ValueError):
        pass
    words: Dict[Any, int] = {}
    codes = np.empty(len(array), dtype=np.int32)
    for i, value in enumerate(array):
        codes[i] = -1 if _missing(value) else words.setdefault(_bytes(value), len(words))
    _codes(codes, list(words), name, view, keep)


def _text_column(array: np.ndarray, name: str, view: Any, keep: List[Any]) -> None:
    words, codes = np.unique(array, return_inverse=True)
    _codes(codes, words.tolist(), name, view, keep)


def _column(column: Any, name: str, view: Any, keep: List[Any]) -> None:
    """A column of a pandas frame or of an array of objects."""
    dtype = column.dtype
    if hasattr(dtype, "categories") and hasattr(column, "cat"):
        _codes(column.cat.codes.to_numpy(), list(dtype.categories), name, view, keep)
        view.category = 1  # also those that are numbers
    elif getattr(dtype, "kind", "O") == "c":
        raise ArgumentError("Complex data not supported: column %s" % name)
    elif getattr(dtype, "kind", "O") == "M":
        array = np.asarray(column, dtype="datetime64[ns]")
        texts = np.datetime_as_string(array.astype("datetime64[s]")).astype(object)
        texts[np.isnat(array)] = None
        _object_column(texts, name, view, keep)
    elif getattr(dtype, "kind", "O") == "m":
        array = np.asarray(column, dtype="timedelta64[ns]")
        seconds = array.astype(np.int64) / 1e9
        seconds[np.isnat(array)] = np.nan
        _number_column(seconds, view, keep)
    elif isinstance(dtype, np.dtype) and dtype.kind in "bifu":
        _number_column(np.asarray(column), view, keep)
    elif isinstance(dtype, np.dtype) and dtype.kind in "US":
        _text_column(np.asarray(column), name, view, keep)
    elif getattr(dtype, "kind", "O") in "bifu":  # pandas' numbers with missing ones
        _number_column(column.to_numpy(dtype=np.float64, na_value=np.nan), view, keep)
    else:
        _object_column(np.asarray(column, dtype=object), name, view, keep)


def _table(
    view: Any,
    d: int,
    column_at: Callable[[int], Any],
    names: Optional[List[str]],
    keep: List[Any],
) -> None:
    if d > _MOST_TEXTS:
        raise ArgumentError("X has %d columns of texts, more than %d" % (d, _MOST_TEXTS))
    views = (c.krein_column_view * d)()
    for j in range(d):
        views[j].size = _COLUMN_SIZE
        try:
            _column(column_at(j), names[j] if names else str(j), views[j], keep)
        except TypeError as problem:
            raise ArgumentTypeError("column %s: %s" % (names[j] if names else j, problem)) from None
    view.d = d
    view.columns = views
    keep.append(views)


# ---- the inputs ----------------------------------------------------------------------------------


def _too_few(n: int, what: str, shape: Tuple[int, ...]) -> ArgumentError:
    return ArgumentError(
        "Found array with %d %s(s) (shape=%s) while a minimum of 1 is required." % (n, what, shape)
    )


def _dense(view: Any, array: np.ndarray, keep: List[Any]) -> None:
    array = as_numbers(array)
    n, d = array.shape
    view.n, view.d = n, d
    view.x = array.ctypes.data
    view.type = ELEMENTS[array.dtype]
    size = array.itemsize
    view.column_stride = array.strides[1] // size if d > 1 else 1
    view.row_stride = array.strides[0] // size if n > 1 else d
    keep.append(array)


def _sparse(view: Any, X: Any, keep: List[Any]) -> None:
    rows = X.tocsr()
    if rows.dtype.kind == "c":
        raise ArgumentError("Complex data not supported: %s" % (rows.dtype,))
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is X else rows
        rows.sum_duplicates()
    view.n, view.d = rows.shape
    pointers, indices, values = rows.indptr, rows.indices, rows.data
    if indices.dtype not in (np.int32, np.int64):
        indices = indices.astype(np.int64)
    if pointers.dtype not in (np.int32, np.int64):
        pointers = pointers.astype(np.int64)
    if len(indices) and (indices.min() < 0 or indices.max() >= view.d):
        raise ArgumentError("a sparse matrix has indices beyond its %d columns" % view.d)
    if len(pointers) != view.n + 1 or pointers[-1] > min(len(indices), len(values)):
        raise ArgumentError("a sparse matrix whose indptr does not fit its indices")
    arrays = [np.ascontiguousarray(a) for a in (pointers, indices, values)]
    view.indptr, view.indices, view.values = (a.ctypes.data for a in arrays)
    view.indptr_type, view.index_type, view.type = (ELEMENTS[a.dtype] for a in arrays)
    keep += arrays


def is_plain(X: Any) -> bool:
    """Rows of numbers one after the other, which the library reads as they are."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in ELEMENTS or not X.size:
        return False
    flags = X.flags
    return flags.c_contiguous and flags.aligned


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def plain_view(X: np.ndarray, n: int, d: int) -> Any:
    return c.krein_rows_view(_VIEW_SIZE, n, d, address(X), ELEMENTS[X.dtype], d, 1)


class Images(np.ndarray):
    """Rows that are images of the shape `image`, as "32x32x3"."""

    image: Optional[bytes] = None

    def __array_finalize__(self, made_of: Any) -> None:
        if self.ndim == 2 and np.shape(made_of)[1:] == self.shape[1:]:
            self.image = getattr(made_of, "image", None)


def as_table(X: Any) -> Any:
    """X, or an array of two dimensions made of it."""
    if is_frame(X) or is_sparse(X):
        return X
    array = X if isinstance(X, np.ndarray) else _array(X)
    if array.ndim in (3, 4) and array.shape[0] > 0:
        table = array.reshape(array.shape[0], -1).view(Images)
        table.image = "x".join(map(str, array.shape[1:])).encode()
        return table
    if array.ndim != 2:
        raise ArgumentError(
            "Expected 2D array, got %s array instead: array of shape %s. Reshape your data either "
            "using array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) "
            "if it contains a single sample."
            % ("scalar" if array.ndim == 0 else "%dD" % array.ndim, array.shape)
        )
    return array


def _array(X: Any) -> np.ndarray:
    try:
        array = np.asarray(X)
    except Exception as problem:  # whatever __array__ of the object raises
        raise ArgumentTypeError("X is not an array: %s" % problem) from None
    if array.dtype == object and array.ndim < 2 and isinstance(X, (list, tuple)):
        raise ArgumentError("X has rows of different lengths, or is no table of numbers")
    return array


class View:
    """The rows of one block: a krein_rows_view, and the arrays that it points to."""

    def __init__(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        classes: bool = False,
        named: bool = True,
    ) -> None:
        self.keep: List[Any] = []
        self.view = c.krein_rows_view()
        self.view.size = _VIEW_SIZE
        try:
            self.inputs(as_table(X), named)
            if y is not None:
                self.label(y, classes)
            if sample_weight is not None:
                self.weigh(sample_weight)
            if groups is not None:
                self.group(groups)
        except MemoryLimitError:
            raise
        except MemoryError as problem:
            raise no_memory(problem) from None

    def inputs(self, X: Any, named: bool) -> None:
        """The columns of a table."""
        view, names, shape = self.view, None, tuple(X.shape)
        if shape[1] == 0:
            raise _too_few(0, "feature", shape)
        if shape[1] > _MOST_COLUMNS:
            raise ArgumentError("X has %d columns, more than %d" % (shape[1], _MOST_COLUMNS))
        if is_sparse(X):
            _sparse(view, X, self.keep)
        elif is_frame(X):
            names = column_names(X)
            view.n = shape[0]
            _table(view, shape[1], lambda j: X.iloc[:, j], names, self.keep)
        elif X.dtype.kind in "OUSMm":
            view.n = shape[0]
            _table(view, shape[1], lambda j: X[:, j], None, self.keep)
        else:
            _dense(view, X, self.keep)
        if names and named:
            texts = Texts(names, "columns")
            view.names = texts.at
            self.keep.append(texts)

    def same_length(self, values: Any, name: str) -> None:
        if len(values) != self.view.n:
            raise ArgumentError(
                "Found input variables with inconsistent numbers of samples: X has %d rows, `%s` %d"
                % (self.view.n, name, len(values))
            )

    def label(self, y: Any, classes: bool) -> None:
        """Targets, or classes as whole numbers or texts."""
        array = np.asarray(y)
        if array.ndim == 0:
            raise ArgumentError("`y` must have one value a row, not the single value %r" % (y,))
        self.same_length(array, "y")
        view = self.view
        if classes and array.size != view.n:  # as many as the library will read
            raise ArgumentError(
                "y should be a 1d array of classes, got an array of shape %s instead."
                % (array.shape,)
            )
        if not classes:
            array = numbers(y, "y", (1, 2))
            view.targets = array.ctypes.data
            view.ntargets = 1 if array.ndim == 1 else array.shape[1]
            if array.ndim == 2 and array.shape[1] == 0:
                raise _too_few(0, "target", array.shape)
        elif array.dtype.kind in "biu":
            array = np.ascontiguousarray(array.ravel(), dtype=np.int64)
            view.classes, view.class_type = array.ctypes.data, c.KREIN_INT64
        elif array.dtype.kind == "f":
            array = np.ascontiguousarray(array.ravel(), dtype=np.float64)
            view.targets = array.ctypes.data
        else:
            texts = Texts(array.ravel().tolist(), "y")
            view.class_names = texts.at
            self.keep.append(texts)
        self.keep.append(array)

    def weigh(self, sample_weight: Any) -> None:
        array = np.asarray(sample_weight)
        if array.ndim == 0:  # one number for all
            array = np.full(self.view.n, numbers(sample_weight, "sample_weight", (0,)))
        array = numbers(array, "sample_weight")
        self.same_length(array, "sample_weight")
        self.view.weights = array.ctypes.data
        self.keep.append(array)

    def group(self, groups: Any) -> None:
        array = np.asarray(groups)
        if array.ndim != 1:
            raise ArgumentError("`groups` has %d dimensions and should have 1" % array.ndim)
        self.same_length(array, "groups")
        if array.dtype.kind in "biu":
            array = np.ascontiguousarray(array, dtype=np.int64)
            self.view.groups = array.ctypes.data
            self.keep.append(array)
        else:
            texts = Texts(array.tolist(), "groups")
            self.view.group_names = texts.at
            self.keep.append(texts)


# ---- several labels a row ------------------------------------------------------------------------


def is_indicator(y: Any) -> bool:
    """A matrix of 0 and 1 with a column for each label, as scikit-learn has several labels a row."""
    if y is None or isinstance(y, (str, bytes)):
        return False
    if not is_sparse(y):
        try:
            y = np.asarray(y)
        except ValueError:  # rows of different lengths
            return False
    if len(y.shape) != 2 or y.shape[1] < 2:
        return False
    values = y.data if is_sparse(y) else y
    return values.dtype.kind in "biuf" and bool(np.isin(values, (0, 1)).all())


def label_sets(y: Any) -> Tuple[Any, Any]:
    """Several labels a row as texts with | between names, and the labels: the columns of an
    indicator matrix by number, or None where they are names in lists, tuples or sets."""
    if is_indicator(y):
        matrix = y.toarray() if is_sparse(y) else np.asarray(y)
        sets, code = np.unique(matrix.astype(bool), axis=0, return_inverse=True)
        words = ["|".join(map(str, np.flatnonzero(one))) for one in sets]
        texts = np.empty(len(words), dtype=object)
        texts[:] = words
        return texts[np.ravel(code)], np.arange(matrix.shape[1])
    texts = np.empty(len(y), dtype=object)
    for i, row in enumerate(y):
        if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
            raise ArgumentTypeError(
                "several labels a row are a matrix of 0 and 1 or a list of sets of names; row %d "
                "is %r" % (i, row)
            )
        names = [str(name) for name in row]
        bad = [name for name in names if "|" in name or not name.strip() or name != name.strip()]
        if bad:
            raise ArgumentError("a label cannot be called %r" % bad[0])
        texts[i] = "|".join(names)
    return texts, None


# ---- options -------------------------------------------------------------------------------------

CHOICES = {
    "task": {"auto": 0, "regression": 1, "classification": 2, "multilabel": 3},
    "missing": {"error": 0, "mean": 1, "drop": 2, "auto": 3},
    "categories": {"auto": 0, "onehot": 1, "target": 2, "hash": 3},
    "types": {"auto": 0, "plain": 1},
    "scale": {"standard": 0, "minmax": 1, "unit": 2, "none": 3},
    "unknown": {"error": 0, "ignore": 1},
}
_FIELDS = {"unknown": "unknown_ignore"}
_TEXTS = ("format", "label", "labels_file", "weights", "group", "id", "ignore", "image")


def image_of(X: Any) -> Optional[bytes]:
    """The shape of rows that are images: an array of n x h x w or n x h x w x c numbers."""
    if isinstance(X, np.ndarray) and X.ndim in (3, 4):
        X = as_table(X)
    return getattr(X, "image", None) if isinstance(X, Images) else None


def same_image(a: bytes, b: bytes) -> bool:
    """Without a number of channels there is one."""
    return (a + b"x1").split(b"x")[:3] == (b + b"x1").split(b"x")[:3]


def data_options(**given: Any) -> Any:
    """A krein_data_options of keywords; those that are None keep the library's default."""
    made = _library.options(c.krein_data_options)
    for name, value in given.items():
        if value is None:
            continue
        if name in CHOICES:
            if not isinstance(value, str) or value not in CHOICES[name]:
                raise ArgumentError(
                    "`%s` is one of %s, not %r" % (name, ", ".join(CHOICES[name]), value)
                )
            setattr(made, _FIELDS.get(name, name), CHOICES[name][value])
        elif name in _TEXTS:
            if isinstance(value, (list, tuple)):
                value = ("x" if name == "image" else ",").join(map(str, value))
            setattr(made, name, text(value, name))
        elif name == "delimiter":
            made.delimiter = (text(value, name) or b"")[:1]
        else:  # header, targets
            count = int(value) if isinstance(value, (bool, np.bool_)) else whole(value)
            if count is None or not -1 <= count < 2**31:
                raise ArgumentError("`%s` is a whole number, not %r" % (name, value))
            setattr(made, name, count)
    return made


def text(value: Any, name: str) -> Optional[bytes]:
    """A spec or name for the library."""
    if value is None:
        return None
    encoded = os.fsencode(value) if isinstance(value, os.PathLike) else _bytes(value)
    if b"\0" in encoded:
        raise ArgumentError("`%s` has a zero character in it" % name)
    return encoded


# ---- data ----------------------------------------------------------------------------------------


class Source:
    """Blocks of rows from a callable that returns a fresh iterator of X, (X, y) or (X, y, w)."""

    def __init__(
        self, context: Context, factory: Callable[[], Any], classes: bool, check: Any = None
    ) -> None:
        self.factory, self.classes, self.check = factory, classes, check
        self.blocks: Iterator[Any] = iter(())
        self.block: Optional[View] = None
        self.restart()
        send = _start(_next_blocks(context, self))
        next_type = ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.py_object, ctypes.POINTER(c.krein_rows_view)
        )
        # send.__call__ without a Python function: see _context
        self.next = next_type(types.BuiltinFunctionType.__call__)
        self.rewind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(
            _start(_rewinds(context, self))
        )
        self.send = send
        source = self.source = _library.sized(c.krein_rows_source)
        declared: Any = {field[0]: field[1] for field in c.krein_rows_source._fields_}
        source.next = ctypes.cast(self.next, declared["next"])
        source.rewind = ctypes.cast(self.rewind, declared["rewind"])
        source.user = id(send)

    def restart(self) -> None:
        made = self.factory()
        if isinstance(made, (np.ndarray, str)) or not hasattr(made, "__iter__"):
            raise ArgumentTypeError(
                "a function of rows must return an iterator of blocks, not %s" % type(made).__name__
            )
        self.blocks = iter(made)

    def fill(self, out: Any) -> None:
        """The next block with rows into *out; n stays 0 at the end."""
        for block in self.blocks:
            parts = block if isinstance(block, tuple) else (block,)
            if not 1 <= len(parts) <= 3:
                raise ArgumentError(
                    "a block is X, (X, y) or (X, y, sample_weight), not a tuple of %d" % len(parts)
                )
            X, y, weights = (tuple(parts) + (None, None))[:3]
            self.block = View(X, y, weights, classes=self.classes)
            if self.check is not None:
                self.check(self.block.view.d)
            if self.block.view.n > 0:
                ctypes.memmove(out, ctypes.byref(self.block.view), _VIEW_SIZE)
                return


def _next_blocks(context: Context, source: Source) -> _Callback:
    status = c.KREIN_OK
    while True:
        try:
            while True:
                out = yield status
                source.fill(out)
                status = c.KREIN_OK
        except BaseException as problem:
            _keep(context, problem)
            status = c.KREIN_ECANCEL


def _rewinds(context: Context, source: Source) -> _Callback:
    status = c.KREIN_OK
    while True:
        try:
            while True:
                yield status
                source.restart()
                status = c.KREIN_OK
        except BaseException as problem:
            _keep(context, problem)
            status = c.KREIN_ECANCEL


class Data:
    """A krein_data on a context, closed at the end of the `with`."""

    def __init__(
        self,
        context: Context,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        classes: bool = False,
        options: Any = None,
        named: bool = True,
        check: Any = None,
    ) -> None:
        self.context = context  # lives as long as the data
        self.handle: Optional[int] = None
        self.source: Optional[Source] = None
        self.rows = -1  # unknown
        handle = ctypes.c_void_p()
        image = image_of(X)
        if image is not None:
            options = data_options() if options is None else options
            if options.image is None:
                options.image = image
            elif not same_image(options.image, image):
                raise ArgumentError(
                    "X has images of %s, and `image` says %s; leave it out"
                    % (image.decode(), options.image.decode())
                )
        given = ctypes.byref(options) if options is not None else None
        context.memory = not isinstance(X, (str, bytes, os.PathLike))
        if not context.memory:
            if y is not None or sample_weight is not None or groups is not None:
                raise ArgumentError(
                    "rows of a file have their labels, weights and groups in its columns: `label`, "
                    "`weights` and `group` name them"
                )
            status = _library.library.krein_data_open(
                context.handle, os.fsencode(X), given, ctypes.byref(handle)
            )
        elif callable(X) and not hasattr(X, "__array__"):
            if y is not None or sample_weight is not None or groups is not None:
                raise ArgumentError("blocks of rows bring their labels and weights: (X, y, w)")
            self.source = Source(context, X, classes, check)
            status = _library.library.krein_data_from_source(
                context.handle, ctypes.byref(self.source.source), given, ctypes.byref(handle)
            )
        else:
            self.view = View(X, y, sample_weight, groups, classes, named)
            if check is not None:
                check(self.view.view.d)
            self.rows = self.view.view.n
            status = _library_data_from_rows(
                context.handle, ctypes.byref(self.view.view), given, ctypes.byref(handle)
            )
        self.handle = handle.value
        if status != c.KREIN_OK:
            context.end(status)

    def __enter__(self) -> "Data":
        return self

    def __exit__(self, *unused: Any) -> None:
        if self.handle is not None:
            _close(self.handle)
            self.handle = None
        if self.source is not None:
            self.source.block = None
