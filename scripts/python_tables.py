#!/usr/bin/env python3
"""python_tables.py [--check] -- writes the parts of the Python package that follow from the tables.

    python/krein/_tables.py       every method with its options, defaults, ranges and help, and for
                                  learners what they can do
    python/krein/estimators.py    a class a learner and task, whose keywords are the options, with
                                  their documentation

KREIN_LIBRARY names the library (build/libkrein.so). What a learner can do is found out by asking it
to: it is trained on a few rows. With --check nothing is written, and the exit status is 1 where a
file is not what would be written.
"""

import os
import re
import sys
import tempfile
import textwrap
import types
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault("KREIN_LIBRARY", os.path.join(ROOT, "build", "libkrein.so"))
package = types.ModuleType("krein")  # its parts, without the files that are to be written
package.__path__ = [os.path.join(ROOT, "python", "krein")]
sys.modules["krein"] = package

# Names of the classes; a learner that is not here is called by its name: FooRegressor.
NAMES = {
    ("krr", "regression"): "KernelRidge",
    ("krr", "classification"): "KernelRidgeClassifier",
    ("svm", "classification"): "SVC",
    ("svr", "regression"): "SVR",
    ("logistic", "classification"): "LogisticRegression",
    ("mkl", "regression"): "MKLRegressor",
    ("mkl", "classification"): "MKLClassifier",
    ("dckrr", "regression"): "DividedRegressor",
    ("dckrr", "classification"): "DividedClassifier",
    ("sskrr", "regression"): "SemiSupervisedRegressor",
    ("sskrr", "classification"): "SemiSupervisedClassifier",
    ("vvr", "regression"): "VectorValuedRegressor",
    ("vvr", "classification"): "VectorValuedClassifier",
    ("labelprop", "regression"): "LabelPropagationRegressor",
    ("labelprop", "classification"): "LabelPropagationClassifier",
    ("selftrain", "classification"): "SelfTrainingClassifier",
    ("kgd", "regression"): "GradientDescentRegressor",
    ("kgd", "classification"): "GradientDescentClassifier",
}

# Options whose name is a keyword of all classes, with another meaning: what they are called here.
RENAMED = {(learner, "clip"): "gradient_clip" for learner in ("askl", "deep", "net")}

# Checks of scikit-learn that a class does not pass, and why. check_sample_weights_invariance puts
# the rows into another order and asks for the same numbers to 1e-7.
ORDER = "folds and the end of the iterations (tol) depend on the order of the rows"
SUMS = "sums of float32 features depend on the order of the rows"
BATCHES = "mini-batches and the rows held out depend on the order of the rows"
EXPLAINED = {
    "AsklRegressor": {"check_sample_weights_invariance": BATCHES},
    "AsklClassifier": {"check_sample_weights_invariance": BATCHES},
    "VectorValuedRegressor": {"check_sample_weights_invariance": BATCHES},
    "VectorValuedClassifier": {"check_sample_weights_invariance": BATCHES},
    "DeepRegressor": {"check_sample_weights_invariance": BATCHES},
    "DeepClassifier": {"check_sample_weights_invariance": BATCHES},
    "NetRegressor": {"check_sample_weights_invariance": BATCHES},
    "NetClassifier": {"check_sample_weights_invariance": BATCHES},
    "SVC": {"check_sample_weights_invariance": ORDER},
    "SVR": {"check_sample_weights_invariance": ORDER},
    "LogisticRegression": {"check_sample_weights_invariance": ORDER},
    "DividedRegressor": {"check_sample_weights_invariance": SUMS},
    "DividedClassifier": {"check_sample_weights_invariance": SUMS},
    "SemiSupervisedRegressor": {"check_sample_weights_invariance": SUMS},
    "SemiSupervisedClassifier": {"check_sample_weights_invariance": SUMS},
}

# Learners of several kernels, and those that they combine where none are given.
SEVERAL = {"mkl": "gaussian; laplacian; linear"}

