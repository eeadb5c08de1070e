/* test_dual_walk.c -- leave-one-out on the kernel matrix in float32: against the eigendecomposition
 * in float64, against fits without the row, and what float32 does not resolve. */
#include "dual.h"

#include "solve/nearby.h"

/* ---- inputs ------------------------------------------------------------- */

/* Targets far from zero, and a kernel that is 3 on the diagonal; K has the numbers of float32. */
static problem make_narrow(int64_t n, int64_t k, int classes, bool weights, double s,
                           double noise) {
    problem p = make(n, k, classes, weights, s, noise);
    p.narrow = test_new(n * n, sizeof *p.narrow);
    for (int64_t e = 0; e < n * n; e++) {
        p.narrow[e] = (float)(3 * p.K[e]);
        p.K[e] = (double)p.narrow[e];
    }
    for (int64_t e = 0; e < n * k && !classes; e++) p.y[e] += 7;
    return p;
}

/* ---- the factor --------------------------------------------------------- */

static void factor(void) {
    static const int64_t sizes[] = {1, 2, 127, 300, 1600};
    krein_ctx *ctx = test_ctx(2);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t n = sizes[s], lda = n + 3, pivot = -1;
        if (n > 1000 && test_sanitized()) continue;
        float *u = test_new(n * lda, sizeof *u), *diagonal = test_new(n, sizeof *diagonal);
        float *b = test_new(2 * n, sizeof *b);
        double *v = test_new(n * n, sizeof *v), *exact = test_new(n, sizeof *exact);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                u[i * lda + j] = expf(-.1f * fabsf((float)(i - j))) + .1f * (float)(i == j);
                v[i * n + j] = (double)u[i * lda + j];
                b[2 * i] += u[i * lda + j]; /* of ones, and of 1, -1, 1 ... */
                b[2 * i + 1] += j % 2 ? -u[i * lda + j] : u[i * lda + j];
            }
        CHECK(krein__cholesky32(ctx, n, u, lda, NULL) == KREIN_OK);
        CHECK(krein__cholesky_solve32(ctx, n, u, lda, 2, b, 2) == KREIN_OK);
        CHECK(krein__cholesky_inverse_diagonal32(ctx, n, u, lda, diagonal) == KREIN_OK);
        CHECK(krein__cholesky(ctx, n, v, n, NULL) == KREIN_OK);
        CHECK(krein__cholesky_inverse_diagonal(ctx, n, v, n, exact) == KREIN_OK);
        /* The condition number is below 300, rounding 6e-8. */
        for (int64_t i = 0; i < n; i++) {
            CHECK_REL((double)diagonal[i], exact[i], 2e-5);
            CHECK_ABS((double)b[2 * i], 1, 2e-4);
            CHECK_ABS((double)b[2 * i + 1], i % 2 ? -1 : 1, 2e-4);
        }
        for (int64_t i = 0; i < n; i++) /* not positive in the last row */
            for (int64_t j = 0; j < n; j++) u[i * lda + j] = i == j ? (i == n - 1 ? -1 : 1) : 0;
        CHECK(krein__cholesky32(ctx, n, u, lda, &pivot) == KREIN_ENUMERIC && pivot == n - 1);
        u[0] = NAN;
        CHECK(krein__cholesky32(ctx, n, u, lda, &pivot) == KREIN_ENUMERIC && pivot == 0);
        free(u);
        free(diagonal);
        free(b);
        free(v);
        free(exact);
    }
    krein_ctx_destroy(ctx);
}

/* ---- the walk ----------------------------------------------------------- */

