"""Calls that are no training: keywords become options, rows become data, reports become objects."""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, Tuple, Type

import numpy as np

from . import _context, _library, _rows
from ._base import _NUMBERS, number, seed_of
from ._context import Context
from ._report import Report, read
from .errors import ArgumentTypeError

_lib = _library.library

# How rows are read: the columns of a file or frame, and what becomes of cells.
READING = (
    "label",
    "weights",
    "group",
    "id",
    "ignore",
    "header",
    "delimiter",
    "format",
    "task",
    "targets",
    "missing",
    "categories",
    "unknown",
    "types",
    "scale",
)


def known(given: Dict[str, Any], names: Tuple[str, ...], function: str) -> None:
    """Refuses keywords that there are not."""
    for name in given:
        if name not in names:
            raise ArgumentTypeError(
                "%s() has no keyword `%s`; it has: %s" % (function, name, ", ".join(names))
            )


def options(struct: Type[Any], random_state: Any = None, **given: Any) -> Any:
    """A struct of options; keywords that are None keep the library's default."""
    made = _library.options(struct)
    for name, value in given.items():
        if value is None:
            continue
        setattr(made, name, number(name, value) if name in _NUMBERS else _rows.text(value, name))
    seed = seed_of(random_state)
    if seed is not None:
        made.seed = seed
    return made


def texts(values: Any, name: str) -> Any:
    """An array of C strings of a text, a kernel, or a list of them."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        values = [values]
    words = [_rows.text(value, name) for value in values]
    if None in words:
        raise ArgumentTypeError("`%s` is a text or a list of texts, not None" % name)
    return (ctypes.c_char_p * len(words))(*words)


def kernel_list(kernels: Any) -> Any:
    """ "k1; k2; ..." of a text or a list."""
    if kernels is None or isinstance(kernels, str) or not hasattr(kernels, "__iter__"):
        return kernels
    return "; ".join(str(kernel) for kernel in kernels)


def labelled(y: Any, reading: Dict[str, Any]) -> Tuple[Any, bool]:
    """Labels, and whether they are classes. A text is the name of a column, and goes to `reading`.
    Whole numbers are what the library takes them for."""
    if isinstance(y, str):
        reading["label"] = y
        return None, False
    if y is None:
        return None, False
    array = np.asarray(y)
    if array.dtype.kind == "O":
        values = [value for value in array.ravel() if not _rows._missing(value)]
        return array, not all(isinstance(value, (int, float, np.number)) for value in values)
    return array, array.dtype.kind not in "iuf" or reading.get("task") == "classification"


@contextmanager
def opened(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    n_jobs: Any = None,
    max_memory: Any = None,
    verbose: Any = False,
    fit: bool = False,
    **reading: Any,
) -> Iterator[Tuple[Context, Any]]:
    """A context and the rows on it. fit: of an estimator, which has no keyword for the label."""
    y, classes = labelled(y, reading)
    given = _rows.data_options(**reading)
    if y is not None and y.ndim == 2 and not classes and y.shape[1] > 1:
        given.targets = y.shape[1]
    context = Context(
        _context.threads_of(n_jobs), _context.bytes_of(max_memory), _context.level_of(verbose)
    )
    context.fit = fit
    with _rows.Data(context, X, y, sample_weight, groups, classes=classes, options=given) as data:
        yield context, data


def reported(context: Context, struct: Type[Any], call: Callable[[Any], int]) -> Report:
    """What a call reports; `call` is given a reference to the struct."""
    report = _library.sized(struct)
    try:
        context.end(call(ctypes.byref(report)))
        return read(report)
    finally:
        getattr(_lib, struct.__name__ + "_clear")(context.handle, ctypes.byref(report))
