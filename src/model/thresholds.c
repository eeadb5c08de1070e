/* thresholds.c -- the score above which a row gets a label, from scores of held-out rows
 *
 *     F1(t) = 2 sum_i w_i [f_i > t, y_i] / (sum_i w_i [f_i > t] + sum_i w_i [y_i])
 *
 * for each label by itself: t is the middle between the two neighbouring scores where F1 is largest
 * (of equal ones the larger t). That is the best rule of this form for macro F1 (lipton2014); the
 * ridge regression of a rare label seldom gets above 0, and 0 would never give it. A label with
 * fewer than 10 rows with or without it says too little: its threshold is 0. Cost: n log n a label.
 */
#include "model/probability.h"

#include <math.h>
#include <stdlib.h>

enum { FEW = 10 };

typedef struct row {
    double score, weight;
    bool has;
} row;

static int descending(const void *a, const void *b) {
    double x = ((const row *)a)->score, y = ((const row *)b)->score;
    return (x < y) - (x > y);
}

/* Of m rows of positive weight. */
static double best(row *rows, int64_t m) {
    int64_t with = 0;
    double truth = 0, hit = 0, said = 0, most = -1, at = 0;
    for (int64_t i = 0; i < m; i++) {
        with += rows[i].has;
        truth += rows[i].has ? rows[i].weight : 0;
    }
    if (with < FEW || m - with < FEW) return 0;
    qsort(rows, (size_t)m, sizeof *rows, descending);
    double step = (rows[0].score - rows[m - 1].score) / (double)m; /* below the least */
    for (int64_t i = 0; i < m; i++) {
        double next = i + 1 < m ? rows[i + 1].score : rows[i].score - 2 * step;
        said += rows[i].weight;
        hit += rows[i].has ? rows[i].weight : 0;
        if (i + 1 < m && next == rows[i].score) continue;
        double f1 = 2 * hit / (said + truth);
        if (f1 > most) {
            most = f1;
            at = rows[i].score / 2 + next / 2;
        }
    }
    return at;
}

krein_status krein__thresholds(krein_ctx *ctx, int64_t n, int64_t k, const double *score,
                               const double *y, const double *weight, double *out) {
    krein_status st = KREIN_OK;
    row *rows = NULL;
    NEW(rows, krein__max(1, n));
    for (int64_t c = 0; c < k; c++) {
        int64_t m = 0;
        for (int64_t i = 0; i < n; i++) {
            double w = weight ? weight[i] : 1;
            if (w > 0) rows[m++] = (row){score[i * k + c], w, y[i * k + c] > 0};
        }
        out[c] = best(rows, m);
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, rows);
    return st;
}
