"""The C interface of libkrein for ctypes: constants, structs, callbacks and functions.

Written by scripts/python_interface.py from include/krein.h. Do not edit.
"""
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_double,
    c_float,
    c_int,
    c_int32,
    c_int64,
    c_int8,
    c_size_t,
    c_uint64,
    c_void_p,
)

VERSION = "0.2.0"

# Status -> (name, text)
STATUS = {
    0: ("KREIN_OK", "success"),
    1: ("KREIN_EARG", "an argument or option is wrong"),
    2: ("KREIN_EMEMORY", "not enough memory, or over the budget"),
    3: ("KREIN_EIO", "a file could not be read or written"),
    4: ("KREIN_EFORMAT", "the data are not in the expected format"),
    5: ("KREIN_EDATA", "the data cannot be used for this task"),
    6: ("KREIN_ENUMERIC", "the computation broke down"),
    7: ("KREIN_ECANCEL", "cancelled"),
    8: ("KREIN_EMODEL", "not a valid model file"),
    9: ("KREIN_ESPEC", "a spec or kernel expression is wrong"),
    10: ("KREIN_ETIME", "the time limit has passed"),
}

# krein_status
KREIN_OK = 0
KREIN_EARG = 1
KREIN_EMEMORY = 2
KREIN_EIO = 3
KREIN_EFORMAT = 4
KREIN_EDATA = 5
KREIN_ENUMERIC = 6
KREIN_ECANCEL = 7
KREIN_EMODEL = 8
KREIN_ESPEC = 9
KREIN_ETIME = 10

# krein_log_level
KREIN_LOG_DEBUG = 0
KREIN_LOG_INFO = 1
KREIN_LOG_WARNING = 2

# krein_task
KREIN_TASK_AUTO = 0
KREIN_TASK_REGRESSION = 1
KREIN_TASK_CLASSIFICATION = 2
KREIN_TASK_MULTILABEL = 3

# krein_missing
KREIN_MISSING_ERROR = 0
KREIN_MISSING_MEAN = 1
KREIN_MISSING_DROP = 2
KREIN_MISSING_AUTO = 3

# krein_categories
KREIN_CATEGORIES_AUTO = 0
KREIN_CATEGORIES_ONEHOT = 1
KREIN_CATEGORIES_TARGET = 2
KREIN_CATEGORIES_HASH = 3

# krein_types
KREIN_TYPES_AUTO = 0
KREIN_TYPES_PLAIN = 1

# krein_scale
KREIN_SCALE_STANDARD = 0
KREIN_SCALE_MINMAX = 1
KREIN_SCALE_UNIT = 2
KREIN_SCALE_NONE = 3

# krein_element
KREIN_FLOAT32 = 1
KREIN_FLOAT64 = 2
KREIN_INT32 = 3
KREIN_INT64 = 4
KREIN_UINT8 = 5

# krein_metric_kind
KREIN_METRIC_NONE = 0
KREIN_METRIC_DIAGONAL = 1
KREIN_METRIC_FULL = 2

# krein_says
KREIN_SAYS_STD = 1
KREIN_SAYS_INTERVAL = 2
KREIN_SAYS_NOVELTY = 4

# krein_type
KREIN_TYPE_BYTES = 1
KREIN_TYPE_I32 = 2
KREIN_TYPE_I64 = 3
KREIN_TYPE_F32 = 4
KREIN_TYPE_F64 = 5

# krein_repair
KREIN_REPAIR_NONE = 0
KREIN_REPAIR_CLIP = 1
KREIN_REPAIR_FLIP = 2
KREIN_REPAIR_SHIFT = 3

# krein_measure
KREIN_MEASURE_AUTO = 0
KREIN_MEASURE_RMSE = 1
KREIN_MEASURE_ERROR = 2
KREIN_MEASURE_LOGLOSS = 3
KREIN_MEASURE_AUC = 4

# krein_cluster_method
KREIN_CLUSTER_KMEANS = 0
KREIN_CLUSTER_SPECTRAL = 1

# krein_cluster_graph
KREIN_GRAPH_FULL = 0
KREIN_GRAPH_KNN = 1


krein_log_fn = CFUNCTYPE(None, c_void_p, c_int, c_char_p)


krein_progress_fn = CFUNCTYPE(None, c_void_p, c_char_p, c_double, c_double)


krein_cancel_fn = CFUNCTYPE(c_int, c_void_p)


