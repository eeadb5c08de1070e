/* evidence.c -- a spectral mixture by the evidence of a Gaussian process          (wilson2013)
 *
 *     L = (1/2) log(S / (n k)) + log|A| / (2 n),  S = tr Y'A^-1 Y,  A = K + lambda diag(1 / w)
 * is minus the log marginal likelihood of n rows with k targets, over n k, at the best variance of
 * the process. K is the mixture kernel (kernel/spectral_mixture.c) with weights of sum one; w are
 * the rows' weights. The minimum is sought over the weights (a softmax), the means, the logarithms
 * of the variances and of the noise lambda by quasi-Newton steps (num/lbfgs.c). The determinant is
 * what fits to the training rows lack: without it nothing holds a mean in the middle of the
 * frequencies that the data have.
 *
 * Gradient. With G = dL/dA = A^-1 / (2 n) - a a' / (2 S), a = A^-1 Y, and for each component c
 *     E_il = exp(-(x_i - x_l)'V (x_i - x_l) / 2),   T = G . E,   angles b_i = mu'x_i
 * cos(b_i - b_l) = cos b_i cos b_l + sin b_i sin b_l makes all sums products of T with few columns:
 *     u = T cos b,  v = T sin b
 *     dL/dw    = sum_i cos b_i u_i + sin b_i v_i  =: sum_i r_i
 *     dL/dmu_j = -2 w sum_i x_ij (sin b_i u_i - cos b_i v_i)
 *     dL/dV_j  = -w sum_i x_ij (x_ij r_i - (N x_j)_i),   N = T . cos(b_i - b_l)
 * Cost of a value: q (8 n^2 d + 40 n^2) + 3 n^3 flops, 3 n^2 + n (4 d + 2) doubles. */
#include "learn/evidence.h"

#include "kernel/spectral_mixture.h"
#include "num/blas.h"
#include "num/lbfgs.h"
#include "num/vec.h"

#include <math.h>
#include <string.h>

/* The noise is exp(t) + LEAST, so that A can be factored. */
static const double LEAST = 1e-6;

typedef struct evidence {
    krein_ctx *ctx;
    krein_compute mode;
    const krein_evidence_rows *rows;
    int64_t q;
    const double *unit;   /* q x d: of the means */
    double *A, *B, *E;    /* n x n: the matrix, its inverse and then G, and one component */
    double *a;            /* n x k: A^-1 Y */
    double *X;            /* n x d: the rows times a component's deviations */
    double *square;       /* n: their squared lengths */
    double *cosine, *sin; /* n, of a component's angles */
    double *C, *P;        /* n x (2 d + 2): cos b x, sin b x, cos b, sin b; T times that */
    double *w;            /* q: the weights */
} evidence;

int64_t krein__evidence_count(int64_t q, int64_t d) { return q + 2 * q * d + 1; }

static const double *means(const evidence *s, const double *t) { return t + s->q; }
static const double *logs(const evidence *s, const double *t) {
    return t + s->q * (1 + s->rows->d);
}

static krein_status begin(krein_ctx *ctx, const krein_evidence_rows *rows, int64_t q,
                          const double *unit, evidence *s) {
    krein_status st = KREIN_OK;
    int64_t n = rows->n, d = rows->d;
    *s = (evidence){.ctx = ctx, .rows = rows, .q = q, .unit = unit};
    NEW(s->A, n * n);
    NEW(s->B, n * n);
    NEW(s->E, n * n);
    NEW(s->a, n * rows->k);
    NEW(s->X, n * d);
    NEW(s->square, n);
    NEW(s->cosine, n);
    NEW(s->sin, n);
    NEW(s->C, n * (2 * d + 2));
    NEW(s->P, n * (2 * d + 2));
    NEW(s->w, q);
done:
    return st;
}

static void end(evidence *s) {
    double *all[] = {s->A, s->B, s->E, s->a, s->X, s->square, s->C, s->cosine, s->sin, s->P, s->w};
    for (int64_t k = 0; k < KREIN__COUNT(all); k++) krein__free(s->ctx, all[k]);
}

double krein__evidence_bytes(int64_t n, int64_t d, int64_t k, int64_t q) {
    double N = (double)n, D = (double)d;
    return 8 * (3 * N * N + N * (5 * D + (double)k + 8) +
                28 * (double)krein__evidence_count(q, d)) +
           65536;
}

double krein__evidence_flops(int64_t n, int64_t d, int64_t q, int64_t steps) {
    double N = (double)n;
    return 1.5 * (double)steps * N * N * ((double)q * (8 * (double)d + 40) + 3 * N);
}

/* ---- values ------------------------------------------------------------- */

