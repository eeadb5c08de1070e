/* path.c -- the lambda path: grid, tally of held-out predictions, choice. */
#include "solve/ridge.h"

#include <math.h>

void krein__path_grid(krein_path *p, double low, double high, int per_decade) {
    p->n = 0;
    int64_t from = (int64_t)ceil(log10(low) * per_decade - 1e-9);
    int64_t to = (int64_t)floor(log10(high) * per_decade + 1e-9);
    for (int64_t i = from; i <= to && p->n < KREIN_PATH_MAX; i++)
        p->lambda[p->n++] = krein__round_digits(pow(10, (double)i / per_decade), 3);
}

void krein__path_choose(krein_path *p) {
    p->best = 0;
    for (int64_t l = 1; l < p->n; l++) {
        bool classes = !isnan(p->error[l]);
        double a = classes ? p->error[l] : p->loss[l];
        double b = classes ? p->error[p->best] : p->loss[p->best];
        if (a < b || (a == b && p->loss[l] < p->loss[p->best])) p->best = l;
    }
}

static bool wrong(const double *score, int64_t k, int32_t class) {
    if (k == 1) return (score[0] > 0) != (class == 1);
    int64_t best = 0;
    for (int64_t c = 1; c < k; c++)
        if (score[c] > score[best]) best = c;
    return best != class;
}

void krein__tally_add(krein_tally *t, const krein_targets *rows, int64_t L, const double *score) {
    int64_t k = rows->k;
    for (int64_t i = 0; i < rows->n; i++) {
        double w = rows->weight ? rows->weight[i] : 1;
        if (w == 0) continue;
        t->weight += w;
        for (int64_t l = 0; l < L; l++) {
            const double *f = score + (i * L + l) * k;
            double square = 0;
            for (int64_t c = 0; c < k; c++) {
                double e = rows->y[i * k + c] - f[c];
                square += e * e;
            }
            t->loss[l] += w * square / (double)k;
            if (rows->class) t->error[l] += w * wrong(f, k, rows->class[i]);
        }
    }
}

void krein__tally_end(const krein_tally *t, bool classes, krein_path *p) {
    for (int64_t l = 0; l < p->n; l++) {
        p->loss[l] = t->loss[l] / t->weight;
        p->error[l] = classes ? t->error[l] / t->weight : NAN;
        if (isnan(p->loss[l])) p->loss[l] = INFINITY;
    }
    krein__path_choose(p);
}