# Keywords of all classes: name, type, text. None is the library's default.
LEARNER = ("learner", "str", 'Learner with its options, as "krr" or "svm(C=10)"; "krr" when None.')
COMMON = [
    (
        "kernel",
        "str or kernel",
        'Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen by '
        "held-out error, with a metric.",
    ),
    (
        "map",
        "str",
        'Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.',
    ),
    ("features", "int", "Number of features, in place of the map's D."),
    ("lambda_", "float", "Regularisation; chosen by held-out error when None."),
    (
        "kernels",
        "str or list",
        "Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.",
    ),
    ("select", "str", 'What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...'),
    (
        "metric",
        '{"auto", "none", "diagonal", "full"}',
        "Learned scaling of the inputs. When None it is learned where no kernel is given.",
    ),
    ("effort", "float", "How much is tried before the fit: 1, less or more."),
    ("clip", "float", "Scaled inputs are cut at +-clip; 8 when None and no kernel is given."),
    ("max_exact", "int", "Most rows of a kernel matrix."),
    (
        "max_memory",
        "int or str",
        'Most bytes to use, as 2**30 or "1G"; most of what is free when None.',
    ),
    ("time_limit", "float", "Seconds for reading, choosing and fitting."),
    ("n_jobs", "int", "Threads; all CPUs when None or -1. The results do not depend on it."),
    ("random_state", "int or RandomState", "Seed of all random numbers; 1 when None."),
    ("scale", '{"standard", "minmax", "unit", "none"}', "Scaling of the inputs."),
    (
        "missing",
        '{"auto", "error", "mean", "drop"}',
        "What is done with missing cells (NaN). When None: the mean and an indicator; texts become "
        "a category of their own.",
    ),
    (
        "categories",
        '{"auto", "onehot", "target", "hash"}',
        "How columns of texts are encoded.",
    ),
    (
        "unknown",
        '{"error", "ignore"}',
        "A category at prediction that was not there at training.",
    ),
    (
        "types",
        '{"auto", "plain"}',
        "Whether texts that are dates, times and amounts are read as such.",
    ),
    (
        "image",
        "str or tuple",
        'Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels. Arrays '
        "of n x h x w x c numbers need no such word.",
    ),
    ("holdout", "float", "Part of the rows that is kept out and evaluated (`report_.test`)."),
]
CHECKPOINT = (
    "checkpoint",
    "str or path",
    "File with the state of a long training. Where `fit` was interrupted (Ctrl-C, a crash), the "
    "same `fit` goes on from it, to the same model. It is removed when `fit` is done. For arrays, "
    "frames and files, not for blocks.",
)
GRAPH = (
    "graph_file",
    "str or path",
    "File of the graph of neighbours: read where it exists, else written. The graph of other rows "
    "is refused.",
)
PROBABILITIES = (
    "probabilities",
    "bool",
    "Whether `predict_proba` is wanted, which needs a calibration on held-out scores. It may see "
    "the best class elsewhere than `predict`, which goes by the scores.",
)
UNCERTAINTY = {
    "regression": (
        "uncertainty",
        "bool",
        "Whether `predict` with `return_std`, `predict_interval` and `novelty` are wanted. The model "
        "then keeps half of a matrix of its features.",
    ),
    "classification": (
        "uncertainty",
        "bool",
        "Whether `predict_set` (and for kernel ridge regression `novelty`) is wanted; "
        "`predict_proba` comes with it.",
    ),
}
# Of learners that keep rows from the training for it.
KEPT = "A fifth of the rows, 30 to 5,000, is kept from the training for it."
UNCERTAINTY_KEPT = {
    "regression": ("uncertainty", "bool", "Whether `predict_interval` is wanted. " + KEPT),
    "classification": (
        "uncertainty",
        "bool",
        "Whether `predict_set` is wanted; `predict_proba` comes with it. " + KEPT,
    ),
}
LAST = [
    ("verbose", "bool or int", "Progress and decisions on standard error."),
    (
        "comm",
        "mpi4py.MPI.Comm",
        "Processes that train together. All call `fit`, each with rows of its own (a file is "
        "divided among them), and get the same model.",
    ),
]
ATTRIBUTES = [
    ("model_", "Model", "The fitted model."),
    ("report_", "Report", "What training reports: sizes, times, errors, candidates."),
    ("kernel_, map_, learner_", "str", "Complete specs of what was chosen."),
    ("regularization_", "float", "The regularisation; NaN where the learner has none."),
    ("importances_", "ndarray or None", "Factors of the metric, one a name of `model_.encoded_names`."),
    ("n_features_in_", "int", "Number of inputs."),
    ("feature_names_in_", "ndarray", "Their names, where X was a frame with names."),
]


# ---- the tables ---------------------------------------------------------------------------------


def read_tables():
    """Table -> [(entry, [option])], in the library's order."""
    import ctypes

    from krein import _interface as c
    from krein import _library

    lib, tables, i = _library.library, {}, 0

    def texts(struct):
        values = {}
        for name, _ in struct._fields_:
            value = getattr(struct, name)
            values[name] = value.decode() if isinstance(value, bytes) else value
        return values

    while True:
        entry = _library.sized(c.krein_entry)
        if not lib.krein_list(i, ctypes.byref(entry)):
            return tables
        known, options, k = texts(entry), [], 0
        while True:
            option = _library.sized(c.krein_option_info)
            if not lib.krein_list_option(i, k, ctypes.byref(option)):
                break
            options.append(texts(option))
            k += 1
        tables.setdefault(known["table"], []).append((known, options))
        i += 1


