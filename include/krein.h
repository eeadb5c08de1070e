/* krein.h -- large-scale kernel machines: the public interface of libkrein.
 *
 * Conventions
 *   - Every call that can fail returns a krein_status; the reason, the place and
 *     the way out stand in krein_message(ctx). Out-pointers are NULL on failure.
 *   - Everything is created on a krein_ctx, which must outlive it. One thread at
 *     a time may use a context and what was created on it, with one exception: a
 *     krein_model is never changed once it is made, and any number of threads may
 *     use it at once, each with a context and data of its own. All memory,
 *     messages, callbacks and threads are then those of the context that is given.
 *     The context that a model was made on counts its memory until the model is
 *     destroyed, which is up to one thread, when no other uses the model any more.
 *   - Structs that cross this interface begin with their size; fields are only ever appended. Options
 *     are filled by their _init macro, which hands over the size that the caller's header has; a
 *     report begins as KREIN_SIZED(krein_report) and is filled as far as the caller's header knows
 *     it. NULL options mean the defaults, a NULL report is not wanted. A size of 0 is refused, and
 *     so is a field of a newer header, which this library does not know, that is not zero.
 *   - Specs are small strings, name(key=value, ...), the same as on the command
 *     line: "orf(D=2048)", "0.5*gaussian(sigma=2) + 0.5*laplacian(sigma=3)".
 *   - The library never prints, never exits, never changes the locale. While it
 *     computes it sets OpenBLAS to one thread (a process-wide setting) and
 *     restores it before it returns; it parallelises its own loops with OpenMP.
 */
#ifndef KREIN_H
#define KREIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KREIN_VERSION_MAJOR 0
#define KREIN_VERSION_MINOR 2
#define KREIN_VERSION_PATCH 0
#define KREIN_VERSION_STRING "0.2.0"

#if defined(__GNUC__)
#define KREIN_API __attribute__((visibility("default")))
#else
#define KREIN_API
#endif

/* A struct that holds nothing but its size; in C++ from C++11 on. */
#ifdef __cplusplus
#define KREIN_SIZED(type)                                                                          \
    ([] {                                                                                          \
        type krein_sized_struct = type();                                                          \
        krein_sized_struct.size = sizeof(type);                                                    \
        return krein_sized_struct;                                                                 \
    }())
#else
#define KREIN_SIZED(type) ((type){.size = sizeof(type)})
#endif

/* ---- status ------------------------------------------------------------- */

/* STATUS(name, value, text): values are part of the interface and never change. */
#define KREIN_STATUS_LIST(STATUS)                                                                  \
    STATUS(KREIN_OK, 0, "success")                                                                 \
    STATUS(KREIN_EARG, 1, "an argument or option is wrong")                                        \
    STATUS(KREIN_EMEMORY, 2, "not enough memory, or over the budget")                              \
    STATUS(KREIN_EIO, 3, "a file could not be read or written")                                    \
    STATUS(KREIN_EFORMAT, 4, "the data are not in the expected format")                            \
    STATUS(KREIN_EDATA, 5, "the data cannot be used for this task")                                \
    STATUS(KREIN_ENUMERIC, 6, "the computation broke down")                                        \
    STATUS(KREIN_ECANCEL, 7, "cancelled")                                                          \
    STATUS(KREIN_EMODEL, 8, "not a valid model file")                                              \
    STATUS(KREIN_ESPEC, 9, "a spec or kernel expression is wrong")                                 \
    STATUS(KREIN_ETIME, 10, "the time limit has passed")

typedef enum krein_status {
#define STATUS(name, value, text) name = value,
    KREIN_STATUS_LIST(STATUS)
#undef STATUS
} krein_status;

KREIN_API const char *krein_status_text(krein_status status);
KREIN_API const char *krein_version(void);
/* The CPU that OpenBLAS has taken this one for, or NULL. *better (may be NULL): one whose code runs
 * here and is faster, or NULL where the choice is right. OpenBLAS chooses when it is loaded, so the
 * library cannot change it: set OPENBLAS_CORETYPE to that name and start the program again. */
KREIN_API const char *krein_blas_core(const char **better);

/* ---- context ------------------------------------------------------------ */

typedef struct krein_ctx krein_ctx;

typedef enum krein_log_level {
    KREIN_LOG_DEBUG = 0, /* shown with --verbose */
    KREIN_LOG_INFO = 1,
    KREIN_LOG_WARNING = 2
} krein_log_level;

/* Called from the thread that entered the library. */
typedef void (*krein_log_fn)(void *user, krein_log_level level, const char *text);
/* done and total in any unit; total <= 0 when unknown. what is a short phrase. */
typedef void (*krein_progress_fn)(void *user, const char *what, double done, double total);
/* Polled between blocks; non-zero stops the work with KREIN_ECANCEL. */
typedef int (*krein_cancel_fn)(void *user);

/* Stays as it is. alloc returns memory aligned to 16 bytes at least, as malloc does, or NULL. */
typedef struct krein_allocator {
    void *(*alloc)(void *user, size_t bytes);
    void (*release)(void *user, void *p);
    void *user;
} krein_allocator;

typedef struct krein_ctx_options {
    size_t size;
    int threads;            /* 0: the CPUs this process may use, or OMP_NUM_THREADS */
    uint64_t max_memory;    /* bytes; 0: most of what is available */
    krein_allocator memory; /* alloc == NULL: the C library's */
    krein_log_fn log;
    krein_progress_fn progress;
    krein_cancel_fn cancel;
    void *user; /* handed to log, progress and cancel */
} krein_ctx_options;

KREIN_API void krein_ctx_options_init_sized(krein_ctx_options *options, size_t size);
#define krein_ctx_options_init(options) krein_ctx_options_init_sized((options), sizeof *(options))
/* KREIN_EARG: the options were not initialised, or have a field of a newer header; KREIN_EMEMORY. */
KREIN_API krein_status krein_ctx_create(const krein_ctx_options *options, krein_ctx **out);
KREIN_API void krein_ctx_destroy(krein_ctx *ctx);
/* What went wrong in the last call that failed; never NULL. */
KREIN_API const char *krein_message(const krein_ctx *ctx);
/* Most bytes held through the context's allocator at one time, so far. */
KREIN_API uint64_t krein_ctx_peak_bytes(const krein_ctx *ctx);

/* Several processes that work together over MPI. communicator points to an MPI_Comm of the caller,
 * who has started MPI (MPI_Init_thread, MPI_THREAD_FUNNELED) and ends it; the library sends over a
 * duplicate of it, and stops the program where MPI does. NULL: all processes of the launcher
 * (mpirun, srun), and MPI is started here, and ended by krein_ctx_leave, where it does not run; a
 * process without a launcher stays alone. Loads libkrein_mpi.so, which must be of the same MPI.
 *
 * All processes of the communicator call join, and then krein_train, krein_predict (and its short
 * forms), krein_evaluate and krein_select, in the same order with the same options. They divide the
 * rows of files among them. Rows in the caller's arrays, or of a source, are either the same on all
 * processes, and each computes with all of them; or each process gives rows of its own (own_rows in
 * krein_data_options), the same columns on all, and the data are those of process 0, then of process
 * 1, ...: the model is that of one process with all of these rows. A process may have none (n = 0,
 * or a source that ends at once), and its columns then do not matter. Every process gets the same
 * status, report and model; of a file the first one alone gets the predictions, of rows of its own
 * each gets those of its own, numbered from 0. When one fails all return its status and message.
 * Other calls are as before: each process works by itself, with its own rows where it gave such.
 *
 * Threads and memory that the options did not give become this process's share of its machine,
 * until it leaves. One context of a process at a time may have joined. */
KREIN_API krein_status krein_ctx_join(krein_ctx *ctx, const void *communicator);
/* All processes leave, before the context is destroyed and MPI ended; nothing where it has not
 * joined. One that leaves while others are in a call ends that with KREIN_ENUMERIC. */
KREIN_API krein_status krein_ctx_leave(krein_ctx *ctx);

/* ---- what there is ------------------------------------------------------ */

/* One entry of the tables: a kernel, map, learner, criterion, weighing, solver or generator. */
typedef struct krein_entry {
    size_t size;
    const char *table; /* "kernels", "maps", ... */
    const char *name;
    const char *summary;
    const char *cite;    /* key in docs/references.bib, or "" */
    const char *details; /* a paragraph for people, or "" */
    const char *kernels; /* maps: the families they are for, else "" */
    const char *time;    /* maps: cost in rows n, columns d, features D, else "" */
    const char *family;  /* of a kernel: "radial, positive definite"; else "" */
    const char *alias;   /* another name of it, or "" */
} krein_entry;