class krein_allocator(Structure):
    _fields_ = [
        ("alloc", CFUNCTYPE(c_void_p, c_void_p, c_size_t)),
        ("release", CFUNCTYPE(None, c_void_p, c_void_p)),
        ("user", c_void_p),
    ]


class krein_ctx_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("threads", c_int),
        ("max_memory", c_uint64),
        ("memory", krein_allocator),
        ("log", krein_log_fn),
        ("progress", krein_progress_fn),
        ("cancel", krein_cancel_fn),
        ("user", c_void_p),
    ]


class krein_entry(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("table", c_char_p),
        ("name", c_char_p),
        ("summary", c_char_p),
        ("cite", c_char_p),
        ("details", c_char_p),
        ("kernels", c_char_p),
        ("time", c_char_p),
        ("family", c_char_p),
        ("alias", c_char_p),
    ]


class krein_option_info(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("type", c_char_p),
        ("default_value", c_char_p),
        ("range", c_char_p),
        ("help", c_char_p),
        ("low", c_double),
        ("high", c_double),
    ]


class krein_data_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("format", c_char_p),
        ("delimiter", c_char),
        ("header", c_int),
        ("label", c_char_p),
        ("labels_file", c_char_p),
        ("weights", c_char_p),
        ("group", c_char_p),
        ("id", c_char_p),
        ("ignore", c_char_p),
        ("task", c_int),
        ("missing", c_int),
        ("unknown_ignore", c_int),
        ("scale", c_int),
        ("targets", c_int64),
        ("categories", c_int),
        ("types", c_int),
        ("own_rows", c_int),
        ("image", c_char_p),
    ]


class krein_column_view(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("numbers", c_void_p),
        ("type", c_int),
        ("stride", c_int64),
        ("texts", POINTER(c_char_p)),
        ("codes", c_void_p),
        ("words", POINTER(c_char_p)),
        ("nwords", c_int64),
        ("category", c_int),
    ]


class krein_rows_view(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n", c_int64),
        ("d", c_int64),
        ("x", c_void_p),
        ("type", c_int),
        ("row_stride", c_int64),
        ("column_stride", c_int64),
        ("indptr", c_void_p),
        ("indptr_type", c_int),
        ("index_type", c_int),
        ("indices", c_void_p),
        ("values", c_void_p),
        ("columns", POINTER(krein_column_view)),
        ("names", POINTER(c_char_p)),
        ("targets", c_void_p),
        ("ntargets", c_int64),
        ("classes", c_void_p),
        ("class_type", c_int),
        ("class_names", POINTER(c_char_p)),
        ("weights", c_void_p),
        ("groups", c_void_p),
        ("group_names", POINTER(c_char_p)),
    ]


class krein_rows_source(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("next", CFUNCTYPE(c_int, c_void_p, POINTER(krein_rows_view))),
        ("rewind", CFUNCTYPE(c_int, c_void_p)),
        ("user", c_void_p),
    ]


class krein_classes(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n", c_int64),
        ("classes", c_int64),
        ("class_of", c_void_p),
        ("names", POINTER(c_char_p)),
    ]


class krein_train_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("learner", c_char_p),
        ("kernel", c_char_p),
        ("map", c_char_p),
        ("features", c_int64),
        ("lambda", c_double),
        ("select", c_char_p),
        ("seed", c_uint64),
        ("max_exact", c_int64),
        ("time_limit", c_double),
        ("holdout", c_double),
        ("test", c_void_p),
        ("probabilities", c_int),
        ("kernels", c_char_p),
        ("unlabeled", c_void_p),
        ("checkpoint", c_char_p),
        ("checkpoint_seconds", c_double),
        ("metric", c_char_p),
        ("effort", c_double),
        ("clip", c_double),
        ("graph_file", c_char_p),
        ("uncertainty", c_int),
        ("metric_from", c_void_p),
        ("subspace", c_char_p),
        ("subspace_start", c_int),
        ("record", c_char_p),
        ("record_dimensions", c_int64),
        ("record_every", c_int64),
        ("record_epochs", c_int64),
    ]