# One kernel, several of them, and that of learners with features of their own.
KERNELS = [
    {"kernel": "gaussian(sigma=1)"},
    {"kernels": "gaussian(sigma=1); linear"},
    {"kernel": "linear"},
]


def abilities(learner):
    """The tasks of a learner, whether it has probabilities ("", "asked": for `probabilities`, or
    "always", "kept": asked, from rows that are kept from the training), whether it learns from rows
    without labels, whether it can be interrupted, whether it makes a graph, and for tasks for which
    it knows how sure it is whether that is from such rows: tried on a few rows."""
    import numpy as np

    from krein import _base
    from krein.errors import KreinError

    warnings.simplefilter("ignore")
    draw = np.random.RandomState(0)
    X = draw.randn(60, 2)
    tasks, probabilities, kernel = [], "", "gaussian(sigma=1)"
    for task in ("regression", "classification", "multilabel"):
        y = X[:, 0] + 0.1 * draw.randn(60)
        y = y if task == "regression" else (y > 0).astype(int)
        if task == "multilabel":
            y = np.array(["a|b" if v else "a" if u > 0 else "" for u, v in zip(X[:, 1], y)])
        for wanted in (False, True) if task == "classification" else (False,):
            for options in KERNELS:
                try:
                    model, _ = _base.train(
                        X, y, task=task, learner=learner, probabilities=wanted, **options
                    )
                except KreinError:
                    continue
                kernel = options.get("kernel", kernel)
                if model.describe().probabilities:
                    kept = "kept" if model.describe().n < len(X) else "asked"
                    probabilities = probabilities or (kept if wanted else "always")
                if task not in tasks:
                    tasks.append(task)
                break
    unlabelled = True
    try:
        y = (X[:, 0] > 0).astype(float) if tasks == ["classification"] else X[:, 0].copy()
        y[::3] = np.nan
        _base.train(X, y, task=tasks[0], learner=learner, kernel=kernel)
    except KreinError:
        unlabelled = False
    able = {"checkpoint": True, "graph_file": True}
    for option in able:
        with tempfile.TemporaryDirectory() as place:
            options = {"kernel": kernel, option: os.path.join(place, "state")}
            try:
                y = X[:, 0] > 0 if tasks == ["classification"] else X[:, 0]
                _base.train(X, y.astype(float), task=tasks[0], learner=learner, **options)
            except KreinError:
                able[option] = False
    sure = {}
    for task in ("regression", "classification"):
        if task not in tasks:
            continue
        y = X[:, 0] if task == "regression" else (X[:, 0] > 0).astype(int)
        for options in KERNELS:
            try:
                model, _ = _base.train(
                    X, y, task=task, learner=learner, uncertainty=True, **options
                )
            except KreinError:
                continue
            sure[task] = model.describe().n < len(X)
            break
    return tuple(tasks), probabilities, unlabelled, able["checkpoint"], able["graph_file"], sure


HEAD = '''"""Methods of the library: kernels, maps, learners and the others, with their options.

Written by scripts/python_tables.py from the library's tables. Do not edit.
"""
from typing import Dict, NamedTuple, Tuple


class Option(NamedTuple):
    """An option of a method."""

    name: str
    type: str
    default: str
    range: str
    help: str


class Method(NamedTuple):
    """A method; the last four are of learners."""

    name: str
    summary: str
    details: str
    cite: str
    alias: str
    options: Tuple[Option, ...]
    tasks: Tuple[str, ...] = ()
    probabilities: str = ""
    unlabelled: bool = False
    checkpoint: bool = False
    graph: bool = False


'''


def quoted(text, indent):
    """A literal of any length, in lines of at most 100 columns."""
    flat = '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    if indent + len(flat) <= 98:
        return flat
    room = 94 - indent
    parts, line = [], ""
    for word in re.findall(r"\S+\s*|\s+", text):
        if len(line) + len(word) > room and line:
            parts.append(line)
            line = ""
        line += word
    parts.append(line)
    lines = [
        '"%s"' % p.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for p in parts
    ]
    pad = "\n" + " " * (indent + 4)
    return "(" + pad + pad.join(lines) + "\n" + " " * indent + ")"


def keyword_text(text):
    """The library's words for options, which are the keywords but for a few names."""
    from krein.errors import keywords

    return keywords(text)


