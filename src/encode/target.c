/* target.c -- means of the target by category; the formulas are in target.h. */
#include "encode/target.h"

#include <math.h>
#include <string.h>

int krein__target_fold(int64_t row) {
    uint64_t z = (uint64_t)row + 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (int)((z ^ (z >> 31)) % KREIN_FOLDS);
}

krein_status krein__target_begin(krein_ctx *ctx, int64_t words, int64_t columns,
                                 krein_target_means *t) {
    krein_status st = KREIN_OK;
    *t = (krein_target_means){.words = words, .columns = columns};
    ZNEW(t->sum, KREIN_FOLDS * (words + 1) * columns);
    ZNEW(t->weight, KREIN_FOLDS * (words + 1));
done:
    return st;
}

void krein__target_add(krein_target_means *t, int64_t code, int fold, double weight,
                       const double *y) {
    if (code < -1) return;
    int64_t at = fold * (t->words + 1) + krein__target_row(t, code);
    t->weight[at] += weight;
    for (int64_t k = 0; k < t->columns; k++) t->sum[at * t->columns + k] += weight * y[k];
}

/* The shrunken means of one category without the rows of fold `skip` (-1: none). */
static void mean_of(const krein_target_means *t, int64_t c, int skip, const double *all,
                    float *out) {
    for (int64_t k = 0; k < t->columns; k++) {
        double sum = KREIN_SHRINK * all[k], weight = KREIN_SHRINK;
        for (int f = 0; f < KREIN_FOLDS; f++) {
            int64_t at = f * (t->words + 1) + c;
            if (f == skip) continue;
            sum += t->sum[at * t->columns + k];
            weight += t->weight[at];
        }
        out[k] = (float)(sum / weight);
    }
}

krein_status krein__target_end(krein_ctx *ctx, krein_target_means *t, const double *all) {
    krein_status st = KREIN_OK;
    int64_t size = (t->words + 2) * t->columns;
    NEW(t->mean, size);
    NEW(t->fold, KREIN_FOLDS * size);
    for (int f = -1; f < KREIN_FOLDS; f++) {
        float *to = f < 0 ? t->mean : t->fold + f * size;
        for (int64_t c = 0; c <= t->words; c++) mean_of(t, c, f, all, to + c * t->columns);
        for (int64_t k = 0; k < t->columns; k++)
            to[(t->words + 1) * t->columns + k] = (float)all[k];
    }
done:
    return st;
}

krein_target_moments krein__target_moments(const krein_target_means *t, int64_t k, double other) {
    krein_target_moments m = {.low = INFINITY, .high = -INFINITY};
    double total = 0, sum = 0, square = 0;
    for (int turn = 0; turn < 2; turn++) { /* the mean, then deviations from it */
        for (int64_t at = 0; at <= KREIN_FOLDS * (t->words + 1); at++) {
            const bool rest = at == KREIN_FOLDS * (t->words + 1); /* rows that count for nothing */
            int64_t f = at / (t->words + 1), c = at % (t->words + 1);
            double w = rest ? other : t->weight[at];
            if (!(w > 0)) continue;
            double v = (double)(rest ? t->mean[(t->words + 1) * t->columns + k]
                                     : t->fold[(f * (t->words + 2) + c) * t->columns + k]);
            if (turn == 0) total += w;
            if (turn == 0) sum += w * v;
            if (turn == 1) square += w * (v - m.mean) * (v - m.mean);
            m.low = fmin(m.low, v);
            m.high = fmax(m.high, v);
        }
        if (!(total > 0)) return (krein_target_moments){0};
        m.mean = sum / total;
    }
    m.variance = square / total;
    return m;
}

void krein__target_clear(krein_ctx *ctx, krein_target_means *t) {
    krein__free(ctx, t->mean);
    krein__free(ctx, t->fold);
    krein__free(ctx, t->sum);
    krein__free(ctx, t->weight);
    *t = (krein_target_means){0};
}
