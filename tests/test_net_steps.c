/* test_net_steps.c -- optimisers against their formulas, proximal steps against reference values
 * and the minimum that they are, schedules. */
#include "common.h"

#include "net/optimizer.h"
#include "net/penalty.h"
#include "net/schedule.h"

#include "base/rng.h"

/* ---- optimisers --------------------------------------------------------- */

static const krein_optimizer_class *class_of(int64_t i) {
    return (const krein_optimizer_class *)krein__optimizers[i];
}

/* The papers' formulas on one parameter, in double. */
static void slow_step(const krein_optimizer_class *c, int64_t t, double rate, double g, double *p,
                      double *s, double *r) {
    if (c == &krein__optimizer_sgd) {
        *s = 0.9 * *s + g;
        *p -= rate * *s;
    } else if (c == &krein__optimizer_adam) {
        *s = 0.9 * *s + 0.1 * g;
        *r = 0.999 * *r + 0.001 * g * g;
        double m = *s / (1 - pow(0.9, (double)t)), v = *r / (1 - pow(0.999, (double)t));
        *p -= rate * m / (sqrt(v) + 1e-8);
    } else {
        *s = 0.95 * *s + 0.05 * g * g;
        double x = g * sqrt(*r + 1e-6) / sqrt(*s + 1e-6);
        *r = 0.95 * *r + 0.05 * x * x;
        *p -= rate * x;
    }
}

static void optimizers(void) {
    enum { N = 37, STEPS = 30 };
    krein_ctx *ctx = test_ctx(1);
    for (int64_t q = 0; q < krein__optimizer_count; q++) {
        krein_optimizer o = {.cls = class_of(q)};
        int64_t which;
        CHECK(krein__parse_spec(ctx, o.cls->cls.name, "optimizer", krein__optimizers,
                                krein__optimizer_count, &which, &o.values) == KREIN_OK);
        CHECK(which == q && o.cls->states >= 1 && o.cls->states <= 2);
        float p[N], g[N], s[N] = {0}, r[N] = {0};
        double P[N], S[N] = {0}, R[N] = {0}, decay = 0.03, off = 0;
        for (int64_t i = 0; i < N; i++) P[i] = (double)(p[i] = (float)det(i, 1, 0));
        for (int64_t t = 1; t <= STEPS; t++) {
            double rate = 0.05 / (double)t;
            krein_step u = o.cls->step(&o, t, rate);
            u.decay = (float)decay;
            for (int64_t i = 0; i < N; i++) g[i] = (float)det(i, t, 0.5);
            for (int64_t i = 0; i < N; i++)
                slow_step(o.cls, t, rate, (double)g[i] + decay * P[i], &P[i], &S[i], &R[i]);
            o.cls->update(&u, N, p, g, s, o.cls->states > 1 ? r : NULL);
        }
        for (int64_t i = 0; i < N; i++) off = fmax(off, fabs((double)p[i] - P[i]));
        CHECK_ELSE(off < 2e-5, "%s: off by %g\n", o.cls->cls.name, off);
        krein__values_clear(ctx, &o.values);
    }
    krein_ctx_destroy(ctx);
}

/* ---- penalties ---------------------------------------------------------- */

static const krein_penalty kinds[] = {KREIN_PENALTY_TRACE, KREIN_PENALTY_L1, KREIN_PENALTY_GROUP};

/* FORMULAS 11: singular value thresholding of det(5, 4) by 0.4. */
static void reference(void) {
    krein_ctx *ctx = test_ctx(1);
    float *Q = test_dense(5, 4, 0);
    static const double row[] = {-.039311135374, .623030444861, .679733106497, .21884871449};
    double value;
    CHECK(krein__penalty_value(ctx, KREIN_PENALTY_TRACE, 0, 1, 5, 4, Q, &value) == KREIN_OK);
    CHECK_REL(value, 2.146812523266 + 1.934739873896 + 1.253793016142 + .666635047286, 1e-6);
    CHECK(krein__penalty_prox(ctx, KREIN_PENALTY_TRACE, 0, 0.4, 5, 4, Q) == KREIN_OK);
    for (int j = 0; j < 4; j++) CHECK_ABS((double)Q[j], row[j], 1e-6);
    CHECK(krein__penalty_value(ctx, KREIN_PENALTY_TRACE, 0, 2, 5, 4, Q, &value) == KREIN_OK);
    CHECK_REL(value, 2 * (2.146812523266 + 1.934739873896 + 1.253793016142 + .666635047286 - 1.6),
              1e-6);
    free(Q);
    krein_ctx_destroy(ctx);
}

static double moved(krein_ctx *ctx, krein_penalty kind, int64_t theta, double tau, int64_t rows,
                    int64_t columns, const float *Q, const float *V) {
    double value = 0, sum = 0;
    CHECK(krein__penalty_value(ctx, kind, theta, tau, rows, columns, V, &value) == KREIN_OK);
    for (int64_t i = 0; i < rows * columns; i++) {
        double d = (double)V[i] - (double)Q[i];
        sum += d * d / 2;
    }
    return sum + value;
}

