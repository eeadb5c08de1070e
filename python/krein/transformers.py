"""Feature maps, principal components and clusters in the manner of scikit-learn."""

from __future__ import annotations

import ctypes
import types
from typing import Any, Dict, List, Optional, Tuple, Type, Union

import numpy as np

from . import _calls, _library, _rows
from . import _interface as c
from ._base import HAVE_SKLEARN, BaseKrein, is_stream, train_options
from ._context import Context, _start
from ._report import Report
from .errors import ArgumentError
from .model import Model, _collect

if HAVE_SKLEARN:
    from sklearn.base import ClusterMixin, TransformerMixin
else:

    class TransformerMixin:  # type: ignore[no-redef]
        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
            """Fits and transforms the same rows."""
            return self.fit(X, y, **fit_params).transform(X)  # type: ignore[attr-defined]

    class ClusterMixin:  # type: ignore[no-redef]
        _estimator_type = "clusterer"

        def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
            """Clusters rows, and returns the cluster of each."""
            return self.fit(X, y, **fit_params).labels_  # type: ignore[attr-defined]


__all__ = ["FeatureMap", "KernelPCA", "KernelKMeans", "SpectralClustering"]

_lib = _library.library
_READING = ("scale", "missing", "categories", "unknown", "types")


class _Unsupervised(BaseKrein):
    """What the classes share: rows become data, options a struct, the result a model and a report."""

    _struct: Type[Any]  # of the options
    _report: Type[Any]
    _fields: Dict[str, str] = {}  # keyword -> field of the options, where they differ

    def _asked(self, *skipped: str) -> Any:
        """The options of the keywords but those skipped."""
        skipped += _READING + ("n_jobs", "max_memory", "verbose")
        given = {
            self._fields.get(name, name): value
            for name, value in self.get_params(deep=False).items()
            if name not in skipped
        }
        return _calls.options(self._struct, **given)

    def _run(self, context: Context, data: Any, asked: Any, report: Any, model: Any) -> int:
        """The call of the library."""
        raise NotImplementedError

    def _learn(
        self, X: Any, y: Any, wants_model: bool = True, sample_weight: Any = None
    ) -> None:
        if not is_stream(X):
            self._take_names(X, first=True)
        asked = self._asked()
        handle = ctypes.c_void_p()
        reference = ctypes.byref(handle) if wants_model else None
        keywords = {name: getattr(self, name) for name in _READING}
        if y is None and is_stream(X):
            keywords["label"] = "none"  # all columns of a file are inputs
        if isinstance(sample_weight, str):
            keywords["weights"], sample_weight = sample_weight, None
        with _calls.opened(
            X,
            y,
            sample_weight,
            n_jobs=getattr(self, "n_jobs"),
            max_memory=getattr(self, "max_memory"),
            verbose=getattr(self, "verbose"),
            fit=True,
            **keywords,
        ) as (context, data):
            self.report_: Report = _calls.reported(
                context,
                self._report,
                lambda report: self._run(context, data, asked, report, reference),
            )
            self.kernel_, self.map_ = self.report_.kernel, self.report_.map
            if wants_model:
                self.model_ = Model._made(context, handle, c.KREIN_OK)
                self.n_features_in_ = self.model_.n_features_in
                if is_stream(X) or isinstance(y, str) or "weights" in keywords:
                    self._take_columns(self.model_.columns)
            else:
                self.__dict__.pop("model_", None)
                if data.rows >= 0:
                    self.n_features_in_ = data.view.view.d