/* E, and the angles, of component c. */
static void component(evidence *s, const double *t, int64_t c) {
    int64_t n = s->rows->n, d = s->rows->d;
    const double *x = s->rows->x, *mu = means(s, t) + c * d, *V = logs(s, t) + c * d;
    for (int64_t i = 0; i < n; i++) {
        double angle = 0;
        s->square[i] = 0;
        for (int64_t j = 0; j < d; j++) {
            double z = x[i * d + j] * exp(0.5 * V[j]);
            s->X[i * d + j] = z;
            s->square[i] += z * z;
            angle += x[i * d + j] * mu[j] * s->unit[c * d + j];
        }
        s->cosine[i] = cos(angle);
        s->sin[i] = sin(angle);
    }
    krein__pgemm(s->ctx, false, true, n, n, d, 1, s->X, d, s->X, d, 0, s->E, n);
#pragma omp parallel num_threads(s->ctx->threads)
    {
        krein__worker_begin();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            double *row = s->E + i * n;
            for (int64_t l = 0; l < n; l++)
                row[l] = fmin(0, row[l] - 0.5 * (s->square[i] + s->square[l]));
            krein__vexp(n, row, row);
        }
        krein__worker_end(s->mode);
    }
}

static void fill_weights(evidence *s, const double *t) {
    double most = -INFINITY, sum = 0;
    for (int64_t c = 0; c < s->q; c++) most = fmax(most, t[c]);
    for (int64_t c = 0; c < s->q; c++) sum += s->w[c] = exp(t[c] - most);
    for (int64_t c = 0; c < s->q; c++) s->w[c] /= sum;
}

static void fill_matrix(evidence *s, const double *t, double noise) {
    int64_t n = s->rows->n;
    memset(s->A, 0, (size_t)(n * n) * sizeof *s->A);
    for (int64_t c = 0; c < s->q; c++) {
        component(s, t, c);
#pragma omp parallel num_threads(s->ctx->threads)
        {
            krein__worker_begin();
#pragma omp for schedule(static)
            for (int64_t i = 0; i < n; i++) {
                double *to = s->A + i * n, a = s->w[c] * s->cosine[i], b = s->w[c] * s->sin[i];
                for (int64_t l = 0; l < n; l++)
                    to[l] += s->E[i * n + l] * (a * s->cosine[l] + b * s->sin[l]);
            }
            krein__worker_end(s->mode);
        }
    }
    for (int64_t i = 0; i < n; i++) s->A[i * n + i] += noise / (s->rows->w ? s->rows->w[i] : 1);
}

/* B = A^-1, a = B Y; the log of the determinant. *there: A could be factored. */
static krein_status invert(evidence *s, double *log_determinant, bool *there) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t n = s->rows->n, k = s->rows->k, pivot;
    st = krein__cholesky(ctx, n, s->A, n, &pivot);
    *there = st == KREIN_OK;
    if (st == KREIN_ENUMERIC) {
        ctx->message[0] = 0;
        ctx->status = KREIN_OK;
        return KREIN_OK;
    }
    TRY(st);
    *log_determinant = 0;
    for (int64_t i = 0; i < n; i++) *log_determinant += 2 * log(s->A[i * n + i]);
    memset(s->B, 0, (size_t)(n * n) * sizeof *s->B);
    for (int64_t i = 0; i < n; i++) s->B[i * n + i] = 1;
    TRY(krein__cholesky_solve(ctx, n, s->A, n, n, s->B, n));
    krein__pgemm(ctx, false, false, n, k, n, 1, s->B, n, s->rows->y, k, 0, s->a, k);
done:
    return st;
}

/* ---- the gradient ------------------------------------------------------- */

/* B becomes G. */
static void slope_of_matrix(evidence *s, double S) {
    int64_t n = s->rows->n, k = s->rows->k;
    krein__pgemm(s->ctx, false, true, n, n, k, -0.5 / S, s->a, k, s->a, k, 0.5 / (double)n, s->B,
                 n);
}

/* Of one component: its weight (not yet through the softmax), means and variances. */
static void slope_of_component(evidence *s, const double *t, int64_t c, double *weight, double *mu,
                               double *V) {
    int64_t n = s->rows->n, d = s->rows->d, wide = 2 * d + 2;
    const double *x = s->rows->x;
    component(s, t, c);
#pragma omp parallel num_threads(s->ctx->threads)
    {
        krein__worker_begin();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++)
            for (int64_t l = 0; l < n; l++) s->E[i * n + l] *= s->B[i * n + l];
        krein__worker_end(s->mode);
    }
    for (int64_t i = 0; i < n; i++) {
        double *row = s->C + i * wide;
        for (int64_t j = 0; j < d; j++) {
            row[j] = s->cosine[i] * x[i * d + j];
            row[d + j] = s->sin[i] * x[i * d + j];
        }
        row[2 * d] = s->cosine[i];
        row[2 * d + 1] = s->sin[i];
    }
    krein__pgemm(s->ctx, false, false, n, wide, n, 1, s->E, n, s->C, wide, 0, s->P, wide);
    *weight = 0;
    memset(mu, 0, (size_t)d * sizeof *mu);
    memset(V, 0, (size_t)d * sizeof *V);
    for (int64_t i = 0; i < n; i++) {
        const double *p = s->P + i * wide;
        double cosine = s->cosine[i], sine = s->sin[i], u = p[2 * d], v = p[2 * d + 1];
        double r = cosine * u + sine * v;
        *weight += r;
        for (int64_t j = 0; j < d; j++) {
            double z = x[i * d + j];
            mu[j] -= 2 * s->w[c] * z * (sine * u - cosine * v);
            V[j] -= s->w[c] * z * (z * r - cosine * p[j] - sine * p[d + j]);
        }
    }
    for (int64_t j = 0; j < d; j++) {
        mu[j] *= s->unit[c * d + j];
        V[j] *= exp(logs(s, t)[c * d + j]);
    }
}

