/* model.h -- the fitted pipe: encoding -> map -> weights; without a head it ends at the map.
 *
 * A model is not changed once it is made. What is done with it is done on the caller's context, so
 * that any number of threads may use it, each with its own; model->ctx (and that of the map) is
 * where its memory came from, for those who make it and for krein_model_destroy. */
#ifndef KREIN_MODEL_H
#define KREIN_MODEL_H

#include "map/map.h"
#include "model/tries.h"
#include "model/weights.h"
#include "num/codes.h"

/* How a row's k scores become an answer. */
typedef enum krein_head {
    KREIN_HEAD_VALUES = 0, /* they are numbers: a regression's, or principal components */
    KREIN_HEAD_BEST = 1,   /* the class of the largest; of two classes, the sign of the one score */
    KREIN_HEAD_VOTES = 2,  /* one for each pair of classes a < b, positive for b: the most votes */
    KREIN_HEAD_NONE = 3,   /* there are no scores: the pipe ends at the features */
    KREIN_HEAD_LABELS = 4  /* one for each label: those above their thresholds */
} krein_head;

/* From scores to probabilities, p_c ~ exp(slope_c f_c + shift_c); two classes, labels, and pairs of
 * classes before they are coupled: 1 / (1 + exp(-slope f - shift)). Empty: the model has none. */
typedef struct krein_calibration {
    double *slope, *shift; /* k of each, or NULL */
    int64_t held;          /* rows that were held out, */
    double *doubt; /* and one less the probability of their class, ascending; NULL: not kept */
} krein_calibration;

/* Residuals of numbers in rows that the training did not see. */
typedef struct krein_conformal {
    int64_t rows;
    double *residual; /* k x rows, the sizes of each output ascending; NULL: not kept */
} krein_conformal;

/* Values of lambda that were compared, ascending, and the error of each on held-out rows: rmse, or
 * share of wrong classes. */
enum { KREIN_HELD_OUT_MAX = 64 };
typedef struct krein_held_out {
    int64_t n;
    double lambda[KREIN_HELD_OUT_MAX], error[KREIN_HELD_OUT_MAX];
} krein_held_out;

/* Weights in a few bits, for a map whose features are codes too (map/deep.h): score c is
 * factor unit_c (the product of the codes) + intercept_c, factor that of the map. */
typedef struct krein_packed {
    krein_codes codes; /* R x k */
    double *unit;      /* k */
    krein_product *product;
} krein_packed;

typedef struct krein_posterior krein_posterior; /* posterior.h */

struct krein_model {
    krein_ctx *ctx;
    krein_encoding encoding;
    krein_map *map;
    char *learner; /* complete specs, for people and for training again */
    char *kernel_text, *map_text;
    double lambda; /* NaN: the learner has none */
    int64_t n;     /* rows trained on */
    krein_head head;
    bool clusters;       /* the classes are clusters, which no data have for labels */
    int64_t k;           /* scores of a row */
    double *w;           /* R x k, weights of the raw features */
    krein_packed packed; /* the same in codes, which the file has in their place; unit NULL: none */
    double *intercept;   /* k */
    krein_calibration calibration;
    krein_posterior *posterior; /* what says how sure ridge regression is; NULL: nothing does */
    krein_conformal conformal;
    double *threshold; /* k, of labels; NULL: zeros */
    double *variance;  /* k, of principal components; NULL: the scores are something else */
    double variance_total;
    int64_t kernels; /* of a combination, and their weights; 0: one kernel */
    krein_kernel_weight *weights;
    krein_held_out path;
    krein_tries tries; /* what was tried before it was trained */
    double *shift;     /* d: taken off each encoded column first; NULL: nothing is */
    char **note;       /* what was decided about the columns, for people */
    int64_t notes;
    int64_t bytes; /* of the file it came from, else 0 */
};

/* What people are told and other fields do not say (kernel_text, map_text, shift), once encoding,
 * kernel, map and weights are there. */