static void walk_is_path(void) {
    static const struct {
        int64_t n, k;
        int classes;
        bool weights;
        double s, noise;
    } all[] = {{600, 1, 0, false, .5, .5},  {600, 2, 0, true, 1, .5},   {600, 1, 2, false, .4, .5},
               {601, 3, 3, true, .4, .5},   {300, 3, 0, false, .3, .3}, {1600, 1, 0, true, .5, 1},
               {1000, 1, 0, false, .2, .5}, {1000, 1, 2, false, .1, .5}};
    krein_ctx *ctx = test_ctx(2);
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
        if (all[t].n > 1000 && test_sanitized()) continue;
        problem p =
            make_narrow(all[t].n, all[t].k, all[t].classes, all[t].weights, all[t].s, all[t].noise);
        krein_targets rows = targets(&p);
        int64_t size = p.n * p.k;
        double *alpha = test_new(size, sizeof *alpha), b[3], *again = test_new(size, sizeof *again);
        double c[3], *score = test_new(size, sizeof *score), *other = test_new(size, sizeof *other);
        krein_path walk = {0}, same, whole = {0}, one;
        bool below = true, solved = false;
        double start = 0;
        CHECK(krein__dual_start(ctx, NULL, p.narrow, &rows, p.n / 3, 1, &start) == KREIN_OK);
        CHECK(start > 0);
        CHECK(krein__dual_walk_from(ctx, p.narrow, &rows, start, &walk, alpha, b, score, &below) ==
              KREIN_OK);
        CHECK(!below && walk.n >= (krein__nearby_pays(p.n, p.k) ? 1 : 3) && walk.n <= 9);
        for (int64_t e = 0; e < p.n * p.n; e++)
            if (e / p.n >= e % p.n) CHECK((double)p.narrow[e] == p.K[e]);
        /* Every lambda visited. */
        same = walk;
        double *K = copy_of(&p);
        CHECK(krein__dual_path(ctx, K, &rows, &same) == KREIN_OK);
        for (int64_t l = 0; l < walk.n; l++) {
            CHECK_REL(walk.loss[l], same.loss[l], 1e-4);
            if (p.class) CHECK_ABS(walk.error[l], same.error[l], 1.5 / (double)p.n);
        }
        /* The least loss on the whole grid is within what another visit would have promised. */
        memcpy(K, p.K, (size_t)(p.n * p.n) * sizeof *K);
        CHECK(krein__dual_path(ctx, K, &rows, &whole) == KREIN_OK);
        CHECK(walk.loss[krein__path_least(&walk)] < 1.011 * whole.loss[krein__path_least(&whole)]);
        /* The solution and the scores are those of the lambda chosen. */
        double lambda = walk.lambda[walk.best], scale = 0;
        memcpy(K, p.K, (size_t)(p.n * p.n) * sizeof *K);
        CHECK(krein__dual_solve(ctx, K, &rows, lambda, again, c) == KREIN_OK);
        for (int64_t e = 0; e < size; e++) scale = fmax(scale, fabs(again[e]));
        double digits = p.class ? 1e-5 : 1e-7; /* what is left of the targets */
        for (int64_t e = 0; e < size; e++) CHECK_ABS(alpha[e], again[e], digits * scale);
        for (int64_t o = 0; o < p.k; o++) CHECK_ABS(b[o], c[o], digits * (1 + fabs(c[o])));
        memcpy(K, p.K, (size_t)(p.n * p.n) * sizeof *K);
        CHECK(krein__dual_loo_at(ctx, K, &rows, lambda, true, &one, other) == KREIN_OK);
        for (int64_t e = 0; e < size; e++) CHECK_ABS(score[e], other[e], 1e-4 * (1 + fabs(p.y[e])));
        CHECK_REL(walk.loss[walk.best], one.loss[0], 1e-4);
        /* Given, the lambda leads to the same bits. */
        CHECK(krein__dual_fit32(ctx, p.narrow, &rows, lambda, again, c, other, &solved) ==
              KREIN_OK);
        CHECK(solved && same_bits(size, alpha, again) && same_bits(p.k, b, c) &&
              same_bits(size, score, other));
        free(K);
        free(alpha);
        free(again);
        free(score);
        free(other);
        drop(&p);
    }
    krein_ctx_destroy(ctx);
}

