/* mirror.c -- stochastic mirror and sub-gradient descent for multiple kernels (li2018multi;
 * orabona2011 with r = 1)
 *
 * The dual weights are minus the sum of the sub-gradients of the losses seen so far; the weights
 * are their image under the gradient of the conjugate of the regulariser (dual averaging):
 *
 *     theta <- theta + phi(x_i) (e_y - e_z)      where f_y - f_z < 1, z the best other class
 *     a_m = |theta_m|,  v_m = max(0, a_m - t beta r_m)
 *     c_m = v_m^(q-1) / (t alpha |v|_q^(q-2)),   mu_m = c_m / a_m,   W_m = mu_m theta_m
 *
 * after t rows. A kernel whose dual weights grow slower than t beta r_m has no part. The
 * regulariser is strongly convex with modulus alpha / q in the norm |.|_{2,p}: the objective's
 * distance from its minimum falls as q log t / (alpha t).
 *
 * Departures from the printed algorithm: the factor 1/t of c is missing there; v must not be below
 * zero (mu would be); q depends on the number of kernels, not of classes, and is at least 2 as the
 * conjugate needs. The penalty is on r_m |W_m| as in its derivation, not on r_m mu_m. Rows come
 * in a given order, the same in each epoch, in place of draws: the caller mixes them once. Row
 * weights multiply the losses. Norms are kept up by the difference that a row makes and found anew
 * once an epoch. One thread visits the rows, because each visit depends on the last. */
#include "base/spec.h"
#include "num/blas.h"
#include "solve/mirror_store.h"

#include <math.h>
#include <string.h>

enum { BREATH = 1024 }; /* visits between looks at the clock */

typedef struct descent {
    krein_mirror *m;
    krein_mirror_store store;
    double q, p, mean; /* mean: of the weights */
    double *square;    /* M: |theta_m|^2 */
    double *a, *c;     /* M */
    double *P;         /* M x classes */
    double *f;         /* classes */
    double changes;    /* sum of the weights of visits that changed theta */
    bool late;
} descent;

double krein__mirror_q(int64_t M) { return fmax(2, 2 * log((double)M)); }

/* In units of the largest v, so that no power is out of range. */
void krein__mirror_weights(int64_t M, const double *a, const double *r, double alpha, double beta,
                           double q, double t, double *c, double *mu) {
    double most = 0, sum = 0;
    for (int64_t m = 0; m < M; m++) {
        c[m] = fmax(0, a[m] - t * beta * r[m]);
        most = fmax(most, c[m]);
    }
    for (int64_t m = 0; m < M; m++) {
        double u = most > 0 ? c[m] / most : 0, power = u > 0 ? pow(u, q - 1) : 0;
        sum += power * u;
        c[m] = power;
    }
    double unit = most > 0 ? most / (t * alpha * pow(sum, (q - 2) / q)) : 0;
    for (int64_t m = 0; m < M; m++) {
        c[m] *= unit;
        mu[m] = a[m] > 0 ? c[m] / a[m] : 0;
    }
}

static void update_weights(descent *d) {
    const krein_mirror *m = d->m;
    for (int64_t k = 0; k < m->M; k++) d->a[k] = sqrt(fmax(0, d->square[k]));
    krein__mirror_weights(m->M, d->a, m->r, m->alpha, m->beta, d->q, fmax(1, (double)m->visits),
                          d->c, m->mu);
}

/* The best class but y, the first of several; f of the row that is visited. */
static int64_t rival(descent *d, int64_t y) {
    int64_t M = d->m->M, C = d->m->classes, best = y == 0;
    const double *mu = d->m->mu;
    d->store.keep->products(&d->store, mu, d->P);
    memset(d->f, 0, (size_t)C * sizeof *d->f);
    for (int64_t k = 0; k < M; k++)
        for (int64_t c = 0; mu[k] > 0 && c < C; c++) d->f[c] += mu[k] * d->P[k * C + c];
    for (int64_t c = 0; c < C; c++)
        if (c != y && d->f[c] > d->f[best]) best = c;
    return best;
}

static double weight_of(const descent *d, int64_t row) {
    return d->m->weight ? d->m->weight[row] / d->mean : 1;
}

/* One visit. */
static krein_status learn(descent *d, int64_t t) {
    krein_mirror *m = d->m;
    krein_mirror_store *s = &d->store;
    krein_status st = s->keep->visit(s, t);
    if (st != KREIN_OK) return st;
    int64_t y = m->class[s->row], z = rival(d, y);
    double w = weight_of(d, s->row);
    m->visits++;
    if (w > 0 && d->f[y] - d->f[z] < 1) {
        m->loss += w * (1 - d->f[y] + d->f[z]) / (double)m->n;
        d->changes += w;
        s->keep->change(s, m->mu, d->P, y, z, w, d->square);
        if (m->B) {
            m->B[s->row * m->classes + y] += w;
            m->B[s->row * m->classes + z] -= w;
        }
    }
    update_weights(d);
    return KREIN_OK;
}

static krein_status breathe(descent *d, int64_t t) {
    krein_mirror *m = d->m;
    if (t % BREATH) return KREIN_OK;
    if (m->what)
        krein__progress(m->ctx, m->what, (double)m->visits, (double)m->n * (double)m->epochs);
    d->late = m->visits > 0 && krein__late(m->deadline);
    return krein__poll(m->ctx);
}

/* After whole epochs s_i = (times that row i changed theta) / (times that it was visited) is a
 * point of the dual problem: sum_i s_i / n - Omega*(theta / t), Omega*(theta) = |v|_q^2 / (2
 * alpha). */
