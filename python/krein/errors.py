"""Exceptions and warnings. All exceptions are of the family KreinError, and each is also of the
built-in class that fits, so that `except ValueError` works as usual."""

from __future__ import annotations

import re
from typing import Dict, Tuple, Type

from . import _interface as c


class KreinError(Exception):
    """The library could not do what it was asked; the text says what, where, and the way out."""


class ArgumentError(KreinError, ValueError):
    """An argument or option is wrong."""


class ArgumentTypeError(KreinError, TypeError):
    """An argument is of a type that cannot be used."""


class MemoryLimitError(KreinError, MemoryError):
    """There is not enough memory, or `max_memory` does not allow it."""


class FileError(KreinError, OSError):
    """A file could not be read or written."""


class FormatError(KreinError, ValueError):
    """The data are not in the expected format."""


class DataError(KreinError, ValueError):
    """The data cannot be used for this task."""


class NumericError(KreinError, ArithmeticError):
    """The computation broke down."""


class CancelledError(KreinError, RuntimeError):
    """The work was stopped. (Ctrl-C raises KeyboardInterrupt itself.)"""


class ModelError(KreinError, ValueError):
    """This is not a valid model file."""


class SpecError(KreinError, ValueError):
    """A spec or kernel expression is wrong."""


class TimeLimitError(KreinError, TimeoutError):
    """`time_limit` has passed, and there is no usable result."""


class KreinWarning(UserWarning):
    """What the library warns of."""


OF_STATUS: Dict[int, Type[KreinError]] = {
    c.KREIN_EARG: ArgumentError,
    c.KREIN_EMEMORY: MemoryLimitError,
    c.KREIN_EIO: FileError,
    c.KREIN_EFORMAT: FormatError,
    c.KREIN_EDATA: DataError,
    c.KREIN_ENUMERIC: NumericError,
    c.KREIN_ECANCEL: CancelledError,
    c.KREIN_EMODEL: ModelError,
    c.KREIN_ESPEC: SpecError,
    c.KREIN_ETIME: TimeLimitError,
}

# The library's options that have another name as keywords.
KEYWORDS = {
    "lambda": "lambda_",
    "threads": "n_jobs",
    "seed": "random_state",
    "components": "n_components",
    "clusters": "n_clusters",
    "neighbours": "n_neighbors",
    "restarts": "n_init",
}
# Options that are classes here.
_CLASSES = {"`method=kmeans`": "KernelKMeans", "`method=spectral`": "SpectralClustering"}
_NAMED = re.compile(r"`(%s)(?=[`=])" % "|".join(KEYWORDS))

Words = Tuple[Tuple["re.Pattern[str]", str], ...]


def _words(*pairs: Tuple[str, str]) -> Words:
    return tuple((re.compile(pattern), by) for pattern, by in pairs)


_OPTIONS = _words((r"pass `unknown_ignore`", 'use `unknown="ignore"`'))
# Options of `fit`: the columns of y and the like, the class in the place of the task.
_FIT = _words(
    (r"; `label=none` leaves it out", ": give `y`"),
    (r"`label(=\w+)?`", "`y`"),
    (r"`weights`", "`sample_weight`"),
    (r"`group`", "`groups`"),
    (r"(pass )?`task=classification`", "a classifier"),
    (r"(pass )?`task=regression`", "a regressor"),
    (r" with `ignore(=\d+)?`", ""),
    (r" \(`ignore`\)", ""),
)
# Rows in memory: they count from 0, and columns that have a name need no number.
_MEMORY = _words(
    (r"\(memory\): ", ""),
    (r" in \(memory\)", ""),
    (r"\(memory\)", "X"),
    (r", or a number from 1 to \d+", ""),
    (r"\bcolumn \d+ \(([^()]*)\)", r'column "\1"'),
)
_ROW = re.compile(r"\brow (\d+)\b")
_COLUMN = re.compile(r'(?<!", )\bcolumn (\d+)\b')


def keywords(text: str, fit: bool = False, memory: bool = False) -> str:
    """A text of the library, which has options in backquotes, with the names of the keywords.

    fit: those of the `fit` of an estimator. memory: the rows are not those of a file.
    """
    for option, name in _CLASSES.items():
        text = text.replace(option, name)
    for pattern, by in _OPTIONS + (_FIT if fit else ()) + (_MEMORY if memory else ()):
        text = pattern.sub(by, text)
    if memory:
        text = _ROW.sub(lambda match: "row %d" % (int(match.group(1)) - 1), text)
        text = _COLUMN.sub(lambda match: "column x%d" % (int(match.group(1)) - 1), text)
    return _NAMED.sub(lambda match: "`" + KEYWORDS[match.group(1)], text)


def of_status(status: int, message: str) -> KreinError:
    """The exception for a status of the library. The text may be one that `keywords` has made."""
    text = keywords(message) or c.STATUS.get(status, ("", "unknown status"))[1]
    return OF_STATUS.get(status, KreinError)(text)