typedef struct krein_option_info {
    size_t size;
    const char *name;
    const char *type;          /* "number", "integer", "yes|no", or the words "a|b|c" */
    const char *default_value; /* "" where it is free or required */
    const char *range;         /* "(0, inf)" and the like, or "" */
    const char *help;
    double low, high; /* the range as numbers; NaN: no number */
} krein_option_info;

/* The i-th entry over all tables in order; 0 past the end, else 1. *out begins as
 * KREIN_SIZED(krein_entry); 0 where it has no size. */
KREIN_API int krein_list(int64_t i, krein_entry *out);
/* The k-th option of the i-th entry; 0 past the end, else 1. *out begins as
 * KREIN_SIZED(krein_option_info); 0 where it has no size. The strings live until the next call on
 * the same thread. */
KREIN_API int krein_list_option(int64_t i, int64_t k, krein_option_info *out);

/* The least and the greatest value of an option of the structs below, by the name of its field; 0:
 * it has no bounds. holdout is less than its greatest value, and lambda is finite. Values that stand
 * for a default (0, or a lambda below 0, where the field says so) are outside of them. */
KREIN_API int krein_limit(const char *option, double *low, double *high);

/* A spec of the named table ("maps", "learners", ...), a kernel expression, and all that can be
 * said of options before there are data: KREIN_OK, or why not. */
KREIN_API krein_status krein_check_spec(krein_ctx *ctx, const char *table, const char *spec);
KREIN_API krein_status krein_check_kernel(krein_ctx *ctx, const char *kernel);

/* ---- data --------------------------------------------------------------- */

typedef struct krein_data krein_data;

typedef enum krein_task {
    KREIN_TASK_AUTO = 0,
    KREIN_TASK_REGRESSION = 1,
    KREIN_TASK_CLASSIFICATION = 2,
    KREIN_TASK_MULTILABEL = 3 /* several labels a row: the label is a text with their names, | or
                                 blanks between them (LIBSVM: commas); an empty one is the empty
                                 set. Never guessed */
} krein_task;

typedef enum krein_missing {
    KREIN_MISSING_ERROR = 0,
    KREIN_MISSING_MEAN = 1,
    KREIN_MISSING_DROP = 2,
    KREIN_MISSING_AUTO = 3 /* the default: mean and an indicator, texts a category of their own; at
                              prediction as at training */
} krein_missing;

typedef enum krein_categories {
    KREIN_CATEGORIES_AUTO = 0,   /* one-hot up to 1,000 values, then target, or hash without labels */
    KREIN_CATEGORIES_ONEHOT = 1, /* a column for each category */
    KREIN_CATEGORIES_TARGET = 2, /* the mean of the target by category, out of fold */
    KREIN_CATEGORIES_HASH = 3    /* hashed into 256 columns */
} krein_categories;

typedef enum krein_types {
    KREIN_TYPES_AUTO = 0, /* dates, times, truth values, amounts with signs are read as numbers;
                             where the kernel is chosen, heavy-tailed columns may become logarithms */
    KREIN_TYPES_PLAIN = 1 /* what is no plain number is a text; numbers stay as they are */
} krein_types;

typedef enum krein_scale {
    KREIN_SCALE_STANDARD = 0,
    KREIN_SCALE_MINMAX = 1,
    KREIN_SCALE_UNIT = 2,
    KREIN_SCALE_NONE = 3
} krein_scale;

typedef struct krein_data_options {
    size_t size;
    const char *format;      /* NULL: by content; "csv", "libsvm", "npy" */
    char delimiter;          /* 0: detected */
    int header;              /* -1 detected, 0 none, 1 first line */
    const char *label;       /* NULL: the rule of the manual; name, number, first, last, none */
    const char *labels_file; /* labels of an .npy in a file of their own */
    const char *weights;     /* column, or NULL */
    const char *group;
    const char *id;
    const char *ignore; /* comma separated, or NULL */
    krein_task task;
    krein_missing missing;
    int unknown_ignore; /* a category never seen in training: 0 error, 1 all zeros */
    krein_scale scale;
    int64_t targets; /* 0: one; K: the first K columns are the target */
    krein_categories categories;
    krein_types types;
    int own_rows; /* rows in memory, after krein_ctx_join: 1: these are the rows of this process
                     alone, and the data are the rows of process 0, then of process 1, ...; 0: all
                     processes give the same rows */
    const char *image; /* "32x32x3": the inputs of a row are an image, height x width x channels (of
                          one channel: "28x28"), in this order, as in an .npy of n x h x w x c
                          numbers, which needs no such word; NULL: as the file says */
} krein_data_options;

KREIN_API void krein_data_options_init_sized(krein_data_options *options, size_t size);
#define krein_data_options_init(options) krein_data_options_init_sized((options), sizeof *(options))
/* Opens and looks at a file ("-" is standard input, spooled). Nothing is encoded
 * yet: train, transform and gram learn the encoding from it, predict and evaluate
 * apply the model's. */
KREIN_API krein_status krein_data_open(krein_ctx *ctx, const char *path,
                                       const krein_data_options *options, krein_data **out);

/* Elements of the caller's arrays. */
typedef enum krein_element {
    KREIN_FLOAT32 = 1,
    KREIN_FLOAT64 = 2,
    KREIN_INT32 = 3,
    KREIN_INT64 = 4,
    KREIN_UINT8 = 5 /* of x and of columns */
} krein_element;

/* One column of a table: exactly one of numbers, texts and codes is set. */
typedef struct krein_column_view {
    size_t size;         /* of this struct, the same in all columns */
    const void *numbers; /* n of them, `stride` elements apart (0: one); NaN: missing */
    krein_element type;
    int64_t stride;
    const char *const *texts; /* n, each a category; NULL: missing */
    const int32_t *codes;     /* n, each the number of a category in words; -1: missing */
    const char *const *words;
    int64_t nwords;
    int category; /* 1: texts or words are categories, whatever they look like; 0: those that are
                     dates, amounts, yes and no are read as such, unless `types` is plain */
} krein_column_view;

/* Rows in the caller's arrays. Set up by krein_rows_view_init; what does not apply stays 0.
 * The inputs are exactly one of
 *   x        dense numbers; row i, column j is x[i * row_stride + j * column_stride] (both 0:
 *            row after row without gaps; column_stride alone 0: 1). Any order will do.
 *   indptr   compressed sparse rows: entries indptr[i] .. indptr[i + 1] - 1 of indices (columns,
 *            from 0) and values belong to row i. Columns may be in any order within a row, but
 *            none may come twice.
 *   columns  d columns of numbers and texts, each an array of its own.
 * The labels are at most one of targets, classes and class_names. A target that is NaN, or a class
 * name that is NULL, is missing: such a row is an error, or dropped (`missing`), or used without a
 * label by learners that can. */
typedef struct krein_rows_view {
    size_t size;
    int64_t n, d; /* rows, and columns of the inputs */
    const void *x;
    krein_element type; /* of x, or of values */
    int64_t row_stride, column_stride;
    const void *indptr; /* n + 1 */
    krein_element indptr_type, index_type;
    const void *indices, *values;
    const krein_column_view *columns;
    const char *const *names; /* of the d columns, or NULL; not for sparse rows */
    const double *targets;    /* n x ntargets, row after row */
    int64_t ntargets;         /* 0: one */
    const void *classes;      /* n whole numbers of class_type: classification, where the options
                                 do not say otherwise */
    krein_element class_type;
    const char *const *class_names; /* n */
    const double *weights;          /* n, each >= 0, or NULL */
    const int64_t *groups;          /* n, or NULL */
    const char *const *group_names; /* n, or NULL */
} krein_rows_view;

#define krein_rows_view_init(view) ((void)(*(view) = KREIN_SIZED(krein_rows_view)))
/* Rows in memory. They are neither copied nor changed: the arrays (not the structs and names) must
 * live and keep their values as long as the data. The same numbers in a file, with the labels in
 * its first columns, give the same model. Of the options those about files do not apply; label,
 * weights, group and ignore may name columns of a table or of named dense rows. Where processes work
 * together, own_rows says whose rows they are. */
KREIN_API krein_status krein_data_from_rows(krein_ctx *ctx, const krein_rows_view *view,
                                            const krein_data_options *options, krein_data **out);