krein_status krein__model_finish(krein_model *model);
/* The same of the map alone, after it was changed. */
krein_status krein__model_retell_map(krein_model *model);

/* The head of a task, unless a learner has its own, and the scores it needs. */
krein_head krein__task_head(krein_task task);
int64_t krein__head_scores(krein_head head, const krein_encoding *e);

/* One value more of lambda; what is not finite is left out. */
void krein__held_out_add(krein_held_out *path, double lambda, double error);
/* Nothing is written where there are none. */
krein_status krein__held_out_io(krein_archive *a, krein_ctx *ctx, krein_held_out *path);

/* The encoding in a file. */
krein_status krein__encoding_io(krein_archive *a, krein_ctx *ctx, krein_encoding *e);
/* What is done to the encoded columns alone: logarithms, centres, factors, clip, metric. Reading
 * replaces what the encoding has. */
krein_status krein__scaling_io(krein_archive *a, krein_ctx *ctx, krein_encoding *e);

/* Weights in codes (packed.c): from weights v (R x k) of the raw features, whose factor is in them,
 * in so many bits; codes NULL: rounded to the nearest, else those (R x k, one a byte) for v / unit
 * on
 * [-1, 1]. The model's w becomes what they stand for. */
krein_status krein__model_pack(krein_model *m, int bits, const double *v, const uint8_t *codes);
krein_status krein__packed_io(krein_archive *a, krein_model *m);
void krein__packed_clear(krein_ctx *ctx, krein_packed *p);
/* The largest size of the weights of each score, and their quantiser on [-1, 1]. */
void krein__packed_units(int64_t R, int64_t k, const double *v, double *unit);

/* KREIN_EARG where there is no head; `what` cannot be done. */
krein_status krein__model_need_head(krein_ctx *ctx, const krein_model *model, const char *what);

/* Decision values of encoded rows, threaded over tiles; out is x->n x k. Memory and threads are
 * those of ctx. */
typedef struct krein_predictor {
    krein_ctx *ctx;
    const krein_model *model;
    void *scratch;
    int64_t each; /* bytes of scratch per thread */
} krein_predictor;
krein_status krein__predictor_begin(krein_ctx *ctx, const krein_model *model, krein_predictor *out);
void krein__predictor_run(const krein_predictor *s, const krein_rows *x, double *out);
/* Probabilities of n rows with those scores, n x (classes); for a model that has them. */
void krein__predictor_probabilities(const krein_predictor *s, int64_t n, const double *score,
                                    double *p);
void krein__predictor_end(krein_predictor *s);
/* Whether the label with score f is in the row's set. */
static inline bool krein__model_has(const krein_model *m, int64_t label, double f) {
    return f > (m->threshold ? m->threshold[label] : 0);
}
/* The class that the k scores of a row stand for. */
int64_t krein__model_decide(const krein_model *model, const double *score);
/* The same without a model. Ties go to the first class. */
int64_t krein__decide(krein_head head, int64_t classes, const double *score);
/* Number of the pair of classes a < b among all pairs, as their scores are ordered. */
int64_t krein__pair(int64_t classes, int64_t a, int64_t b);

/* What a row costs whose true class has that probability. */
double krein__log_loss(double probability);
/* Area under the curve over all pairs of a row of each class, of which n and m have scores; both
 * are sorted. NaN: a class has no row. */
typedef struct krein_row_score {
    double score, weight;
} krein_row_score;
double krein__auc(int64_t n, krein_row_score *first, int64_t m, krein_row_score *second);

/* Metrics over the given part of data that has been learned or matched already; intervals, where
 * the model has them, of that coverage; 0: none, which takes long on many rows. */
#define KREIN_COVERAGE 0.9
krein_status krein__model_measure(krein_ctx *ctx, const krein_model *model, krein_data *data,
                                  int part, double level, krein_metrics *out);

#endif
