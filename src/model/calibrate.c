/* calibrate.c -- scores of held-out rows to probabilities
 *
 * K classes, scores f_ic of row i, which is of class y_i:
 *
 *     p_ic = exp(a f_ic + b_c) / sum_d exp(a f_id + b_d),    b_0 = 0
 *
 *     minimise  F(a, b) = -sum_i w_i sum_c t_ic log p_ic,    sum_i w_i = 1
 *
 * Two classes with one score f are K = 2 with the scores (0, f): Platt's sigmoid (platt1999). The
 * targets t are his, so that separated scores do not send a to infinity: with N_y rows of class y,
 *
 *     t_iy = (N_y + 1) / (N_y + 2),    the other classes share what is left of one.
 *
 * All t are positive, hence also a class without rows gets a finite b. For K > 2 (which Platt does
 * not treat) one slope serves all classes, because their scores are on one scale already, and it is
 * not negative: a larger score never makes its class less likely. For K = 2 the sign of a is free,
 * as in the paper. Pairs of classes are fitted one by one, each on its rows; labels, each on all
 * rows.
 *
 * Newton's method with backtracking (lin2007), from a = 0 and the b that are best there, b_c = log
 * mean_i t_ic. F is convex, so where dF/da >= 0 at the start a = 0 is also the best a >= 0. Scores
 * are standardised first: the mean of each class's column and of each row is taken off (b and the
 * softmax absorb both), and they are divided by what is left; nothing left (constant scores): a =
 * 0. The end is when the Newton decrement g'H^-1 g, twice what F can still fall, is below 1e-20.
 *
 * Cost: n K^2 a step, and n K for each F that is tried. */
#include "model/probability.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

enum { STEPS = 100, HALVINGS = 34, BLOCK = 256 };

typedef struct problem {
    krein_ctx *ctx;
    int64_t n, K;
    double *f; /* n x K, standardised */
    int32_t *class;
    double *w;         /* n, sum one */
    double *on, *off;  /* K: target of a row of that class, and of each other class for it */
    double *mean;      /* K, of the columns */
    double unit;       /* what differences of scores were divided by; 0: they were all alike */
    double *theta;     /* K: a, b_1, ... */
    double *next;      /* K */
    double *g, *h, *u; /* K, K x K, K x K: gradient, Hessian, its factor */
    double *p, *eta;   /* BLOCK x K, K */
} problem;

static void problem_close(problem *q) {
    double *all[] = {q->f,    q->w, q->on, q->off, q->mean, q->theta,
                     q->next, q->g, q->h,  q->u,   q->p,    q->eta};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(q->ctx, all[i]);
    krein__free(q->ctx, q->class);
}

/* For at most n rows. */
static krein_status problem_open(krein_ctx *ctx, int64_t n, int64_t K, problem *q) {
    krein_status st = KREIN_OK;
    memset(q, 0, sizeof *q);
    q->ctx = ctx;
    q->K = K;
    NEW(q->f, n * K);
    NEW(q->class, n);
    NEW(q->w, n);
    NEW(q->on, K);
    NEW(q->off, K);
    NEW(q->mean, K);
    NEW(q->theta, K);
    NEW(q->next, K);
    NEW(q->g, K);
    NEW(q->h, K * K);
    NEW(q->u, K * K);
    NEW(q->p, BLOCK * K);
    NEW(q->eta, K);
done:
    return st;
}

/* ---- the data ----------------------------------------------------------- */

/* False: there is no row with a weight. Rows of unequal weight count as (sum w)^2 / sum w^2 equal
 * ones: the result does not depend on the unit of the weights, nor on rows of weight zero. */
static bool weigh(problem *q) {
    double total = 0, square = 0;
    for (int64_t i = 0; i < q->n; i++) total += q->w[i];
    if (!(total > 0)) return false;
    for (int64_t c = 0; c < q->K; c++) q->on[c] = 0;
    for (int64_t i = 0; i < q->n; i++) {
        q->w[i] /= total;
        square += q->w[i] * q->w[i];
        q->on[q->class[i]] += q->w[i];
    }
    for (int64_t c = 0; c < q->K; c++) {
        double count = q->on[c] / square;
        q->on[c] = (count + 1) / (count + 2);
        q->off[c] = 1 / (count + 2) / (double)(q->K - 1);
    }
    return true;
}

static void divide(problem *q, double by) {
    for (int64_t i = 0; i < q->n * q->K; i++) q->f[i] /= by;
}