def write_tables(tables, able):
    lines = [HEAD + "TABLES: Dict[str, Dict[str, Method]] = {"]
    for table, entries in tables.items():
        lines.append('    "%s": {' % table)
        for entry, options in entries:
            lines.append('        "%s": Method(' % entry["name"])
            lines.append('            "%s",' % entry["name"])
            for key in ("summary", "details"):
                lines.append("            %s," % quoted(keyword_text(entry[key]), 12))
            lines.append('            "%s",' % entry["cite"])
            lines.append('            "%s",' % entry["alias"])
            lines.append("            (" + ("" if options else "),"))
            for option in options:
                lines.append("                Option(")
                for key in ("name", "type", "default_value", "range", "help"):
                    text = option[key] or ""
                    text = keyword_text(text) if key == "help" else text
                    lines.append("                    %s," % quoted(text, 20))
                lines.append("                ),")
            if options:
                lines.append("            ),")
            if entry["name"] in able and table == "learners":
                tasks, probabilities, unlabelled, checkpoint, graph, _ = able[entry["name"]]
                lines.append("            (%s)," % ", ".join('"%s"' % t for t in tasks + ("",)))
                lines[-1] = lines[-1].replace(', ""', "," if len(tasks) == 1 else "")
                lines.append('            "%s",' % probabilities.replace("kept", "asked"))
                lines.append("            %r," % unlabelled)
                lines.append("            %r," % checkpoint)
                lines.append("            %r," % graph)
            lines.append("        ),")
        lines.append("    },")
    return "\n".join(lines + ["}", ""])


# ---- the classes --------------------------------------------------------------------------------

FRONT = '''"""Estimators in the manner of scikit-learn: one for any learner, and one a learner.

Written by scripts/python_tables.py from the library's tables. Do not edit: what the classes do is
in _base.py.
"""
from __future__ import annotations

from typing import Any, List, Optional, Union

from ._base import BaseClassifier, BaseRegressor

__all__ = [
%s]

'''

HINTS = {
    "int": "Optional[int]",
    "float": "Optional[float]",
    "str": "Optional[str]",
    "bool": "Optional[bool]",
    "int or str": "Union[int, str, None]",
    "bool or int": "Union[bool, int]",
    "str or list": "Union[str, List[Any], None]",
    "mpi4py.MPI.Comm": "Any",
    "int or RandomState": "Any",
    "str or kernel": "Any",
    "str or path": "Any",
    "number": "Optional[float]",
    "integer": "Optional[int]",
    "yes|no": "Optional[bool]",
    "text": "Optional[str]",
}


def hint(kind):
    return HINTS.get(kind, "Optional[str]")


def shown(kind):
    """A type as the documentation says it."""
    names = {"number": "float", "integer": "int", "yes|no": "bool", "text": "str"}
    if "|" in kind and kind not in names:
        return "{%s}" % ", ".join('"%s"' % word for word in kind.split("|"))
    return names.get(kind, kind)


def option_parameter(option):
    text = keyword_text(option["help"]).strip()
    text = text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
    if option["range"]:
        text += " In %s." % option["range"]
    if option["default_value"]:
        text += " Default %s." % option["default_value"]
    return option["name"], option["type"], text