static krein_status value(void *user, const double *t, double *out, double *gradient) {
    evidence *s = user;
    krein_status st = KREIN_OK;
    int64_t n = s->rows->n, k = s->rows->k, d = s->rows->d, q = s->q;
    int64_t last = krein__evidence_count(q, d) - 1;
    double determinant, S = 0, mean = 0, noise = exp(t[last]);
    bool there;
    s->mode = krein__compute_begin();
    *out = INFINITY;
    fill_weights(s, t);
    fill_matrix(s, t, noise + LEAST);
    TRY(invert(s, &determinant, &there));
    if (!there) goto done;
    for (int64_t i = 0; i < n * k; i++) S += s->a[i] * s->rows->y[i];
    *out = 0.5 * log(S / (double)(n * k)) + determinant / (2 * (double)n);
    slope_of_matrix(s, S);
    gradient[last] = 0;
    for (int64_t i = 0; i < n; i++)
        gradient[last] += noise * s->B[i * n + i] / (s->rows->w ? s->rows->w[i] : 1);
    for (int64_t c = 0; c < q; c++) {
        TRY(krein__poll(s->ctx));
        slope_of_component(s, t, c, &gradient[c], gradient + q + c * d,
                           gradient + q * (1 + d) + c * d);
        mean += s->w[c] * gradient[c];
    }
    for (int64_t c = 0; c < q; c++) gradient[c] = s->w[c] * (gradient[c] - mean);
done:
    krein__compute_end(s->mode);
    return st;
}

krein_status krein__evidence_at(krein_ctx *ctx, const krein_evidence_rows *rows, int64_t q,
                                const double *unit, const double *t, double *at, double *gradient) {
    krein_status st = KREIN_OK;
    evidence s = {.ctx = ctx};
    TRY(begin(ctx, rows, q, unit, &s));
    TRY(value(&s, t, at, gradient));
done:
    end(&s);
    return st;
}

/* ---- learning ----------------------------------------------------------- */

/* Numbers that the steps are in, and back. */
static void to_steps(const double *p, const double *unit, double lambda, double *t) {
    static const double FAINT = 1e-12; /* of a weight or a variance that is zero */
    krein_spectral_mixture m = krein__spectral_mixture(p);
    int64_t size = m.q * m.d;
    for (int64_t c = 0; c < m.q; c++) t[c] = log(fmax(m.w[c], FAINT));
    for (int64_t i = 0; i < size; i++) {
        t[m.q + i] = 2 * M_PI * m.mu[i] / unit[i];
        t[m.q + size + i] = log(fmax(m.V[i], FAINT));
    }
    t[m.q + 2 * size] = log(fmax(lambda - LEAST, LEAST));
}

static void from_steps(const evidence *s, const double *t, double *p) {
    krein_spectral_mixture m = krein__spectral_mixture(p);
    for (int64_t c = 0; c < m.q; c++) m.w[c] = s->w[c];
    for (int64_t i = 0; i < m.q * m.d; i++) {
        m.V[i] = exp(logs(s, t)[i]);
        m.mu[i] = means(s, t)[i] * s->unit[i] * (0.5 / M_PI);
    }
}

krein_status krein__evidence_learn(krein_ctx *ctx, const krein_evidence_rows *rows, int64_t steps,
                                   double deadline, double *p, krein_evidence *out) {
    krein_status st = KREIN_OK;
    evidence s = {.ctx = ctx};
    krein_lbfgs_report r;
    krein_spectral_mixture m = krein__spectral_mixture(p);
    int64_t count = krein__evidence_count(m.q, m.d);
    krein_lbfgs_options o = {.steps = steps, .reach = 1, .least = 1e-6, .deadline = deadline};
    double *t = NULL, *unit = NULL;
    NEW(t, count);
    NEW(unit, m.q * m.d);
    for (int64_t i = 0; i < m.q * m.d; i++) unit[i] = sqrt(fmax(m.V[i], 1e-12));
    to_steps(p, unit, out->lambda, t);
    TRY(begin(ctx, rows, m.q, unit, &s));
    TRY(krein__lbfgs(ctx, count, value, &s, &o, t, &r));
    fill_weights(&s, t);
    from_steps(&s, t, p);
    *out = (krein_evidence){-r.start, -r.value, exp(t[count - 1]) + LEAST, r.steps};
done:
    end(&s);
    krein__free(ctx, t);
    krein__free(ctx, unit);
    return st;
}