/* ---- the tail of the singular values ------------------------------------ */

/* FORMULAS 11: all but the largest singular value of det(5, 4) made less by 0.4. */
static void tail_reference(void) {
    krein_ctx *ctx = test_ctx(1);
    float *Q = test_dense(5, 4, 0), *V = test_dense(5, 4, 0);
    static const double row[] = {-.125206377256, .641406410037, .789044124956, .206858217489},
                        s[] = {2.146812523266, 1.934739873896, 1.253793016142, .666635047286};
    double value, tail = 0;
    for (int64_t theta = 4; theta >= 0; theta--) {
        CHECK(krein__penalty_value(ctx, KREIN_PENALTY_TRACE, theta, 1, 5, 4, Q, &value) ==
              KREIN_OK);
        CHECK_ABS(value, tail, 1e-6);
        if (theta > 0) tail += s[theta - 1];
    }
    CHECK(krein__penalty_prox(ctx, KREIN_PENALTY_TRACE, 1, 0.4, 5, 4, V) == KREIN_OK);
    for (int j = 0; j < 4; j++) CHECK_ABS((double)V[j], row[j], 1e-6);
    CHECK_REL(moved(ctx, KREIN_PENALTY_TRACE, 1, 0.4, 5, 4, Q, V), 1.3020671749, 1e-6);
    memcpy(V, Q, 20 * sizeof *V);
    CHECK(krein__penalty_prox(ctx, KREIN_PENALTY_TRACE, 4, 0.4, 5, 4, V) == KREIN_OK);
    for (int i = 0; i < 20; i++) CHECK_ABS((double)V[i], (double)Q[i], 1e-6);
    free(Q), free(V);
    krein_ctx_destroy(ctx);
}

/* The least that a solver that knows nothing of the problem finds from a random start: along one
 * entry after the other, with steps that become shorter where none helps. */
static double search(krein_ctx *ctx, int64_t theta, double tau, int64_t rows, int64_t columns,
                     const float *Q, uint64_t start) {
    int64_t size = rows * columns;
    float *V = test_new(size, sizeof *V);
    krein_rng g = {start, KREIN_STREAM_GENERATE};
    for (int64_t i = 0; i < size; i++) V[i] = (float)krein__rng_normal(g, 0, (uint64_t)i);
    double least = moved(ctx, KREIN_PENALTY_TRACE, theta, tau, rows, columns, Q, V);
    for (double h = 0.5; h > 1e-4;) {
        bool better = false;
        for (int64_t i = 0; i < 2 * size; i++) {
            float was = V[i / 2];
            V[i / 2] += (float)(i % 2 ? h : -h);
            double now = moved(ctx, KREIN_PENALTY_TRACE, theta, tau, rows, columns, Q, V);
            if (now < least - 1e-9) {
                least = now;
                better = true;
            } else {
                V[i / 2] = was;
            }
        }
        if (!better) h /= 2;
    }
    free(V);
    return least;
}

/* The function is not convex: the proximal point is the least of what searches from many starts
 * find, for tall and wide W. */