class krein_metrics(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("task", c_int),
        ("n", c_int64),
        ("rmse", c_double),
        ("mae", c_double),
        ("r2", c_double),
        ("accuracy", c_double),
        ("error", c_double),
        ("macro_precision", c_double),
        ("macro_recall", c_double),
        ("macro_f1", c_double),
        ("log_loss", c_double),
        ("auc", c_double),
        ("classes", c_int64),
        ("confusion", c_void_p),
        ("class_names", POINTER(c_char_p)),
        ("hamming_loss", c_double),
        ("micro_f1", c_double),
        ("subset_accuracy", c_double),
        ("ranking_loss", c_double),
        ("label_f1", c_void_p),
        ("label_auc", c_void_p),
        ("label_rows", c_void_p),
        ("interval", c_double),
        ("coverage", c_double),
        ("width", c_double),
    ]


class krein_kernel_weight(Structure):
    _fields_ = [
        ("kernel", c_char_p),
        ("weight", c_double),
    ]


class krein_tried(Structure):
    _fields_ = [
        ("kernel", c_char_p),
        ("map", c_char_p),
        ("learner", c_char_p),
        ("metric", c_int),
        ("rows", c_int64),
        ("error", c_double),
    ]


class krein_searched(Structure):
    _fields_ = [
        ("kernel", c_char_p),
        ("parameter", c_char_p),
        ("criterion", c_char_p),
        ("metric", c_int),
        ("rows", c_int64),
        ("value", c_double),
        ("lambda", c_double),
        ("score", c_double),
    ]


class krein_report(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n", c_int64),
        ("d", c_int64),
        ("D", c_int64),
        ("passes", c_int64),
        ("task", c_int),
        ("learner", c_char_p),
        ("kernel", c_char_p),
        ("map", c_char_p),
        ("lambda", c_double),
        ("seconds_read", c_double),
        ("seconds_select", c_double),
        ("seconds_fit", c_double),
        ("seconds_total", c_double),
        ("loo", c_double),
        ("bytes_peak", c_uint64),
        ("flops", c_double),
        ("fits", c_int),
        ("advice", c_char_p),
        ("test", POINTER(krein_metrics)),
        ("folds", c_int64),
        ("kernels", c_int64),
        ("weights", POINTER(krein_kernel_weight)),
        ("tried_count", c_int64),
        ("tried", POINTER(krein_tried)),
        ("metric", c_int),
        ("factors", c_int64),
        ("factor", c_void_p),
        ("refit", c_double),
        ("unlabelled", c_int64),
        ("iterations", c_int64),
        ("residual", c_double),
        ("condition", c_double),
    ]


class krein_model_info(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("task", c_int),
        ("n", c_int64),
        ("d", c_int64),
        ("D", c_int64),
        ("inputs", c_int64),
        ("outputs", c_int64),
        ("classes", c_int64),
        ("bytes", c_int64),
        ("learner", c_char_p),
        ("kernel", c_char_p),
        ("map", c_char_p),
        ("scale", c_char_p),
        ("lambda", c_double),
        ("seed", c_uint64),
        ("negative", c_int64),
        ("probabilities", c_int),
        ("variance", c_void_p),
        ("variance_total", c_double),
        ("kernels", c_int64),
        ("weights", POINTER(krein_kernel_weight)),
        ("metric", c_int),
        ("clip", c_double),
        ("uncertainty", c_int),
    ]


class krein_fact(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("text", c_char_p),
        ("value", c_double),
    ]


class krein_array(Structure):
    _fields_ = [
        ("bytes", c_size_t),
        ("type", c_int),
        ("rows", c_int64),
        ("columns", c_int64),
        ("at", c_void_p),
    ]


class krein_frequencies(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("d", c_int64),
        ("n", c_int64),
        ("w", c_void_p),
        ("start", c_void_p),
    ]


class krein_prediction(Structure):
    _fields_ = [
        ("row", c_int64),
        ("label", c_int64),
        ("values", c_void_p),
        ("scores", c_void_p),
        ("nscores", c_int64),
        ("id", c_char_p),
        ("probabilities", c_void_p),
        ("nclasses", c_int64),
        ("labels", c_void_p),
        ("std", c_void_p),
        ("lower", c_void_p),
        ("upper", c_void_p),
        ("set", c_void_p),
        ("novelty", c_double),
    ]


krein_predict_fn = CFUNCTYPE(c_int, c_void_p, POINTER(krein_prediction))


class krein_predict_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("std", c_int),
        ("interval", c_double),
        ("novelty", c_int),
    ]


class krein_prediction_arrays(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("capacity", c_int64),
        ("labels", c_void_p),
        ("scores", c_void_p),
        ("probabilities", c_void_p),
        ("rows", c_int64),
        ("label_sets", c_void_p),
        ("std", c_void_p),
        ("lower", c_void_p),
        ("upper", c_void_p),
        ("sets", c_void_p),
        ("novelty", c_void_p),
        ("interval", c_double),
        ("std_of_mean", c_int),
    ]