/* First by the largest score, so that no square overflows. */
static void standardise(problem *q) {
    double largest = 0, square = 0;
    int64_t K = q->K;
    for (int64_t i = 0; i < q->n * K; i++) largest = fmax(largest, fabs(q->f[i]));
    for (int64_t c = 0; c < K; c++) q->mean[c] = 0;
    q->unit = 0;
    if (largest < 1e-250) return; /* the slope would overflow */
    divide(q, largest);
    for (int64_t i = 0; i < q->n; i++)
        for (int64_t c = 0; c < K; c++) q->mean[c] += q->w[i] * q->f[i * K + c];
    for (int64_t i = 0; i < q->n; i++) {
        double *f = q->f + i * K, row = 0;
        for (int64_t c = 0; c < K; c++) row += (f[c] -= q->mean[c]) / (double)K;
        for (int64_t c = 0; c < K; c++) {
            f[c] -= row;
            square += q->w[i] * f[c] * f[c];
        }
    }
    double spread = sqrt(square / (double)K);
    for (int64_t c = 0; c < K; c++) q->mean[c] *= largest;
    if (spread < 1e-13) return; /* rounding */
    divide(q, spread);
    q->unit = largest * spread;
}

/* ---- the function ------------------------------------------------------- */

/* Probabilities of row i at theta; returns -sum_c t_ic log p_ic. */
static double row(const problem *q, const double *theta, int64_t i, double *p) {
    const double *f = q->f + i * q->K;
    double *eta = q->eta, top = -INFINITY, sum = 0, all = 0;
    int64_t K = q->K, y = q->class[i];
    for (int64_t c = 0; c < K; c++) {
        eta[c] = theta[0] * f[c] + (c ? theta[c] : 0);
        top = fmax(top, eta[c]);
    }
    for (int64_t c = 0; c < K; c++) {
        all += eta[c] -= top;
        sum += p[c] = exp(eta[c]);
    }
    for (int64_t c = 0; c < K; c++) p[c] /= sum; /* at least 1, of the largest */
    return log(fmax(sum, 1)) - q->off[y] * (all - eta[y]) - q->on[y] * eta[y];
}

static double value(const problem *q, const double *theta) {
    double sum = 0;
    for (int64_t i = 0; i < q->n; i++) sum += q->w[i] * row(q, theta, i, q->p);
    return sum;
}

/* Adds row i to the gradient, to the first row of the Hessian, and to its diagonal the part w p. */
static void add_row(problem *q, int64_t i, const double *p) {
    const double *f = q->f + i * q->K;
    double w = q->w[i], mean = 0, slope = 0, square = 0;
    int64_t K = q->K, y = q->class[i];
    for (int64_t c = 0; c < K; c++) mean += p[c] * f[c];
    for (int64_t c = 0; c < K; c++) {
        double rest = p[c] - (c == y ? q->on[y] : q->off[y]);
        slope += rest * f[c];
        square += p[c] * (f[c] - mean) * (f[c] - mean);
        if (c == 0) continue;
        q->g[c] += w * rest;
        q->h[c] += w * p[c] * (f[c] - mean);
        q->h[c * K + c] += w * p[c];
    }
    q->g[0] += w * slope;
    q->h[0] += w * square;
}

/* F at theta, gradient, and the Hessian's upper triangle: -sum_i w p p' comes block by block. */
static double derivatives(problem *q) {
    double sum = 0;
    int64_t K = q->K;
    memset(q->g, 0, (size_t)K * sizeof *q->g);
    memset(q->h, 0, (size_t)(K * K) * sizeof *q->h);
    for (int64_t from = 0; from < q->n; from += BLOCK) {
        int64_t m = krein__min(BLOCK, q->n - from);
        for (int64_t i = 0; i < m; i++) {
            double *p = q->p + i * K, root = sqrt(q->w[from + i]);
            sum += q->w[from + i] * row(q, q->theta, from + i, p);
            add_row(q, from + i, p);
            for (int64_t c = 0; c < K; c++) p[c] *= root;
        }
        krein__dsyrk(K - 1, m, -1, q->p + 1, K, 1, q->h + K + 1, K);
    }
    return sum;
}

/* ---- Newton ------------------------------------------------------------- */

/* step = H^-1 g; returns g'H^-1 g. The diagonal is lifted where rounding left H without curvature.
 */