/* Rows that the caller hands over block by block. next fills *out, which comes initialised, with
 * the next block, whose arrays stay as they are until the next call; n = 0 ends the rows. rewind
 * goes back to the first row, and the same rows come again, in blocks of any size; NULL where that
 * cannot be done, which will do for predictions and for rows that fit in memory. What the first
 * block has (columns, labels, weights, groups, names) the others have too. A status other than
 * KREIN_OK ends the work with it. Both are called on the thread that entered the library, and must
 * not use the context. */
typedef struct krein_rows_source {
    size_t size;
    krein_status (*next)(void *user, krein_rows_view *out);
    krein_status (*rewind)(void *user);
    void *user;
} krein_rows_source;

#define krein_rows_source_init(source) ((void)(*(source) = KREIN_SIZED(krein_rows_source)))
/* Asks for the first block. The source must work as long as the data live. */
KREIN_API krein_status krein_data_from_source(krein_ctx *ctx, const krein_rows_source *source,
                                              const krein_data_options *options, krein_data **out);

/* Short for dense float32 rows: x row-major n x d with row stride ld; y is n x k (k = 1 when the
 * option targets is 0) of numbers, class codes or targets, or NULL; weights n or NULL. */
KREIN_API krein_status krein_data_from_dense(krein_ctx *ctx, int64_t n, int64_t d, const float *x,
                                             int64_t ld, const double *y, const double *weights,
                                             const krein_data_options *options, krein_data **out);
KREIN_API void krein_data_close(krein_data *data);

/* The classes of the rows, where the data have labels that are classes. */
typedef struct krein_classes {
    size_t size;
    int64_t n;       /* rows of the data */
    int64_t classes; /* 0: there are no labels, or they are numbers, or sets of labels */
    int32_t *class_of; /* n, or NULL: the number of the class; -1: the row is dropped */
    char **names;    /* classes of them, ascending */
} krein_classes;
KREIN_API void krein_classes_clear(krein_ctx *ctx, krein_classes *classes);
/* Reads the data twice. KREIN_EDATA where a label is missing and such rows are not dropped. */
KREIN_API krein_status krein_data_classes(krein_ctx *ctx, krein_data *data, krein_classes *out);

/* ---- training ----------------------------------------------------------- */

typedef struct krein_model krein_model;

typedef struct krein_train_options {
    size_t size;
    const char *learner; /* NULL: "krr" */
    const char *kernel;  /* NULL: chosen by held-out error, with a metric */
    const char *map;     /* NULL: by size and kernel family */
    int64_t features;    /* 0: the map's D; else overrides it */
    double lambda;       /* < 0: selected */
    const char *select;  /* NULL: "loo"; "none" */
    uint64_t seed;
    int64_t max_exact;
    double time_limit; /* seconds for reading, choosing and fitting, which get smaller to meet it;
                          0: none. KREIN_ETIME where there is no usable model by then */
    double holdout;    /* 0: none; fraction of rows kept out and evaluated */
    krein_data *test;  /* evaluated after training, or NULL */
    int probabilities;
    const char *kernels;   /* "k1; k2; ...", of which the best by `select` is taken, or that mkl
                              combines; not with kernel */
    krein_data *unlabeled; /* rows without labels, for learners that use them (sskrr, labelprop,
                              selftrain, askl), or NULL; rows of the data with a missing label (NaN)
                              count too */
    const char *checkpoint; /* file with the state of a long training, or NULL. Where it exists, the
                               same training goes on from it; it stays when training ends, so that a
                               model that could not be saved is not lost: remove it then */
    double checkpoint_seconds; /* between two writes; 0: 30 */
    const char *metric; /* learned scaling of the inputs: "none", "diagonal", "full", "auto", or
                           "file=MODEL", that of a model. NULL: "auto", which is "diagonal" where
                           neither kernel nor kernels are given, and "none" where one is */
    double effort;      /* how much is tried before the fit: 1, less or more; 0: 1 */
    double clip; /* scaled columns are cut at +-clip; INFINITY: nowhere. 0: 8 where neither kernel
                    nor kernels are given, and nowhere where one is; never on sparse rows */
    const char *graph_file; /* learners with a graph of neighbours (labelprop): file of the graph,
                               or NULL. Read where it exists, else written; the graph of other rows
                               is refused */
    int uncertainty; /* keep what deviations, intervals, sets of classes and novelty need
                        (krein_predict_options); classes get probabilities with it. Learners but
                        krr (for classes: svm, laprls) keep a fifth of the rows from the training,
                        and have neither deviations nor novelty */
    const krein_model *metric_from; /* as metric "file=MODEL" with the file of this model; NULL: none */
    const char *subspace;   /* net: file of a subspace of its parameters that the training stays in
                               (P-SGD), or NULL; one of another network is refused */
    int subspace_start;     /* of that: 0: a new start, by seed; 1: where its path began */
    const char *record;     /* net: file for the subspace of the training's own path, or NULL */
    int64_t record_dimensions; /* of that; 0: 40 */
    int64_t record_every;      /* steps between two snapshots of the path; 0: about 200 snapshots */
    int64_t record_epochs;     /* epochs of the path, from the first; 0: all */
} krein_train_options;

KREIN_API void krein_train_options_init_sized(krein_train_options *options, size_t size);
#define krein_train_options_init(options) krein_train_options_init_sized((options), sizeof *(options))

/* Strings in reports belong to the report; free with krein_*_clear. Numbers that
 * do not apply are NaN (double) or -1 (integers). */
/* A row of weight w counts as w equal rows, but for n and the confusion matrix, which count rows.
 */
typedef struct krein_metrics {
    size_t size;
    krein_task task; /* AUTO: nothing was evaluated */
    int64_t n;
    double rmse, mae, r2;
    double accuracy, error, macro_precision, macro_recall, macro_f1;
    double log_loss, auc;
    int64_t classes;    /* of the confusion matrix */
    int64_t *confusion; /* classes x classes, true x predicted */
    char **class_names; /* of classes, or labels */
    /* Several labels a row; macro_precision, macro_recall, macro_f1 and auc are then means over the
     * labels, and log_loss is that of rows and labels. */
    double hamming_loss, micro_f1, subset_accuracy, ranking_loss;
    double *label_f1, *label_auc; /* classes of each, NaN where there is none; NULL: another task */
    int64_t *label_rows;          /* rows that have the label */
    /* Of a model with intervals (krein_model_info), else NaN: the coverage that was asked for, the
     * share of labels inside, and the mean width of an interval, or size of a set of classes. */
    double interval, coverage, width;
} krein_metrics;

/* A kernel of a combination; this struct stays as it is. Weights sum to one and belong to kernels of unit mean diagonal. */
typedef struct krein_kernel_weight {
    char *kernel;
    double weight;
} krein_kernel_weight;

typedef enum krein_metric_kind {
    KREIN_METRIC_NONE = 0,
    KREIN_METRIC_DIAGONAL = 1, /* a factor a column */
    KREIN_METRIC_FULL = 2      /* a matrix */
} krein_metric_kind;

/* A candidate that was tried; this struct stays as it is. */
typedef struct krein_tried {
    char *kernel, *map, *learner; /* specs; kernel: of a sum (mkl) its list "k1; k2; ..." */
    krein_metric_kind metric;
    int64_t rows; /* that it was fitted to */
    double error; /* on other rows: root mean square, or share of wrong classes */
} krein_tried;

/* A value of a free parameter of a kernel that was tried; this struct stays as it is. */
typedef struct krein_searched {
    char *kernel;    /* complete spec, with the value */
    char *parameter; /* its name, as "sigma" */
    char *criterion; /* by which it was scored: a spec, as "loo" */
    krein_metric_kind metric;
    int64_t rows; /* of the sample */
    double value;
    double lambda; /* of the ridge regression behind the score; NaN: none */
    double score;  /* of loo and cv the held-out root mean square, or share of wrong classes */
} krein_searched;