class krein_page_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("title", c_char_p),
        ("train", c_void_p),
        ("curve", c_int),
        ("rows", c_int64),
        ("seed", c_uint64),
    ]


class krein_page(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("html", c_char_p),
        ("json", c_char_p),
        ("html_bytes", c_int64),
        ("json_bytes", c_int64),
        ("seconds", c_double),
    ]


class krein_export_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("header", c_char_p),
        ("no_libm", c_int),
        ("stored", c_int),
    ]


class krein_export_report(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("bytes", c_int64),
        ("flops", c_int64),
        ("stack", c_int64),
        ("file", c_int64),
        ("wide", c_int),
        ("drawn", c_int),
    ]


class krein_transform_report(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n", c_int64),
        ("d", c_int64),
        ("D", c_int64),
        ("negative", c_int64),
        ("kernel", c_char_p),
        ("map", c_char_p),
        ("seconds", c_double),
    ]


class krein_gram_spectrum(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("asymmetry", c_double),
        ("low", c_double),
        ("high", c_double),
        ("negative", c_int64),
        ("negative_mass", c_double),
    ]


class krein_approx_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kernel", c_char_p),
        ("maps", POINTER(c_char_p)),
        ("nmaps", c_int64),
        ("features", c_void_p),
        ("nfeatures", c_int64),
        ("rows", c_int64),
        ("repeats", c_int64),
        ("seed", c_uint64),
        ("max_exact", c_int64),
    ]


class krein_approx_result(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("map", c_char_p),
        ("series", c_int64),
        ("D", c_int64),
        ("error_mean", c_double),
        ("error_sd", c_double),
        ("worst", c_double),
        ("seconds", c_double),
        ("refused", c_char_p),
        ("facts", POINTER(krein_fact)),
        ("nfacts", c_int64),
    ]


class krein_approx_report(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n", c_int64),
        ("rows", c_int64),
        ("d", c_int64),
        ("repeats", c_int64),
        ("kernel", c_char_p),
        ("results", POINTER(POINTER(krein_approx_result))),
        ("count", c_int64),
        ("seconds", c_double),
    ]


class krein_select_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kernels", c_char_p),
        ("criteria", POINTER(c_char_p)),
        ("ncriteria", c_int64),
        ("map", c_char_p),
        ("features", c_int64),
        ("seed", c_uint64),
        ("max_exact", c_int64),
        ("time_limit", c_double),
    ]


class krein_select_score(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("score", c_double),
        ("lambda", c_double),
        ("refused", c_char_p),
    ]


class krein_select_ranking(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("criterion", c_char_p),
        ("larger", c_int),
        ("scores", POINTER(POINTER(krein_select_score))),
        ("best", c_int64),
    ]


class krein_select_report(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n", c_int64),
        ("d", c_int64),
        ("task", c_int),
        ("kernels", POINTER(c_char_p)),
        ("count", c_int64),
        ("scored", c_int64),
        ("map", c_char_p),
        ("rankings", POINTER(POINTER(krein_select_ranking))),
        ("nrankings", c_int64),
        ("seconds", c_double),
        ("maps", POINTER(c_char_p)),
        ("exact", c_int),
    ]


krein_open_fn = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int64, POINTER(c_void_p))


class krein_compare_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("sets", c_int64),
        ("names", POINTER(c_char_p)),
        ("open", krein_open_fn),
        ("user", c_void_p),
        ("learners", c_char_p),
        ("kernels", c_char_p),
        ("maps", c_char_p),
        ("commands", POINTER(c_char_p)),
        ("ncommands", c_int64),
        ("repeats", c_int64),
        ("holdout", c_double),
        ("measure", c_int),
        ("level", c_double),
        ("results", c_char_p),
        ("parallel", c_int64),
        ("train", POINTER(krein_train_options)),
    ]


class krein_compare_set(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("n", c_int64),
        ("d", c_int64),
        ("test", c_int64),
    ]


class krein_compare_result(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("set", c_int64),
        ("method", c_int64),
        ("mean", c_double),
        ("sd", c_double),
        ("half", c_double),
        ("rank", c_double),
        ("p", c_double),
        ("best", c_int),
        ("similar", c_int),
        ("wins", c_int64),
        ("ties", c_int64),
        ("losses", c_int64),
        ("seconds", c_double),
        ("bytes", c_double),
        ("failures", c_int64),
        ("failed", c_char_p),
        ("values", c_void_p),
        ("nvalues", c_int64),
        ("cpu", c_double),
    ]


