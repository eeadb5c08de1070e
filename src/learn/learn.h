/* learn.h -- learners: recipes that turn a fitted map and a stream of rows into weights. */
#ifndef KREIN_LEARN_H
#define KREIN_LEARN_H

#include "learn/sums.h"

/* Rows without labels: those of the data, then those of a file of their own. */
typedef struct krein_unlabelled {
    krein_stream *rows[2];
    int64_t streams, n;
    int64_t here, before; /* of the n: those of this process, and of the ones before it */
} krein_unlabelled;

/* Rows whose error by the model without them is wanted. */
typedef struct krein_apart {
    const int64_t *index; /* their numbers among the training rows, ascending */
    int64_t n;
    double error; /* out: rmse over rows and outputs, or share of wrong classes; NaN: not known */
} krein_apart;

/* The path of a training in the space of its parameters: see krein_train_options. */
typedef struct krein_job_path {
    const char *subspace; /* file; NULL: none */
    bool start;           /* from where the path of that began */
    const char *record;   /* file; NULL: none */
    int64_t dimensions, every, epochs;
} krein_job_path;

/* What a learner is given and what it leaves behind. */
typedef struct krein_job {
    krein_ctx *ctx;
    krein_data *data;
    krein_stream *rows; /* the training rows */
    int64_t n;
    krein_unlabelled unlabelled; /* none where the learner has no use for them */
    krein_model *model;          /* encoding and fitted map in, weights out */
    double lambda;               /* < 0: chosen by leave-one-out */
    double lambda_start; /* where a search for lambda by leave-one-out may start: that of a sample
                            of the rows times its share of their weight; 0: not known */
    int64_t folds;       /* > 0: chosen by cross-validation with so many folds instead */
    uint64_t seed;
    bool ordered;       /* examples keep the order of the data: what comes out is said row by row */
    bool probabilities; /* wanted of a learner that has them: fill the model's calibration; always
                           for labels, whose thresholds come from the same scores */
    bool uncertainty;   /* wanted, and not made of rows kept apart: the calibration keeps what sets
                           of classes need, and the map its mix */
    double deadline;    /* krein__clock() at which an iteration ends with its best; 0: never */
    double loo;         /* out: held-out rmse or error of the choice, NaN if there was none */
    int64_t cv_folds;   /* out: the folds that it comes from; 0: leave-one-out; 1: one part of the
                           rows, held out */
    bool asked;         /* the number of features was asked for */
    krein_checkpoint *checkpoint; /* where a learner with .checkpoint keeps its state, or NULL */
    krein_sums sums;    /* of ridge regression on features, that the checkpoint had; pass 0: none */
    krein_apart *apart; /* for ridge regression on features by normal equations, or NULL */
    double refit;  /* out: held-out error behind a second fit of the weights; NaN: there was none */
    double weight; /* sum of the rows' weights, where krein__job_weight was asked; else 0 */
    int64_t iterations;         /* out: of an iterative solver; 0: there was none */
    double residual, condition; /* out: of that; NaN: not known */
    const char *graph_file; /* where the graph of the rows is, or is to be written; NULL: nowhere */
    krein_job_path path;
} krein_job;

/* Whether the kernel matrix is the default map: never, on few rows, or always. */
typedef enum krein_matrix_use {
    KREIN_MATRIX_NEVER = 0,
    KREIN_MATRIX_FEW = 1,
    KREIN_MATRIX_ALWAYS = 2
} krein_matrix_use;

enum { KREIN_FOR_NUMBERS = 1, KREIN_FOR_CLASSES = 2, KREIN_FOR_LABELS = 4 };