typedef struct krein_report {
    size_t size;
    int64_t n, d, D, passes;
    krein_task task;
    /* Complete specs: given back, with lambda and metric "file=MODEL", they reproduce the model.
     * krein_plan: a kernel that will be chosen is the list "k1; k2; ..." that it is chosen from. */
    char *learner, *kernel, *map;
    double lambda;                /* NaN: the learner has none */
    double seconds_read, seconds_select, seconds_fit, seconds_total;
    double loo; /* held-out rmse, or error for classification; of several labels a row the rmse of
                   their codes -1 and +1 (of svm and logistic: of the decided ones); NaN when not
                   computed */
    uint64_t bytes_peak;
    double flops;
    int fits; /* plan: within the budget */
    char *advice;
    krein_metrics *test; /* of held-out or test rows, or NULL */
    int64_t folds;   /* of the cross-validation that loo comes from; 0: leave-one-out; 1: one part
                        of the rows was held out */
    int64_t kernels; /* of a combination (mkl), in the order given; 0: there is one kernel */
    krein_kernel_weight *weights; /* kernels of them; NULL where nothing was trained (krein_plan) */
    int64_t tried_count; /* candidates, in the order tried */
    krein_tried *tried;
    krein_metric_kind metric; /* krein_plan: the most that can come out */
    int64_t factors;          /* of the metric: d, or d x d */
    double *factor;
    double refit; /* askl: loo is the held-out error of the net, this is that of the same rows by the
                     weights that were then solved for, without them; NaN where they were not */
    int64_t unlabelled; /* rows without labels that took part; n are those with labels */
    int64_t iterations; /* of conjugate gradients (laprls); 0: there were none */
    double residual;    /* they end with: a bound of the predictions' error, in deviations of the
                           labels; NaN: there were none */
    double condition;   /* number that they have seen, not above that of the system; NaN: not known */
} krein_report;

KREIN_API void krein_report_clear(krein_ctx *ctx, krein_report *report);
KREIN_API void krein_metrics_clear(krein_ctx *ctx, krein_metrics *metrics);

/* report may be NULL; else it is filled and must be cleared. */
KREIN_API krein_status krein_train(krein_ctx *ctx, krein_data *data,
                                   const krein_train_options *options, krein_report *report,
                                   krein_model **out);
/* All that train would refuse whatever the data are. */
KREIN_API krein_status krein_train_check(krein_ctx *ctx, const krein_train_options *options);
/* What train would need, from at most one pass over the data. Of a combination report->kernels says
 * how many kernels there are; they have no weights yet, and report->weights is NULL. */
KREIN_API krein_status krein_plan(krein_ctx *ctx, krein_data *data,
                                  const krein_train_options *options, krein_report *report);

/* ---- models ------------------------------------------------------------- */

KREIN_API krein_status krein_model_save(krein_ctx *ctx, const krein_model *model, const char *path);
KREIN_API krein_status krein_model_load(krein_ctx *ctx, const char *path, krein_model **out);
/* The same bytes to and from memory. *bytes is how many there are: to has room for `room`, or is
 * NULL to ask first. Nothing of what was loaded stays in the caller's memory. */
KREIN_API krein_status krein_model_save_memory(krein_ctx *ctx, const krein_model *model, void *to,
                                               int64_t room, int64_t *bytes);
KREIN_API krein_status krein_model_load_memory(krein_ctx *ctx, const void *bytes, int64_t size,
                                               krein_model **out);
KREIN_API void krein_model_destroy(krein_model *model);

typedef enum krein_says {
    KREIN_SAYS_STD = 1,
    KREIN_SAYS_INTERVAL = 2,
    KREIN_SAYS_NOVELTY = 4
} krein_says;

typedef struct krein_model_info {
    size_t size;
    krein_task task;
    int64_t n, d, D;
    int64_t inputs;  /* columns of the file that the model takes; d after encoding */
    int64_t outputs; /* scores of a row; 0: the model ends at its features (krein_fit) */
    int64_t classes; /* or labels, of which a row has several */
    int64_t bytes;       /* of the file or memory it was loaded from, else 0 */
    const char *learner; /* "none" where it ends at its features */
    const char *kernel, *map, *scale;
    double lambda; /* NaN: the learner has none */
    uint64_t seed;
    int64_t negative; /* features with sign -1 */
    int probabilities;
    const double *variance; /* outputs of them, where these are principal components; else NULL */
    double variance_total;
    int64_t kernels; /* of a combination (mkl); 0: there is one kernel */
    const krein_kernel_weight *weights;
    krein_metric_kind metric; /* learned scaling of the inputs: krein_model_array has the factors,
                                 "encoding.metric", or the matrix, "encoding.matrix" */
    double clip;              /* scaled inputs are cut at +-clip; INFINITY: nowhere */
    int uncertainty;          /* what predictions can say of themselves: krein_says, added up */
} krein_model_info;

/* *out begins as KREIN_SIZED(krein_model_info); nothing is filled in where it has no size. What it
 * points to lives as long as the model. */
KREIN_API void krein_model_describe(const krein_model *model, krein_model_info *out);
KREIN_API const char *krein_model_class(const krein_model *model, int64_t k);
/* Name of the j-th input column, or NULL where the file had no header. */
KREIN_API const char *krein_model_column(const krein_model *model, int64_t j);
/* Number of the j-th input column, from 1, as in "column 3" of encoded names and notes: labels and
 * other columns count too. 0 past the last. */
KREIN_API int64_t krein_model_column_number(const krein_model *model, int64_t j);
/* Name of the j-th of the d encoded inputs, which the factors of a metric belong to: "age",
 * "colour=red" for a category, "when (weekday)" for a part of a date, "age (missing)", "column 3"
 * where the file had no header. Cut short to size - 1 bytes. 0 past the last, else 1. */
KREIN_API int krein_model_encoded_name(const krein_model *model, int64_t j, char *text,
                                       size_t size);
/* Range of the j-th input column over the training rows, in the numbers of the file to about seven
 * digits: of dates days since 1970-01-01, of times hours, of truth values 0 and 1, of percent
 * hundredths. 0: there is none, for it has texts, or the file is of a version before 0.3; else 1. */
KREIN_API int krein_model_range(const krein_model *model, int64_t j, double *low, double *high);
/* What was decided about the columns at training, the i-th line of it; NULL past the last. */
KREIN_API const char *krein_model_note(const krein_model *model, int64_t i);
/* The i-th candidate that was tried before the training, in the order tried; the i-th value of a free
 * kernel parameter. NULL past the last, and for files of versions before 0.3. They live as long as
 * the model. The values of lambda are arrays, path.lambda and path.error. */
KREIN_API const krein_tried *krein_model_tried(const krein_model *model, int64_t i);
KREIN_API const krein_searched *krein_model_searched(const krein_model *model, int64_t i);
/* What the fitted map tells of itself: masses, errors, what it chose. */
typedef struct krein_fact { /* stays as it is */
    const char *name;
    const char *text; /* a word, or NULL: a number */
    double value;
} krein_fact;
/* The i-th fact; 0 past the last, else 1. */
KREIN_API int krein_model_fact(const krein_model *model, int64_t i, krein_fact *out);

/* Types of elements, in model files and below. */
typedef enum krein_type {
    KREIN_TYPE_BYTES = 1, /* signed, where they are numbers */
    KREIN_TYPE_I32 = 2,
    KREIN_TYPE_I64 = 3,
    KREIN_TYPE_F32 = 4,
    KREIN_TYPE_F64 = 5
} krein_type;

/* Row-major; at lives as long as the model and must not be written to. */
typedef struct krein_array { /* stays as it is */
    size_t bytes; /* of the array */
    int type;    /* KREIN_TYPE_... */
    int64_t rows, columns;
    const void *at;
} krein_array;

/* An array of a model by its name; 0: the model has none of that name, else 1.
 *   weights             R x outputs, of the R raw features: of kernel values at the landmarks, else
 *                       of the features. A landmark whose weights are all zero is no support vector
 *   intercepts          1 x outputs
 *   calibration.slope   1 x outputs, and calibration.shift: from scores to probabilities
 *   thresholds          1 x outputs, of labels: a row has those with larger scores; none: 0 for all
 *   variances           1 x outputs, of principal components
 *   classes             1 x classes: their values, where labels were numbers
 *   path.lambda         1 x n, and path.error: values of lambda that the learner compared, ascending,
 *                       and the held-out rmse or share of errors of each, of some an estimate from
 *                       one nearby; not there where lambda was given, and in files of version 0.1
 *   encoding.log        1 x d, where there is one: an input x with a number c > 0 there becomes
 *                       log(max(x, 0) + c), and has no shift
 *   encoding.shift      1 x d each: an input x becomes (x - shift - centre) * factor, of sparse
 *   encoding.centre     rows x * factor. There is no shift where nothing is taken off; fill
 *   encoding.factor     stands for the x - shift of a missing cell
 *   encoding.fill
 *   encoding.clip       1 x 1, where there is one: the result is then cut to [-clip, clip]
 *   encoding.metric     1 x d, where there is one: and then multiplied by this
 *   encoding.matrix     d x d, where there is one: and the row x of all of them becomes matrix x
 *   signs               1 x D: -1 or 1 for each feature; not there where all are 1
 *   mix                 R x D: features are mix' times the raw ones; not there where they are these,
 *                       and in a trained model that was loaded: prediction does without it
 *   landmarks           R x d, encoded rows; sparse ones as landmarks.ptr, .col and .val
 *   frequencies         d x F, in turns (over 2 pi), a row more with phases where there are any;
 *   frequencies.factor  1 x F
 *   frequencies.second  as frequencies: of the other term of learned features
 *   mixture.weights     1 x q, mixture.variances and mixture.means (over 2 pi) q x d: the spectral
 *                       mixture that frequencies were drawn from
 *   conv.1, ...         1 x p: the parameters of that layer of a network, by its name and number
 * Maps side by side have "0.frequencies", "1.landmarks", ... */