class _Transformer(TransformerMixin, _Unsupervised):
    """Rows become columns that have the name of the class and a number."""

    _dtype: Any = np.float64

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array of str, optional
            Names of the inputs, which must be those of the fit. They are not used, and are there
            for the sake of pipelines.

        Returns
        -------
        array of str
        """
        self._fitted()
        if input_features is not None:
            known = getattr(self, "feature_names_in_", None)
            if len(input_features) != self.n_features_in_:
                raise ArgumentError(
                    "input_features should have length equal to number of features (%d), got %d"
                    % (self.n_features_in_, len(input_features))
                )
            if known is not None and list(known) != list(input_features):
                raise ArgumentError("input_features is not equal to feature_names_in_")
        name = type(self).__name__.lower()
        return np.array([name + str(i) for i in range(self._width())], dtype=object)

    def _width(self) -> int:
        raise NotImplementedError

    @property
    def _n_features_out(self) -> int:
        return self._width()

    def _more_tags(self) -> Dict[str, Any]:
        return {**super()._more_tags(), "preserves_dtype": [self._dtype]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = [np.dtype(self._dtype).name]
        return tags


class FeatureMap(_Transformer):
    """Features whose inner products are nearly kernel values: any map of the library.

    A linear model on the features is then nearly a kernel machine. Of kernels that are not positive
    definite some features count negatively: the kernel is ``(Z * signs_) @ Z.T``.

    Parameters
    ----------
    map : str, optional
        Feature map, as "orf" or "nystrom(D=500)"; by the kernel when None. Maps that use labels, as
        "aligned", take them from `fit`.
    kernel : str or Kernel, optional
        "gaussian" when None. A free scale is the median distance of the rows.
    features : int, optional
        Number of features, in place of the map's D; 1,024 when both are None.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs; "standard" when None.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts become a
        category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at `transform` that was not there at `fit`.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    verbose : bool or int, optional
        Progress and decisions on standard error.

    Attributes
    ----------
    model_ : Model
        The fitted map.
    report_ : Report
    kernel_, map_ : str
        Complete specs.
    signs_ : ndarray of int8
        1 or -1 for each feature.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> import krein
    >>> X = np.random.RandomState(0).rand(200, 3)
    >>> map = krein.FeatureMap(map="orf", kernel="gaussian(sigma=2)", features=2000)
    >>> Z = map.fit_transform(X)
    >>> Z.shape, Z.dtype
    ((200, 2000), dtype('float32'))
    >>> K = krein.gram(X, kernel="gaussian(sigma=2)")
    >>> bool(np.abs(Z @ Z.T - K).max() < 0.1)
    True
    """

    _struct = c.krein_train_options
    _report = c.krein_transform_report
    _dtype = np.float32

    def __init__(
        self,
        *,
        map: Optional[str] = None,
        kernel: Any = None,
        features: Optional[int] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        verbose: Union[bool, int] = False,
    ) -> None:
        self.map = map
        self.kernel = kernel
        self.features = features
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.verbose = verbose

    def _asked(self, *skipped: str) -> Any:
        return train_options(
            map=self.map,
            kernel=self.kernel,
            features=self.features,
            max_exact=self.max_exact,
            random_state=self.random_state,
        )

    def _run(self, context: Context, data: Any, asked: Any, report: Any, model: Any) -> int:
        return _lib.krein_fit(context.handle, data.handle, ctypes.byref(asked), report, model)

    def fit(self, X: Any, y: Any = None) -> "FeatureMap":
        """Fits the map to rows.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks
        y : array of shape (n,), or str, optional
            Labels, which only few maps use, or the name of their column in the file or frame.

        Returns
        -------
        self
        """
        self._learn(X, y)
        signs = self.model_.arrays.get("signs")
        self.signs_ = (
            np.ones(self._width(), dtype=np.int8)
            if signs is None
            else np.array(signs, dtype=np.int8).ravel()
        )
        return self

    def _width(self) -> int:
        return int(self._fitted().describe().D)

    def transform(self, X: Any) -> np.ndarray:
        """Features of rows.

        Parameters
        ----------
        X : array, sparse matrix or frame

        Returns
        -------
        array of shape (n, features), float32
        """
        model = self._fitted()
        if not is_stream(X):
            X = self._take_names(X, first=False)
        return model.transform(X, self.n_jobs, self.max_memory)


class KernelPCA(_Transformer):
    """Kernel principal components.

    Parameters
    ----------
    n_components : int
        Number of components.
    kernel : str or Kernel, optional
        "gaussian" when None. A free scale is the median distance of the rows.
    map : str, optional
        Feature map, as "nystrom(D=500)"; "exact" on few rows, else by the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    max_exact, max_memory, n_jobs, random_state, scale, missing, categories, unknown, types, verbose
        As for `FeatureMap`.

    Attributes
    ----------
    explained_variance_ : ndarray
        Variance along each component, the largest first.
    explained_variance_ratio_ : ndarray
        The same as parts of the whole.
    model_ : Model
        The program ``krein`` can use it too.
    report_ : Report
    kernel_, map_ : str
        Complete specs.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import krein
    >>> X, y = krein.generate("moons", 200)
    >>> pca = krein.KernelPCA(n_components=3, kernel="gaussian(sigma=1)")
    >>> pca.fit_transform(X).shape
    (200, 3)
    >>> pca.explained_variance_ratio_.shape
    (3,)
    """

    _struct = c.krein_pca_options
    _report = c.krein_pca_report
    _fields = {"n_components": "components"}

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        verbose: Union[bool, int] = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.map = map
        self.features = features
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.verbose = verbose

    def _run(self, context: Context, data: Any, asked: Any, report: Any, model: Any) -> int:
        return _lib.krein_pca(context.handle, data.handle, ctypes.byref(asked), None, report, model)

    def fit(self, X: Any, y: Any = None) -> "KernelPCA":
        """Finds the components of rows.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks
        y : str, optional
            A column of the file or frame that is no input. Labels are not used.

        Returns
        -------
        self
        """
        self._learn(X, y if isinstance(y, str) else None)
        self.explained_variance_ = self.report_.variance
        self.explained_variance_ratio_ = self.report_.ratio
        return self

    def _width(self) -> int:
        return self._fitted()._outputs

    def transform(self, X: Any) -> np.ndarray:
        """Components of rows.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks

        Returns
        -------
        array of shape (n, n_components)
        """
        return self._predicted(X, "scores")


_FOUR = "the check has four different rows, fewer than the clusters that are the default"


class _Clusterer(ClusterMixin, _Unsupervised):
    """Rows get the numbers of their clusters, from 0, the largest first."""

    _explained = {
        "check_sample_weights_shape": _FOUR,
        "check_sample_weights_not_overwritten": _FOUR,
        "check_sample_weights_invariance": _FOUR,
    }
    _struct = c.krein_cluster_options
    _report = c.krein_cluster_report
    _method = c.KREIN_CLUSTER_KMEANS
    _fields = {
        "n_clusters": "clusters",
        "n_init": "restarts",
        "n_neighbors": "neighbours",
    }

    def _asked(self, *skipped: str) -> Any:
        asked = super()._asked(*skipped)
        asked.method = self._method
        return asked

    def _run(self, context: Context, data: Any, asked: Any, report: Any, model: Any) -> int:
        """Leaves the clusters in labels_."""
        given = ctypes.byref(asked)
        if data.rows >= 0:
            labels = np.empty(data.rows, dtype=np.int64)
            status = _lib.krein_cluster_labels(
                context.handle, data.handle, given, labels.ctypes.data, len(labels), report, model
            )
        else:  # nobody knows how many rows there are
            rows: List[int] = []
            send = _start(_collect(context, rows, [("labels", 0)]))
            declared = ctypes.CFUNCTYPE(
                ctypes.c_int, ctypes.py_object, ctypes.POINTER(c.krein_prediction)
            )
            function = declared(types.BuiltinFunctionType.__call__)  # see _context
            told = ctypes.cast(function, c.krein_predict_fn)
            status = _lib.krein_cluster(
                context.handle, data.handle, given, told, id(send), report, model
            )
            labels = np.array(rows, dtype=np.int64)
        if status == c.KREIN_OK:
            self.labels_ = labels
        return int(status)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Clusters rows.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks
        y : str, optional
            A column of the file or frame that is no input. Labels are not used.
        sample_weight : array of shape (n,), or str, optional
            A row of weight w counts as w equal rows; one of weight 0 has no part in the clusters and
            is told its own. Or the name of their column in the file or frame.

        Returns
        -------
        self
        """
        self._learn(X, y if isinstance(y, str) else None, self._wants_model(), sample_weight)
        self.silhouette_ = self.report_.silhouette
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Clusters rows, and returns the cluster of each: `fit`, then `labels_`."""
        return self.fit(X, y, sample_weight).labels_

    def _wants_model(self) -> bool:
        raise NotImplementedError

    def __sklearn_is_fitted__(self) -> bool:
        return "labels_" in self.__dict__


class KernelKMeans(_Clusterer):
    """K-means in the space of a kernel.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    kernel : str or Kernel, optional
        "gaussian" when None. A free scale is the median distance of the rows.
    map : str, optional
        Feature map, as "nystrom(D=500)"; "exact" on few rows, else by the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    n_init : int, optional
        Runs, of which the best is kept; 10 when None.
    max_exact, max_memory, n_jobs, random_state, scale, missing, categories, unknown, types, verbose
        As for `FeatureMap`.

    Attributes
    ----------
    labels_ : ndarray of int64
        The cluster of each row, from 0, the largest cluster first; -1 for a row that was left out.
    inertia_ : float
        Sum of squared distances to the centres.
    silhouette_ : float
        Mean over the rows, or over a sample of them, in the kernel's distance.
    n_iter_ : int
        Steps of the best run.
    model_ : Model
        Predicts the clusters of other rows, as classes "1", "2", ... in the program ``krein``.
        There is none for one cluster.
    report_ : Report
    kernel_, map_ : str
        Complete specs.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import krein
    >>> X, y = krein.generate("blobs", 300, random_state=1)
    >>> clusters = krein.KernelKMeans(3).fit(X)
    >>> clusters.labels_.shape, bool((clusters.predict(X) == clusters.labels_).all())
    ((300,), True)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        n_init: Optional[int] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        verbose: Union[bool, int] = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.map = map
        self.features = features
        self.n_init = n_init
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.verbose = verbose

    def _wants_model(self) -> bool:
        return self.n_clusters != 1  # every row is in that one

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "KernelKMeans":
        super().fit(X, y, sample_weight)
        self.inertia_ = self.report_.inertia
        self.n_iter_ = self.report_.steps
        return self

    fit.__doc__ = _Clusterer.fit.__doc__

    def predict(self, X: Any) -> np.ndarray:
        """The clusters of rows, by the nearest centre.

        Parameters
        ----------
        X : array, sparse matrix, frame, file name, or callable that returns blocks

        Returns
        -------
        array of shape (n,), int64
            -1 for a row that was left out (``missing="drop"``).
        """
        if "labels_" in self.__dict__ and "model_" not in self.__dict__ and not is_stream(X):
            return np.zeros(self._take_names(X, first=False).shape[0], dtype=np.int64)
        return self._predicted(X, "labels")