class krein_compare_method(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("learner", c_char_p),
        ("kernel", c_char_p),
        ("map", c_char_p),
        ("command", c_char_p),
        ("rank", c_double),
        ("p", c_double),
        ("best", c_int),
        ("similar", c_int),
        ("wins", c_int64),
        ("ties", c_int64),
        ("losses", c_int64),
        ("seconds", c_double),
        ("bytes", c_double),
    ]


class krein_compare_report(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("task", c_int),
        ("measure", c_int),
        ("larger", c_int),
        ("repeats", c_int64),
        ("holdout", c_double),
        ("level", c_double),
        ("sets", POINTER(POINTER(krein_compare_set))),
        ("nsets", c_int64),
        ("methods", POINTER(POINTER(krein_compare_method))),
        ("nmethods", c_int64),
        ("results", POINTER(POINTER(krein_compare_result))),
        ("count", c_int64),
        ("ranked", c_int64),
        ("chi2", c_double),
        ("chi2_p", c_double),
        ("f", c_double),
        ("f_p", c_double),
        ("difference", c_double),
        ("reused", c_int64),
        ("parallel", c_int64),
        ("seconds", c_double),
    ]


class krein_advise_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kernel", c_char_p),
        ("rows", c_int64),
        ("seed", c_uint64),
        ("max_exact", c_int64),
    ]


class krein_advise_point(Structure):
    _fields_ = [
        ("lambda", c_double),
        ("dimension", c_double),
    ]


class krein_advise_report(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n", c_int64),
        ("d", c_int64),
        ("rows", c_int64),
        ("kernel", c_char_p),
        ("task", c_int),
        ("rank", c_int64),
        ("kappa", c_double),
        ("gamma", c_double),
        ("decay", c_double),
        ("gamma_fitted", c_int),
        ("gamma_fast", c_int),
        ("r", c_double),
        ("r_measured", c_double),
        ("r_low", c_double),
        ("r_high", c_double),
        ("lambda", c_double),
        ("dimension", c_double),
        ("rate", c_double),
        ("features", c_int64),
        ("landmarks", c_int64),
        ("parts", c_int64),
        ("sample_lambda", c_double),
        ("practical_lambda", c_double),
        ("practical_dimension", c_double),
        ("practical_features", c_int64),
        ("practical_parts", c_int64),
        ("rademacher", c_double),
        ("resolved", c_double),
        ("spectrum", POINTER(krein_advise_point)),
        ("count", c_int64),
        ("seconds", c_double),
    ]


class krein_pca_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kernel", c_char_p),
        ("map", c_char_p),
        ("features", c_int64),
        ("components", c_int64),
        ("seed", c_uint64),
        ("max_exact", c_int64),
    ]


class krein_pca_report(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n", c_int64),
        ("d", c_int64),
        ("D", c_int64),
        ("components", c_int64),
        ("variance", c_void_p),
        ("ratio", c_void_p),
        ("total", c_double),
        ("negative_mass", c_double),
        ("kernel", c_char_p),
        ("map", c_char_p),
        ("seconds", c_double),
    ]


class krein_cluster_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kernel", c_char_p),
        ("map", c_char_p),
        ("features", c_int64),
        ("clusters", c_int64),
        ("method", c_int),
        ("graph", c_int),
        ("neighbours", c_int64),
        ("restarts", c_int64),
        ("seed", c_uint64),
        ("max_exact", c_int64),
        ("graph_file", c_char_p),
    ]


class krein_cluster_report(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n", c_int64),
        ("d", c_int64),
        ("D", c_int64),
        ("method", c_int),
        ("clusters", c_int64),
        ("sizes", c_void_p),
        ("inertia", c_double),
        ("silhouette", c_double),
        ("silhouette_rows", c_int64),
        ("ari", c_double),
        ("nmi", c_double),
        ("classes", c_int64),
        ("steps", c_int64),
        ("settled", c_int),
        ("kernel", c_char_p),
        ("map", c_char_p),
        ("seconds", c_double),
    ]


