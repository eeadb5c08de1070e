/* logistic_pass.c -- loss, gradient and Hessian products of logistic regression on features
 *
 * With scores F = Z W + 1 b' (n x k) and probabilities P,
 *
 *     gradient   Z' R + 2 lambda W,   R_ic = w_i (P_ic - [c = y_i])
 *     H v        the same with scores Q = Z v of the direction and
 *                R_ic = w_i P_ic (Q_ic - sum_a P_ia Q_ia),   k = 1: R_i = w_i P_i (1 - P_i) Q_i
 *
 * so both are one pass there and back (passes.c): scores, residuals from scores, Z'R.
 */
#include "solve/logistic.h"

#include "num/vec.h"

#include <math.h>

/* ---- residuals from scores ---------------------------------------------- */

typedef struct sweep {
    const krein_logistic *p;
    const double *intercept; /* k, added to the scores */
    float *probability;      /* n x k */
    double *loss;            /* n */
} sweep;

static void binary_gradient(const void *state, int64_t first, int64_t n, float *score, double *wide,
                            double *tail) {
    const sweep *w = state;
    for (int64_t i = 0; i < n; i++) wide[i] = -fabs((double)score[i] + *w->intercept);
    krein__vexp(n, wide, wide);
    for (int64_t i = 0; i < n; i++) {
        double f = (double)score[i] + *w->intercept, y = w->p->class[first + i] == 1;
        double p = (f > 0 ? 1 : wide[i]) / (1 + wide[i]), r = w->p->weight[first + i] * (p - y);
        w->loss[first + i] = log1p(wide[i]) + (f > 0 ? f : 0) - y * f;
        w->probability[first + i] = (float)p;
        score[i] = (float)r;
        *tail += r;
    }
}

static void binary_product(const void *state, int64_t first, int64_t n, float *score, double *wide,
                           double *tail) {
    const sweep *w = state;
    (void)wide;
    for (int64_t i = 0; i < n; i++) {
        double p = (double)w->probability[first + i];
        double r = w->p->weight[first + i] * p * (1 - p) * ((double)score[i] + *w->intercept);
        score[i] = (float)r;
        *tail += r;
    }
}

static void softmax_gradient(const void *state, int64_t first, int64_t n, float *score,
                             double *wide, double *tail) {
    const sweep *w = state;
    const int64_t k = w->p->k;
    for (int64_t i = 0; i < n; i++) {
        double top = -INFINITY, *f = wide + i * k;
        for (int64_t c = 0; c < k; c++) {
            f[c] = (double)score[i * k + c] + w->intercept[c];
            top = fmax(top, f[c]);
        }
        for (int64_t c = 0; c < k; c++) f[c] -= top;
        w->loss[first + i] = -f[w->p->class[first + i]];
    }
    krein__vexp(n * k, wide, wide);
    for (int64_t i = 0; i < n; i++) {
        double sum = wide[i * k], weight = w->p->weight[first + i];
        for (int64_t c = 1; c < k; c++) sum += wide[i * k + c];
        w->loss[first + i] += log(sum);
        for (int64_t c = 0; c < k; c++) {
            double p = wide[i * k + c] / sum, r = weight * (p - (c == w->p->class[first + i]));
            w->probability[(first + i) * k + c] = (float)p;
            score[i * k + c] = (float)r;
            tail[c] += r;
        }
    }
}

static void softmax_product(const void *state, int64_t first, int64_t n, float *score, double *wide,
                            double *tail) {
    const sweep *w = state;
    (void)wide;
    const int64_t k = w->p->k;
    for (int64_t i = 0; i < n; i++) {
        const float *p = w->probability + (first + i) * k;
        double mean = 0, weight = w->p->weight[first + i];
        for (int64_t c = 0; c < k; c++)
            mean += (double)p[c] * ((double)score[i * k + c] + w->intercept[c]);
        for (int64_t c = 0; c < k; c++) {
            double q = (double)score[i * k + c] + w->intercept[c];
            double r = weight * (double)p[c] * (q - mean);
            score[i * k + c] = (float)r;
            tail[c] += r;
        }
    }
}

/* out ((D + 1) x k) = [Z 1]'R + 2 lambda [v 0], R the residuals from the scores [Z 1] v. */
static krein_status run(krein_passes *s, const sweep *w, krein_residuals *residuals,
                        const double *v, double *out) {
    const krein_logistic *p = w->p;
    int64_t D = s->D, k = s->k;
    krein_status st =
        krein__passes_run(s, p->features, residuals, w, (krein_strides){k, 1}, v, out, out + D * k);
    for (int64_t c = 0; !p->intercept && c < k; c++) out[D * k + c] = 0;
    for (int64_t i = 0; i < D * k; i++) out[i] += 2 * p->lambda * v[i];
    return st;
}

krein_status krein__logistic_gradient(krein_passes *s, const krein_logistic *p, const double *w,
                                      float *probability, double *loss, double *objective,
                                      double *gradient) {
    sweep sw = {p, w + s->D * s->k, probability, loss};
    krein_status st = run(s, &sw, s->k == 1 ? binary_gradient : softmax_gradient, w, gradient);
    double square = 0;
    *objective = 0;
    for (int64_t i = 0; i < s->n; i++) *objective += p->weight[i] * loss[i];
    for (int64_t i = 0; i < s->D * s->k; i++) square += w[i] * w[i];
    *objective += p->lambda * square;
    return st;
}

krein_status krein__logistic_product(krein_passes *s, const krein_logistic *p,
                                     const float *probability, const double *v, double *out) {
    sweep sw = {p, v + s->D * s->k, (float *)(uintptr_t)probability, NULL};
    return run(s, &sw, s->k == 1 ? binary_product : softmax_product, v, out);
}