_GRAPHS = {"full": c.KREIN_GRAPH_FULL, "knn": c.KREIN_GRAPH_KNN}


class SpectralClustering(_Clusterer):
    """Spectral clustering by the similarities of a kernel. It places the rows it is given, and no
    others.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    kernel : str or Kernel, optional
        "gaussian" when None. A free scale is the median distance of the rows.
    map : str, optional
        Feature map, as "nystrom(D=500)"; "exact" on few rows, else "nystrom" when None.
    features : int, optional
        Number of features, in place of the map's D.
    graph : {"full", "knn"}, optional
        All pairs of rows (when None), or the nearest neighbours in the kernel's distance.
    n_neighbors : int, optional
        Neighbours of a row in the graph "knn"; 10 when None.
    n_init : int, optional
        Runs of k-means, of which the best is kept; 10 when None.
    max_exact, max_memory, n_jobs, random_state, scale, missing, categories, unknown, types, verbose
        As for `FeatureMap`.

    Attributes
    ----------
    labels_ : ndarray of int64
        The cluster of each row, from 0, the largest cluster first; -1 for a row that was left out.
    silhouette_ : float
        Mean over the rows, or over a sample of them, in the kernel's distance.
    report_ : Report
    kernel_, map_ : str
        Complete specs; no map for a graph of neighbours.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import krein
    >>> X, y = krein.generate("moons", 300, noise=0.05)
    >>> labels = krein.SpectralClustering(2, graph="knn").fit_predict(X)
    >>> bool((labels == y).all() or (labels != y).all())
    True
    """

    _method = c.KREIN_CLUSTER_SPECTRAL

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        graph: Optional[str] = None,
        n_neighbors: Optional[int] = None,
        n_init: Optional[int] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        verbose: Union[bool, int] = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.map = map
        self.features = features
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.verbose = verbose

    def _wants_model(self) -> bool:
        return False  # there is none

    def _asked(self, *skipped: str) -> Any:
        asked = super()._asked("graph", *skipped)
        if self.graph is not None:
            if self.graph not in _GRAPHS:
                raise ArgumentError(
                    "`graph` is one of %s, not %r" % (", ".join(_GRAPHS), self.graph)
                )
            asked.graph = _GRAPHS[self.graph]
        return asked