static void tail_against_searches(void) {
    static const int64_t shape[][2] = {{5, 4}, {3, 4}};
    krein_ctx *ctx = test_ctx(1);
    for (size_t q = 0; q < sizeof shape / sizeof *shape; q++)
        for (int64_t theta = 1; theta < 3; theta++) {
            int64_t rows = shape[q][0], columns = shape[q][1];
            double tau = 0.7, least = INFINITY;
            float *Q = test_dense(rows, columns, 0.2), *V = test_dense(rows, columns, 0.2);
            CHECK(krein__penalty_prox(ctx, KREIN_PENALTY_TRACE, theta, tau, rows, columns, V) ==
                  KREIN_OK);
            double found = moved(ctx, KREIN_PENALTY_TRACE, theta, tau, rows, columns, Q, V);
            for (uint64_t start = 1; start <= 6; start++)
                least = fmin(least, search(ctx, theta, tau, rows, columns, Q, start));
            CHECK_ELSE(found <= least + 1e-6, "theta %lld: %.9g, and %.9g\n", (long long)theta,
                       found, least);
            CHECK_ELSE(least <= 1.1 * found, "theta %lld: %.9g, and %.9g\n", (long long)theta,
                       found, least); /* they do come near */
            free(Q), free(V);
        }
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

/* No step from the proximal point makes 1/2 |V - Q|^2 + tau penalty(V) less: those that a generic
 * solver would try, single entries and random directions, large and small. */
static void proximal_points_are_minima(void) {
    static const int64_t shape[][2] = {{5, 4}, {4, 5}, {9, 1}, {1, 6}, {12, 3}};
    krein_ctx *ctx = test_ctx(1);
    for (size_t q = 0; q < sizeof kinds / sizeof *kinds; q++)
        for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
            for (double tau = 0.05; tau < 8; tau *= 4) {
                int64_t rows = shape[s][0], columns = shape[s][1], size = rows * columns;
                float *Q = test_dense(rows, columns, 0.3), *V = test_dense(rows, columns, 0.3);
                float *T = test_new(size, sizeof *T);
                CHECK(krein__penalty_prox(ctx, kinds[q], 0, tau, rows, columns, V) == KREIN_OK);
                double least = moved(ctx, kinds[q], 0, tau, rows, columns, Q, V), lower = 0;
                krein_rng g = {5, KREIN_STREAM_GENERATE};
                for (int64_t trial = 0; trial < 4 * size; trial++)
                    for (double h = 0.3; h > 1e-4; h /= 10) {
                        memcpy(T, V, (size_t)size * sizeof *T);
                        for (int64_t i = 0; i < size; i++) {
                            bool all = trial >= 2 * size;
                            double d = all ? krein__rng_normal(g, (uint64_t)trial, (uint64_t)i)
                                           : (i == trial / 2) * (trial % 2 ? 1.0 : -1.0);
                            T[i] += (float)(h * d);
                        }
                        lower =
                            fmax(lower, least - moved(ctx, kinds[q], 0, tau, rows, columns, Q, T));
                    }
                CHECK_ELSE(lower <= 2e-6 * fmax(1, least), "penalty %d: %g lower\n", (int)kinds[q],
                           lower);
                free(Q), free(V), free(T);
            }
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

static void other_penalties(void) {
    krein_ctx *ctx = test_ctx(1);
    float *W = test_dense(4, 3, 0), *was = test_dense(4, 3, 0);
    double value, sum = 0;
    for (int i = 0; i < 12; i++) sum += (double)W[i] * (double)W[i];
    CHECK(krein__penalty_value(ctx, KREIN_PENALTY_FROBENIUS, 0, 0.3, 4, 3, W, &value) == KREIN_OK);
    CHECK_REL(value, 0.3 * sum, 1e-12);
    CHECK(krein__penalty_decay(KREIN_PENALTY_FROBENIUS, 0.3) == 0.6);
    for (size_t q = 0; q < sizeof kinds / sizeof *kinds; q++)
        CHECK(krein__penalty_decay(kinds[q], 0.3) == 0);
    CHECK(krein__penalty_prox(ctx, KREIN_PENALTY_FROBENIUS, 0, 1, 4, 3, W) == KREIN_OK);
    CHECK(krein__penalty_prox(ctx, KREIN_PENALTY_NONE, 0, 1, 4, 3, W) == KREIN_OK);
    CHECK(krein__penalty_prox(ctx, KREIN_PENALTY_TRACE, 0, 0, 4, 3, W) == KREIN_OK);
    CHECK(memcmp(W, was, 12 * sizeof *W) == 0);
    W[5] = INFINITY;
    CHECK(krein__penalty_prox(ctx, KREIN_PENALTY_TRACE, 0, 1, 4, 3, W) == KREIN_ENUMERIC);
    free(W), free(was);
    krein_ctx_destroy(ctx);
}

static void every_allocation(void) {
    test_memory m;
    krein_ctx *ctx = test_ctx_with(1, &m);
    TEST_EVERY_ALLOCATION(&m, k) {
        float *W = test_dense(4, 3, 0);
        double value;
        krein_status st = krein__penalty_prox(ctx, KREIN_PENALTY_TRACE, 0, 0.1, 4, 3, W);
        if (st == KREIN_OK)
            st = krein__penalty_value(ctx, KREIN_PENALTY_TRACE, 0, 0.1, 4, 3, W, &value);
        CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
        free(W);
    }
    krein_ctx_destroy(ctx);
}

/* ---- schedules ---------------------------------------------------------- */

static void schedules(void) {
    enum { T = 400 };
    for (int kind = KREIN_SCHEDULE_CONSTANT; kind <= KREIN_SCHEDULE_WARMUP; kind++)
        for (int64_t t = 0; t < T; t++) {
            double f = krein__schedule((krein_schedule_kind)kind, t, T);
            CHECK(f > 0 && f <= 1);
            double next = krein__schedule((krein_schedule_kind)kind, t + 1, T);
            if (kind != KREIN_SCHEDULE_WARMUP || t >= 20) CHECK(next <= f);
            if (kind == KREIN_SCHEDULE_WARMUP && t < 18) CHECK(next > f);
        }
    CHECK(krein__schedule(KREIN_SCHEDULE_CONSTANT, 7, 10) == 1);
    CHECK(krein__schedule(KREIN_SCHEDULE_STEP, 4, 10) == 1);
    CHECK(krein__schedule(KREIN_SCHEDULE_STEP, 6, 10) == 0.1);
    CHECK(krein__schedule(KREIN_SCHEDULE_STEP, 9, 10) == 0.01);
    CHECK_REL(krein__schedule(KREIN_SCHEDULE_COSINE, 2, 5), 0.5, 1e-12);
    CHECK(krein__schedule(KREIN_SCHEDULE_COSINE, 0, 0) > 0);
}

int main(void) {
    RUN(optimizers);
    RUN(reference);
    RUN(tail_reference);
    RUN(tail_against_searches);
    RUN(proximal_points_are_minima);
    RUN(other_penalties);
    RUN(every_allocation);
    RUN(schedules);
    return DONE();
}