KREIN_API int krein_model_array(const krein_model *model, const char *name, krein_array *out);
/* The name of the i-th; NULL past the last. It lives until the next call on the same thread. */
KREIN_API const char *krein_model_array_name(const krein_model *model, int64_t i);

/* The frequencies of a model whose features are cosines of the row, of its encoded inputs. */
typedef struct krein_frequencies {
    size_t size;
    int64_t d;    /* encoded inputs */
    int64_t n;    /* frequencies */
    float *w;     /* n x d, in radians */
    float *start; /* n x d: as they were drawn before a learner trained them; NULL: nobody did, or
                     they came from another model */
} krein_frequencies;
/* KREIN_EARG where the model has no frequencies. */
KREIN_API krein_status krein_model_frequencies(krein_ctx *ctx, const krein_model *model,
                                               krein_frequencies *out);
KREIN_API void krein_frequencies_clear(krein_ctx *ctx, krein_frequencies *frequencies);

/* One row's prediction: value is the number, or the class index in which case
 * scores has one decision value per class (one for two classes), or a label set with a decision
 * value per label. A row dropped
 * for a missing cell has label -1, and values and scores NULL. It is made by the library and only
 * read by the caller: fields may be appended. What it points to lives until fn returns. */
typedef struct krein_prediction {
    int64_t row;
    int64_t label;
    const double *values; /* outputs of a regression model */
    const double *scores; /* decision values, nscores of them */
    int64_t nscores;
    const char *id;              /* the --id cell, or NULL */
    const double *probabilities; /* of the nclasses classes, in their order; NULL: the model has
                                    none, or the row was dropped */
    int64_t nclasses;
    const int8_t *labels; /* several labels a row: 1 for each of the nclasses labels that the row
                             has, 0 for the others; NULL: another task, or the row was dropped */
    /* What krein_predict_options asked for, of a row that was not dropped; else NULL and NaN. */
    const double *std;           /* of each output */
    const double *lower, *upper; /* of each output; infinite where the rows that were trained on
                                    are too few for that coverage */
    const int8_t *set;           /* of each class: 1, it is in the set, or 0 */
    double novelty;              /* above 1: farther from the training rows than 99 % of them are
                                    from the others */
} krein_prediction;
typedef krein_status (*krein_predict_fn)(void *user, const krein_prediction *prediction);

/* Streams the rows in order through fn, in constant memory. */
KREIN_API krein_status krein_predict(krein_ctx *ctx, const krein_model *model, krein_data *data,
                                     krein_predict_fn fn, void *user);
/* What is told of a prediction beside it; the model must have been trained with `uncertainty`. */
typedef struct krein_predict_options {
    size_t size;
    int std; /* standard deviation: 1, of a new observation; 2, of the mean, without noise */
    double interval; /* coverage of an interval, or a set of classes, inside (0, 1); 0: none */
    int novelty;
} krein_predict_options;
KREIN_API void krein_predict_options_init_sized(krein_predict_options *options, size_t size);
#define krein_predict_options_init(options) krein_predict_options_init_sized((options), sizeof *(options))
KREIN_API krein_status krein_predict_with(krein_ctx *ctx, const krein_model *model,
                                          krein_data *data, const krein_predict_options *options,
                                          krein_predict_fn fn, void *user);
/* Predictions into the caller's arrays, row after row; those that are NULL are left out. A row that
 * was dropped for a missing cell has label -1 and NaN. Set up by krein_prediction_arrays_init. */
typedef struct krein_prediction_arrays {
    size_t size;
    int64_t capacity; /* rows that the arrays have room for; more are an error */
    int64_t *labels;  /* number of the class, -1 for a regression */
    double *scores;   /* capacity x outputs (krein_model_info): decision values, or the numbers of a
                         regression */
    double *probabilities; /* capacity x classes; an error where the model has none */
    int64_t rows;          /* out: rows that were filled */
    int8_t *label_sets;    /* capacity x classes, of several labels a row: 1 for those it has, else
                              0; -1 in a row that was dropped */
    double *std;           /* capacity x outputs; this and the next four as in krein_prediction */
    double *lower, *upper; /* capacity x outputs */
    int8_t *sets;          /* capacity x classes */
    double *novelty;       /* capacity */
    double interval;       /* coverage of lower, upper and sets */
    int std_of_mean;       /* std is without the noise */
} krein_prediction_arrays;

#define krein_prediction_arrays_init(arrays) ((void)(*(arrays) = KREIN_SIZED(krein_prediction_arrays)))
KREIN_API krein_status krein_predict_into(krein_ctx *ctx, const krein_model *model,
                                          krein_data *data, krein_prediction_arrays *out);
/* scores: n x (outputs), row-major; for rows of d raw numeric columns. */
KREIN_API krein_status krein_predict_dense(krein_ctx *ctx, const krein_model *model, int64_t n,
                                           int64_t d, const float *x, int64_t ld, double *scores);
KREIN_API krein_status krein_evaluate(krein_ctx *ctx, const krein_model *model, krein_data *data,
                                      krein_metrics *out);
/* The same with intervals of another coverage than 0.9; refused for a model without them. */
KREIN_API krein_status krein_evaluate_interval(krein_ctx *ctx, const krein_model *model,
                                               krein_data *data, double interval,
                                               krein_metrics *out);

/* ---- reports ------------------------------------------------------------- */

typedef struct krein_page_options {
    size_t size;
    const char *title; /* NULL: the name of the data */
    krein_data *train; /* the rows that the model was trained on, or NULL. With them: rows that are
                          in both, baselines that are made from them, and `curve` */
    int curve;         /* a learning curve: the model is trained again on parts of `train` */
    int64_t rows;      /* sampled for inputs and kernel, at most; 2,000 */
    uint64_t seed;
} krein_page_options;
KREIN_API void krein_page_options_init_sized(krein_page_options *options, size_t size);
#define krein_page_options_init(options) krein_page_options_init_sized((options), sizeof *(options))

typedef struct krein_page {
    size_t size;
    char *html, *json; /* the page, and all of its numbers as one object; both end with a zero */
    int64_t html_bytes, json_bytes;
    double seconds;
} krein_page;
KREIN_API void krein_page_clear(krein_ctx *ctx, krein_page *page);
/* A page about a model on rows: what it is, how good with intervals and beside baselines, which
 * inputs matter, what is odd, the kernel; of clusters and components their plane. One HTML file that
 * asks for no other. The rows have labels where the model predicts some. page begins as
 * KREIN_SIZED(krein_page). */
KREIN_API krein_status krein_model_report(krein_ctx *ctx, const krein_model *model,
                                          krein_data *data, const krein_page_options *options,
                                          krein_page *page);

/* ---- programs ------------------------------------------------------------ */

typedef struct krein_export_options {
    size_t size;
    const char *name;   /* of the functions, NAME_predict; NULL: "model" */
    const char *header; /* path of a header file to write as well; NULL: none */
    int no_libm;        /* the program does not use math.h */
    int stored;         /* frequencies are stored also where drawing them again takes less room */
} krein_export_options;
KREIN_API void krein_export_options_init_sized(krein_export_options *options, size_t size);
#define krein_export_options_init(options) krein_export_options_init_sized((options), sizeof *(options))

typedef struct krein_export_report {
    size_t size;
    int64_t bytes; /* constants of the program */
    int64_t flops; /* operations of a row, about */
    int64_t stack; /* bytes of a call, about */
    int64_t file;  /* bytes of the text */
    int wide;      /* sums are double: float would be off by more than 1e-4 */
    int drawn;     /* frequencies are drawn again for every row: they take no room, but time */
} krein_export_report;

/* Writes the model as one C99 file with
 *     int NAME_predict(const float *x, float *scores)
 * x: the raw input columns in the order of krein_model_column, categories by their number, missing
 * cells NaN; the result is the number of the class, or 0 for numbers; scores get the decision
 * values, or the prediction. Of several labels a row the result is how many it has: those with
 * scores above 0, which are less their thresholds here. KREIN_EDATA where the model cannot be written so. */