/* Twelve rows, each predicted by the fit to the other eleven with the same W lambda. */
static void brute_force(void) {
    enum { n = 12, k = 2 };
    krein_ctx *ctx = test_ctx(1);
    for (int weights = 0; weights < 2; weights++) {
        problem p = make_narrow(n, k, 0, weights, .7, .3);
        krein_targets rows = targets(&p);
        double alpha[n * k], b[k], score[n * k], total = 0;
        krein_path walk = {0};
        bool below;
        if (weights)
            for (int i = 0; i < n; i++) p.weight[i] = .5 + i % 3;
        for (int i = 0; i < n; i++) total += weights ? p.weight[i] : 1;
        CHECK(krein__dual_walk_from(ctx, p.narrow, &rows, .01, &walk, alpha, b, score, &below) ==
              KREIN_OK);
        double shift = walk.lambda[walk.best] * total, loss = 0;
        for (int out = 0; out < n; out++) {
            double K[(n - 1) * (n - 1)], y[(n - 1) * k], weight[n - 1], left[(n - 1) * k], c[k];
            double rest = 0;
            int at[n - 1], m = 0;
            for (int i = 0; i < n; i++)
                if (i != out) at[m++] = i;
            for (int i = 0; i < n - 1; i++) {
                for (int j = 0; j < n - 1; j++) K[i * (n - 1) + j] = p.K[at[i] * n + at[j]];
                for (int o = 0; o < k; o++) y[i * k + o] = p.y[at[i] * k + o];
                weight[i] = weights ? p.weight[at[i]] : 1;
                rest += weight[i];
            }
            krein_targets others = {n - 1, k, y, weight, NULL};
            CHECK(krein__dual_solve(ctx, K, &others, shift / rest, left, c) == KREIN_OK);
            for (int o = 0; o < k; o++) {
                double f = c[o], e;
                for (int i = 0; i < n - 1; i++) f += p.K[out * n + at[i]] * left[i * k + o];
                CHECK_ABS(score[out * k + o], f, 1e-4);
                e = p.y[out * k + o] - f;
                loss += (weights ? p.weight[out] : 1) * e * e / k / total;
            }
        }
        CHECK_REL(walk.loss[walk.best], loss, 1e-4);
        drop(&p);
    }
    krein_ctx_destroy(ctx);
}

/* ---- near a lambda that was solved -------------------------------------- */

/* The inverse factor of K + shift I in float32, and the diagonal of the inverse. */
static void invert(krein_ctx *ctx, const problem *p, double shift, float *V, double *diagonal) {
    int64_t n = p->n;
    float *narrow = test_new(n, sizeof *narrow);
    for (int64_t e = 0; e < n * n; e++) V[e] = e % n < e / n ? NAN : (float)p->K[e];
    for (int64_t i = 0; i < n; i++) V[i * n + i] += (float)shift;
    CHECK(krein__cholesky32(ctx, n, V, n, NULL) == KREIN_OK);
    CHECK(krein__cholesky_inverse_diagonal32(ctx, n, V, n, narrow) == KREIN_OK);
    for (int64_t i = 0; i < n; i++) diagonal[i] = (double)narrow[i];
    free(narrow);
}

/* Mean squared leave-one-out error without an intercept. */
static double left_out(const problem *p, const double *a, const double *diagonal) {
    double sum = 0;
    for (int64_t e = 0; e < p->n * p->k; e++)
        sum += pow(a[e] / diagonal[e / p->k], 2) / (double)p->n;
    return sum;
}

/* Rows 0 to 2 m - 1 become m pairs of equal rows. */
static void pair_up(problem *p, int64_t m) {
    double *K = copy_of(p);
    for (int64_t e = 0; e < p->n * p->n; e++) {
        int64_t i = e / p->n, j = e % p->n;
        p->K[e] = K[(i < 2 * m ? i % m : i) * p->n + (j < 2 * m ? j % m : j)];
    }
    free(K);
}

/* Solutions half a decade away to the digits of the series, about 3.6^-8. Losses to two
 * hundredths; where the kernel is so narrow that most rows have one neighbour or none, the estimate
 * of the diagonal is at its worst: a sixth. With pairs of equal rows, which have half of their
 * weight at zero: three hundredths, where one factor for the whole diagonal is off by six. */
