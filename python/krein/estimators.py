"""Estimators in the manner of scikit-learn: one for any learner, and one a learner.

Written by scripts/python_tables.py from the library's tables. Do not edit: what the classes do is
in _base.py.
"""
from __future__ import annotations

from typing import Any, List, Optional, Union

from ._base import BaseClassifier, BaseRegressor

__all__ = [
    "Regressor",
    "Classifier",
    "KernelRidge",
    "KernelRidgeClassifier",
    "DividedRegressor",
    "DividedClassifier",
    "SemiSupervisedRegressor",
    "SemiSupervisedClassifier",
    "LaprlsRegressor",
    "LaprlsClassifier",
    "VectorValuedRegressor",
    "VectorValuedClassifier",
    "LabelPropagationRegressor",
    "LabelPropagationClassifier",
    "SelfTrainingClassifier",
    "SVC",
    "SVR",
    "GradientDescentRegressor",
    "GradientDescentClassifier",
    "LogisticRegression",
    "AsklRegressor",
    "AsklClassifier",
    "DeepRegressor",
    "DeepClassifier",
    "NetRegressor",
    "NetClassifier",
    "MKLRegressor",
    "MKLClassifier",
]


class Regressor(BaseRegressor):
    """A kernel machine for numbers that chooses kernel, features and regularisation itself.

    Every choice can be made by a keyword instead.

    Parameters
    ----------
    learner : str, optional
        Learner with its options, as "krr" or "svm(C=10)"; "krr" when None.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    checkpoint : str or path, optional
        File with the state of a long training. Where `fit` was interrupted (Ctrl-C, a
        crash), the same `fit` goes on from it, to the same model. It is removed when `fit`
        is done. For arrays, frames and files, not for blocks.
    graph_file : str or path, optional
        File of the graph of neighbours: read where it exists, else written. The graph of
        other rows is refused.
    uncertainty : bool, optional
        Whether `predict` with `return_std`, `predict_interval` and `novelty` are wanted.
        The model then keeps half of a matrix of its features.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import Regressor
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = Regressor().fit(X, y)
    >>> model.predict(X[:5]).shape
    (5,)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        *,
        learner: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        checkpoint: Any = None,
        graph_file: Any = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.learner = learner
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.checkpoint = checkpoint
        self.graph_file = graph_file
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class Classifier(BaseClassifier):
    """A kernel machine for classes that chooses kernel, features and regularisation itself.

    Every choice can be made by a keyword instead.

    Parameters
    ----------
    learner : str, optional
        Learner with its options, as "krr" or "svm(C=10)"; "krr" when None.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    checkpoint : str or path, optional
        File with the state of a long training. Where `fit` was interrupted (Ctrl-C, a
        crash), the same `fit` goes on from it, to the same model. It is removed when `fit`
        is done. For arrays, frames and files, not for blocks.
    graph_file : str or path, optional
        File of the graph of neighbours: read where it exists, else written. The graph of
        other rows is refused.
    probabilities : bool, optional
        Whether `predict_proba` is wanted, which needs a calibration on held-out scores. It
        may see the best class elsewhere than `predict`, which goes by the scores.
    uncertainty : bool, optional
        Whether `predict_set` (and for kernel ridge regression `novelty`) is wanted;
        `predict_proba` comes with it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import Classifier
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = Classifier().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        *,
        learner: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        checkpoint: Any = None,
        graph_file: Any = None,
        probabilities: Optional[bool] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.learner = learner
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.checkpoint = checkpoint
        self.graph_file = graph_file
        self.probabilities = probabilities
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class KernelRidge(BaseRegressor):
    """Kernel ridge regression; classes through -1/+1 targets.

    On features in one pass (plus one for leave-one-out), or on the kernel matrix with
    map=exact. lambda by exact leave-one-out unless `lambda_` is given. norm=krein is for maps
    whose features have signs (gorf): the stationary point that map=exact finds on the kernel
    matrix. solver=pcg, the default where D x D numbers do not fit into memory, passes over the
    features many times; above 8,192 rows it chooses lambda by a tenth of the rows, at most
    4,096, held out. With map=exact it keeps half of the kernel matrix, in float32 or, above
    32,000 rows, 16 bits, and chooses lambda by a tenth, at most 2,000. On nystrom with 1,024
    landmarks or more and a positive definite kernel it is the default where it is faster, keeps
    all landmarks (no feature is dropped), and chooses lambda that way. Probabilities are
    calibrated on leave-one-out scores, or on those of folds (`select=cv`, groups, solver=pcg).

    Parameters
    ----------
    norm : {"hilbert", "krein"}, optional
        Features with signs (indefinite kernels): penalise |w|^2, or stabilise with the
        kernel's own w'Sw; with map=exact it is the latter either way. Default hilbert.
    solver : {"auto", "direct", "pcg"}, optional
        Normal equations (map=exact: a factorisation of the kernel matrix), or conjugate
        gradients, which need no D x D numbers; auto: the latter on features where the
        former do not fit into memory, or rows are few, for many landmarks of nystrom, and
        with map=exact above 8,192 rows where it is shorter. Default auto.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    checkpoint : str or path, optional
        File with the state of a long training. Where `fit` was interrupted (Ctrl-C, a
        crash), the same `fit` goes on from it, to the same model. It is removed when `fit`
        is done. For arrays, frames and files, not for blocks.
    uncertainty : bool, optional
        Whether `predict` with `return_std`, `predict_interval` and `novelty` are wanted.
        The model then keeps half of a matrix of its features.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KernelRidge
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = KernelRidge().fit(X, y)
    >>> model.predict(X[:5]).shape
    (5,)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "krr"
    _options = ("norm", "solver")

    def __init__(
        self,
        *,
        norm: Optional[str] = None,
        solver: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        checkpoint: Any = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.norm = norm
        self.solver = solver
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.checkpoint = checkpoint
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class KernelRidgeClassifier(BaseClassifier):
    """Kernel ridge regression; classes through -1/+1 targets.

    On features in one pass (plus one for leave-one-out), or on the kernel matrix with
    map=exact. lambda by exact leave-one-out unless `lambda_` is given. norm=krein is for maps
    whose features have signs (gorf): the stationary point that map=exact finds on the kernel
    matrix. solver=pcg, the default where D x D numbers do not fit into memory, passes over the
    features many times; above 8,192 rows it chooses lambda by a tenth of the rows, at most
    4,096, held out. With map=exact it keeps half of the kernel matrix, in float32 or, above
    32,000 rows, 16 bits, and chooses lambda by a tenth, at most 2,000. On nystrom with 1,024
    landmarks or more and a positive definite kernel it is the default where it is faster, keeps
    all landmarks (no feature is dropped), and chooses lambda that way. Probabilities are
    calibrated on leave-one-out scores, or on those of folds (`select=cv`, groups, solver=pcg).

    Parameters
    ----------
    norm : {"hilbert", "krein"}, optional
        Features with signs (indefinite kernels): penalise |w|^2, or stabilise with the
        kernel's own w'Sw; with map=exact it is the latter either way. Default hilbert.
    solver : {"auto", "direct", "pcg"}, optional
        Normal equations (map=exact: a factorisation of the kernel matrix), or conjugate
        gradients, which need no D x D numbers; auto: the latter on features where the
        former do not fit into memory, or rows are few, for many landmarks of nystrom, and
        with map=exact above 8,192 rows where it is shorter. Default auto.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    checkpoint : str or path, optional
        File with the state of a long training. Where `fit` was interrupted (Ctrl-C, a
        crash), the same `fit` goes on from it, to the same model. It is removed when `fit`
        is done. For arrays, frames and files, not for blocks.
    probabilities : bool, optional
        Whether `predict_proba` is wanted, which needs a calibration on held-out scores. It
        may see the best class elsewhere than `predict`, which goes by the scores.
    uncertainty : bool, optional
        Whether `predict_set` (and for kernel ridge regression `novelty`) is wanted;
        `predict_proba` comes with it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import KernelRidgeClassifier
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = KernelRidgeClassifier().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "krr"
    _options = ("norm", "solver")

    def __init__(
        self,
        *,
        norm: Optional[str] = None,
        solver: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        checkpoint: Any = None,
        probabilities: Optional[bool] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.norm = norm
        self.solver = solver
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.checkpoint = checkpoint
        self.probabilities = probabilities
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class DividedRegressor(BaseRegressor):
    """Ridge regression on parts of the rows, averaged (divide and conquer).

    Each part solves its own problem, and the models are averaged by the weight of their rows:
    one pass on features, kernel matrices of a part's rows with map=exact (`max_exact` then
    counts those). lambda by exact leave-one-out of the average unless `lambda_` is given. One
    part is krr. See docs/divide.md.

    Parameters
    ----------
    parts : int, optional
        Number of parts; as many as krein advise says when not given. In [1, 1000000].
    order : {"blocks", "shuffle"}, optional
        A part is a stretch of the data, or rows drawn from all over it; when not given
        stretches, unless their labels differ.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    uncertainty : bool, optional
        Whether `predict_interval` is wanted. A fifth of the rows, 30 to 5,000, is kept from
        the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import DividedRegressor
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = DividedRegressor().fit(X, y)
    >>> model.predict(X[:5]).shape
    (5,)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "dckrr"
    _options = ("parts", "order")
    _explained = {
        "check_sample_weights_invariance": (
            "sums of float32 features depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        parts: Optional[int] = None,
        order: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.parts = parts
        self.order = order
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class DividedClassifier(BaseClassifier):
    """Ridge regression on parts of the rows, averaged (divide and conquer).

    Each part solves its own problem, and the models are averaged by the weight of their rows:
    one pass on features, kernel matrices of a part's rows with map=exact (`max_exact` then
    counts those). lambda by exact leave-one-out of the average unless `lambda_` is given. One
    part is krr. See docs/divide.md.

    Parameters
    ----------
    parts : int, optional
        Number of parts; as many as krein advise says when not given. In [1, 1000000].
    order : {"blocks", "shuffle"}, optional
        A part is a stretch of the data, or rows drawn from all over it; when not given
        stretches, unless their labels differ.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    probabilities : bool, optional
        Whether `predict_proba` is wanted, which needs a calibration on held-out scores. It
        may see the best class elsewhere than `predict`, which goes by the scores. A fifth
        of the rows, 30 to 5,000, is kept from the training for it.
    uncertainty : bool, optional
        Whether `predict_set` is wanted; `predict_proba` comes with it. A fifth of the rows,
        30 to 5,000, is kept from the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import DividedClassifier
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = DividedClassifier().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "dckrr"
    _options = ("parts", "order")
    _explained = {
        "check_sample_weights_invariance": (
            "sums of float32 features depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        parts: Optional[int] = None,
        order: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        probabilities: Optional[bool] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.parts = parts
        self.order = order
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.probabilities = probabilities
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class SemiSupervisedRegressor(BaseRegressor):
    """Ridge regression that learns from rows without labels too.

    Unlabelled rows come by `unlabeled`, or have an empty label or "?" in the data. They sharpen
    what is known of the inputs: labels stand against the features of all rows. On features
    only; lambda by exact leave-one-out unless `lambda_` is given. See docs/semisupervised.md.

    Parameters
    ----------
    parts : int, optional
        Number of parts, averaged as in dckrr. In [1, 1000000]. Default 1.
    order : {"blocks", "shuffle"}, optional
        A part is a stretch of the data, or rows drawn from all over it; when not given
        stretches, unless their labels differ.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    uncertainty : bool, optional
        Whether `predict_interval` is wanted. A fifth of the rows, 30 to 5,000, is kept from
        the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import SemiSupervisedRegressor
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = SemiSupervisedRegressor().fit(X, y)
    >>> model.predict(X[:5]).shape
    (5,)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "sskrr"
    _options = ("parts", "order")
    _explained = {
        "check_sample_weights_invariance": (
            "sums of float32 features depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        parts: Optional[int] = None,
        order: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.parts = parts
        self.order = order
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class SemiSupervisedClassifier(BaseClassifier):
    """Ridge regression that learns from rows without labels too.

    Unlabelled rows come by `unlabeled`, or have an empty label or "?" in the data. They sharpen
    what is known of the inputs: labels stand against the features of all rows. On features
    only; lambda by exact leave-one-out unless `lambda_` is given. See docs/semisupervised.md.

    Parameters
    ----------
    parts : int, optional
        Number of parts, averaged as in dckrr. In [1, 1000000]. Default 1.
    order : {"blocks", "shuffle"}, optional
        A part is a stretch of the data, or rows drawn from all over it; when not given
        stretches, unless their labels differ.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    probabilities : bool, optional
        Whether `predict_proba` is wanted, which needs a calibration on held-out scores. It
        may see the best class elsewhere than `predict`, which goes by the scores. A fifth
        of the rows, 30 to 5,000, is kept from the training for it.
    uncertainty : bool, optional
        Whether `predict_set` is wanted; `predict_proba` comes with it. A fifth of the rows,
        30 to 5,000, is kept from the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import SemiSupervisedClassifier
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = SemiSupervisedClassifier().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "sskrr"
    _options = ("parts", "order")
    _explained = {
        "check_sample_weights_invariance": (
            "sums of float32 features depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        parts: Optional[int] = None,
        order: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        probabilities: Optional[bool] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.parts = parts
        self.order = order
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.probabilities = probabilities
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class LaprlsRegressor(BaseRegressor):
    """Ridge regression that a graph of all rows keeps smooth.

    Laplacian regularised least squares: rows without labels (`unlabeled`, or with an empty
    label or "?") take part through the graph of nearest neighbours, on which predictions are to
    differ little along edges. On the kernel matrix of all distinct rows (`map=exact`), on
    landmarks, or on any features. lambda and lambda_i, where not given, by leave-one-out over
    the labelled rows; lambda_i = 0 is krr on these. Probabilities, and thresholds of labels,
    come from leave-one-out scores. See docs/semisupervised.md.

    Parameters
    ----------
    lambda_i : float, optional
        Weight of the graph's term f'Lf/n^2; chosen when not given. In [0, 1e+30].
    solver : {"auto", "direct", "cg", "pcg"}, optional
        Closed form, conjugate gradients, or these with a preconditioner; auto: direct up to
        3,000 rows or 2,048 features, then pcg.
    tol : float, optional
        Conjugate gradients end where predictions are off by so much of the labels'
        deviation. In (0, 1]. Default 1e-06.
    iterations : int, optional
        Or after so many. In [1, 1000000000]. Default 1000.
    k : int, optional
        Neighbours that a row names in the graph. In [1, 1000]. Default 10.
    near : {"auto", "exact", "tree", "descent"}, optional
        How they are found: all pairs, a k-d tree (exact too, for few columns), or
        nearest-neighbour descent (approximate); auto: by what it takes. Default auto.
    edges : {"heat", "binary"}, optional
        Weights of edges: exp(-|x-y|^2/(2 width^2)), or 1. Default heat.
    width : float, optional
        Of heat weights; the median distance to the k-th neighbour when not given. In (0,
        1e+30].
    laplacian : {"combinatorial", "normalized"}, optional
        D - W, or I - D^(-1/2) W D^(-1/2). Default combinatorial.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    graph_file : str or path, optional
        File of the graph of neighbours: read where it exists, else written. The graph of
        other rows is refused.
    uncertainty : bool, optional
        Whether `predict_interval` is wanted. A fifth of the rows, 30 to 5,000, is kept from
        the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import LaprlsRegressor
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = LaprlsRegressor().fit(X, y)
    >>> model.predict(X[:5]).shape
    (5,)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "laprls"
    _options = ("lambda_i", "solver", "tol", "iterations", "k", "near", "edges", "width", "laplacian")

    def __init__(
        self,
        *,
        lambda_i: Optional[float] = None,
        solver: Optional[str] = None,
        tol: Optional[float] = None,
        iterations: Optional[int] = None,
        k: Optional[int] = None,
        near: Optional[str] = None,
        edges: Optional[str] = None,
        width: Optional[float] = None,
        laplacian: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        graph_file: Any = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.lambda_i = lambda_i
        self.solver = solver
        self.tol = tol
        self.iterations = iterations
        self.k = k
        self.near = near
        self.edges = edges
        self.width = width
        self.laplacian = laplacian
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.graph_file = graph_file
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class LaprlsClassifier(BaseClassifier):
    """Ridge regression that a graph of all rows keeps smooth.

    Laplacian regularised least squares: rows without labels (`unlabeled`, or with an empty
    label or "?") take part through the graph of nearest neighbours, on which predictions are to
    differ little along edges. On the kernel matrix of all distinct rows (`map=exact`), on
    landmarks, or on any features. lambda and lambda_i, where not given, by leave-one-out over
    the labelled rows; lambda_i = 0 is krr on these. Probabilities, and thresholds of labels,
    come from leave-one-out scores. See docs/semisupervised.md.

    Parameters
    ----------
    lambda_i : float, optional
        Weight of the graph's term f'Lf/n^2; chosen when not given. In [0, 1e+30].
    solver : {"auto", "direct", "cg", "pcg"}, optional
        Closed form, conjugate gradients, or these with a preconditioner; auto: direct up to
        3,000 rows or 2,048 features, then pcg.
    tol : float, optional
        Conjugate gradients end where predictions are off by so much of the labels'
        deviation. In (0, 1]. Default 1e-06.
    iterations : int, optional
        Or after so many. In [1, 1000000000]. Default 1000.
    k : int, optional
        Neighbours that a row names in the graph. In [1, 1000]. Default 10.
    near : {"auto", "exact", "tree", "descent"}, optional
        How they are found: all pairs, a k-d tree (exact too, for few columns), or
        nearest-neighbour descent (approximate); auto: by what it takes. Default auto.
    edges : {"heat", "binary"}, optional
        Weights of edges: exp(-|x-y|^2/(2 width^2)), or 1. Default heat.
    width : float, optional
        Of heat weights; the median distance to the k-th neighbour when not given. In (0,
        1e+30].
    laplacian : {"combinatorial", "normalized"}, optional
        D - W, or I - D^(-1/2) W D^(-1/2). Default combinatorial.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    graph_file : str or path, optional
        File of the graph of neighbours: read where it exists, else written. The graph of
        other rows is refused.
    probabilities : bool, optional
        Whether `predict_proba` is wanted, which needs a calibration on held-out scores. It
        may see the best class elsewhere than `predict`, which goes by the scores.
    uncertainty : bool, optional
        Whether `predict_set` (and for kernel ridge regression `novelty`) is wanted;
        `predict_proba` comes with it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import LaprlsClassifier
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = LaprlsClassifier().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "laprls"
    _options = ("lambda_i", "solver", "tol", "iterations", "k", "near", "edges", "width", "laplacian")

    def __init__(
        self,
        *,
        lambda_i: Optional[float] = None,
        solver: Optional[str] = None,
        tol: Optional[float] = None,
        iterations: Optional[int] = None,
        k: Optional[int] = None,
        near: Optional[str] = None,
        edges: Optional[str] = None,
        width: Optional[float] = None,
        laplacian: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        graph_file: Any = None,
        probabilities: Optional[bool] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.lambda_i = lambda_i
        self.solver = solver
        self.tol = tol
        self.iterations = iterations
        self.k = k
        self.near = near
        self.edges = edges
        self.width = width
        self.laplacian = laplacian
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.graph_file = graph_file
        self.probabilities = probabilities
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class VectorValuedRegressor(BaseRegressor):
    """All scores together, on a graph of all rows, with few singular values.

    Vector-valued learning, for many classes, several numbers or several labels a row, on
    features of any map: the loss of the labelled rows, |W|^2, the Laplacian of the graph of all
    rows (those without labels come by `unlabeled`, or with an empty label or "?"), and the
    singular values of W but the theta largest, by proximal stochastic gradients. lambda_a and
    lambda_i, where not given, are those of laprls; lambda_s is chosen on a tenth of the
    labelled rows. loss=square without lambda_s is laprls, without lambda_i too it is krr. See
    docs/semisupervised.md.

    Parameters
    ----------
    lambda_a : float, optional
        Weight of |W|^2, as `lambda_`, which it stands in for; chosen when neither is given.
        In [0, 1e+30].
    lambda_i : float, optional
        Weight of the graph's term f'Lf/n^2; chosen when not given. In [0, 1e+30].
    lambda_s : float, optional
        Weight of the singular values of W; chosen when not given. In [0, 1e+30].
    theta : int, optional
        So many of the largest singular values are free; 0: the trace norm. In [0, 1000000].
        Default 0.
    loss : {"hinge", "hinge2", "square", "softmax", "logistic"}, optional
        Hinge for classes, square for numbers and several labels when not given.
    pairs : int, optional
        Edges of the graph that a step draws; as many as `batch` when not given. In [1,
        1000000].
    optimizer : {"sgd", "adam", "adadelta"}, optional
        How steps follow from gradients; lambda_s is exact with sgd alone. Default sgd.
    epochs : int, optional
        Visits of every labelled row; when not given 3 to 3,000, so that there are about
        3,000 steps. In [1, 1000000].
    batch : int, optional
        Labelled rows of a step. In [1, 1000000]. Default 64.
    rate : float, optional
        Length of the steps; by the curvature of the loss with sgd when not given. In (0,
        1e+30].
    schedule : {"constant", "step", "cosine", "warmup"}, optional
        How the rate falls over the epochs. Default cosine.
    k : int, optional
        Neighbours that a row names in the graph. In [1, 1000]. Default 10.
    near : {"auto", "exact", "tree", "descent"}, optional
        How they are found: all pairs, a k-d tree (exact too, for few columns), or
        nearest-neighbour descent (approximate); auto: by what it takes. Default auto.
    edges : {"heat", "binary"}, optional
        Weights of edges: exp(-|x-y|^2/(2 width^2)), or 1. Default heat.
    width : float, optional
        Of heat weights; the median distance to the k-th neighbour when not given. In (0,
        1e+30].
    laplacian : {"combinatorial", "normalized"}, optional
        D - W, or I - D^(-1/2) W D^(-1/2). Default combinatorial.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    graph_file : str or path, optional
        File of the graph of neighbours: read where it exists, else written. The graph of
        other rows is refused.
    uncertainty : bool, optional
        Whether `predict_interval` is wanted. A fifth of the rows, 30 to 5,000, is kept from
        the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import VectorValuedRegressor
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = VectorValuedRegressor().fit(X, y)
    >>> model.predict(X[:5]).shape
    (5,)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "vvr"
    _options = ("lambda_a", "lambda_i", "lambda_s", "theta", "loss", "pairs", "optimizer", "epochs", "batch", "rate", "schedule", "k", "near", "edges", "width", "laplacian")
    _explained = {
        "check_sample_weights_invariance": (
            "mini-batches and the rows held out depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        lambda_a: Optional[float] = None,
        lambda_i: Optional[float] = None,
        lambda_s: Optional[float] = None,
        theta: Optional[int] = None,
        loss: Optional[str] = None,
        pairs: Optional[int] = None,
        optimizer: Optional[str] = None,
        epochs: Optional[int] = None,
        batch: Optional[int] = None,
        rate: Optional[float] = None,
        schedule: Optional[str] = None,
        k: Optional[int] = None,
        near: Optional[str] = None,
        edges: Optional[str] = None,
        width: Optional[float] = None,
        laplacian: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        graph_file: Any = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.lambda_a = lambda_a
        self.lambda_i = lambda_i
        self.lambda_s = lambda_s
        self.theta = theta
        self.loss = loss
        self.pairs = pairs
        self.optimizer = optimizer
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.schedule = schedule
        self.k = k
        self.near = near
        self.edges = edges
        self.width = width
        self.laplacian = laplacian
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.graph_file = graph_file
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class VectorValuedClassifier(BaseClassifier):
    """All scores together, on a graph of all rows, with few singular values.

    Vector-valued learning, for many classes, several numbers or several labels a row, on
    features of any map: the loss of the labelled rows, |W|^2, the Laplacian of the graph of all
    rows (those without labels come by `unlabeled`, or with an empty label or "?"), and the
    singular values of W but the theta largest, by proximal stochastic gradients. lambda_a and
    lambda_i, where not given, are those of laprls; lambda_s is chosen on a tenth of the
    labelled rows. loss=square without lambda_s is laprls, without lambda_i too it is krr. See
    docs/semisupervised.md.

    Parameters
    ----------
    lambda_a : float, optional
        Weight of |W|^2, as `lambda_`, which it stands in for; chosen when neither is given.
        In [0, 1e+30].
    lambda_i : float, optional
        Weight of the graph's term f'Lf/n^2; chosen when not given. In [0, 1e+30].
    lambda_s : float, optional
        Weight of the singular values of W; chosen when not given. In [0, 1e+30].
    theta : int, optional
        So many of the largest singular values are free; 0: the trace norm. In [0, 1000000].
        Default 0.
    loss : {"hinge", "hinge2", "square", "softmax", "logistic"}, optional
        Hinge for classes, square for numbers and several labels when not given.
    pairs : int, optional
        Edges of the graph that a step draws; as many as `batch` when not given. In [1,
        1000000].
    optimizer : {"sgd", "adam", "adadelta"}, optional
        How steps follow from gradients; lambda_s is exact with sgd alone. Default sgd.
    epochs : int, optional
        Visits of every labelled row; when not given 3 to 3,000, so that there are about
        3,000 steps. In [1, 1000000].
    batch : int, optional
        Labelled rows of a step. In [1, 1000000]. Default 64.
    rate : float, optional
        Length of the steps; by the curvature of the loss with sgd when not given. In (0,
        1e+30].
    schedule : {"constant", "step", "cosine", "warmup"}, optional
        How the rate falls over the epochs. Default cosine.
    k : int, optional
        Neighbours that a row names in the graph. In [1, 1000]. Default 10.
    near : {"auto", "exact", "tree", "descent"}, optional
        How they are found: all pairs, a k-d tree (exact too, for few columns), or
        nearest-neighbour descent (approximate); auto: by what it takes. Default auto.
    edges : {"heat", "binary"}, optional
        Weights of edges: exp(-|x-y|^2/(2 width^2)), or 1. Default heat.
    width : float, optional
        Of heat weights; the median distance to the k-th neighbour when not given. In (0,
        1e+30].
    laplacian : {"combinatorial", "normalized"}, optional
        D - W, or I - D^(-1/2) W D^(-1/2). Default combinatorial.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    graph_file : str or path, optional
        File of the graph of neighbours: read where it exists, else written. The graph of
        other rows is refused.
    probabilities : bool, optional
        Whether `predict_proba` is wanted, which needs a calibration on held-out scores. It
        may see the best class elsewhere than `predict`, which goes by the scores.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import VectorValuedClassifier
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = VectorValuedClassifier().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "vvr"
    _options = ("lambda_a", "lambda_i", "lambda_s", "theta", "loss", "pairs", "optimizer", "epochs", "batch", "rate", "schedule", "k", "near", "edges", "width", "laplacian")
    _explained = {
        "check_sample_weights_invariance": (
            "mini-batches and the rows held out depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        lambda_a: Optional[float] = None,
        lambda_i: Optional[float] = None,
        lambda_s: Optional[float] = None,
        theta: Optional[int] = None,
        loss: Optional[str] = None,
        pairs: Optional[int] = None,
        optimizer: Optional[str] = None,
        epochs: Optional[int] = None,
        batch: Optional[int] = None,
        rate: Optional[float] = None,
        schedule: Optional[str] = None,
        k: Optional[int] = None,
        near: Optional[str] = None,
        edges: Optional[str] = None,
        width: Optional[float] = None,
        laplacian: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        graph_file: Any = None,
        probabilities: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.lambda_a = lambda_a
        self.lambda_i = lambda_i
        self.lambda_s = lambda_s
        self.theta = theta
        self.loss = loss
        self.pairs = pairs
        self.optimizer = optimizer
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.schedule = schedule
        self.k = k
        self.near = near
        self.edges = edges
        self.width = width
        self.laplacian = laplacian
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.graph_file = graph_file
        self.probabilities = probabilities
        self.verbose = verbose
        self.comm = comm


class LabelPropagationRegressor(BaseRegressor):
    """Labels carried over a graph of neighbours to rows without labels.

    Unlabelled rows come by `unlabeled`, or have an empty label or "?" in the data. Labels are
    carried over the graph of nearest neighbours of all rows, by distances of the encoded rows;
    then ridge regression on the map learns them from all rows, so that new rows can be
    predicted. lambda by leave-one-out unless `lambda_` is given. See docs/semisupervised.md.

    Parameters
    ----------
    method : {"harmonic", "spreading"}, optional
        Labels stay and others are the mean of their neighbours; or all give way, by alpha.
        Default harmonic.
    alpha : float, optional
        Method=spreading: the share that comes from the neighbours. In (0, 1). Default 0.2.
    k : int, optional
        Neighbours that a row names in the graph. In [1, 1000]. Default 10.
    near : {"auto", "exact", "tree", "descent"}, optional
        How they are found: all pairs, a k-d tree (exact too, for few columns), or
        nearest-neighbour descent (approximate); auto: by what it takes. Default auto.
    edges : {"heat", "binary"}, optional
        Weights of edges: exp(-|x-y|^2/(2 width^2)), or 1. Default heat.
    width : float, optional
        Of heat weights; the median distance to the k-th neighbour when not given. In (0,
        1e+30].
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    graph_file : str or path, optional
        File of the graph of neighbours: read where it exists, else written. The graph of
        other rows is refused.
    uncertainty : bool, optional
        Whether `predict_interval` is wanted. A fifth of the rows, 30 to 5,000, is kept from
        the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import LabelPropagationRegressor
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = LabelPropagationRegressor().fit(X, y)
    >>> model.predict(X[:5]).shape
    (5,)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "labelprop"
    _options = ("method", "alpha", "k", "near", "edges", "width")

    def __init__(
        self,
        *,
        method: Optional[str] = None,
        alpha: Optional[float] = None,
        k: Optional[int] = None,
        near: Optional[str] = None,
        edges: Optional[str] = None,
        width: Optional[float] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        graph_file: Any = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.method = method
        self.alpha = alpha
        self.k = k
        self.near = near
        self.edges = edges
        self.width = width
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.graph_file = graph_file
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class LabelPropagationClassifier(BaseClassifier):
    """Labels carried over a graph of neighbours to rows without labels.

    Unlabelled rows come by `unlabeled`, or have an empty label or "?" in the data. Labels are
    carried over the graph of nearest neighbours of all rows, by distances of the encoded rows;
    then ridge regression on the map learns them from all rows, so that new rows can be
    predicted. lambda by leave-one-out unless `lambda_` is given. See docs/semisupervised.md.

    Parameters
    ----------
    method : {"harmonic", "spreading"}, optional
        Labels stay and others are the mean of their neighbours; or all give way, by alpha.
        Default harmonic.
    alpha : float, optional
        Method=spreading: the share that comes from the neighbours. In (0, 1). Default 0.2.
    k : int, optional
        Neighbours that a row names in the graph. In [1, 1000]. Default 10.
    near : {"auto", "exact", "tree", "descent"}, optional
        How they are found: all pairs, a k-d tree (exact too, for few columns), or
        nearest-neighbour descent (approximate); auto: by what it takes. Default auto.
    edges : {"heat", "binary"}, optional
        Weights of edges: exp(-|x-y|^2/(2 width^2)), or 1. Default heat.
    width : float, optional
        Of heat weights; the median distance to the k-th neighbour when not given. In (0,
        1e+30].
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    graph_file : str or path, optional
        File of the graph of neighbours: read where it exists, else written. The graph of
        other rows is refused.
    probabilities : bool, optional
        Whether `predict_proba` is wanted, which needs a calibration on held-out scores. It
        may see the best class elsewhere than `predict`, which goes by the scores. A fifth
        of the rows, 30 to 5,000, is kept from the training for it.
    uncertainty : bool, optional
        Whether `predict_set` is wanted; `predict_proba` comes with it. A fifth of the rows,
        30 to 5,000, is kept from the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import LabelPropagationClassifier
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = LabelPropagationClassifier().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "labelprop"
    _options = ("method", "alpha", "k", "near", "edges", "width")

    def __init__(
        self,
        *,
        method: Optional[str] = None,
        alpha: Optional[float] = None,
        k: Optional[int] = None,
        near: Optional[str] = None,
        edges: Optional[str] = None,
        width: Optional[float] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        graph_file: Any = None,
        probabilities: Optional[bool] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.method = method
        self.alpha = alpha
        self.k = k
        self.near = near
        self.edges = edges
        self.width = width
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.graph_file = graph_file
        self.probabilities = probabilities
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class SelfTrainingClassifier(BaseClassifier):
    """A classifier trained on its own sure predictions.

    Unlabelled rows come by `unlabeled`, or have an empty label or "?" in the data. Those that
    the base is sure of get its prediction for a label, and it is trained again. base is krr,
    svm or logistic with its options in quotes. See docs/semisupervised.md.

    Parameters
    ----------
    base : str, optional
        The classifier, one with probabilities, and its options: base="svm(C=1)". Default
        krr.
    threshold : float, optional
        Probability above which a row gets its predicted class for a label. In [0, 1).
        Default 0.75.
    rounds : int, optional
        Times that labels are given, at most. In [1, 1000]. Default 10.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    probabilities : bool, optional
        Whether `predict_proba` is wanted, which needs a calibration on held-out scores. It
        may see the best class elsewhere than `predict`, which goes by the scores.
    uncertainty : bool, optional
        Whether `predict_set` is wanted; `predict_proba` comes with it. A fifth of the rows,
        30 to 5,000, is kept from the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import SelfTrainingClassifier
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = SelfTrainingClassifier().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "selftrain"
    _options = ("base", "threshold", "rounds")

    def __init__(
        self,
        *,
        base: Optional[str] = None,
        threshold: Optional[float] = None,
        rounds: Optional[int] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        probabilities: Optional[bool] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.base = base
        self.threshold = threshold
        self.rounds = rounds
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.probabilities = probabilities
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class SVC(BaseClassifier):
    """Support vector machine for classes.

    On features by dual coordinate descent and Newton steps, linear in the number of rows, or on
    the kernel matrix (map=exact) by sequential minimal optimisation. C is LIBSVM's; where it is
    not given it is chosen by cross-validation along a path of values.

    Parameters
    ----------
    C : float, optional
        Weight of the losses; chosen by cross-validation when not given. In (0, inf).
    loss : {"hinge", "hinge2"}, optional
        Hinge, or its square. Default hinge.
    multi : {"ovr", "ovo", "crammer", "gmnp"}, optional
        Several classes: one against the rest, pairs, or all in one (crammer, gmnp). Default
        ovr.
    intercept : bool, optional
        With a free intercept. Default yes.
    class_weights : {"equal", "balanced"}, optional
        Balanced: each class weighs the same in sum. Default equal.
    spectrum : {"asis", "clip", "flip", "shift"}, optional
        Map=exact and an indefinite kernel: what happens to negative eigenvalues. Default
        asis.
    tol : float, optional
        Relative duality gap to stop at (map=exact: LIBSVM's eps). In [1e-09, 1]. Default
        0.001.
    penalty : {"l2", "l1"}, optional
        |w|^2 / 2, or the sum of |w|, which leaves features out: multi=crammer, on few
        features. Default l2.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    probabilities : bool, optional
        Whether `predict_proba` is wanted, which needs a calibration on held-out scores. It
        may see the best class elsewhere than `predict`, which goes by the scores.
    uncertainty : bool, optional
        Whether `predict_set` (and for kernel ridge regression `novelty`) is wanted;
        `predict_proba` comes with it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import SVC
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = SVC().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "svm"
    _options = ("C", "loss", "multi", "intercept", "class_weights", "spectrum", "tol", "penalty")
    _explained = {
        "check_sample_weights_invariance": (
            "folds and the end of the iterations (tol) depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        C: Optional[float] = None,
        loss: Optional[str] = None,
        multi: Optional[str] = None,
        intercept: Optional[bool] = None,
        class_weights: Optional[str] = None,
        spectrum: Optional[str] = None,
        tol: Optional[float] = None,
        penalty: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        probabilities: Optional[bool] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.multi = multi
        self.intercept = intercept
        self.class_weights = class_weights
        self.spectrum = spectrum
        self.tol = tol
        self.penalty = penalty
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.probabilities = probabilities
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class SVR(BaseRegressor):
    """Support vector regression.

    Errors up to epsilon cost nothing, larger ones their excess. On features by dual coordinate
    descent and Newton steps, or on the kernel matrix (map=exact) by sequential minimal
    optimisation. C and epsilon are LIBSVM's.

    Parameters
    ----------
    C : float, optional
        Weight of the losses; chosen by cross-validation when not given. In (0, inf).
    epsilon : float, optional
        Errors up to this cost nothing; a tenth of the targets' deviation when not given. In
        [0, inf).
    intercept : bool, optional
        With a free intercept. Default yes.
    spectrum : {"asis", "clip", "flip", "shift"}, optional
        Map=exact and an indefinite kernel: what happens to negative eigenvalues. Default
        asis.
    tol : float, optional
        Relative duality gap to stop at (map=exact: LIBSVM's eps). In [1e-09, 1]. Default
        0.001.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    uncertainty : bool, optional
        Whether `predict_interval` is wanted. A fifth of the rows, 30 to 5,000, is kept from
        the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import SVR
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = SVR().fit(X, y)
    >>> model.predict(X[:5]).shape
    (5,)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "svr"
    _options = ("C", "epsilon", "intercept", "spectrum", "tol")
    _explained = {
        "check_sample_weights_invariance": (
            "folds and the end of the iterations (tol) depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        C: Optional[float] = None,
        epsilon: Optional[float] = None,
        intercept: Optional[bool] = None,
        spectrum: Optional[str] = None,
        tol: Optional[float] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.C = C
        self.epsilon = epsilon
        self.intercept = intercept
        self.spectrum = spectrum
        self.tol = tol
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class GradientDescentRegressor(BaseRegressor):
    """Kernel regression by gradient descent; classes through -1/+1 targets.

    On the kernel matrix (map=exact), of a positive definite kernel. Stopping early regularises:
    the number of steps is chosen by cross-validation. A rate at or above 2 / largest eigenvalue
    diverges and is refused.

    Parameters
    ----------
    steps : int, optional
        Number of steps, in sample mode passes over the rows; chosen by cross-validation
        when not given. In [1, 10000000].
    rate : float, optional
        Step size; one over the largest eigenvalue of the kernel matrix when not given, in
        sample mode four over it. In (0, inf].
    mode : {"batch", "sample"}, optional
        All coefficients at once, or row by row. Default batch.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    uncertainty : bool, optional
        Whether `predict_interval` is wanted. A fifth of the rows, 30 to 5,000, is kept from
        the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import GradientDescentRegressor
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = GradientDescentRegressor().fit(X, y)
    >>> model.predict(X[:5]).shape
    (5,)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "kgd"
    _options = ("steps", "rate", "mode")

    def __init__(
        self,
        *,
        steps: Optional[int] = None,
        rate: Optional[float] = None,
        mode: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.steps = steps
        self.rate = rate
        self.mode = mode
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class GradientDescentClassifier(BaseClassifier):
    """Kernel regression by gradient descent; classes through -1/+1 targets.

    On the kernel matrix (map=exact), of a positive definite kernel. Stopping early regularises:
    the number of steps is chosen by cross-validation. A rate at or above 2 / largest eigenvalue
    diverges and is refused.

    Parameters
    ----------
    steps : int, optional
        Number of steps, in sample mode passes over the rows; chosen by cross-validation
        when not given. In [1, 10000000].
    rate : float, optional
        Step size; one over the largest eigenvalue of the kernel matrix when not given, in
        sample mode four over it. In (0, inf].
    mode : {"batch", "sample"}, optional
        All coefficients at once, or row by row. Default batch.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    probabilities : bool, optional
        Whether `predict_proba` is wanted, which needs a calibration on held-out scores. It
        may see the best class elsewhere than `predict`, which goes by the scores. A fifth
        of the rows, 30 to 5,000, is kept from the training for it.
    uncertainty : bool, optional
        Whether `predict_set` is wanted; `predict_proba` comes with it. A fifth of the rows,
        30 to 5,000, is kept from the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import GradientDescentClassifier
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = GradientDescentClassifier().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "kgd"
    _options = ("steps", "rate", "mode")

    def __init__(
        self,
        *,
        steps: Optional[int] = None,
        rate: Optional[float] = None,
        mode: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        probabilities: Optional[bool] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.steps = steps
        self.rate = rate
        self.mode = mode
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.probabilities = probabilities
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class LogisticRegression(BaseClassifier):
    """Logistic regression; softmax for more than two classes.

    For classes, on the features of any map but exact; has probabilities. Minimises the mean log
    loss + lambda |w|^2; C of other programs is 1 / (2 n lambda). lambda by cross-validation (5
    folds, or those of `select=cv`) on a sample of the rows, unless given here or with
    `lambda_`.

    Parameters
    ----------
    class_weights : {"equal", "balanced"}, optional
        Balanced: every class counts as much as any other. Default equal.
    intercept : bool, optional
        A constant in the score. Default yes.
    tol : float, optional
        Ends where the gradient is this much of the one at zero weights. In [1e-07, 0.1].
        Default 0.001.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    uncertainty : bool, optional
        Whether `predict_set` is wanted; `predict_proba` comes with it. A fifth of the rows,
        30 to 5,000, is kept from the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import LogisticRegression
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = LogisticRegression().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "logistic"
    _options = ("class_weights", "intercept", "tol")
    _explained = {
        "check_sample_weights_invariance": (
            "folds and the end of the iterations (tol) depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        class_weights: Optional[str] = None,
        intercept: Optional[bool] = None,
        tol: Optional[float] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.class_weights = class_weights
        self.intercept = intercept
        self.tol = tol
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class AsklRegressor(BaseRegressor):
    """Automated spectral kernel learning: trained frequencies.

    For numbers and classes; the features are those of map=learned, its frequencies start from
    the spectral measure of the kernel (one stationary kernel, or a product of such) and are
    trained with the weights by mini-batches. A tenth of the rows is held out to choose the
    epoch. Where the loss is the square, the weights are then solved for as by krr, with
    `lambda_` by leave-one-out. The model has a map of its own, whose frequencies other learners
    take with map=learned(file=MODEL). loss=softmax has probabilities by itself; with other
    losses they are calibrated on the rows held out. form=mixture learns weights, means and
    deviations of a spectral mixture by the evidence of at most 1,000 rows instead; the kernel
    spectral(file=MODEL) is that mixture.

    Parameters
    ----------
    D : int, optional
        Number of features; chosen from the data when not given. In [1, 10000000].
    preset : {"askl", "sk", "nsk", "skl", "nskl", "joint"}, optional
        What spectrum, train, norm, lambda_b and loss are where they are not given: all of
        it; random features; learned ones with |w|^2, each on a stationary (sk, skl) or a
        non-stationary spectrum (nsk, nskl); skl with the hinge loss. Default askl.
    lambda_a : float, optional
        Penalty of the weights. In [0, 1000000]. Default 1e-05.
    lambda_b : float, optional
        Penalty of the features, on rows with and without labels. In [0, 1000000]. Default
        0.001.
    spectrum : {"stationary", "nonstationary"}, optional
        One set of frequencies, or one for each of the two terms. Default nonstationary.
    sines : bool, optional
        Cos and sin pairs instead of cosines with phases. Default no.
    train : bool, optional
        Train the frequencies; else the weights alone. Default yes.
    norm : {"frobenius", "trace", "l1", "group"}, optional
        Lambda_a is of |w|^2, of the trace norm, of the sum of |w_ij|, or of that of the
        lengths of a feature's weights. Default trace.
    loss : {"hinge", "hinge2", "square", "softmax", "logistic"}, optional
        Softmax for classes, square for numbers when not given.
    optimizer : {"sgd", "adam", "adadelta"}, optional
        How steps follow from gradients. Default adam.
    epochs : int, optional
        Visits of every row, at most; when not given 10 to 200, so that there are about
        20,000 steps. In [1, 1000000].
    batch : int, optional
        Rows of a step. In [1, 1000000]. Default 32.
    rate : float, optional
        Length of the steps; the optimiser's own when not given. In (0, 1e+30].
    schedule : {"constant", "step", "cosine", "warmup"}, optional
        How the rate falls over the epochs. Default cosine.
    patience : int, optional
        Epochs without a better held-out error before the end; 0: all epochs. In [0,
        1000000]. Default 20.
    gradient_clip : float, optional
        Gradients are made no longer than that; 0: as they are. In [0, 1e+30]. Default 0.
    refit : {"no", "yes"}, optional
        Solve for the weights by ridge regression in the end; when not given: with the
        square loss.
    report : int, optional
        Steps between two lines with loss and held-out error in the log (-vv); 0: one an
        epoch. In [0, 1000000000]. Default 0.
    frequency_rate : float, optional
        Length of the steps of frequencies, in units of their typical size at the start;
        when not given 20 times the rate with adam, and with others the rate itself in no
        unit. In (0, 1e+30].
    form : {"free", "mixture"}, optional
        Each frequency is trained, or the spectral mixture that all are drawn from; with it
        everything else is as in the preset sk. Default free.
    q : int, optional
        Components of the mixture; when not given those of the kernel spectral, else 4. In
        [1, 256].
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    checkpoint : str or path, optional
        File with the state of a long training. Where `fit` was interrupted (Ctrl-C, a
        crash), the same `fit` goes on from it, to the same model. It is removed when `fit`
        is done. For arrays, frames and files, not for blocks.
    uncertainty : bool, optional
        Whether `predict_interval` is wanted. A fifth of the rows, 30 to 5,000, is kept from
        the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import AsklRegressor
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = AsklRegressor().fit(X, y)
    >>> model.predict(X[:5]).shape
    (5,)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "askl"
    _options = ("D", "preset", "lambda_a", "lambda_b", "spectrum", "sines", "train", "norm", "loss", "optimizer", "epochs", "batch", "rate", "schedule", "patience", "gradient_clip", "refit", "report", "frequency_rate", "form", "q")
    _renamed = {"gradient_clip": "clip"}
    _explained = {
        "check_sample_weights_invariance": (
            "mini-batches and the rows held out depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        D: Optional[int] = None,
        preset: Optional[str] = None,
        lambda_a: Optional[float] = None,
        lambda_b: Optional[float] = None,
        spectrum: Optional[str] = None,
        sines: Optional[bool] = None,
        train: Optional[bool] = None,
        norm: Optional[str] = None,
        loss: Optional[str] = None,
        optimizer: Optional[str] = None,
        epochs: Optional[int] = None,
        batch: Optional[int] = None,
        rate: Optional[float] = None,
        schedule: Optional[str] = None,
        patience: Optional[int] = None,
        gradient_clip: Optional[float] = None,
        refit: Optional[str] = None,
        report: Optional[int] = None,
        frequency_rate: Optional[float] = None,
        form: Optional[str] = None,
        q: Optional[int] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        checkpoint: Any = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.D = D
        self.preset = preset
        self.lambda_a = lambda_a
        self.lambda_b = lambda_b
        self.spectrum = spectrum
        self.sines = sines
        self.train = train
        self.norm = norm
        self.loss = loss
        self.optimizer = optimizer
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.schedule = schedule
        self.patience = patience
        self.gradient_clip = gradient_clip
        self.refit = refit
        self.report = report
        self.frequency_rate = frequency_rate
        self.form = form
        self.q = q
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.checkpoint = checkpoint
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class AsklClassifier(BaseClassifier):
    """Automated spectral kernel learning: trained frequencies.

    For numbers and classes; the features are those of map=learned, its frequencies start from
    the spectral measure of the kernel (one stationary kernel, or a product of such) and are
    trained with the weights by mini-batches. A tenth of the rows is held out to choose the
    epoch. Where the loss is the square, the weights are then solved for as by krr, with
    `lambda_` by leave-one-out. The model has a map of its own, whose frequencies other learners
    take with map=learned(file=MODEL). loss=softmax has probabilities by itself; with other
    losses they are calibrated on the rows held out. form=mixture learns weights, means and
    deviations of a spectral mixture by the evidence of at most 1,000 rows instead; the kernel
    spectral(file=MODEL) is that mixture.

    Parameters
    ----------
    D : int, optional
        Number of features; chosen from the data when not given. In [1, 10000000].
    preset : {"askl", "sk", "nsk", "skl", "nskl", "joint"}, optional
        What spectrum, train, norm, lambda_b and loss are where they are not given: all of
        it; random features; learned ones with |w|^2, each on a stationary (sk, skl) or a
        non-stationary spectrum (nsk, nskl); skl with the hinge loss. Default askl.
    lambda_a : float, optional
        Penalty of the weights. In [0, 1000000]. Default 1e-05.
    lambda_b : float, optional
        Penalty of the features, on rows with and without labels. In [0, 1000000]. Default
        0.001.
    spectrum : {"stationary", "nonstationary"}, optional
        One set of frequencies, or one for each of the two terms. Default nonstationary.
    sines : bool, optional
        Cos and sin pairs instead of cosines with phases. Default no.
    train : bool, optional
        Train the frequencies; else the weights alone. Default yes.
    norm : {"frobenius", "trace", "l1", "group"}, optional
        Lambda_a is of |w|^2, of the trace norm, of the sum of |w_ij|, or of that of the
        lengths of a feature's weights. Default trace.
    loss : {"hinge", "hinge2", "square", "softmax", "logistic"}, optional
        Softmax for classes, square for numbers when not given.
    optimizer : {"sgd", "adam", "adadelta"}, optional
        How steps follow from gradients. Default adam.
    epochs : int, optional
        Visits of every row, at most; when not given 10 to 200, so that there are about
        20,000 steps. In [1, 1000000].
    batch : int, optional
        Rows of a step. In [1, 1000000]. Default 32.
    rate : float, optional
        Length of the steps; the optimiser's own when not given. In (0, 1e+30].
    schedule : {"constant", "step", "cosine", "warmup"}, optional
        How the rate falls over the epochs. Default cosine.
    patience : int, optional
        Epochs without a better held-out error before the end; 0: all epochs. In [0,
        1000000]. Default 20.
    gradient_clip : float, optional
        Gradients are made no longer than that; 0: as they are. In [0, 1e+30]. Default 0.
    refit : {"no", "yes"}, optional
        Solve for the weights by ridge regression in the end; when not given: with the
        square loss.
    report : int, optional
        Steps between two lines with loss and held-out error in the log (-vv); 0: one an
        epoch. In [0, 1000000000]. Default 0.
    frequency_rate : float, optional
        Length of the steps of frequencies, in units of their typical size at the start;
        when not given 20 times the rate with adam, and with others the rate itself in no
        unit. In (0, 1e+30].
    form : {"free", "mixture"}, optional
        Each frequency is trained, or the spectral mixture that all are drawn from; with it
        everything else is as in the preset sk. Default free.
    q : int, optional
        Components of the mixture; when not given those of the kernel spectral, else 4. In
        [1, 256].
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    checkpoint : str or path, optional
        File with the state of a long training. Where `fit` was interrupted (Ctrl-C, a
        crash), the same `fit` goes on from it, to the same model. It is removed when `fit`
        is done. For arrays, frames and files, not for blocks.
    uncertainty : bool, optional
        Whether `predict_set` is wanted; `predict_proba` comes with it. A fifth of the rows,
        30 to 5,000, is kept from the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import AsklClassifier
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = AsklClassifier().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "askl"
    _options = ("D", "preset", "lambda_a", "lambda_b", "spectrum", "sines", "train", "norm", "loss", "optimizer", "epochs", "batch", "rate", "schedule", "patience", "gradient_clip", "refit", "report", "frequency_rate", "form", "q")
    _renamed = {"gradient_clip": "clip"}
    _explained = {
        "check_sample_weights_invariance": (
            "mini-batches and the rows held out depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        D: Optional[int] = None,
        preset: Optional[str] = None,
        lambda_a: Optional[float] = None,
        lambda_b: Optional[float] = None,
        spectrum: Optional[str] = None,
        sines: Optional[bool] = None,
        train: Optional[bool] = None,
        norm: Optional[str] = None,
        loss: Optional[str] = None,
        optimizer: Optional[str] = None,
        epochs: Optional[int] = None,
        batch: Optional[int] = None,
        rate: Optional[float] = None,
        schedule: Optional[str] = None,
        patience: Optional[int] = None,
        gradient_clip: Optional[float] = None,
        refit: Optional[str] = None,
        report: Optional[int] = None,
        frequency_rate: Optional[float] = None,
        form: Optional[str] = None,
        q: Optional[int] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        checkpoint: Any = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.D = D
        self.preset = preset
        self.lambda_a = lambda_a
        self.lambda_b = lambda_b
        self.spectrum = spectrum
        self.sines = sines
        self.train = train
        self.norm = norm
        self.loss = loss
        self.optimizer = optimizer
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.schedule = schedule
        self.patience = patience
        self.gradient_clip = gradient_clip
        self.refit = refit
        self.report = report
        self.frequency_rate = frequency_rate
        self.form = form
        self.q = q
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.checkpoint = checkpoint
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class DeepRegressor(BaseRegressor):
    """Stacked layers of random Fourier features, trained, in float or in a few bits.

    For numbers and classes. Cosines and sines of one layer are the inputs of the next; the
    frequencies of the first start from the spectral measure of the kernel (one stationary
    kernel, or a product of such), those of the others are Gaussian, and all are trained with
    the weights by mini-batches. A tenth of the rows is held out to choose the epoch. With bits
    below 32 the layers are trained as they will be used: weights and features are whole numbers
    of so many bits, and the model has and uses nothing else. `memory` gives the width from a
    budget of bits. With bits=32 and the square loss the weights are then solved for as by krr.
    loss=softmax has probabilities by itself; with other losses they are calibrated on the rows
    held out.

    Parameters
    ----------
    layers : int, optional
        Layers of features. In [1, 12]. Default 3.
    width : int, optional
        Frequencies of a layer, which has twice as many features; 128 when neither it nor
        memory is given. In [1, 1000000].
    bits : int, optional
        Of weights and features: 32, or whole numbers of 8, 4, 2 or 1. In [1, 32]. Default
        32.
    memory : float, optional
        In place of width: bits that the weights between the layers may take. In (0, 1e+15].
    lambda_a : float, optional
        Penalty of the weights of the last layer. In [0, 1000000]. Default 1e-05.
    spread : float, optional
        Deviation of a phase at the start, in layers behind the first. In (0, 1000000].
        Default 1.2.
    loss : {"hinge", "hinge2", "square", "softmax", "logistic"}, optional
        Softmax for classes, square for numbers when not given.
    optimizer : {"sgd", "adam", "adadelta"}, optional
        How steps follow from gradients. Default adam.
    epochs : int, optional
        Visits of every row, at most; when not given 10 to 200, so that there are about
        20,000 steps. In [1, 1000000].
    batch : int, optional
        Rows of a step. In [1, 1000000]. Default 48.
    rate : float, optional
        Length of the steps; 0.01 with adam, the optimiser's own with others when not given.
        In (0, 1e+30].
    schedule : {"constant", "step", "cosine", "warmup"}, optional
        How the rate falls over the epochs. Default cosine.
    patience : int, optional
        Epochs without a better held-out error before the end; 0: all epochs. In [0,
        1000000]. Default 20.
    gradient_clip : float, optional
        Gradients are made no longer than that; 0: as they are. In [0, 1e+30]. Default 0.
    refit : {"no", "yes"}, optional
        Solve for the weights by ridge regression in the end; when not given: with the
        square loss.
    report : int, optional
        Steps between two lines with loss and held-out error in the log (-vv); 0: one an
        epoch. In [0, 1000000000]. Default 0.
    frequency_rate : float, optional
        Length of the steps of frequencies, in units of their typical size at the start;
        when not given the rate with adam, and with others the rate itself in no unit. In
        (0, 1e+30].
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    checkpoint : str or path, optional
        File with the state of a long training. Where `fit` was interrupted (Ctrl-C, a
        crash), the same `fit` goes on from it, to the same model. It is removed when `fit`
        is done. For arrays, frames and files, not for blocks.
    uncertainty : bool, optional
        Whether `predict_interval` is wanted. A fifth of the rows, 30 to 5,000, is kept from
        the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import DeepRegressor
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = DeepRegressor().fit(X, y)
    >>> model.predict(X[:5]).shape
    (5,)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "deep"
    _options = ("layers", "width", "bits", "memory", "lambda_a", "spread", "loss", "optimizer", "epochs", "batch", "rate", "schedule", "patience", "gradient_clip", "refit", "report", "frequency_rate")
    _renamed = {"gradient_clip": "clip"}
    _explained = {
        "check_sample_weights_invariance": (
            "mini-batches and the rows held out depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        layers: Optional[int] = None,
        width: Optional[int] = None,
        bits: Optional[int] = None,
        memory: Optional[float] = None,
        lambda_a: Optional[float] = None,
        spread: Optional[float] = None,
        loss: Optional[str] = None,
        optimizer: Optional[str] = None,
        epochs: Optional[int] = None,
        batch: Optional[int] = None,
        rate: Optional[float] = None,
        schedule: Optional[str] = None,
        patience: Optional[int] = None,
        gradient_clip: Optional[float] = None,
        refit: Optional[str] = None,
        report: Optional[int] = None,
        frequency_rate: Optional[float] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        checkpoint: Any = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.layers = layers
        self.width = width
        self.bits = bits
        self.memory = memory
        self.lambda_a = lambda_a
        self.spread = spread
        self.loss = loss
        self.optimizer = optimizer
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.schedule = schedule
        self.patience = patience
        self.gradient_clip = gradient_clip
        self.refit = refit
        self.report = report
        self.frequency_rate = frequency_rate
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.checkpoint = checkpoint
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class DeepClassifier(BaseClassifier):
    """Stacked layers of random Fourier features, trained, in float or in a few bits.

    For numbers and classes. Cosines and sines of one layer are the inputs of the next; the
    frequencies of the first start from the spectral measure of the kernel (one stationary
    kernel, or a product of such), those of the others are Gaussian, and all are trained with
    the weights by mini-batches. A tenth of the rows is held out to choose the epoch. With bits
    below 32 the layers are trained as they will be used: weights and features are whole numbers
    of so many bits, and the model has and uses nothing else. `memory` gives the width from a
    budget of bits. With bits=32 and the square loss the weights are then solved for as by krr.
    loss=softmax has probabilities by itself; with other losses they are calibrated on the rows
    held out.

    Parameters
    ----------
    layers : int, optional
        Layers of features. In [1, 12]. Default 3.
    width : int, optional
        Frequencies of a layer, which has twice as many features; 128 when neither it nor
        memory is given. In [1, 1000000].
    bits : int, optional
        Of weights and features: 32, or whole numbers of 8, 4, 2 or 1. In [1, 32]. Default
        32.
    memory : float, optional
        In place of width: bits that the weights between the layers may take. In (0, 1e+15].
    lambda_a : float, optional
        Penalty of the weights of the last layer. In [0, 1000000]. Default 1e-05.
    spread : float, optional
        Deviation of a phase at the start, in layers behind the first. In (0, 1000000].
        Default 1.2.
    loss : {"hinge", "hinge2", "square", "softmax", "logistic"}, optional
        Softmax for classes, square for numbers when not given.
    optimizer : {"sgd", "adam", "adadelta"}, optional
        How steps follow from gradients. Default adam.
    epochs : int, optional
        Visits of every row, at most; when not given 10 to 200, so that there are about
        20,000 steps. In [1, 1000000].
    batch : int, optional
        Rows of a step. In [1, 1000000]. Default 48.
    rate : float, optional
        Length of the steps; 0.01 with adam, the optimiser's own with others when not given.
        In (0, 1e+30].
    schedule : {"constant", "step", "cosine", "warmup"}, optional
        How the rate falls over the epochs. Default cosine.
    patience : int, optional
        Epochs without a better held-out error before the end; 0: all epochs. In [0,
        1000000]. Default 20.
    gradient_clip : float, optional
        Gradients are made no longer than that; 0: as they are. In [0, 1e+30]. Default 0.
    refit : {"no", "yes"}, optional
        Solve for the weights by ridge regression in the end; when not given: with the
        square loss.
    report : int, optional
        Steps between two lines with loss and held-out error in the log (-vv); 0: one an
        epoch. In [0, 1000000000]. Default 0.
    frequency_rate : float, optional
        Length of the steps of frequencies, in units of their typical size at the start;
        when not given the rate with adam, and with others the rate itself in no unit. In
        (0, 1e+30].
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    checkpoint : str or path, optional
        File with the state of a long training. Where `fit` was interrupted (Ctrl-C, a
        crash), the same `fit` goes on from it, to the same model. It is removed when `fit`
        is done. For arrays, frames and files, not for blocks.
    uncertainty : bool, optional
        Whether `predict_set` is wanted; `predict_proba` comes with it. A fifth of the rows,
        30 to 5,000, is kept from the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import DeepClassifier
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = DeepClassifier().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "deep"
    _options = ("layers", "width", "bits", "memory", "lambda_a", "spread", "loss", "optimizer", "epochs", "batch", "rate", "schedule", "patience", "gradient_clip", "refit", "report", "frequency_rate")
    _renamed = {"gradient_clip": "clip"}
    _explained = {
        "check_sample_weights_invariance": (
            "mini-batches and the rows held out depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        layers: Optional[int] = None,
        width: Optional[int] = None,
        bits: Optional[int] = None,
        memory: Optional[float] = None,
        lambda_a: Optional[float] = None,
        spread: Optional[float] = None,
        loss: Optional[str] = None,
        optimizer: Optional[str] = None,
        epochs: Optional[int] = None,
        batch: Optional[int] = None,
        rate: Optional[float] = None,
        schedule: Optional[str] = None,
        patience: Optional[int] = None,
        gradient_clip: Optional[float] = None,
        refit: Optional[str] = None,
        report: Optional[int] = None,
        frequency_rate: Optional[float] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        checkpoint: Any = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.layers = layers
        self.width = width
        self.bits = bits
        self.memory = memory
        self.lambda_a = lambda_a
        self.spread = spread
        self.loss = loss
        self.optimizer = optimizer
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.schedule = schedule
        self.patience = patience
        self.gradient_clip = gradient_clip
        self.refit = refit
        self.report = report
        self.frequency_rate = frequency_rate
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.checkpoint = checkpoint
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class NetRegressor(BaseRegressor):
    """A network, trained: convolutions for images, layers for tables.

    For numbers and classes. The architecture is named: convnet(3-32-32-32) is four
    convolutions, whose input channels are the numbers, each with batch normalisation, ReLU and
    a maximum over 2 x 2; resnet(20) has residual blocks; mlp(64-64) takes any columns. Images
    come as an .npy of n x h x w x c numbers, or as rows of h w c numbers with `image`; they are
    scaled by channel, and bytes stay bytes in memory. A tenth of the rows is held out to choose
    the epoch. With the square loss the weights are then solved for as by krr. loss=softmax has
    probabilities by itself; with other losses they are calibrated on the rows held out. The map
    network(file=MODEL) has the trained features, for any learner, and for this one to go on
    from.

    Parameters
    ----------
    arch : str, optional
        The network: "convnet(3-32-32-32)" (channels that come into each convolution),
        "resnet(20)", "mlp(64-64)"; when not given four convolutions of 32 channels for
        images, mlp(64-64) for tables.
    decay : float, optional
        Penalty decay/2 |w|^2 of the weights of all layers. In [0, 1000000]. Default 0.0005.
    momentum : float, optional
        Of optimizer=sgd; 0.9 when not given. In [0, 1).
    loss : {"hinge", "hinge2", "square", "softmax", "logistic"}, optional
        Softmax for classes, square for numbers when not given.
    optimizer : {"sgd", "adam", "adadelta"}, optional
        How steps follow from gradients. Default adam.
    epochs : int, optional
        Visits of every row, at most; when not given 10 to 200, so that there are about
        20,000 steps. In [1, 1000000].
    batch : int, optional
        Rows of a step. In [1, 1000000]. Default 64.
    rate : float, optional
        Length of the steps; 0.005 with adam, the optimiser's own with others when not
        given. In (0, 1e+30].
    schedule : {"constant", "step", "cosine", "warmup"}, optional
        How the rate falls over the epochs. Default cosine.
    patience : int, optional
        Epochs without a better held-out error before the end; 0: all epochs. In [0,
        1000000]. Default 20.
    gradient_clip : float, optional
        Gradients are made no longer than that; 0: as they are. In [0, 1e+30]. Default 0.
    refit : {"no", "yes"}, optional
        Solve for the weights by ridge regression in the end; when not given: with the
        square loss.
    report : int, optional
        Steps between two lines with loss and held-out error in the log (-vv); 0: one an
        epoch. In [0, 1000000000]. Default 0.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    checkpoint : str or path, optional
        File with the state of a long training. Where `fit` was interrupted (Ctrl-C, a
        crash), the same `fit` goes on from it, to the same model. It is removed when `fit`
        is done. For arrays, frames and files, not for blocks.
    uncertainty : bool, optional
        Whether `predict_interval` is wanted. A fifth of the rows, 30 to 5,000, is kept from
        the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import NetRegressor
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = NetRegressor().fit(X, y)
    >>> model.predict(X[:5]).shape
    (5,)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "net"
    _options = ("arch", "decay", "momentum", "loss", "optimizer", "epochs", "batch", "rate", "schedule", "patience", "gradient_clip", "refit", "report")
    _renamed = {"gradient_clip": "clip"}
    _explained = {
        "check_sample_weights_invariance": (
            "mini-batches and the rows held out depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        arch: Optional[str] = None,
        decay: Optional[float] = None,
        momentum: Optional[float] = None,
        loss: Optional[str] = None,
        optimizer: Optional[str] = None,
        epochs: Optional[int] = None,
        batch: Optional[int] = None,
        rate: Optional[float] = None,
        schedule: Optional[str] = None,
        patience: Optional[int] = None,
        gradient_clip: Optional[float] = None,
        refit: Optional[str] = None,
        report: Optional[int] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        checkpoint: Any = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.arch = arch
        self.decay = decay
        self.momentum = momentum
        self.loss = loss
        self.optimizer = optimizer
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.schedule = schedule
        self.patience = patience
        self.gradient_clip = gradient_clip
        self.refit = refit
        self.report = report
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.checkpoint = checkpoint
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class NetClassifier(BaseClassifier):
    """A network, trained: convolutions for images, layers for tables.

    For numbers and classes. The architecture is named: convnet(3-32-32-32) is four
    convolutions, whose input channels are the numbers, each with batch normalisation, ReLU and
    a maximum over 2 x 2; resnet(20) has residual blocks; mlp(64-64) takes any columns. Images
    come as an .npy of n x h x w x c numbers, or as rows of h w c numbers with `image`; they are
    scaled by channel, and bytes stay bytes in memory. A tenth of the rows is held out to choose
    the epoch. With the square loss the weights are then solved for as by krr. loss=softmax has
    probabilities by itself; with other losses they are calibrated on the rows held out. The map
    network(file=MODEL) has the trained features, for any learner, and for this one to go on
    from.

    Parameters
    ----------
    arch : str, optional
        The network: "convnet(3-32-32-32)" (channels that come into each convolution),
        "resnet(20)", "mlp(64-64)"; when not given four convolutions of 32 channels for
        images, mlp(64-64) for tables.
    decay : float, optional
        Penalty decay/2 |w|^2 of the weights of all layers. In [0, 1000000]. Default 0.0005.
    momentum : float, optional
        Of optimizer=sgd; 0.9 when not given. In [0, 1).
    loss : {"hinge", "hinge2", "square", "softmax", "logistic"}, optional
        Softmax for classes, square for numbers when not given.
    optimizer : {"sgd", "adam", "adadelta"}, optional
        How steps follow from gradients. Default adam.
    epochs : int, optional
        Visits of every row, at most; when not given 10 to 200, so that there are about
        20,000 steps. In [1, 1000000].
    batch : int, optional
        Rows of a step. In [1, 1000000]. Default 64.
    rate : float, optional
        Length of the steps; 0.005 with adam, the optimiser's own with others when not
        given. In (0, 1e+30].
    schedule : {"constant", "step", "cosine", "warmup"}, optional
        How the rate falls over the epochs. Default cosine.
    patience : int, optional
        Epochs without a better held-out error before the end; 0: all epochs. In [0,
        1000000]. Default 20.
    gradient_clip : float, optional
        Gradients are made no longer than that; 0: as they are. In [0, 1e+30]. Default 0.
    refit : {"no", "yes"}, optional
        Solve for the weights by ridge regression in the end; when not given: with the
        square loss.
    report : int, optional
        Steps between two lines with loss and held-out error in the log (-vv); 0: one an
        epoch. In [0, 1000000000]. Default 0.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    checkpoint : str or path, optional
        File with the state of a long training. Where `fit` was interrupted (Ctrl-C, a
        crash), the same `fit` goes on from it, to the same model. It is removed when `fit`
        is done. For arrays, frames and files, not for blocks.
    uncertainty : bool, optional
        Whether `predict_set` is wanted; `predict_proba` comes with it. A fifth of the rows,
        30 to 5,000, is kept from the training for it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import NetClassifier
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = NetClassifier().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "net"
    _options = ("arch", "decay", "momentum", "loss", "optimizer", "epochs", "batch", "rate", "schedule", "patience", "gradient_clip", "refit", "report")
    _renamed = {"gradient_clip": "clip"}
    _explained = {
        "check_sample_weights_invariance": (
            "mini-batches and the rows held out depend on the order of the rows"
        ),
    }

    def __init__(
        self,
        *,
        arch: Optional[str] = None,
        decay: Optional[float] = None,
        momentum: Optional[float] = None,
        loss: Optional[str] = None,
        optimizer: Optional[str] = None,
        epochs: Optional[int] = None,
        batch: Optional[int] = None,
        rate: Optional[float] = None,
        schedule: Optional[str] = None,
        patience: Optional[int] = None,
        gradient_clip: Optional[float] = None,
        refit: Optional[str] = None,
        report: Optional[int] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        checkpoint: Any = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.arch = arch
        self.decay = decay
        self.momentum = momentum
        self.loss = loss
        self.optimizer = optimizer
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.schedule = schedule
        self.patience = patience
        self.gradient_clip = gradient_clip
        self.refit = refit
        self.report = report
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.checkpoint = checkpoint
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class MKLRegressor(BaseRegressor):
    """Several kernels, weighed and summed (`kernels`), under krr or svm.

    Weights are not negative, sum to one and belong to kernels of unit mean diagonal. method is
    one of the weighings, and takes its options too: mkl(method=easymkl, lambda=0.2). The sum
    itself is regularised by `lambda_`, as under its base alone. `map` takes one map for all
    kernels, or as many as kernels, with ';' between them. Held-out errors of the sum, of the
    average and of single kernels are reported, unless `select=none`. Where no kernels are given
    they are "gaussian; laplacian; linear".

    Parameters
    ----------
    method : str, optional
        How the kernels are weighed: one of the weighings, whose options go here too.
        Default alignment.
    base : {"krr", "svm"}, optional
        Learner on the sum. Default krr.
    C : float, optional
        Base=svm: weight of the losses; by cross-validation when not given. In (0, inf).
    multi : {"ovr", "ovo", "crammer", "gmnp"}, optional
        Base=svm: what it does with several classes. Default ovr.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    uncertainty : bool, optional
        Whether `predict` with `return_std`, `predict_interval` and `novelty` are wanted.
        The model then keeps half of a matrix of its features.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import MKLRegressor
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = MKLRegressor().fit(X, y)
    >>> model.predict(X[:5]).shape
    (5,)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "mkl"
    _options = ("method", "base", "C", "multi")
    _kernels = "gaussian; laplacian; linear"

    def __init__(
        self,
        *,
        method: Optional[str] = None,
        base: Optional[str] = None,
        C: Optional[float] = None,
        multi: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.method = method
        self.base = base
        self.C = C
        self.multi = multi
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm


class MKLClassifier(BaseClassifier):
    """Several kernels, weighed and summed (`kernels`), under krr or svm.

    Weights are not negative, sum to one and belong to kernels of unit mean diagonal. method is
    one of the weighings, and takes its options too: mkl(method=easymkl, lambda=0.2). The sum
    itself is regularised by `lambda_`, as under its base alone. `map` takes one map for all
    kernels, or as many as kernels, with ';' between them. Held-out errors of the sum, of the
    average and of single kernels are reported, unless `select=none`. Where no kernels are given
    they are "gaussian; laplacian; linear".

    Parameters
    ----------
    method : str, optional
        How the kernels are weighed: one of the weighings, whose options go here too.
        Default alignment.
    base : {"krr", "svm"}, optional
        Learner on the sum. Default krr.
    C : float, optional
        Base=svm: weight of the losses; by cross-validation when not given. In (0, inf).
    multi : {"ovr", "ovo", "crammer", "gmnp"}, optional
        Base=svm: what it does with several classes. Default ovr.
    kernel : str or kernel, optional
        Kernel, as "gaussian(sigma=2)" or "laplacian + 0.5*linear". When None it is chosen
        by held-out error, with a metric.
    map : str, optional
        Feature map, as "nystrom(D=500)"; by the number of rows and the kernel when None.
    features : int, optional
        Number of features, in place of the map's D.
    lambda_ : float, optional
        Regularisation; chosen by held-out error when None.
    kernels : str or list, optional
        Kernels of which the best is taken, or that are combined (MKL); not with `kernel`.
    select : str, optional
        What chooses kernel and regularisation: "loo" (when None), "cv(k=10)", ...
    metric : {"auto", "none", "diagonal", "full"}, optional
        Learned scaling of the inputs. When None it is learned where no kernel is given.
    effort : float, optional
        How much is tried before the fit: 1, less or more.
    clip : float, optional
        Scaled inputs are cut at +-clip; 8 when None and no kernel is given.
    max_exact : int, optional
        Most rows of a kernel matrix.
    max_memory : int or str, optional
        Most bytes to use, as 2**30 or "1G"; most of what is free when None.
    time_limit : float, optional
        Seconds for reading, choosing and fitting.
    n_jobs : int, optional
        Threads; all CPUs when None or -1. The results do not depend on it.
    random_state : int or RandomState, optional
        Seed of all random numbers; 1 when None.
    scale : {"standard", "minmax", "unit", "none"}, optional
        Scaling of the inputs.
    missing : {"auto", "error", "mean", "drop"}, optional
        What is done with missing cells (NaN). When None: the mean and an indicator; texts
        become a category of their own.
    categories : {"auto", "onehot", "target", "hash"}, optional
        How columns of texts are encoded.
    unknown : {"error", "ignore"}, optional
        A category at prediction that was not there at training.
    types : {"auto", "plain"}, optional
        Whether texts that are dates, times and amounts are read as such.
    image : str or tuple, optional
        Rows are images of this shape, as "32x32x3" or (32, 32, 3): height, width, channels.
        Arrays of n x h x w x c numbers need no such word.
    holdout : float, optional
        Part of the rows that is kept out and evaluated (`report_.test`).
    probabilities : bool, optional
        Whether `predict_proba` is wanted, which needs a calibration on held-out scores. It
        may see the best class elsewhere than `predict`, which goes by the scores.
    uncertainty : bool, optional
        Whether `predict_set` (and for kernel ridge regression `novelty`) is wanted;
        `predict_proba` comes with it.
    verbose : bool or int, optional
        Progress and decisions on standard error.
    comm : mpi4py.MPI.Comm, optional
        Processes that train together. All call `fit`, each with rows of its own (a file is
        divided among them), and get the same model.

    Attributes
    ----------
    model_ : Model
        The fitted model.
    classes_ : ndarray
        The classes, sorted.
    report_ : Report
        What training reports: sizes, times, errors, candidates.
    kernel_, map_, learner_ : str
        Complete specs of what was chosen.
    regularization_ : float
        The regularisation; NaN where the learner has none.
    importances_ : ndarray or None
        Factors of the metric, one a name of `model_.encoded_names`.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray
        Their names, where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> from krein import MKLClassifier
    >>> X = np.random.RandomState(0).rand(100, 2)
    >>> y = np.where(X[:, 0] + X[:, 1] > 1, "high", "low")
    >>> model = MKLClassifier().fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _learner = "mkl"
    _options = ("method", "base", "C", "multi")
    _kernels = "gaussian; laplacian; linear"

    def __init__(
        self,
        *,
        method: Optional[str] = None,
        base: Optional[str] = None,
        C: Optional[float] = None,
        multi: Optional[str] = None,
        kernel: Any = None,
        map: Optional[str] = None,
        features: Optional[int] = None,
        lambda_: Optional[float] = None,
        kernels: Union[str, List[Any], None] = None,
        select: Optional[str] = None,
        metric: Optional[str] = None,
        effort: Optional[float] = None,
        clip: Optional[float] = None,
        max_exact: Optional[int] = None,
        max_memory: Union[int, str, None] = None,
        time_limit: Optional[float] = None,
        n_jobs: Optional[int] = None,
        random_state: Any = None,
        scale: Optional[str] = None,
        missing: Optional[str] = None,
        categories: Optional[str] = None,
        unknown: Optional[str] = None,
        types: Optional[str] = None,
        image: Optional[str] = None,
        holdout: Optional[float] = None,
        probabilities: Optional[bool] = None,
        uncertainty: Optional[bool] = None,
        verbose: Union[bool, int] = False,
        comm: Any = None,
    ) -> None:
        self.method = method
        self.base = base
        self.C = C
        self.multi = multi
        self.kernel = kernel
        self.map = map
        self.features = features
        self.lambda_ = lambda_
        self.kernels = kernels
        self.select = select
        self.metric = metric
        self.effort = effort
        self.clip = clip
        self.max_exact = max_exact
        self.max_memory = max_memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.scale = scale
        self.missing = missing
        self.categories = categories
        self.unknown = unknown
        self.types = types
        self.image = image
        self.holdout = holdout
        self.probabilities = probabilities
        self.uncertainty = uncertainty
        self.verbose = verbose
        self.comm = comm