class krein_fewshot_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("methods", POINTER(c_char_p)),
        ("nmethods", c_int64),
        ("ways", c_int64),
        ("shots", c_int64),
        ("queries", c_int64),
        ("tasks", c_int64),
        ("arch", c_char_p),
        ("dimensions", c_int64),
        ("steps", c_int64),
        ("rate", c_double),
        ("test_steps", c_int64),
        ("meta_steps", c_int64),
        ("meta_tasks", c_int64),
        ("meta_rate", c_double),
        ("meta_queries", c_int64),
        ("epochs", c_int64),
        ("path_epochs", c_int64),
        ("validation_tasks", c_int64),
        ("validate_every", c_int64),
        ("split", c_int64 * 3),
        ("seed", c_uint64),
        ("time_limit", c_double),
        ("checkpoint", c_char_p),
        ("checkpoint_seconds", c_double),
        ("output", c_char_p),
    ]


class krein_fewshot_result(Structure):
    _fields_ = [
        ("method", c_char_p),
        ("detail", c_char_p),
        ("tasks", c_int64),
        ("accuracy", c_double),
        ("sd", c_double),
        ("interval", c_double),
        ("seconds", c_double),
        ("values", c_void_p),
        ("points", c_int64),
        ("step", c_void_p),
        ("curve", c_void_p),
        ("looks", c_int64),
        ("look_step", c_void_p),
        ("look_loss", c_void_p),
        ("look_accuracy", c_void_p),
        ("kept", c_int64),
    ]


class krein_fewshot_report(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("ways", c_int64),
        ("shots", c_int64),
        ("queries", c_int64),
        ("height", c_int64),
        ("width", c_int64),
        ("channels", c_int64),
        ("classes", c_int64 * 3),
        ("parameters", c_int64),
        ("arch", c_char_p),
        ("count", c_int64),
        ("results", POINTER(POINTER(krein_fewshot_result))),
        ("seconds", c_double),
    ]


class krein_subspace_info(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("arch", c_char_p),
        ("height", c_int64),
        ("width", c_int64),
        ("channels", c_int64),
        ("scores", c_int64),
        ("parameters", c_int64),
        ("dimensions", c_int64),
        ("snapshots", c_int64),
        ("share", c_void_p),
    ]


class krein_generate_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n", c_int64),
        ("d", c_int64),
        ("noise", c_double),
        ("seed", c_uint64),
    ]


