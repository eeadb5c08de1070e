/* conjugate.h -- losses of support vector machines through their conjugates: with r = t - f,
 *
 *     loss(r) = max over low <= beta <= high of  beta r - epsilon |beta| - delta beta^2 / 2
 *
 *     hinge     C max(0, 1 - y f)          epsilon = 0, delta = 0,      y beta in [0, C]
 *     hinge2    C max(0, 1 - y f)^2        epsilon = 0, delta = 1/(2C), y beta in [0, inf)
 *     epsilon   C max(0, |t - f| - eps)    delta = 0,                   beta in [-C, C]
 */
#ifndef KREIN_CONJUGATE_H
#define KREIN_CONJUGATE_H

#include "solve/machine.h"

#include <math.h>

typedef struct krein_box {
    double low, high, delta;
} krein_box;

static inline krein_box krein__box(krein_loss loss, const krein_dual *d) {
    if (loss == KREIN_LOSS_EPSILON) return (krein_box){-d->cost, d->cost, 0};
    double most = loss == KREIN_LOSS_HINGE2 ? INFINITY : d->cost;
    double delta = loss == KREIN_LOSS_HINGE2 ? 0.5 / d->cost : 0;
    return d->target > 0 ? (krein_box){0, most, delta} : (krein_box){-most, 0, delta};
}

static inline double krein__soft(double x, double threshold) {
    return x > threshold ? x - threshold : x < -threshold ? x + threshold : 0;
}

static inline double krein__clip(const krein_box *b, double beta) {
    return beta < b->low ? b->low : beta > b->high ? b->high : beta;
}

/* The beta that attains the loss (minus its slope in f); 0 at a kink. */
static inline double krein__loss_beta(const krein_box *b, double epsilon, double r) {
    double s = krein__soft(r, epsilon);
    if (s == 0) return 0;
    return krein__clip(b, b->delta > 0 ? s / b->delta : s > 0 ? b->high : b->low);
}

/* beta r - epsilon |beta| - delta beta^2 / 2 */
static inline double krein__conjugate_at(const krein_box *b, double epsilon, double beta,
                                         double r) {
    return beta == 0 ? 0 : beta * r - epsilon * fabs(beta) - b->delta * beta * beta / 2;
}

static inline double krein__loss(const krein_box *b, double epsilon, double r) {
    return krein__conjugate_at(b, epsilon, krein__loss_beta(b, epsilon, r), r);
}

/* With a free intercept and targets that one value of it serves (one class, one row, equal
 * numbers): w = 0 is the solution. */
static inline bool krein__trivial(krein_machine *m, const krein_machine_options *o, int64_t D) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < m->n; i++) {
        low = fmin(low, (double)m->dual[i].target);
        high = fmax(high, (double)m->dual[i].target);
    }
    double reach = o->loss == KREIN_LOSS_EPSILON ? 2 * o->epsilon : 0;
    if (!o->intercept || high - low > reach) return false;
    for (int64_t i = 0; i < m->n; i++) m->dual[i].beta = 0;
    for (int64_t j = 0; j < D; j++) m->w[j] = 0;
    m->b = m->n > 0 ? (low + high) / 2 : 0;
    m->primal = m->dual_value = 0;
    m->support = 0;
    m->converged = true;
    return true;
}

#endif