static void nearby(void) {
    static const double steps[] = {-.5, -.25, 0, .25, .5}, widths[] = {.02, .3, 1, .06};
    static const double off[] = {1.0 / 6, .02, .02, .03};
    krein_ctx *ctx = test_ctx(2);
    int64_t n = 700, k = 2;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        problem p = make(n, k, 0, false, widths[w], .5);
        if (w == 3) pair_up(&p, 100);
        float *V = test_new(n * n, sizeof *V);
        double *diagonal = test_new(n, sizeof *diagonal), *about = test_new(n, sizeof *about);
        double *a = test_new(n * k, sizeof *a), *exact = test_new(n * k, sizeof *exact), shift = .3;
        krein_nearby *near = NULL;
        invert(ctx, &p, shift, V, diagonal);
        CHECK(krein__nearby_begin(ctx, n, k, V, diagonal, NULL, 0, p.y, shift, &near) == KREIN_OK);
        for (size_t s = 0; near && s < sizeof steps / sizeof *steps; s++) {
            double at = shift * pow(10, steps[s]), scale = 0;
            double *K = copy_of(&p), *own = test_new(n, sizeof *own);
            krein__nearby_at(near, at, a, about);
            for (int64_t i = 0; i < n; i++) K[i * n + i] += at;
            memcpy(exact, p.y, (size_t)(n * k) * sizeof *exact);
            CHECK(krein__cholesky(ctx, n, K, n, NULL) == KREIN_OK);
            CHECK(krein__cholesky_solve(ctx, n, K, n, k, exact, k) == KREIN_OK);
            CHECK(krein__cholesky_inverse_diagonal(ctx, n, K, n, own) == KREIN_OK);
            for (int64_t e = 0; e < n * k; e++) scale = fmax(scale, fabs(exact[e]));
            for (int64_t e = 0; e < n * k; e++) CHECK_ABS(a[e], exact[e], 1e-3 * scale);
            CHECK_REL(left_out(&p, a, about), left_out(&p, exact, own),
                      steps[s] == 0 ? 1e-3 : off[w]);
            free(K);
            free(own);
        }
        krein__nearby_end(near);
        free(V);
        free(diagonal);
        free(about);
        free(a);
        free(exact);
        drop(&p);
    }
    krein_ctx_destroy(ctx);
}

static void nearby_fails(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    problem p = make(40, 1, 0, false, .5, .5);
    float V[1600];
    double diagonal[40];
    invert(ctx, &p, 1, V, diagonal);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_nearby *near = NULL;
        krein_status st = krein__nearby_begin(ctx, p.n, 1, V, diagonal, NULL, 0, p.y, 1, &near);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        CHECK((near != NULL) == (st == KREIN_OK));
        krein__nearby_end(near);
    }
    drop(&p);
    krein_ctx_destroy(ctx);
}

/* ---- what float32 does not resolve -------------------------------------- */

/* Targets without noise and a wide kernel want a lambda that takes float64. */
static void smooth_is_below(void) {
    krein_ctx *ctx = test_ctx(2);
    problem p = make_narrow(400, 1, 0, false, 2, 0);
    krein_targets rows = targets(&p);
    double *alpha = test_new(p.n, sizeof *alpha), b;
    krein_path walk = {0};
    bool below = false, solved = true;
    CHECK(krein__dual_walk_from(ctx, p.narrow, &rows, 1e-5, &walk, alpha, &b, NULL, &below) ==
          KREIN_OK);
    CHECK(below && isfinite(walk.loss[walk.best]));
    CHECK(krein__dual_fit32(ctx, p.narrow, &rows, 1e-12, alpha, &b, NULL, &solved) == KREIN_OK);
    CHECK(!solved);
    /* From where float32 begins, when the start is below that. */
    CHECK(krein__dual_walk_from(ctx, p.narrow, &rows, 1e-14, &walk, alpha, &b, NULL, &below) ==
          KREIN_OK);
    CHECK(below);
    for (int64_t l = 0; l < walk.n; l++) CHECK(walk.lambda[l] > 1e-9);
    /* No lambda near the start makes the negative matrix positive. */
    for (int64_t e = 0; e < p.n * p.n; e++) p.narrow[e] = -p.narrow[e];
    CHECK(krein__dual_walk_from(ctx, p.narrow, &rows, 1e-9, &walk, alpha, &b, NULL, &below) ==
          KREIN_OK);
    CHECK(below);
    free(alpha);
    drop(&p);
    krein_ctx_destroy(ctx);
}