static double direction(problem *q, double *step) {
    int64_t K = q->K;
    double top = 0, sum = 0;
    for (int64_t c = 0; c < K; c++) top = fmax(top, q->h[c * K + c]);
    double lift = 1e-14;
    for (;; lift *= 100) {
        memcpy(q->u, q->h, (size_t)(K * K) * sizeof *q->u);
        for (int64_t c = 0; c < K; c++) q->u[c * K + c] += lift * top + 1e-300;
        if (krein__dpotrf(K, q->u, K) == 0 || lift > 1) break;
    }
    memcpy(step, q->g, (size_t)K * sizeof *step);
    krein__dtrsm(true, K, 1, q->u, K, step, 1);
    for (int64_t c = 0; c < K; c++) sum += step[c] * step[c];
    krein__dtrsm(false, K, 1, q->u, K, step, 1);
    return sum;
}

/* Moves theta against the step, by less where F would not fall as it should. Near the end what F
 * falls is lost in its rounding, and the full step is right. False: no progress. */
static bool move(problem *q, const double *step, double now, double decrement) {
    double length = 1;
    for (int half = 0; half < HALVINGS; half++, length /= 2) {
        for (int64_t c = 0; c < q->K; c++) q->next[c] = q->theta[c] - length * step[c];
        if (decrement >= 1e-12 && !(value(q, q->next) <= now - 1e-4 * length * decrement)) continue;
        memcpy(q->theta, q->next, (size_t)q->K * sizeof *q->theta);
        return true;
    }
    return false;
}

static void start(problem *q) {
    double *prior = q->eta, other = 0;
    int64_t K = q->K;
    for (int64_t c = 0; c < K; c++) prior[c] = 0;
    for (int64_t i = 0; i < q->n; i++) {
        int64_t y = q->class[i];
        prior[y] += q->w[i] * (q->on[y] - q->off[y]);
        other += q->w[i] * q->off[y];
    }
    q->theta[0] = 0;
    for (int64_t c = 1; c < K; c++) q->theta[c] = log((prior[c] + other) / (prior[0] + other));
}

/* Fills theta. any: the slope may be negative. */
static krein_status newton(problem *q, bool any) {
    krein_ctx *ctx = q->ctx;
    krein_status st = KREIN_OK;
    double *step = NULL;
    int64_t steps = 0;
    start(q);
    if (q->unit == 0) return KREIN_OK;
    NEW(step, q->K);
    for (; steps < STEPS; steps++) {
        TRY(krein__poll(ctx));
        double now = derivatives(q);
        if (steps == 0 && !any && q->g[0] >= 0) break;
        double decrement = direction(q, step);
        if (!(decrement > 1e-20) || !move(q, step, now, decrement)) break;
    }
    if (steps == STEPS)
        krein__log(ctx, KREIN_LOG_WARNING, "probabilities: Newton's method stopped after %d steps",
                   STEPS);
done:
    krein__free(ctx, step);
    return st;
}

/* Slope and K shifts for scores as they are, from rows put into q. */
static krein_status solve(problem *q, bool any, double *slope, double *shift) {
    krein_status st = KREIN_OK;
    *slope = 0;
    memset(shift, 0, (size_t)q->K * sizeof *shift);
    if (!weigh(q)) return KREIN_OK; /* nothing is known: all classes alike */
    standardise(q);
    st = newton(q, any);
    if (q->unit > 0) *slope = q->theta[0] / q->unit;
    for (int64_t c = 0; c < q->K; c++)
        shift[c] = (c ? q->theta[c] : 0) - *slope * (q->mean[c] - q->mean[0]);
    return st;
}

/* ---- heads -------------------------------------------------------------- */

static krein_status check(krein_ctx *ctx, int64_t n, int64_t k, const double *score,
                          const double *weight) {
    double total = weight ? 0 : (double)n;
    for (int64_t i = 0; i < n * k; i++)
        if (!isfinite(score[i]))
            return krein__fail(ctx, KREIN_ENUMERIC,
                               "probabilities: a score of row %lld is not finite: the model is not "
                               "usable; scale the data (`scale=standard`) or regularise more",
                               (long long)(i / k + 1));
    for (int64_t i = 0; weight && i < n; i++) total += weight[i];
    if (total > 0) return KREIN_OK;
    return krein__fail(ctx, KREIN_EDATA,
                       "probabilities: there is no held-out row with a weight to learn them from; "
                       "train on more rows, or without `probabilities`");
}

