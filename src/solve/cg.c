/* cg -- preconditioned conjugate gradients in an inner product (hestenes1952)
 *
 *     z = P^-1 r,  rho = r'Gz,  p = z + (rho / rho before) p,  a = rho / (p'GAp),  x += a p,
 *     r -= a Ap
 * Columns go together, so that a product with A reads its data once for all, and stop on their own.
 *
 * The steps are those of Lanczos (golub2013, 10.2 and 11.3): with a_i and b_i = rho_i / rho_{i-1}
 * the tridiagonal matrix of 1/a_i + b_i/a_{i-1} and sqrt(b_{i+1})/a_i has eigenvalues within those
 * of P^-1 A, the extreme ones first: their ratio estimates the condition number. */
#include "solve/cg.h"

#include "base/spec.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

enum { LANCZOS = 256 }; /* steps that are remembered */

typedef struct work {
    double *z, *p, *q, *Gr, *Gp;
    double *rho, *last;   /* k */
    double *step, *ratio; /* k x LANCZOS */
    int64_t *steps;       /* k */
    bool *ended;
} work;

static double dot(int64_t n, int64_t k, int64_t j, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i * k + j] * b[i * k + j];
    return sum;
}

/* Residuals of all columns; the largest. */
static double worst(const krein_cg *c, double tol, const double *r, work *w) {
    double most = 0;
    for (int64_t j = 0; j < c->k; j++) {
        double square = dot(c->n, c->k, j, r, w->Gr);
        double size = square > 0 ? sqrt(square) : square <= 0 ? 0 : INFINITY;
        if (c->unit[j] > 0)
            size /= c->unit[j];
        else
            size = 0; /* targets without variance: x = 0 is it */
        w->ended[j] = w->ended[j] || size <= tol;
        most = fmax(most, size);
    }
    return most;
}

static void weigh(const krein_cg *c, const double *v, double *out) {
    if (c->weigh)
        c->weigh(c->state, v, out);
    else
        memcpy(out, v, (size_t)(c->n * c->k) * sizeof *out);
}

static krein_status precondition(const krein_cg *c, const double *r, const work *w) {
    if (c->precondition) return c->precondition(c->state, r, w->Gr, w->z);
    memcpy(w->z, r, (size_t)(c->n * c->k) * sizeof *r);
    return KREIN_OK;
}

static void update(const krein_cg *c, double *x, double *r, work *w) {
    int64_t n = c->n, k = c->k;
    for (int64_t j = 0; j < k; j++) {
        double curve = dot(n, k, j, w->q, w->Gp);
        double a = curve > 0 && !w->ended[j] ? w->rho[j] / curve : 0;
        if (a == 0) w->ended[j] = true;
        for (int64_t i = 0; i < n; i++) {
            x[i * k + j] += a * w->p[i * k + j];
            r[i * k + j] -= a * w->q[i * k + j];
        }
        if (a > 0 && w->steps[j] < LANCZOS) w->step[j * LANCZOS + w->steps[j]++] = a;
    }
}

static void direct(const krein_cg *c, work *w, bool first) {
    int64_t n = c->n, k = c->k;
    for (int64_t j = 0; j < k; j++) {
        w->last[j] = w->rho[j];
        w->rho[j] = dot(n, k, j, w->z, w->Gr);
        double b = !first && w->last[j] > 0 && w->rho[j] > 0 ? w->rho[j] / w->last[j] : 0;
        if (w->steps[j] < LANCZOS) w->ratio[j * LANCZOS + w->steps[j]] = b;
        for (int64_t i = 0; i < n; i++) w->p[i * k + j] = w->z[i * k + j] + b * w->p[i * k + j];
    }
}

/* Of the column with most steps. */
static krein_status condition(const krein_cg *c, const work *w, double *out) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    int64_t best = 0, m;
    double *T = NULL, *value = NULL;
    for (int64_t j = 1; j < c->k; j++)
        if (w->steps[j] > w->steps[best]) best = j;
    m = w->steps[best];
    *out = NAN;
    if (m < 2) return KREIN_OK;
    const double *a = w->step + best * LANCZOS, *b = w->ratio + best * LANCZOS;
    ZNEW(T, m * m);
    NEW(value, m);
    for (int64_t i = 0; i < m; i++) {
        T[i * m + i] = 1 / a[i] + (i > 0 ? b[i] / a[i - 1] : 0);
        if (i + 1 < m) T[i * m + i + 1] = T[(i + 1) * m + i] = sqrt(b[i + 1]) / a[i];
    }
    TRY(krein__eigenvalues(ctx, m, T, m, value));
    if (value[0] > 0) *out = value[m - 1] / value[0];
done:
    krein__free(ctx, T);
    krein__free(ctx, value);
    return st;
}

krein_status krein__cg(const krein_cg *c, const krein_pcg_limits *o, double *x, double *r,
                       krein_cg_result *out) {
    krein_ctx *ctx = c->ctx;
    krein_status st = KREIN_OK;
    int64_t size = c->n * c->k;
    work w = {0};
    *out = (krein_cg_result){.condition = NAN};
    NEW(w.z, size);
    ZNEW(w.p, size);
    NEW(w.q, size);
    NEW(w.Gr, size);
    NEW(w.Gp, size);
    ZNEW(w.rho, c->k);
    ZNEW(w.last, c->k);
    ZNEW(w.step, c->k * LANCZOS);
    ZNEW(w.ratio, c->k * LANCZOS);
    ZNEW(w.steps, c->k);
    ZNEW(w.ended, c->k);
    weigh(c, r, w.Gr);
    out->residual = worst(c, o->tol, r, &w);
    for (;;) {
        bool going = false;
        for (int64_t j = 0; j < c->k; j++) going = going || !w.ended[j];
        if (!going || out->iterations >= o->iterations || krein__late(o->deadline)) break;
        TRY(precondition(c, r, &w));
        direct(c, &w, out->iterations == 0);
        weigh(c, w.p, w.Gp);
        TRY(c->apply(c->state, w.p, w.Gp, w.q));
        update(c, x, r, &w);
        out->iterations++;
        weigh(c, r, w.Gr);
        out->residual = worst(c, o->tol, r, &w);
        krein__progress(ctx, o->what, (double)out->iterations, 0);
        TRY(krein__poll(ctx));
    }
    out->converged = out->residual <= o->tol;
    TRY(condition(c, &w, &out->condition));
done:;
    void *all[] = {w.z, w.p, w.q, w.Gr, w.Gp, w.rho, w.last, w.step, w.ratio, w.steps, w.ended};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
    return st;
}

double krein__cg_bytes(int64_t n, int64_t k) {
    return 40 * (double)n * (double)k + 16.0 * LANCZOS * (double)k + 16.0 * LANCZOS * LANCZOS +
           4096;
}

const krein_class krein__solver_cg = {
    .name = "cg",
    .summary = "conjugate gradients in an inner product, with an estimate of the condition number",
    .cite = "hestenes1952",
    .details = "Any operator that is self-adjoint in some inner product, with or without a "
               "preconditioner; several right sides together. Used by laprls."};