KREIN_API krein_status krein_model_export(krein_ctx *ctx, const krein_model *model,
                                          const char *path, const krein_export_options *options,
                                          krein_export_report *report);

/* The same model in 8, 4, 2 or 1 bits, for models on random features (map rff, orf, sorf, fastfood,
 * learned and other maps of frequencies) and on kernel values (nystrom, exact; kernels that are
 * computed from inner products): frequencies or rows, features and weights are whole numbers, and
 * so is the arithmetic of predictions. Rounded so that the scores change least on rows of data (at
 * most 2,000; NULL: on random ones). */
KREIN_API krein_status krein_model_quantize(krein_ctx *ctx, const krein_model *model, int bits,
                                            krein_data *data, krein_model **out);

/* ---- features, kernel values, synthetic data ---------------------------- */

typedef struct krein_transform_report {
    size_t size;
    int64_t n, d;
    int64_t D; /* features; gram: columns of the matrix */
    int64_t negative;
    char *kernel, *map;
    double seconds;
} krein_transform_report;
KREIN_API void krein_transform_report_clear(krein_ctx *ctx, krein_transform_report *report);

/* Writes float32 n x D to path (.npy), and the signs beside it when mixed. Of the
 * options, kernel, map, features and seed count; NULL: the defaults. */
KREIN_API krein_status krein_transform(krein_ctx *ctx, krein_data *data,
                                       const krein_train_options *options, const char *path,
                                       krein_transform_report *report);
/* A feature transformer: a model that ends at its features. It can be described, saved and loaded;
 * krein_predict and krein_evaluate refuse it. Options as for krein_transform; report may be NULL.
 */
KREIN_API krein_status krein_fit(krein_ctx *ctx, krein_data *data,
                                 const krein_train_options *options, krein_transform_report *report,
                                 krein_model **out);
/* Features of the rows of data by the fitted map of a model, of krein_fit or trained: n x D,
 * row-major, into room for `room` rows. A row that is dropped for a missing cell is NaN. Signs:
 * krein_model_array. Refused for the map `exact`, which has none. The file of a trained model with
 * landmarks does not hold the matrix that makes its features: it is computed again from the
 * landmarks in every call, in the time of their number cubed; the file of krein_fit holds it. */
KREIN_API krein_status krein_model_features(krein_ctx *ctx, const krein_model *model,
                                            krein_data *data, float *out, int64_t room, int64_t *n);
/* Writes float64 n x n2 kernel values; data2 may be NULL (n2 = n). Of the options, kernel (a free
 * scale is the median distance), seed (of the rows for that distance) and max_exact count, which
 * n may exceed where data2 is given; NULL: the defaults. */
KREIN_API krein_status krein_gram(krein_ctx *ctx, krein_data *data, krein_data *data2,
                                  const krein_train_options *options, const char *path,
                                  krein_transform_report *report);

/* The same into the caller's memory: out has room for `room` values, n x n2 are written. */
KREIN_API krein_status krein_gram_values(krein_ctx *ctx, krein_data *data, krein_data *data2,
                                         const krein_train_options *options, double *out,
                                         int64_t room, krein_transform_report *report);

typedef enum krein_repair {
    KREIN_REPAIR_NONE = 0,
    KREIN_REPAIR_CLIP = 1, /* negative eigenvalues become 0 */
    KREIN_REPAIR_FLIP = 2, /* they change their sign */
    KREIN_REPAIR_SHIFT = 3 /* the diagonal grows until none is left */
} krein_repair;

typedef struct krein_gram_spectrum {
    size_t size;
    double asymmetry;     /* largest |K_ij - K_ji|; the rest is of the symmetric part */
    double low, high;     /* smallest and largest eigenvalue, before a repair */
    int64_t negative;     /* eigenvalues below zero by more than rounding */
    double negative_mass; /* sum of their sizes / sum of all sizes */
} krein_gram_spectrum;
/* Eigenvalues of the kernel matrix of data; with a repair, or without, the matrix is written to
 * path where that is not NULL. Options as for krein_gram. */
KREIN_API krein_status krein_gram_check(krein_ctx *ctx, krein_data *data,
                                        const krein_train_options *options, krein_repair repair,
                                        const char *path, krein_gram_spectrum *spectrum,
                                        krein_transform_report *report);

typedef struct krein_approx_options {
    size_t size;
    const char *kernel;      /* NULL: "gaussian" with sigma the median distance */
    const char *const *maps; /* nmaps specs */
    int64_t nmaps;
    const int64_t *features; /* nfeatures sizes D, for the maps that do not say theirs */
    int64_t nfeatures;
    int64_t rows;    /* sampled; 1,000 */
    int64_t repeats; /* 10 */
    uint64_t seed;
    int64_t max_exact;
} krein_approx_options;
KREIN_API void krein_approx_options_init_sized(krein_approx_options *options, size_t size);
#define krein_approx_options_init(options) krein_approx_options_init_sized((options), sizeof *(options))

typedef struct krein_approx_result {
    size_t size;
    char *map;                   /* complete spec */
    int64_t series;              /* which of the maps asked for */
    int64_t D;                   /* features that were made */
    double error_mean, error_sd; /* |K - Khat|_F / |K|_F over the repeats; sd NaN: one repeat */
    double worst;                /* largest |K_ij - Khat_ij| of all repeats */
    double seconds;              /* to transform the sampled rows, the fastest of the repeats */
    char *refused;               /* why there is no result (the numbers are NaN), or NULL */
    krein_fact *facts;           /* what the map of the first repeat tells of itself */
    int64_t nfacts;
} krein_approx_result;

typedef struct krein_approx_report {
    size_t size;
    int64_t n, rows, d, repeats;
    char *kernel;
    krein_approx_result **results; /* by map, then by size */
    int64_t count;
    double seconds;
} krein_approx_report;
KREIN_API void krein_approx_report_clear(krein_ctx *ctx, krein_approx_report *report);
/* How well maps approximate a kernel on a sample of the data's rows. */
KREIN_API krein_status krein_approx(krein_ctx *ctx, krein_data *data,
                                    const krein_approx_options *options,
                                    krein_approx_report *report);

typedef struct krein_select_options {
    size_t size;
    const char *kernels; /* "k1; k2; ...", ranges make families; NULL: Gaussians of 21 widths
                          * around the median distance. A free scale is the median distance */
    const char *const *criteria; /* ncriteria specs, at most 16; none: "loo" */
    int64_t ncriteria;
    const char *map;  /* NULL: the kernel itself up to max_exact rows, then by kernel family */
    int64_t features; /* 0: the map's D, or 1,024 */
    uint64_t seed;
    int64_t max_exact;
    double time_limit; /* seconds; 0: none. The best so far when it has passed */
} krein_select_options;
KREIN_API void krein_select_options_init_sized(krein_select_options *options, size_t size);
#define krein_select_options_init(options) krein_select_options_init_sized((options), sizeof *(options))

typedef struct krein_select_score {
    size_t size;
    double score;  /* NaN: there is none */
    double lambda; /* of the ridge regression behind it; NaN: none */
    char *refused; /* why there is no score, or NULL (then there was no time) */
} krein_select_score;

typedef struct krein_select_ranking {
    size_t size;
    char *criterion;            /* complete spec */
    int larger;                 /* the larger the better */
    krein_select_score **scores; /* one a kernel */
    int64_t best;               /* the first of the best, or -1 */
} krein_select_ranking;

typedef struct krein_select_report {
    size_t size;
    int64_t n, d;
    krein_task task; /* auto: no labels */
    char **kernels;  /* complete specs, in the order given */
    int64_t count;   /* of them */
    int64_t scored;  /* fewer where time ran out */
    char *map;       /* that was asked for, "exact", or NULL: by kernel */
    krein_select_ranking **rankings;
    int64_t nrankings;
    double seconds;
    char **maps; /* complete specs of the kernels' maps, by features; NULL: was not scored so */
    int exact; /* 1: by the kernels themselves, not by features */
} krein_select_report;
KREIN_API void krein_select_report_clear(krein_ctx *ctx, krein_select_report *report);
/* Scores kernels by criteria. Labels are needed unless all criteria do without. */
KREIN_API krein_status krein_select(krein_ctx *ctx, krein_data *data,
                                    const krein_select_options *options,
                                    krein_select_report *report);

typedef enum krein_measure {
    KREIN_MEASURE_AUTO = 0, /* error where labels are classes, rmse where they are numbers */
    KREIN_MEASURE_RMSE = 1,
    KREIN_MEASURE_ERROR = 2,
    KREIN_MEASURE_LOGLOSS = 3,
    KREIN_MEASURE_AUC = 4 /* the larger the better; two classes */
} krein_measure;