static void refusals(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p = make_narrow(20, 1, 0, true, 1, .5);
    krein_targets rows = targets(&p);
    double alpha[20], b;
    krein_path path = {0};
    bool below;
    for (int64_t i = 0; i < p.n; i++) p.weight[i] = 0;
    CHECK(krein__dual_walk_from(ctx, p.narrow, &rows, 1e-3, &path, alpha, &b, NULL, &below) ==
          KREIN_EDATA);
    drop(&p);
    krein_ctx_destroy(ctx);
}

/* ---- threads, memory ---------------------------------------------------- */

static void same_bits_on_any_threads(void) {
    problem p = make_narrow(test_sanitized() ? 400 : 1700, 2, 0, true, .5, .5);
    krein_targets rows = targets(&p);
    double *alpha[3], b[3][2];
    krein_path path[3];
    for (int t = 0; t < 3; t++) {
        krein_ctx *ctx = test_ctx(t + 1);
        bool below;
        memset(&path[t], 0, sizeof path[t]);
        alpha[t] = test_new(p.n * p.k, sizeof **alpha);
        CHECK(krein__dual_walk_from(ctx, p.narrow, &rows, 1e-3, &path[t], alpha[t], b[t], NULL,
                                    &below) == KREIN_OK);
        CHECK(path[t].n == path[0].n && path[t].best == path[0].best);
        CHECK(same_bits(path[0].n, path[t].loss, path[0].loss));
        CHECK(same_bits(p.n * p.k, alpha[t], alpha[0]) && same_bits(p.k, b[t], b[0]));
        krein_ctx_destroy(ctx);
    }
    for (int t = 0; t < 3; t++) free(alpha[t]);
    drop(&p);
}

static void bytes_are_enough(void) {
    for (int threads = 1; threads <= 2; threads++) {
        krein_ctx *ctx = test_ctx(threads);
        problem p = make_narrow(500, 3, 0, true, .5, .5);
        krein_targets rows = targets(&p);
        double *alpha = test_new(p.n * p.k, sizeof *alpha), b[3];
        krein_path path = {0};
        bool below;
        CHECK(krein__dual_walk_from(ctx, p.narrow, &rows, 1e-3, &path, alpha, b, NULL, &below) ==
              KREIN_OK);
        CHECK((double)krein_ctx_peak_bytes(ctx) <= krein__dual_walk_bytes(p.n, p.k, threads));
        free(alpha);
        drop(&p);
        krein_ctx_destroy(ctx);
    }
}

static void every_allocation_fails(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    problem p = make_narrow(30, 2, 0, true, 1, .5);
    krein_targets rows = targets(&p);
    double alpha[60], b[2], score[60];
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_path path = {0};
        bool below;
        krein_status st =
            krein__dual_walk_from(ctx, p.narrow, &rows, 1e-3, &path, alpha, b, score, &below);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
    }
    TEST_EVERY_ALLOCATION(&memory, k) {
        bool solved;
        krein_status st = krein__dual_fit32(ctx, p.narrow, &rows, 1e-3, alpha, b, score, &solved);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
    }
    drop(&p);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(factor);
    RUN(walk_is_path);
    RUN(brute_force);
    RUN(nearby);
    RUN(nearby_fails);
    RUN(smooth_is_below);
    RUN(refusals);
    RUN(same_bits_on_any_threads);
    RUN(bytes_are_enough);
    RUN(every_allocation_fails);
    return DONE();
}
