/* probability.c -- probabilities of the classes from a row's scores
 *
 * One score for each class f_c:   p_c = exp(e_c) / sum_b exp(e_b),   e_c = slope_c f_c + shift_c
 * Two classes, one score:         p_1 = 1 / (1 + exp(-e)),           p_0 = 1 - p_1
 * Labels, one score for each:     p_c = 1 / (1 + exp(-e_c)),         each for itself
 *
 * One score for each pair a < b: r_ba = 1 / (1 + exp(-e_ab)) is the probability of b among the two,
 * r_ab = 1 - r_ba, and the classes' probabilities are coupled by Wu, Lin and Weng's second method
 * (wu2004): p minimises
 *
 *     sum_{a<b} (r_ba p_a - r_ab p_b)^2  =  p'Qp    over  sum_c p_c = 1,
 *     Q_aa = sum_{b != a} r_ba^2,    Q_ab = -r_ab r_ba,
 *
 * and is not negative by itself. The paper (and LIBSVM) iterate until p changes little. Here the
 * minimiser is computed: Qp is a multiple of the vector of ones e there, so
 *
 *     p  ~  (Q + e e')^-1 e,
 *
 * and the matrix is well conditioned for all r, zeros and ones included. (Where v_a and v_b have
 * opposite signs, r_ba v_a - r_ab v_b is no smaller than the smaller of the two; so v'Qv is small
 * only for v of one sign, and then e'v is not.) Cost: C^3 / 3 for C classes, less than the scores.
 */
#include "model/probability.h"

#include "num/blas.h"

#include <math.h>

/* Beyond it exp(e) has long been 0 or infinite; differences of two such numbers are finite. */
static const double FAR = 1e300;

static double squeeze(double e) { return e > FAR ? FAR : e < -FAR ? -FAR : e; }

/* 1 / (1 + exp(-e)), and one minus it, which keeps its digits where it is small. */
static void logistic(double e, double *p, double *rest) {
    double tail = exp(-fabs(e)), large = 1 / (1 + tail), small = tail / (1 + tail);
    *p = e >= 0 ? large : small;
    *rest = e >= 0 ? small : large;
}

static double exponent(const krein_calibration *c, const double *score, int64_t j) {
    return squeeze(c->slope[j] * score[j] + c->shift[j]);
}

static void softmax(int64_t classes, const krein_calibration *c, const double *score, double *p) {
    double top = -FAR, sum = 0;
    for (int64_t j = 0; j < classes; j++) {
        p[j] = exponent(c, score, j);
        if (p[j] > top) top = p[j];
    }
    for (int64_t j = 0; j < classes; j++) sum += p[j] = exp(p[j] - top);
    for (int64_t j = 0; j < classes; j++) p[j] /= sum;
}

/* Upper triangle of Q + e e'. */
static void coupling(int64_t classes, const krein_calibration *c, const double *score, double *q) {
    for (int64_t a = 0; a < classes; a++) q[a * classes + a] = 1;
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++) {
            double first, second;
            logistic(exponent(c, score, krein__pair(classes, a, b)), &second, &first);
            q[a * classes + a] += second * second;
            q[b * classes + b] += first * first;
            q[a * classes + b] = 1 - first * second;
        }
}

static void couple(int64_t classes, const krein_calibration *c, const double *score, double *p,
                   double *q) {
    double sum = 0;
    coupling(classes, c, score, q);
    bool broken = krein__dpotrf(classes, q, classes) != 0; /* a score is not a number */
    for (int64_t j = 0; j < classes; j++) p[j] = broken ? NAN : 1;
    if (broken) return;
    krein__dtrsm(true, classes, 1, q, classes, p, 1);
    krein__dtrsm(false, classes, 1, q, classes, p, 1);
    for (int64_t j = 0; j < classes; j++) sum += p[j] = fmax(p[j], 0); /* by rounding */
    for (int64_t j = 0; j < classes; j++) p[j] /= sum;
}

int64_t krein__probability_scratch(krein_head head, int64_t classes) {
    return head == KREIN_HEAD_VOTES && classes > 2 ? classes * classes : 0;
}

void krein__probabilities(krein_head head, int64_t classes, const krein_calibration *c,
                          const double *score, double *p, double *scratch) {
    double rest;
    if (head == KREIN_HEAD_LABELS)
        for (int64_t j = 0; j < classes; j++) logistic(exponent(c, score, j), &p[j], &rest);
    else if (classes == 2)
        logistic(exponent(c, score, 0), &p[1], &p[0]);
    else if (head == KREIN_HEAD_VOTES)
        couple(classes, c, score, p, scratch);
    else
        softmax(classes, c, score, p);
}

void krein__model_probabilities(const krein_model *m, const double *score, double *p,
                                double *scratch) {
    krein__probabilities(m->head, m->encoding.nclass, &m->calibration, score, p, scratch);
}