/* Opens data set i on the context that is given. Called again for every training, and by several
 * threads at once. */
typedef krein_status (*krein_open_fn)(void *user, krein_ctx *ctx, int64_t i, krein_data **out);

typedef struct krein_compare_options {
    size_t size;
    int64_t sets;
    const char *const *names; /* of the data sets */
    krein_open_fn open;
    void *user; /* handed to open */
    /* Lists "a; b; ..."; methods are all combinations. NULL: that of krein_train with no option, and
     * so is the word "default" in a list. A range of a kernel makes a family. Kernels in braces,
     * {k1; k2}, are the `kernels` of krein_train. */
    const char *learners, *kernels, *maps;
    /* Other programs, ncommands of "NAME: SHELL COMMAND" with {train}, {test}, {out} and, where
     * wanted, {model} for names of files. The first two are CSV without a header: labels first, then
     * the inputs; {test} has no labels. The command writes a prediction a line to {out}; for logloss
     * and auc, behind it and commas, the probabilities of the classes in the order of krein_metrics.
     * {model} is a name for a file or folder of its own. */
    const char *const *commands;
    int64_t ncommands;
    int64_t repeats; /* splits; 30 */
    double holdout;  /* part of the rows that is held out; 0.3 */
    krein_measure measure;
    double level;        /* of the tests; 0.05 */
    const char *results; /* file to which every result is appended, and from which those of the same
                            data and options are taken; or NULL */
    int64_t parallel;    /* trainings at one time, each on one thread; 0: as many as there are
                            threads; 1: one after the other, each on all threads */
    const krein_train_options *train; /* what the methods share: lambda, select, seed, time_limit, ...;
                                         not learner, kernel, kernels, map, data. NULL: defaults.
                                         Split r is that of krein_train with holdout and seed + r */
} krein_compare_options;
KREIN_API void krein_compare_options_init_sized(krein_compare_options *options, size_t size);
#define krein_compare_options_init(options) krein_compare_options_init_sized((options), sizeof *(options))

typedef struct krein_compare_set {
    size_t size;
    char *name;
    int64_t n, d, test; /* rows, columns of the inputs; rows held out */
} krein_compare_set;

/* A method on a data set. */
typedef struct krein_compare_result {
    size_t size;
    int64_t set, method;
    double mean, sd; /* of the measure over the splits; NaN: some split failed */
    double half;     /* the mean lies within mean +- half at confidence 1 - level, overlap of the
                        splits included */
    double rank;     /* on this set, 1 is the best */
    double p;        /* corrected resampled t test against the best; NaN: it is the best */
    int best, similar;          /* similar: not worse than the best at that level */
    int64_t wins, ties, losses; /* against the other methods, by the same test */
    double seconds;             /* of a training and its predictions, the median of the splits */
    double bytes; /* the most that one took: through the context, or the processes of a command */
    int64_t failures; /* splits without a result */
    char *failed;     /* why, of the first of them; or NULL */
    double *values;   /* one a split, NaN: it failed */
    int64_t nvalues;
    double cpu; /* seconds of all CPUs, the median; NaN: an older file of results has none */
} krein_compare_result;

typedef struct krein_compare_method {
    size_t size;
    char *name;
    char *learner, *kernel, *map; /* as asked for; NULL: the default */
    char *command;                /* of another program; else NULL */
    /* Over all data sets; NaN where it failed on one of them, or there is one only. */
    double rank;                /* mean of the ranks among the methods that failed nowhere */
    double p;                   /* Wilcoxon signed rank test against the one of the best mean rank */
    int best, similar;          /* similar: within the critical difference of the best */
    int64_t wins, ties, losses; /* over all data sets */
    double seconds, bytes;      /* sum over the sets; the most */
} krein_compare_method;

typedef struct krein_compare_report {
    size_t size;
    krein_task task;
    krein_measure measure;
    int larger; /* the larger the better */
    int64_t repeats;
    double holdout, level;
    krein_compare_set **sets;
    int64_t nsets;
    krein_compare_method **methods;
    int64_t nmethods;
    krein_compare_result **results; /* by set, then by method */
    int64_t count;
    /* Friedman test of the mean ranks, over `ranked` methods; NaN where there are too few. */
    int64_t ranked;
    double chi2, chi2_p, f, f_p; /* f: of Iman and Davenport */
    double difference;           /* mean ranks that differ by more are different (Nemenyi) */
    int64_t reused;              /* results that were taken from the file */
    int64_t parallel;            /* trainings at one time */
    double seconds;
} krein_compare_report;
KREIN_API void krein_compare_report_clear(krein_ctx *ctx, krein_compare_report *report);
/* Several methods on the same seeded splits of data sets, with paired tests. A method that fails is
 * told and has no numbers; the others go on. Processes that have joined divide the trainings. */
KREIN_API krein_status krein_compare(krein_ctx *ctx, const krein_compare_options *options,
                                     krein_compare_report *report);

typedef struct krein_advise_options {
    size_t size;
    const char *kernel; /* NULL: "gaussian" with sigma the median distance */
    int64_t rows;       /* sampled; 0: 2,000, as far as max_exact allows */
    uint64_t seed;
    int64_t max_exact;
} krein_advise_options;
KREIN_API void krein_advise_options_init_sized(krein_advise_options *options, size_t size);
#define krein_advise_options_init(options) krein_advise_options_init_sized((options), sizeof *(options))

/* This struct stays as it is. */
typedef struct krein_advise_point {
    double lambda, dimension;
} krein_advise_point;

/* Powers of the number of rows n with every constant 1, and the same with what was measured on the
 * sample. lambda is that of krein_train: K + n lambda I. */
typedef struct krein_advise_report {
    size_t size;
    int64_t n, d, rows;
    char *kernel;
    krein_task task;                    /* AUTO: no labels were used */
    int64_t rank;                       /* eigenvalues of the sample above rounding errors */
    double kappa;                       /* mean of k(x, x), the unit of theory's lambda */
    double gamma;                       /* capacity: N(lambda) <= c lambda^-gamma */
    double decay;                       /* eigenvalues s_j ~ j^-decay; NaN: too few */
    int gamma_fitted, gamma_fast;       /* 0: too few rows, gamma is 1; 1: gamma may be less */
    double r;                           /* source condition, in [1/2, 1] */
    double r_measured, r_low, r_high;   /* before that, with a range of 95 %; NaN: no labels */
    double lambda, dimension, rate;     /* theory: N(lambda); the excess risk */
    int64_t features, landmarks, parts; /* theory */
    double sample_lambda;               /* by leave-one-out on the sample; NaN: no labels */
    double practical_lambda;            /* moved to n rows */
    double practical_dimension;         /* N of it */
    int64_t practical_features;         /* N log N, or landmarks */
    int64_t practical_parts;            /* that leave each enough rows */
    double rademacher;                  /* fixed point of the local Rademacher complexity */
    double resolved;                    /* N below this lambda is extrapolated */
    krein_advise_point *spectrum;       /* N(lambda) at powers of ten, descending */
    int64_t count;
    double seconds;
} krein_advise_report;
KREIN_API void krein_advise_report_clear(krein_ctx *ctx, krein_advise_report *report);
/* What learning theory asks for: regularisation, features, landmarks and parts, from the spectrum
 * of the kernel on a sample of the rows and from their labels, where there are any. */
KREIN_API krein_status krein_advise(krein_ctx *ctx, krein_data *data,
                                    const krein_advise_options *options,
                                    krein_advise_report *report);

typedef struct krein_pca_options {
    size_t size;
    const char *kernel; /* NULL: "gaussian"; a free sigma is the median distance */
    const char *map;    /* NULL: by size and kernel family */
    int64_t features;   /* 0: the map's D; else overrides it */
    int64_t components; /* 2 */
    uint64_t seed;
    int64_t max_exact;
} krein_pca_options;
KREIN_API void krein_pca_options_init_sized(krein_pca_options *options, size_t size);
#define krein_pca_options_init(options) krein_pca_options_init_sized((options), sizeof *(options))

typedef struct krein_pca_report {
    size_t size;
    int64_t n, d, D;
    int64_t components;
    double *variance, *ratio; /* components of each: largest first; parts of the total */
    double total;             /* variance of all components together */
    double negative_mass;     /* indefinite kernels: part of the spectrum that is negative */
    char *kernel, *map;
    double seconds;
} krein_pca_report;
KREIN_API void krein_pca_report_clear(krein_ctx *ctx, krein_pca_report *report);
/* Kernel principal components. The scores of the rows go to path where that is not NULL: CSV with
 * a header pc1,pc2,... (an empty line for a dropped row), or .npy by name (float64, NaN for one).
 * model (may be NULL) gives them for other rows, as values of krein_predict, and for these too:
 * path NULL and a model is how to have them in memory. report may be NULL. */