# Function -> (result, arguments)
FUNCTIONS = {
    "krein_status_text": (c_char_p, [c_int]),
    "krein_version": (c_char_p, []),
    "krein_blas_core": (c_char_p, [POINTER(c_char_p)]),
    "krein_ctx_options_init_sized": (None, [POINTER(krein_ctx_options), c_size_t]),
    "krein_ctx_create": (c_int, [POINTER(krein_ctx_options), POINTER(c_void_p)]),
    "krein_ctx_destroy": (None, [c_void_p]),
    "krein_message": (c_char_p, [c_void_p]),
    "krein_ctx_peak_bytes": (c_uint64, [c_void_p]),
    "krein_ctx_join": (c_int, [c_void_p, c_void_p]),
    "krein_ctx_leave": (c_int, [c_void_p]),
    "krein_list": (c_int, [c_int64, POINTER(krein_entry)]),
    "krein_list_option": (c_int, [c_int64, c_int64, POINTER(krein_option_info)]),
    "krein_limit": (c_int, [c_char_p, c_void_p, c_void_p]),
    "krein_check_spec": (c_int, [c_void_p, c_char_p, c_char_p]),
    "krein_check_kernel": (c_int, [c_void_p, c_char_p]),
    "krein_data_options_init_sized": (None, [POINTER(krein_data_options), c_size_t]),
    "krein_data_open": (
        c_int,
        [
            c_void_p,
            c_char_p,
            POINTER(krein_data_options),
            POINTER(c_void_p),
        ],
    ),
    "krein_data_from_rows": (
        c_int,
        [
            c_void_p,
            POINTER(krein_rows_view),
            POINTER(krein_data_options),
            POINTER(c_void_p),
        ],
    ),
    "krein_data_from_source": (
        c_int,
        [
            c_void_p,
            POINTER(krein_rows_source),
            POINTER(krein_data_options),
            POINTER(c_void_p),
        ],
    ),
    "krein_data_from_dense": (
        c_int,
        [
            c_void_p,
            c_int64,
            c_int64,
            c_void_p,
            c_int64,
            c_void_p,
            c_void_p,
            POINTER(krein_data_options),
            POINTER(c_void_p),
        ],
    ),
    "krein_data_close": (None, [c_void_p]),
    "krein_classes_clear": (None, [c_void_p, POINTER(krein_classes)]),
    "krein_data_classes": (c_int, [c_void_p, c_void_p, POINTER(krein_classes)]),
    "krein_train_options_init_sized": (None, [POINTER(krein_train_options), c_size_t]),
    "krein_report_clear": (None, [c_void_p, POINTER(krein_report)]),
    "krein_metrics_clear": (None, [c_void_p, POINTER(krein_metrics)]),
    "krein_train": (
        c_int,
        [
            c_void_p,
            c_void_p,
            POINTER(krein_train_options),
            POINTER(krein_report),
            POINTER(c_void_p),
        ],
    ),
    "krein_train_check": (c_int, [c_void_p, POINTER(krein_train_options)]),
    "krein_plan": (
        c_int,
        [
            c_void_p,
            c_void_p,
            POINTER(krein_train_options),
            POINTER(krein_report),
        ],
    ),
    "krein_model_save": (c_int, [c_void_p, c_void_p, c_char_p]),
    "krein_model_load": (c_int, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "krein_model_save_memory": (c_int, [c_void_p, c_void_p, c_void_p, c_int64, c_void_p]),
    "krein_model_load_memory": (c_int, [c_void_p, c_void_p, c_int64, POINTER(c_void_p)]),
    "krein_model_destroy": (None, [c_void_p]),
    "krein_model_describe": (None, [c_void_p, POINTER(krein_model_info)]),
    "krein_model_class": (c_char_p, [c_void_p, c_int64]),
    "krein_model_column": (c_char_p, [c_void_p, c_int64]),
    "krein_model_column_number": (c_int64, [c_void_p, c_int64]),
    "krein_model_encoded_name": (c_int, [c_void_p, c_int64, c_char_p, c_size_t]),
    "krein_model_range": (c_int, [c_void_p, c_int64, c_void_p, c_void_p]),
    "krein_model_note": (c_char_p, [c_void_p, c_int64]),
    "krein_model_tried": (POINTER(krein_tried), [c_void_p, c_int64]),
    "krein_model_searched": (POINTER(krein_searched), [c_void_p, c_int64]),
    "krein_model_fact": (c_int, [c_void_p, c_int64, POINTER(krein_fact)]),
    "krein_model_array": (c_int, [c_void_p, c_char_p, POINTER(krein_array)]),
    "krein_model_array_name": (c_char_p, [c_void_p, c_int64]),
    "krein_model_frequencies": (c_int, [c_void_p, c_void_p, POINTER(krein_frequencies)]),
    "krein_frequencies_clear": (None, [c_void_p, POINTER(krein_frequencies)]),
    "krein_predict": (c_int, [c_void_p, c_void_p, c_void_p, krein_predict_fn, c_void_p]),
    "krein_predict_options_init_sized": (None, [POINTER(krein_predict_options), c_size_t]),
    "krein_predict_with": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_void_p,
            POINTER(krein_predict_options),
            krein_predict_fn,
            c_void_p,
        ],
    ),
    "krein_predict_into": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(krein_prediction_arrays)]),
    "krein_predict_dense": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_int64,
            c_int64,
            c_void_p,
            c_int64,
            c_void_p,
        ],
    ),
    "krein_evaluate": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(krein_metrics)]),
    "krein_evaluate_interval": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_void_p,
            c_double,
            POINTER(krein_metrics),
        ],
    ),
    "krein_page_options_init_sized": (None, [POINTER(krein_page_options), c_size_t]),
    "krein_page_clear": (None, [c_void_p, POINTER(krein_page)]),
    "krein_model_report": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_void_p,
            POINTER(krein_page_options),
            POINTER(krein_page),
        ],
    ),
    "krein_export_options_init_sized": (None, [POINTER(krein_export_options), c_size_t]),
    "krein_model_export": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_char_p,
            POINTER(krein_export_options),
            POINTER(krein_export_report),
        ],
    ),
    "krein_model_quantize": (c_int, [c_void_p, c_void_p, c_int, c_void_p, POINTER(c_void_p)]),
    "krein_transform_report_clear": (None, [c_void_p, POINTER(krein_transform_report)]),
    "krein_transform": (
        c_int,
        [
            c_void_p,
            c_void_p,
            POINTER(krein_train_options),
            c_char_p,
            POINTER(krein_transform_report),
        ],
    ),
    "krein_fit": (
        c_int,
        [
            c_void_p,
            c_void_p,
            POINTER(krein_train_options),
            POINTER(krein_transform_report),
            POINTER(c_void_p),
        ],
    ),
    "krein_model_features": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_int64, c_void_p]),
    "krein_gram": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_void_p,
            POINTER(krein_train_options),
            c_char_p,
            POINTER(krein_transform_report),
        ],
    ),
    "krein_gram_values": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_void_p,
            POINTER(krein_train_options),
            c_void_p,
            c_int64,
            POINTER(krein_transform_report),
        ],
    ),
    "krein_gram_check": (
        c_int,
        [
            c_void_p,
            c_void_p,
            POINTER(krein_train_options),
            c_int,
            c_char_p,
            POINTER(krein_gram_spectrum),
            POINTER(krein_transform_report),
        ],
    ),
    "krein_approx_options_init_sized": (None, [POINTER(krein_approx_options), c_size_t]),
    "krein_approx_report_clear": (None, [c_void_p, POINTER(krein_approx_report)]),
    "krein_approx": (
        c_int,
        [
            c_void_p,
            c_void_p,
            POINTER(krein_approx_options),
            POINTER(krein_approx_report),
        ],
    ),
    "krein_select_options_init_sized": (None, [POINTER(krein_select_options), c_size_t]),
    "krein_select_report_clear": (None, [c_void_p, POINTER(krein_select_report)]),
    "krein_select": (
        c_int,
        [
            c_void_p,
            c_void_p,
            POINTER(krein_select_options),
            POINTER(krein_select_report),
        ],
    ),
    "krein_compare_options_init_sized": (None, [POINTER(krein_compare_options), c_size_t]),
    "krein_compare_report_clear": (None, [c_void_p, POINTER(krein_compare_report)]),
    "krein_compare": (
        c_int,
        [
            c_void_p,
            POINTER(krein_compare_options),
            POINTER(krein_compare_report),
        ],
    ),
    "krein_advise_options_init_sized": (None, [POINTER(krein_advise_options), c_size_t]),
    "krein_advise_report_clear": (None, [c_void_p, POINTER(krein_advise_report)]),
    "krein_advise": (
        c_int,
        [
            c_void_p,
            c_void_p,
            POINTER(krein_advise_options),
            POINTER(krein_advise_report),
        ],
    ),
    "krein_pca_options_init_sized": (None, [POINTER(krein_pca_options), c_size_t]),
    "krein_pca_report_clear": (None, [c_void_p, POINTER(krein_pca_report)]),
    "krein_pca": (
        c_int,
        [
            c_void_p,
            c_void_p,
            POINTER(krein_pca_options),
            c_char_p,
            POINTER(krein_pca_report),
            POINTER(c_void_p),
        ],
    ),
    "krein_cluster_options_init_sized": (None, [POINTER(krein_cluster_options), c_size_t]),
    "krein_cluster_report_clear": (None, [c_void_p, POINTER(krein_cluster_report)]),
    "krein_cluster": (
        c_int,
        [
            c_void_p,
            c_void_p,
            POINTER(krein_cluster_options),
            krein_predict_fn,
            c_void_p,
            POINTER(krein_cluster_report),
            POINTER(c_void_p),
        ],
    ),
    "krein_cluster_labels": (
        c_int,
        [
            c_void_p,
            c_void_p,
            POINTER(krein_cluster_options),
            c_void_p,
            c_int64,
            POINTER(krein_cluster_report),
            POINTER(c_void_p),
        ],
    ),
    "krein_fewshot_options_init_sized": (None, [POINTER(krein_fewshot_options), c_size_t]),
    "krein_fewshot_report_clear": (None, [c_void_p, POINTER(krein_fewshot_report)]),
    "krein_fewshot": (
        c_int,
        [
            c_void_p,
            c_void_p,
            c_void_p,
            POINTER(krein_fewshot_options),
            POINTER(krein_fewshot_report),
        ],
    ),
    "krein_subspace_read": (c_int, [c_void_p, c_char_p, POINTER(krein_subspace_info)]),
    "krein_subspace_info_clear": (None, [c_void_p, POINTER(krein_subspace_info)]),
    "krein_generate_options_init_sized": (None, [POINTER(krein_generate_options), c_size_t]),
    "krein_generate": (c_int, [c_void_p, c_char_p, POINTER(krein_generate_options), c_char_p]),
}