static void put(problem *q, const double *weight, int64_t i, int32_t class) {
    q->class[q->n] = class;
    q->w[q->n++] = weight ? weight[i] : 1;
}

static krein_status softmax(problem *q, int64_t n, const double *score, const int32_t *class,
                            const double *weight, krein_calibration *out) {
    memcpy(q->f, score, (size_t)(n * q->K) * sizeof *q->f);
    for (int64_t i = 0; i < n; i++) put(q, weight, i, class[i]);
    krein_status st = solve(q, false, out->slope, out->shift);
    for (int64_t c = 1; c < q->K; c++) out->slope[c] = out->slope[0];
    return st;
}

/* Column j of the scores, for the rows of the classes a and b. */
static krein_status pair(problem *q, int64_t n, int64_t k, const double *score,
                         const int32_t *class, const double *weight, int64_t a, int64_t b,
                         int64_t j, krein_calibration *out) {
    double shift[2] = {0};
    q->n = 0;
    for (int64_t i = 0; i < n; i++) {
        if (class[i] != a && class[i] != b) continue;
        q->f[2 * q->n] = 0;
        q->f[2 * q->n + 1] = score[i * k + j];
        put(q, weight, i, class[i] == b);
    }
    krein_status st = solve(q, true, &out->slope[j], shift);
    out->shift[j] = shift[1];
    return st;
}

static krein_status calibration_begin(krein_ctx *ctx, int64_t k, krein_calibration *out) {
    krein_status st = KREIN_OK;
    NEW(out->slope, k);
    NEW(out->shift, k);
done:
    return st;
}

static void calibration_drop(krein_ctx *ctx, krein_calibration *out) {
    krein__free(ctx, out->slope);
    krein__free(ctx, out->shift);
    memset(out, 0, sizeof *out);
}

krein_status krein__calibrate_labels(krein_ctx *ctx, int64_t n, int64_t k, const double *score,
                                     const double *y, const double *weight,
                                     krein_calibration *out) {
    krein_status st = KREIN_OK;
    krein_compute compute = krein__compute_begin();
    problem q = {0};
    int32_t *has = NULL;
    memset(out, 0, sizeof *out);
    TRY(check(ctx, n, k, score, weight));
    TRY(problem_open(ctx, n, 2, &q));
    NEW(has, n);
    TRY(calibration_begin(ctx, k, out));
    for (int64_t c = 0; c < k; c++) {
        for (int64_t i = 0; i < n; i++) has[i] = y[i * k + c] > 0;
        TRY(pair(&q, n, k, score, has, weight, 0, 1, c, out));
    }
done:
    problem_close(&q);
    krein__free(ctx, has);
    krein__compute_end(compute);
    if (st != KREIN_OK) calibration_drop(ctx, out);
    return st;
}

krein_status krein__model_calibrate(krein_ctx *ctx, krein_model *m, int64_t n, const double *score,
                                    const int32_t *class, const double *y, const double *weight) {
    krein_status st = KREIN_OK;
    if (m->head != KREIN_HEAD_LABELS)
        return krein__calibrate(ctx, m->head, m->encoding.nclass, n, m->k, score, class, weight,
                                &m->calibration);
    TRY(krein__calibrate_labels(ctx, n, m->k, score, y, weight, &m->calibration));
    if (!m->threshold) NEW(m->threshold, m->k);
    TRY(krein__thresholds(ctx, n, m->k, score, y, weight, m->threshold));
done:
    return st;
}

krein_status krein__calibrate(krein_ctx *ctx, krein_head head, int64_t classes, int64_t n,
                              int64_t k, const double *score, const int32_t *class,
                              const double *weight, krein_calibration *out) {
    krein_status st = KREIN_OK;
    krein_compute compute = krein__compute_begin();
    bool pairs = head == KREIN_HEAD_VOTES || classes == 2;
    problem q = {0};
    memset(out, 0, sizeof *out);
    TRY(check(ctx, n, k, score, weight));
    TRY(problem_open(ctx, n, pairs ? 2 : classes, &q));
    TRY(calibration_begin(ctx, k, out));
    if (!pairs) TRY(softmax(&q, n, score, class, weight, out));
    for (int64_t a = 0; pairs && a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++)
            TRY(pair(&q, n, k, score, class, weight, a, b, krein__pair(classes, a, b), out));
done:
    problem_close(&q);
    krein__compute_end(compute);
    if (st != KREIN_OK) calibration_drop(ctx, out);
    return st;
}