KREIN_API krein_status krein_pca(krein_ctx *ctx, krein_data *data, const krein_pca_options *options,
                                 const char *path, krein_pca_report *report, krein_model **model);

typedef enum krein_cluster_method {
    KREIN_CLUSTER_KMEANS = 0,
    KREIN_CLUSTER_SPECTRAL = 1
} krein_cluster_method;

typedef enum krein_cluster_graph {
    KREIN_GRAPH_FULL = 0, /* all pairs of rows, by the kernel */
    KREIN_GRAPH_KNN = 1   /* nearest neighbours in the kernel's distance */
} krein_cluster_graph;

typedef struct krein_cluster_options {
    size_t size;
    const char *kernel; /* NULL: "gaussian" with sigma the median distance */
    const char *map;    /* NULL: by size and kernel; not with a graph of neighbours */
    int64_t features;   /* 0: the map's D; else overrides it */
    int64_t clusters;
    krein_cluster_method method;
    krein_cluster_graph graph; /* spectral */
    int64_t neighbours;        /* of a row in the graph; 10 */
    int64_t restarts;          /* of k-means, the best is kept; 10 */
    uint64_t seed;
    int64_t max_exact;
    const char *graph_file; /* of the graph of neighbours, or NULL: read where it exists, else
                               written; that of other rows is refused */
} krein_cluster_options;
KREIN_API void krein_cluster_options_init_sized(krein_cluster_options *options, size_t size);
#define krein_cluster_options_init(options) krein_cluster_options_init_sized((options), sizeof *(options))

typedef struct krein_cluster_report {
    size_t size;
    int64_t n, d, D; /* D -1: no features */
    krein_cluster_method method;
    int64_t clusters;
    int64_t *sizes;          /* rows of the clusters, the largest first (with row weights: by them) */
    double inertia;          /* k-means: sum of squared distances to the centres */
    double silhouette;       /* mean over silhouette_rows rows, in the kernel's distance */
    int64_t silhouette_rows; /* a seeded sample where there are more than 2,000 */
    double ari, nmi;         /* against the labels; NaN: no labels, or they are numbers */
    int64_t classes;         /* of the labels, or -1 */
    int64_t steps;           /* of the best run of k-means */
    int settled;             /* it ended because no row moved */
    char *kernel, *map;      /* complete specs; map NULL: a graph of neighbours */
    double seconds;
} krein_cluster_report;
KREIN_API void krein_cluster_report_clear(krein_ctx *ctx, krein_cluster_report *report);
/* Clusters the rows, numbered from 0 by size, the largest first. fn (or NULL) is then given every
 * row of the data in order: label is its cluster, -1 for a dropped row; values and scores are NULL.
 * model (or NULL; k-means only): predicts the cluster of new rows, as classes "1", "2", ... */
KREIN_API krein_status krein_cluster(krein_ctx *ctx, krein_data *data,
                                     const krein_cluster_options *options, krein_predict_fn fn,
                                     void *user, krein_cluster_report *report, krein_model **model);

/* The same with the clusters in memory: one a row, -1 for a dropped one; room for so many rows. */
KREIN_API krein_status krein_cluster_labels(krein_ctx *ctx, krein_data *data,
                                            const krein_cluster_options *options, int64_t *out,
                                            int64_t room, krein_cluster_report *report,
                                            krein_model **model);

/* ---- few-shot learning -------------------------------------------------- */

/* Small tasks (episodes): of so many classes, with a few rows of each to learn from (the support)
 * and some to be told the class of (the queries). See docs/fewshot.md. */
typedef struct krein_fewshot_options {
    size_t size;
    const char *const *methods; /* "meta", "ridge", ...; `krein list methods` has them */
    int64_t nmethods;
    int64_t ways, shots, queries; /* of a task: classes, and rows of each; 5, 1, 15 */
    int64_t tasks;                /* that are measured; 100 */
    const char *arch;             /* network; NULL: convnet(C-32-32-32) with the images' channels */
    int64_t dimensions;           /* of the subspace; 40 */
    int64_t steps;                /* on a task in meta training; 5 */
    double rate;                  /* of these steps; 1 */
    int64_t test_steps;           /* on a task that is measured, at most; the number is chosen on
                                     validation tasks */
    int64_t meta_steps;           /* 1000 */
    int64_t meta_tasks;           /* of a meta step; 4 */
    double meta_rate;             /* of adam on the subspace; 0.0003 */
    int64_t meta_queries;         /* queries of a class in meta training; 0: as queries */
    int64_t epochs;               /* over the training classes, of the network of features */
    int64_t path_epochs;          /* of a training whose path makes a subspace */
    int64_t validation_tasks;     /* for each choice; 20 */
    int64_t validate_every;       /* meta steps between two looks at them; 50 */
    int64_t split[3]; /* classes for training, validation, tests; 0 0 0: all of two files, of which a
                         fifth of those of the first for validation; 64, 16, 20 % of one */
    uint64_t seed;
    double time_limit;         /* seconds; 0: none */
    const char *checkpoint;    /* file of the state of the training, or NULL */
    double checkpoint_seconds; /* between two writes; 0: 30 */
    const char *output;        /* file for the subspace of the last method that learns one, or NULL */
} krein_fewshot_options;
KREIN_API void krein_fewshot_options_init_sized(krein_fewshot_options *options, size_t size);
#define krein_fewshot_options_init(options) krein_fewshot_options_init_sized((options), sizeof *(options))

/* This struct and the one below it only grow at the end; they are reached by pointers. */
typedef struct krein_fewshot_result {
    char *method;
    char *detail;    /* what was chosen, or the space of the distances; or NULL */
    int64_t tasks;
    double accuracy; /* mean over the tasks, 0 to 1 */
    double sd;       /* over the tasks */
    double interval; /* the mean lies within +- this at 95 % */
    double seconds;
    double *values;  /* accuracy of each task */
    int64_t points;  /* of the curve: mean accuracy behind so many steps on a task; 0: none */
    int64_t *step;
    double *curve;
    int64_t looks;   /* of the meta training: step, mean loss since the last, validation accuracy */
    int64_t *look_step;
    double *look_loss, *look_accuracy;
    int64_t kept;    /* the step whose state is kept; -1: nothing was learned over tasks */
} krein_fewshot_result;

typedef struct krein_fewshot_report {
    size_t size;
    int64_t ways, shots, queries;
    int64_t height, width, channels;
    int64_t classes[3];  /* training, validation, tests */
    int64_t parameters;  /* trained, of the network */
    char *arch;
    int64_t count;
    krein_fewshot_result **results;
    double seconds;
} krein_fewshot_report;
KREIN_API void krein_fewshot_report_clear(krein_ctx *ctx, krein_fewshot_report *report);
/* Learns on tasks of the classes of `train`, and measures the methods on tasks of those of `test`,
 * which are others; test NULL: the classes of train are divided. Both are images with labels. */
KREIN_API krein_status krein_fewshot(krein_ctx *ctx, krein_data *train, krein_data *test,
                                     const krein_fewshot_options *options,
                                     krein_fewshot_report *report);

/* What is in the file of a subspace. */
typedef struct krein_subspace_info {
    size_t size;
    char *arch;
    int64_t height, width, channels, scores;
    int64_t parameters, dimensions;
    int64_t snapshots; /* of the path; 0: it was learned over tasks */
    double *share;     /* of the path's variance, each dimension; NULL: there is no path */
} krein_subspace_info;
KREIN_API krein_status krein_subspace_read(krein_ctx *ctx, const char *path,
                                           krein_subspace_info *info);
KREIN_API void krein_subspace_info_clear(krein_ctx *ctx, krein_subspace_info *info);

typedef struct krein_generate_options {
    size_t size;
    int64_t n, d; /* d = 0: the generator's default */
    double noise; /* < 0: the generator's default */
    uint64_t seed;
} krein_generate_options;
KREIN_API void krein_generate_options_init_sized(krein_generate_options *options, size_t size);
#define krein_generate_options_init(options) krein_generate_options_init_sized((options), sizeof *(options))
/* Writes a data set; the format follows the name: .csv .npy .libsvm, then .gz. */
KREIN_API krein_status krein_generate(krein_ctx *ctx, const char *spec,
                                      const krein_generate_options *options, const char *path);

#ifdef __cplusplus
}
#endif
#endif
