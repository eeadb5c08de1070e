/* posterior.h -- how sure a prediction is: deviations, intervals, novelty, sets of classes.
 * The formulas are at the top of posterior.c; what is kept is made by learn/posterior.c and
 * learn/conformal.c. */
#ifndef KREIN_POSTERIOR_H
#define KREIN_POSTERIOR_H

#include "model/model.h"

/* The factor F is R x D, D <= R, with zeros below: F[r][c] = 0 for r > R - D + c. It is kept in
 * panels of KREIN_POSTERIOR_PANEL columns, one behind the other, each row-major with the rows that
 * are not all zeros. */
enum { KREIN_POSTERIOR_PANEL = 64 };

struct krein_posterior {
    bool kernel; /* on the kernel matrix; else on features */
    int64_t R, D;
    double *factor; /* krein__posterior_cells(R, D) */
    double *inner;  /* landmarks: a factor of the same shape that makes z'z of raw features, for
                       novelty; NULL: none */
    double *centre; /* features: F'm, D of them; kernel: a = M^-1 1, R of them */
    double flat;    /* what the intercept adds: 1 / W; kernel: 1 / (1'M^-1 1) */
    double ridge;   /* W lambda */
    double reach;   /* of the training rows, each left out, 99 % have no larger q */
    int64_t k;      /* outputs with noise; 0: the model has classes */
    double *noise;  /* k: standard deviation of a row of weight 1 */
    int64_t rows;   /* that were left out, each once */
    double *score;  /* features: k x rows, ascending: sizes of their residuals over the noise's
                       factor */
    double *left;   /* kernel: R x k, residuals of the rows left out */
    double *rest;   /* kernel: R, w_i (1 - h_i); 0: the row does not count */
};

int64_t krein__posterior_cells(int64_t R, int64_t D);
/* A factor from numbers with these strides. */
krein_status krein__posterior_pack(krein_ctx *ctx, const krein_posterior *p, const double *from,
                                   int64_t row_stride, int64_t column_stride, double **out);
void krein__posterior_destroy(krein_ctx *ctx, krein_posterior *p); /* NULL is fine */
krein_status krein__posterior_io(krein_archive *a, krein_model *m);
krein_status krein__conformal_io(krein_archive *a, krein_model *m);
/* What a calibration keeps for sets of classes. */
krein_status krein__doubt_io(krein_archive *a, krein_ctx *ctx, krein_calibration *c);

/* Number (from 1) of the order statistic of n scores that covers a share `level` of new ones; n + 1
 * where that takes more scores. */
int64_t krein__cover_rank(int64_t n, double level);

/* What is asked for beside the prediction. */
typedef struct krein_asked {
    bool std, mean, novelty; /* mean: std without the noise */
    double interval;         /* 0: none */
} krein_asked;
/* KREIN_EARG where the model cannot say it. */
krein_status krein__asked_check(krein_ctx *ctx, const krein_model *m, const krein_asked *asked);
int krein__model_says(const krein_model *m); /* KREIN_SAYS_... */

/* What is told of the rows of a block; NULL: not asked for. */
typedef struct krein_told {
    double *std, *lower, *upper; /* rows x k */
    double *novelty;             /* rows */
    int8_t *set;                 /* rows x classes */
} krein_told;

typedef struct krein_teller {
    krein_ctx *ctx;
    const krein_model *model;
    krein_asked asked;
    krein_told told;
    double *q, *beyond, *own; /* of a block: q, what novelty adds to it, k(x, x) */
    char *scratch;
    int64_t each; /* bytes of scratch per thread */
} krein_teller;

/* For blocks of at most so many rows. */
krein_status krein__teller_begin(krein_ctx *ctx, const krein_model *m, const krein_asked *asked,
                                 int64_t rows, krein_teller *out);
/* From encoded rows, their scores, and probabilities where the model has them. */
krein_status krein__teller_run(krein_teller *t, const krein_rows *x, const double *score,
                               const double *p);
/* q alone, and what novelty adds to it (zeros but for landmarks). */
krein_status krein__teller_q(krein_teller *t, const krein_rows *x, double *q, double *beyond);
void krein__teller_end(krein_teller *t);

#endif
