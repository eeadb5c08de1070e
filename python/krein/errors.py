"""Exceptions and warnings. All exceptions are of the family KreinError, and each is also of the
built-in class that fits, so that `except ValueError` works as usual."""

from __future__ import annotations

import re
from typing import Dict, Type

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


def keywords(text: str) -> str:
    """A text of the library, which has options in backquotes, with the names of the keywords."""
    for option, name in _CLASSES.items():
        text = text.replace(option, name)
    return _NAMED.sub(lambda match: "`" + KEYWORDS[match.group(1)], text)


def of_status(status: int, message: str) -> KreinError:
    """The exception for a status of the library."""
    text = keywords(message) or c.STATUS.get(status, ("", "unknown status"))[1]
    return OF_STATUS.get(status, KreinError)(text)