typedef struct krein_learner_class {
    krein_class cls;
    int tasks;               /* KREIN_FOR_... */
    krein_matrix_use matrix; /* the kernel matrix as the default map */
    int64_t few;             /* rows up to which it is at a kernel and a lambda that were chosen
                                before, where that is cheap; 0: as for others */
    /* What it says of itself; what it does not is made of rows that are kept from the training
     * (conformal.h). */
    bool probabilities;  /* it has them, for classes and labels */
    bool held_out;       /* and they are made of held-out rows: sets of classes can be, too */
    bool posterior;      /* it is ridge regression on the map's features, or the kernel matrix
                            (posterior.h): deviations, intervals, novelty */
    bool unlabelled;     /* it learns from rows without labels too */
    bool graph;          /* it makes a graph of the rows (graph_file) */
    bool path;           /* it trains in a subspace, and records its path */
    bool fits_map;       /* it fits the map itself, to rows without labels as well (given.h) */
    bool together;       /* several processes train it, each with its rows (stream/together.h) */
    bool checkpoint;     /* on features it can be interrupted and go on */
    const char *advised; /* the option that gets the number of parts that theory advises where it
                            has no value; NULL: none */
    /* Rows of the largest kernel matrix that it makes of n rows with map=exact, `most` allowed
     * where it can choose; NULL: all. */
    int64_t (*matrix_rows)(const krein_ctx *ctx, const krein_values *values, int64_t n,
                           int64_t most);
    /* NULL: any map. Else the spec of the map that it takes where none is asked for, owned by the
     * caller. */
    char *(*map)(krein_ctx *ctx, const krein_values *values);
    /* NULL: nothing to check. What the options rule out, asked before any row is read; the map is
     * NULL where the default will be taken. Asked again with the default: the kernel matrix gives
     * way to features where it is refused. */
    krein_status (*check)(krein_ctx *ctx, const krein_values *values, const krein_map *map);
    /* NULL: as the task needs. */
    krein_head (*head)(const krein_values *values, const krein_encoding *e);
    /* Fills the model's weights, intercepts and lambda (NaN: it has none). Options that had no
     * value get the one that was chosen: given back, they reproduce the model. */
    krein_status (*fit)(krein_job *job, krein_values *values);
    /* NULL: no. The fit needs no more than raw features of the map, which is not fitted yet. */
    bool (*raw)(const krein_job *job, const krein_map *map, const krein_values *values);
    /* bytes, flops and passes of the fit, after those of the map. */
    void (*cost)(const krein_map *map, const krein_values *values, int64_t n, int64_t k, bool path,
                 krein_cost *out, int64_t *passes);
    /* Not NULL: it stands for another learner and a weighing of kernels (combine/), whose specs
     * this writes, owned by the caller; the functions above are not there. */
    krein_status (*expand)(krein_ctx *ctx, const char *spec, char **learner, char **weighing);
} krein_learner_class;

extern const krein_class *const krein__learners[];
extern const int64_t krein__learner_count;

/* Targets of labels as the stream gives them: regression values minus the mean of the data (so
 * that float32 keeps their digits), or -1/+1 codes of the classes, or of several labels a row. y is
 * n x k; class may be NULL, and is filled for classes.
 */
void krein__targets_fill(const krein_model *model, const krein_data *data, int64_t n,
                         const double *label, double *y, int32_t *class);
/* C of a machine from --lambda where that is given: C = 1 / (2 n lambda), n the sum of the rows'
 * weights where they have any. *C is NaN where the learner's spec has none. */
krein_status krein__cost_of_lambda(krein_job *job, double *C);
/* The model's lambda from C. */
krein_status krein__lambda_of_cost(krein_job *job, double C);
/* The sum of the weights of the training rows; their number without weights. */
krein_status krein__job_weight(krein_job *job, double *out);
/* What was compared to choose lambda, for the model; it replaces what was there. */
void krein__job_path(krein_job *job, const krein_path *path);
/* The labels are classes, one a row; or several labels a row, which are targets -1 and +1 of as
 * many outputs. */
bool krein__job_classes(const krein_job *job);
bool krein__job_labels(const krein_job *job);
/* What krein__targets_fill takes off the targets of output c: the mean of numbers, else 0. */
double krein__job_mean(const krein_job *job, int64_t c);
/* All training rows: targets (n x k), classes, weights (ones where there are none) and groups, in
 * one pass; any may be NULL. */
krein_status krein__job_targets(krein_job *job, double *y, int32_t *class, double *weight,
                                int32_t *group);
/* Folds for a choice on n rows: as many as were asked for (0: five), one a row at most. */
int64_t krein__fold_count(int64_t asked, int64_t n);
/* Rows that a choice on features is made on: fewer for many scores, since the fits are. */
int64_t krein__choice_rows(int64_t n, int64_t k);
/* Folds of rows: fold[i] in 0 .. folds-1, balanced, rows of one group together, classes spread
 * evenly. group and class may be NULL. */
krein_status krein__folds(krein_ctx *ctx, uint64_t seed, int64_t n, int64_t folds,
                          const int32_t *group, const int32_t *class, int32_t *fold);

#endif