static double bound(const descent *d) {
    const krein_mirror *m = d->m;
    double t = fmax(1, (double)m->visits), most = 0, sum = 0;
    for (int64_t k = 0; k < m->M; k++) most = fmax(most, d->a[k] / t - m->beta * m->r[k]);
    for (int64_t k = 0; most > 0 && k < m->M; k++)
        sum += pow(fmax(0, (d->a[k] / t - m->beta * m->r[k]) / most), d->q);
    return d->changes / t - pow(sum, 2 / d->q) * most * most / (2 * m->alpha);
}

/* alpha/2 |c|_p^2 + beta r'c */
static double regulariser(const descent *d) {
    const krein_mirror *m = d->m;
    double most = 0, sum = 0, penalty = 0;
    for (int64_t k = 0; k < m->M; k++) most = fmax(most, d->c[k]);
    for (int64_t k = 0; k < m->M; k++) {
        penalty += m->r[k] * d->c[k];
        if (most > 0) sum += pow(d->c[k] / most, d->p);
    }
    double norm = most > 0 ? most * pow(sum, 1 / d->p) : 0;
    return m->alpha / 2 * norm * norm + m->beta * penalty;
}

static krein_status epoch(descent *d) {
    krein_status st = KREIN_OK;
    d->m->loss = 0;
    for (int64_t t = 0; t < d->m->n && !d->late; t++) {
        TRY(breathe(d, t));
        if (!d->late) TRY(learn(d, t));
    }
    d->store.keep->squares(&d->store, d->square);
    update_weights(d);
    d->m->regulariser = regulariser(d);
    d->m->bound = bound(d);
done:
    return st;
}

static krein_status objective(descent *d, double *value) {
    krein_status st = KREIN_OK;
    krein_mirror *m = d->m;
    krein_mirror_store *s = &d->store;
    double sum = 0;
    for (int64_t t = 0; t < m->n; t++) {
        TRY(s->keep->visit(s, t));
        int64_t y = m->class[s->row], z = rival(d, y);
        sum += weight_of(d, s->row) * fmax(0, 1 - d->f[y] + d->f[z]);
        if (t % BREATH == 0) TRY(krein__poll(m->ctx));
    }
    *value = sum / (double)m->n + m->regulariser;
done:
    return st;
}

static krein_status open(descent *d) {
    krein_mirror *m = d->m;
    krein_ctx *ctx = m->ctx;
    krein_status st = KREIN_OK;
    d->q = krein__mirror_q(m->M);
    d->p = d->q / (d->q - 1);
    for (int64_t i = 0; m->weight && i < m->n; i++) d->mean += m->weight[i] / (double)m->n;
    if (!(d->mean > 0)) d->mean = 1;
    ZNEW(d->square, m->M);
    ZNEW(d->a, m->M);
    ZNEW(d->c, m->M);
    ZNEW(d->P, m->M * m->classes);
    ZNEW(d->f, m->classes);
    memset(m->mu, 0, (size_t)m->M * sizeof *m->mu);
    if (m->B) memset(m->B, 0, (size_t)(m->n * m->classes) * sizeof *m->B);
    for (int64_t e = 0; m->objective && e < m->epochs; e++) m->objective[e] = NAN;
    m->visits = 0;
    m->loss = m->regulariser = m->bound = 0;
    d->store.m = m;
    d->store.keep = m->K ? &krein__mirror_matrices : &krein__mirror_features;
    TRY(d->store.keep->open(&d->store));
done:
    return st;
}

static void close(descent *d) {
    krein_ctx *ctx = d->m->ctx;
    if (d->store.keep) d->store.keep->close(&d->store);
    krein__free(ctx, d->square);
    krein__free(ctx, d->a);
    krein__free(ctx, d->c);
    krein__free(ctx, d->P);
    krein__free(ctx, d->f);
}

/* The losses were of weights on the way, so the objective is not known but about: near enough to
 * tell when more epochs do no good. */
static bool near(const krein_mirror *m) {
    return m->tol > 0 && m->visits > m->n && m->loss + m->regulariser <= (1 + m->tol) * m->bound;
}

krein_status krein__mirror(krein_mirror *m) {
    krein_status st = KREIN_OK;
    descent d = {.m = m};
    krein_compute compute = krein__compute_begin();
    TRY(open(&d));
    for (int64_t e = 0; e < m->epochs && !d.late && !near(m); e++) {
        TRY(epoch(&d));
        if (m->objective) TRY(objective(&d, &m->objective[e]));
    }
    if (m->norm) memcpy(m->norm, d.c, (size_t)m->M * sizeof *m->norm);
    if (m->what) krein__progress(m->ctx, m->what, 1, 1);
done:
    close(&d);
    krein__compute_end(compute);
    return st;
}

double krein__mirror_bytes(int64_t n, int64_t M, int64_t classes, int64_t D, bool matrices) {
    double N = (double)n, C = (double)classes, K = (double)M;
    return (matrices ? 8 * N * C * (K + 1) : 12 * C * ((double)D + 1)) + 8 * (K * C + 3 * K + C) +
           1024;
}

const krein_class krein__solver_mirror = {
    "mirror", "mirror and sub-gradient descent, kernels weighed row by row", "li2018multi", NULL,
    "Multi-class hinge loss, squared norm over kernels of order near one, and a penalty that "
    "leaves "
    "kernels out. On kernel matrices or on features. Learners: mkl(method=smsd), mkl(method=ufo)."};
