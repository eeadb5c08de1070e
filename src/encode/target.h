/* target.h -- categories encoded by the mean of the target, for columns of very many values.
 *
 * The rows are cut into KREIN_FOLDS folds by a fixed hash of their number. With S_cf and n_cf the
 * sum of the targets and the weight of the rows of category c in fold f, g the mean of all rows,
 *
 *     training row of c in fold f:  (sum_{h != f} S_ch + m g) / (sum_{h != f} n_ch + m)
 *     any other row of c:           (sum_h S_ch + m g) / (sum_h n_ch + m)
 *
 * so that no row sees its own target but through g. Missing cells are a category; one that was
 * never seen has the mean g. m = KREIN_SHRINK rows. There is one column for each target, one for
 * two classes (the share of the second), else one for each class, or label of a set. */
#ifndef KREIN_TARGET_MEANS_H
#define KREIN_TARGET_MEANS_H

#include "base/base.h"

enum { KREIN_FOLDS = 5, KREIN_SHRINK = 10 };

typedef struct krein_target_means {
    int64_t words;        /* categories; behind them missing cells, then what was never seen */
    int64_t columns;      /* encoded columns */
    float *mean;          /* (words + 2) x columns, for rows that were not trained on */
    float *fold;          /* folds x (words + 2) x columns, for training rows; NULL: not known */
    double *sum, *weight; /* folds x (words + 1) x columns, folds x (words + 1), of training rows */
} krein_target_means;

/* The fold of a row by its number in the data. */
int krein__target_fold(int64_t row);

krein_status krein__target_begin(krein_ctx *ctx, int64_t words, int64_t columns,
                                 krein_target_means *t);
/* A training row; code -1: the cell is missing, others below 0 count for nothing. y: a number for
 * each column. */
void krein__target_add(krein_target_means *t, int64_t code, int fold, double weight,
                       const double *y);
/* The tables, from sums and weights and the mean of all training rows (one a column). */
krein_status krein__target_end(krein_ctx *ctx, krein_target_means *t, const double *all);
/* Mean, variance and range of column k over the training rows. other: weight of the rows whose
 * category was not counted. */
typedef struct krein_target_moments {
    double mean, variance, low, high;
} krein_target_moments;
krein_target_moments krein__target_moments(const krein_target_means *t, int64_t k, double other);
void krein__target_clear(krein_ctx *ctx, krein_target_means *t);

/* The row of a table for a code. */
static inline int64_t krein__target_row(const krein_target_means *t, int64_t code) {
    return code >= 0 ? code : code == -1 ? t->words : t->words + 1;
}

#endif
