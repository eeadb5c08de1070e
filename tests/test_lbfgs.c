/* test_lbfgs.c -- minima of functions whose minimum is known. */
#include "common.h"

#include "num/lbfgs.h"

typedef struct known {
    int64_t n, calls, most; /* most: fails from that call on */
    double wall;            /* infinite where a number is above it */
} known;

/* sum_i (i + 1) (x_i - i)^2, condition n */
static krein_status quadratic(void *user, const double *x, double *value, double *g) {
    known *k = user;
    *value = 0;
    if (k->most > 0 && ++k->calls >= k->most) return KREIN_ECANCEL;
    for (int64_t i = 0; i < k->n; i++) {
        double off = x[i] - (double)i;
        *value += (double)(i + 1) * off * off;
        g[i] = 2 * (double)(i + 1) * off;
        if (x[i] > k->wall) *value = INFINITY;
    }
    return KREIN_OK;
}

/* Rosenbrock's valley: minimum 0 at (1, 1); not convex. */
static krein_status valley(void *user, const double *x, double *value, double *g) {
    double a = 1 - x[0], b = x[1] - x[0] * x[0];
    (void)user;
    *value = a * a + 100 * b * b;
    g[0] = -2 * a - 400 * x[0] * b;
    g[1] = 200 * b;
    return KREIN_OK;
}

static krein_status nothing(void *user, const double *x, double *value, double *g) {
    (void)user, (void)x;
    g[0] = 0;
    *value = INFINITY;
    return KREIN_OK;
}

static void minima(void) {
    enum { N = 40 };
    krein_ctx *ctx = test_ctx(1);
    krein_lbfgs_options o = {.steps = 500, .reach = 10, .least = 1e-14};
    krein_lbfgs_report r;
    double x[N] = {0}, y[2] = {-1.2, 1}, off = 0;
    known k = {.n = N, .wall = INFINITY};
    CHECK(krein__lbfgs(ctx, N, quadratic, &k, &o, x, &r) == KREIN_OK);
    for (int i = 0; i < N; i++) off = fmax(off, fabs(x[i] - i));
    CHECK(off < 1e-5 && r.converged && r.value < 1e-9 && r.start > 1e4);
    CHECK(r.steps < 200 && r.evaluations < 2 * r.steps);
    o.reach = 1;
    CHECK(krein__lbfgs(ctx, 2, valley, NULL, &o, y, &r) == KREIN_OK);
    CHECK(r.converged && fabs(y[0] - 1) < 1e-5 && fabs(y[1] - 1) < 1e-5);
    CHECK_REL(r.start, 24.2, 1e-12);
    krein_ctx_destroy(ctx);
}

/* Steps are no longer than allowed, end where told, and stay on this side of a wall. */
static void limits(void) {
    krein_ctx *ctx = test_ctx(1);
    krein_lbfgs_options o = {.steps = 3, .reach = 0.5, .least = 1e-9};
    krein_lbfgs_report r;
    double x[9] = {0}, one = 7;
    known k = {.n = 9, .wall = INFINITY};
    CHECK(krein__lbfgs(ctx, 9, quadratic, &k, &o, x, &r) == KREIN_OK);
    CHECK(r.steps == 3 && !r.converged && r.value < r.start && x[8] <= 1.5 && x[8] > 0);
    o.steps = 200;
    k.wall = 6.5;
    CHECK(krein__lbfgs(ctx, 9, quadratic, &k, &o, x, &r) == KREIN_OK);
    CHECK(isfinite(r.value) && x[8] <= 6.5);
    k.most = 4;
    CHECK(krein__lbfgs(ctx, 9, quadratic, &k, &o, x, &r) == KREIN_ECANCEL);
    CHECK(krein__lbfgs(ctx, 1, nothing, NULL, &o, &one, &r) == KREIN_OK);
    CHECK(one == 7 && r.steps == 0 && isinf(r.start));
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

int main(void) {
    RUN(minima);
    RUN(limits);
    return DONE();
}
