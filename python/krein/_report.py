"""Reports of the library as Python objects, with everything copied out of them."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Dict, Tuple

import numpy as np

from .errors import KEYWORDS

# Arrays of the structs: field -> (field with its length, type of its elements where it is void *).
_ARRAYS: Dict[str, Dict[str, Tuple[str, Any]]] = {
    "krein_metrics": {
        "confusion": ("classes", np.int64),
        "class_names": ("classes", None),
        "label_f1": ("classes", np.float64),
        "label_auc": ("classes", np.float64),
        "label_rows": ("classes", np.int64),
    },
    "krein_report": {
        "weights": ("kernels", None),
        "tried": ("tried_count", None),
        "factor": ("factors", np.float64),
    },
    "krein_approx_result": {"facts": ("nfacts", None)},
    "krein_approx_report": {"results": ("count", None)},
    "krein_select_ranking": {"scores": ("", None)},  # as many as the report's kernels
    "krein_select_report": {
        "kernels": ("count", None),
        "maps": ("count", None),
        "rankings": ("nrankings", None),
    },
    "krein_advise_report": {"spectrum": ("count", None)},
    "krein_pca_report": {
        "variance": ("components", np.float64),
        "ratio": ("components", np.float64),
    },
    "krein_cluster_report": {"sizes": ("clusters", np.int64)},
    "krein_fewshot_result": {
        "values": ("tasks", np.float64),
        "step": ("points", np.int64),
        "curve": ("points", np.float64),
        "look_step": ("looks", np.int64),
        "look_loss": ("looks", np.float64),
        "look_accuracy": ("looks", np.float64),
    },
    "krein_fewshot_report": {"results": ("count", None)},
    "krein_subspace_info": {"share": ("dimensions", np.float64)},
    "krein_compare_result": {"values": ("nvalues", np.float64)},
    "krein_compare_report": {
        "sets": ("nsets", None),
        "methods": ("nmethods", None),
        "results": ("count", None),
    },
}
_SQUARE = {("krein_metrics", "confusion")}
_WORDS = {
    "task": {0: "auto", 1: "regression", 2: "classification", 3: "multilabel"},
    "metric": {0: "none", 1: "diagonal", 2: "full"},
    "method": {0: "kmeans", 1: "spectral"},
    "measure": {0: "auto", 1: "rmse", 2: "error", 3: "logloss", 4: "auc"},
}


class Report:
    """What the library reports, as attributes."""

    if TYPE_CHECKING:  # each has attributes of its own

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self, **facts: Any) -> None:
        self.__dict__.update(facts)

    def __repr__(self) -> str:
        lines = []
        for name, value in self.__dict__.items():
            text = repr(value)
            if isinstance(value, np.ndarray) and value.size > 8:
                text = "array of shape %s" % (value.shape,)
            elif isinstance(value, list) and len(value) > 4:
                text = "[%r, ... %d]" % (value[0], len(value))
            lines.append("%s=%s" % (name, text))
        return "Report(%s)" % ", ".join(lines)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Report) and repr(self.__dict__) == repr(other.__dict__)


def copied(address: Any, n: int, dtype: Any) -> Any:
    """n numbers at an address, or None."""
    if not address or n < 0:
        return None
    kind = np.ctypeslib.as_ctypes_type(dtype)
    return np.array((kind * n).from_address(address), dtype=dtype)


def _value(value: Any, length: int) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, ctypes.Structure):
        return read(value, length)
    if isinstance(value, ctypes.Array):
        return tuple(value)
    if isinstance(value, ctypes._Pointer):
        return _value(value.contents, length) if value else None
    return value


def read(struct: Any, kernels: int = 0) -> Report:
    """All fields of a struct; `kernels` is the number of scores of a ranking."""
    kind = type(struct).__name__
    arrays = _ARRAYS.get(kind, {})
    lengths = {length for length, _ in arrays.values()}
    facts: Dict[str, Any] = {}
    for name, field in struct._fields_:
        if name == "size":
            continue
        value = getattr(struct, name)
        if name in arrays:
            length, dtype = arrays[name]
            n = getattr(struct, length) if length else kernels
            if dtype is not None:
                times = n if (kind, name) in _SQUARE else 1
                value = copied(value, n * times, dtype)
                if value is not None and times != 1:
                    value = value.reshape(n, n)
            else:
                count = int(getattr(struct, "count", 0))
                value = [_value(value[i], count) for i in range(n)] if value else []
        elif name in _WORDS and field is ctypes.c_int:  # an enum
            value = _WORDS[name].get(value, value)
        else:
            value = _value(value, 0)
        if name in lengths and name not in ("classes", "components", "clusters", "tasks", "dimensions"):
            continue  # len() of the list says it
        facts[KEYWORDS.get(name, name)] = value
    return Report(**facts)