def write_class(
    name, task, learner, summary, details, options, probabilities, checkpoint, graph, sure
):
    base = "BaseRegressor" if task == "regression" else "BaseClassifier"
    parameters = [LEARNER] if learner is None else []
    parameters += [option_parameter(o) for o in options] + COMMON
    if checkpoint:
        parameters.append(CHECKPOINT)
    if graph:
        parameters.append(GRAPH)
    if task == "classification" and probabilities in ("asked", "kept"):
        name_, kind_, text_ = PROBABILITIES
        parameters.append((name_, kind_, text_ + (" " + KEPT if probabilities == "kept" else "")))
    if task in sure:
        parameters.append((UNCERTAINTY_KEPT if sure[task] else UNCERTAINTY)[task])
    parameters += LAST
    out = ["", "class %s(%s):" % (name, base)]

    def wrapped(text, indent):
        return textwrap.wrap(
            text,
            100 - indent,
            initial_indent=" " * indent,
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )

    if learner in SEVERAL:
        details += ' Where no kernels are given they are "%s".' % SEVERAL[learner]
    first = summary[:1].upper() + summary[1:] + "."
    out += wrapped('"""' + first, 4) + [""]
    if details:
        out += wrapped(details, 4) + [""]
    out += ["    Parameters", "    ----------"]
    for parameter, kind, text in parameters:
        out.append("    %s : %s, optional" % (parameter, shown(kind)))
        out += wrapped(text, 8)
    out += ["", "    Attributes", "    ----------"]
    attributes = list(ATTRIBUTES)
    if task == "classification":
        attributes.insert(1, ("classes_", "ndarray", "The classes, sorted."))
    for attribute, kind, text in attributes:
        out.append("    %s : %s" % (attribute, kind))
        out += wrapped(text, 8)
    out += ["", "    Examples", "    --------"] + example(name, task) + ['    """', ""]
    if learner is not None:
        out.append('    _learner = "%s"' % learner)
        names = ", ".join('"%s"' % o["name"] for o in options)
        out.append("    _options = (%s)" % (names + ("," if len(options) == 1 else "")))
        renamed = {new: old for (who, old), new in RENAMED.items() if who == learner}
        if renamed:
            pairs = ", ".join('"%s": "%s"' % pair for pair in renamed.items())
            out.append("    _renamed = {%s}" % pairs)
        if learner in SEVERAL:
            out.append('    _kernels = "%s"' % SEVERAL[learner])
        if name in EXPLAINED:
            out.append("    _explained = {")
            for check, why in EXPLAINED[name].items():
                out += ['        "%s": (' % check, "            %s" % quoted(why, 8), "        ),"]
            out.append("    }")
        out.append("")
    out += ["    def __init__(", "        self,", "        *,"]
    for parameter, kind, _ in parameters:
        default = "False" if parameter == "verbose" else "None"
        out.append("        %s: %s = %s," % (parameter, hint(kind), default))
    out.append("    ) -> None:")
    out += ["        self.%s = %s" % (p[0], p[0]) for p in parameters]
    return out + [""]


def example(name, task):
    made = "%s()" % name
    lines = [
        ">>> import numpy as np",
        ">>> from krein import %s" % name,
        ">>> X = np.random.RandomState(0).rand(100, 2)",
    ]
    if task == "regression":
        lines += [
            ">>> y = np.sin(3 * X[:, 0]) + X[:, 1]",
            ">>> model = %s.fit(X, y)" % made,
            ">>> model.predict(X[:5]).shape",
            "(5,)",
            ">>> bool(model.score(X, y) > 0.9)",
            "True",
        ]
    else:
        lines += [
            '>>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")',
            ">>> model = %s.fit(X, y)" % made,
            ">>> model.classes_.tolist()",
            "['high', 'low']",
            ">>> bool(model.score(X, y) > 0.9)",
            "True",
        ]
    return ["    " + line for line in lines]


def write_estimators(tables, able):
    parts, names = [], ["Regressor", "Classifier"]
    for name, task in (("Regressor", "regression"), ("Classifier", "classification")):
        what = "numbers" if task == "regression" else "classes"
        parts += write_class(
            name,
            task,
            None,
            "A kernel machine for %s that chooses kernel, features and regularisation itself"
            % what,
            "Every choice can be made by a keyword instead.",
            [],
            "asked",
            True,
            True,
            {"regression": False, "classification": False},
        )
    for entry, options in tables["learners"]:
        tasks, probabilities, _, checkpoint, graph, sure = able[entry["name"]]
        for task in tasks:
            if task == "multilabel":  # of the classifier
                continue
            suffix = "Regressor" if task == "regression" else "Classifier"
            name = NAMES.get((entry["name"], task), entry["name"].capitalize() + suffix)
            taken = {c[0] for c in COMMON}
            own = [dict(o) for o in options]
            for option in own:
                option["name"] = RENAMED.get((entry["name"], option["name"]), option["name"])
            own = [o for o in own if o["name"] + "_" not in taken and o["name"] not in taken]
            parts += write_class(
                name,
                task,
                entry["name"],
                keyword_text(entry["summary"]),
                keyword_text(entry["details"]),
                own,
                probabilities,
                checkpoint,
                graph,
                sure,
            )
            names.append(name)
    front = FRONT % "".join('    "%s",\n' % n for n in names)
    return front + "\n".join(parts)


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__.split(" -- ")[0], file=sys.stderr)
        return 2
    tables = read_tables()
    able = {entry["name"]: abilities(entry["name"]) for entry, _ in tables["learners"]}
    stale = 0
    for name, text in (
        ("_tables.py", write_tables(tables, able)),
        ("estimators.py", write_estimators(tables, able)),
    ):
        path = os.path.join(ROOT, "python", "krein", name)
        if not arguments:
            with open(path, "w") as file:
                file.write(text)
            continue
        with open(path) as file:
            if file.read() != text:
                print("python/krein/%s is not current: run scripts/python_tables.py" % name)
                stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
