/* leastsq.c -- Levenberg-Marquardt: (J'J + mu diag(J'J)) step = -J'r, mu by ten down after a step
 * that lowers |r|^2 and by four up after one that does not. For a handful of unknowns. */
#include "num/leastsq.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

typedef struct work {
    int64_t n, m;
    double *r, *trial, *x, *j; /* m, m, n, n x m */
    double *h, *a, *g;         /* n x n twice, n */
} work;

static double square_of(int64_t m, const double *r) {
    double sum = 0;
    for (int64_t i = 0; i < m; i++) sum += r[i] * r[i];
    return isfinite(sum) ? sum : INFINITY;
}

/* H = J'J, g = -J'r from differences at x. */
static void linearise(work *w, krein_residual_fn f, void *user, double *x) {
    for (int64_t i = 0; i < w->n; i++) {
        double keep = x[i], step = 1e-6 * fmax(fabs(keep), 1e-2);
        x[i] = keep + step;
        f(user, x, w->trial);
        x[i] = keep;
        for (int64_t l = 0; l < w->m; l++) w->j[i * w->m + l] = (w->trial[l] - w->r[l]) / step;
    }
    for (int64_t i = 0; i < w->n; i++) {
        w->g[i] = -krein__ddot(w->m, w->j + i * w->m, w->r);
        for (int64_t k = i; k < w->n; k++)
            w->h[i * w->n + k] = krein__ddot(w->m, w->j + i * w->m, w->j + k * w->m);
    }
}

/* A step to w->x with the damping mu; false where the equations cannot be solved. */
static bool damped(work *w, double mu, const double *x) {
    int64_t n = w->n;
    memcpy(w->a, w->h, (size_t)(n * n) * sizeof *w->a);
    for (int64_t i = 0; i < n; i++) w->a[i * n + i] += mu * w->a[i * n + i] + 1e-14;
    if (krein__dpotrf(n, w->a, n) != 0) return false;
    memcpy(w->x, w->g, (size_t)n * sizeof *w->x);
    krein__dtrsm(true, n, 1, w->a, n, w->x, 1);
    krein__dtrsm(false, n, 1, w->a, n, w->x, 1);
    for (int64_t i = 0; i < n; i++) w->x[i] += x[i];
    return true;
}

static double descend(work *w, krein_residual_fn f, void *user, int64_t steps, double *x) {
    double mu = 1e-2;
    f(user, x, w->r);
    double now = square_of(w->m, w->r);
    for (int64_t step = 0; step < steps && now > 0 && now < INFINITY; step++) {
        double before = now;
        bool better = false;
        linearise(w, f, user, x);
        for (int tries = 0; tries < 8 && !better; tries++) {
            double next = INFINITY;
            if (damped(w, mu, x)) {
                f(user, w->x, w->trial);
                next = square_of(w->m, w->trial);
            }
            better = next < now;
            if (better) {
                now = next;
                memcpy(x, w->x, (size_t)w->n * sizeof *x);
                memcpy(w->r, w->trial, (size_t)w->m * sizeof *w->r);
            }
            mu = better ? fmax(mu / 10, 1e-12) : mu * 4;
        }
        if (!better || now > (1 - 1e-6) * before) break;
    }
    return now;
}

krein_status krein__leastsq(krein_ctx *ctx, int64_t n, int64_t m, krein_residual_fn f, void *user,
                            int64_t steps, double *x, double *square) {
    krein_status st = KREIN_OK;
    work w = {.n = n, .m = m};
    NEW(w.r, m);
    NEW(w.trial, m);
    NEW(w.x, n);
    NEW(w.j, n * m);
    NEW(w.h, n * n);
    NEW(w.a, n * n);
    NEW(w.g, n);
    *square = descend(&w, f, user, steps, x);
done:
    krein__free(ctx, w.r);
    krein__free(ctx, w.trial);
    krein__free(ctx, w.x);
    krein__free(ctx, w.j);
    krein__free(ctx, w.h);
    krein__free(ctx, w.a);
    krein__free(ctx, w.g);
    return st;
}
