/* test_logistic.c -- the solver of logistic regression against Newton's method written out in
 * double, the gradient as contract, bits for any threads and blocks. */
#include "common.h"

#include "solve/logistic.h"

/* ---- problems ----------------------------------------------------------- */

typedef struct table {
    int64_t n, D, k, classes;
    float *z;
    int32_t *class;
    double *weight;
    krein_features features;
} table;

static krein_status copy_block(void *state, int64_t block, float *out) {
    table *t = state;
    int64_t rows = t->features.rows, first = block * rows, n = krein__min(rows, t->n - first);
    memcpy(out, t->z + first * t->D, (size_t)(n * t->D) * sizeof *out);
    return KREIN_OK;
}

/* Features whose sizes fall by `fall` each, as those of a kernel do; classes by noisy scores. */
static table make_table(krein_ctx *ctx, int64_t n, int64_t D, int64_t classes, double fall,
                        int64_t rows, bool keep) {
    table t = {.n = n, .D = D, .k = classes == 2 ? 1 : classes, .classes = classes};
    t.z = test_new(n * D, sizeof *t.z);
    t.class = test_new(n, sizeof *t.class);
    t.weight = test_new(n, sizeof *t.weight);
    test_random_state = 88172645463325252u;
    for (int64_t i = 0; i < n; i++) {
        double size = 1, best = -INFINITY;
        for (int64_t j = 0; j < D; j++, size *= fall)
            t.z[i * D + j] = (float)(size * test_random());
        for (int64_t c = 0; c < classes; c++) {
            double f = .5 * test_random();
            for (int64_t j = 0; j < D; j++) f += 3 * det(c, j, 0) * (double)t.z[i * D + j];
            if (f > best) {
                best = f;
                t.class[i] = (int32_t)c;
            }
        }
        t.weight[i] = 1 / (double)n;
    }
    t.features = (krein_features){.ctx = ctx,
                                  .n = n,
                                  .D = D,
                                  .rows = rows,
                                  .blocks = (n + rows - 1) / rows,
                                  .at = -1,
                                  .kept = keep ? t.z : NULL,
                                  .made = keep ? NULL : test_new(rows * D, sizeof(float)),
                                  .make = copy_block};
    return t;
}

static void drop_table(table *t) {
    free(t->z);
    free(t->class);
    free(t->weight);
    free(t->features.made);
}

static krein_logistic problem_of(table *t, double lambda, double tol, bool intercept) {
    t->features.state = t;
    return (krein_logistic){.features = &t->features,
                            .k = t->k,
                            .class = t->class,
                            .weight = t->weight,
                            .intercept = intercept,
                            .lambda = lambda,
                            .tol = tol};
}

static krein_status solve(krein_ctx *ctx, const krein_logistic *p, double *w,
                          krein_logistic_result *r) {
    krein_newton *s = NULL;
    krein_status st = krein__newton_create(p->features, p->k, &s);
    if (st == KREIN_OK) st = krein__logistic_start(ctx, p, w);
    if (st == KREIN_OK) st = krein__logistic_solve(s, p, w, r);
    krein__newton_destroy(s);
    return st;
}

/* ---- slow and obvious --------------------------------------------------- */

/* Probabilities of all classes, and the loss, of a row. */
static double slow_row(const krein_logistic *p, const float *z, const double *w, int32_t y,
                       double *prob) {
    int64_t D = p->features->D, k = p->k, classes = k == 1 ? 2 : k;
    double sum = 0, f[16] = {0};
    for (int64_t c = 0; c < k; c++) {
        double *to = &f[k == 1 ? 1 : c];
        *to = w[D * k + c];
        for (int64_t j = 0; j < D; j++) *to += (double)z[j] * w[j * k + c];
    }
    for (int64_t c = 0; c < classes; c++) sum += exp(f[c]);
    for (int64_t c = 0; c < classes; c++) prob[c] = exp(f[c]) / sum;
    return log(sum) - f[y];
}

/* The objective; its gradient and Hessian (size^2) where they are wanted. */
static double slow_value(const krein_logistic *p, const float *z, const double *w, double *g,
                         double *H) {
    int64_t n = p->features->n, D = p->features->D, k = p->k, size = (D + 1) * k;
    double value = 0, prob[16];
    if (g) memset(g, 0, (size_t)size * sizeof *g);
    if (H) memset(H, 0, (size_t)(size * size) * sizeof *H);
    for (int64_t i = 0; i < n; i++) {
        value += p->weight[i] * slow_row(p, z + i * D, w, p->class[i], prob);
        for (int64_t c = 0; g && c < k; c++) {
            int64_t at = k == 1 ? 1 : c;
            double r = p->weight[i] * (prob[at] - (p->class[i] == at));
            for (int64_t j = 0; j <= D; j++)
                g[j * k + c] += r * (j < D ? (double)z[i * D + j] : p->intercept);
            for (int64_t b = 0; H && b < k; b++) {
                double s = p->weight[i] * prob[at] * ((b == c) - prob[k == 1 ? 1 : b]);
                for (int64_t j = 0; j <= D; j++)
                    for (int64_t l = 0; l <= D; l++)
                        H[(j * k + c) * size + l * k + b] +=
                            s * (j < D ? (double)z[i * D + j] : p->intercept) *
                            (l < D ? (double)z[i * D + l] : p->intercept);
            }
        }
    }
    for (int64_t i = 0; i < D * k; i++) {
        value += p->lambda * w[i] * w[i];
        if (g) g[i] += 2 * p->lambda * w[i];
        if (H) H[i * size + i] += 2 * p->lambda;
    }
    /* The intercepts' common constant, or all of them, are free: any curvature will do. */
    for (int64_t c = 0; H && (k > 1 || !p->intercept) && c < k; c++)
        for (int64_t b = 0; b < k; b++)
            H[(D * k + c) * size + D * k + b] += p->intercept ? 1 : b == c;
    return value;
}

/* Newton's method with halving, until nothing changes. */
static double slow_solve(const krein_logistic *p, const float *z, double *w) {
    int64_t size = (p->features->D + 1) * p->k;
    double *g = test_new(size, sizeof *g), *H = test_new(size * size, sizeof *H);
    double *next = test_new(size, sizeof *next), value = slow_value(p, z, w, NULL, NULL);
    for (int step = 0; step < 100; step++) {
        double t = 1, trial, square = 0;
        slow_value(p, z, w, g, H);
        for (int64_t i = 0; i < size; i++) square += g[i] * g[i];
        if (sqrt(square) < 1e-12) break;
        test_solve(size, 1, H, g);
        for (;; t /= 2) {
            for (int64_t i = 0; i < size; i++) next[i] = w[i] - t * g[i];
            trial = slow_value(p, z, next, NULL, NULL);
            if (trial <= value || t < 1e-6) break;
        }
        memcpy(w, next, (size_t)size * sizeof *w);
        value = trial;
    }
    free(g);
    free(H);
    free(next);
    return value;
}

static double length(int64_t n, const double *v) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += v[i] * v[i];
    return sqrt(sum);
}

/* ---- the solver --------------------------------------------------------- */

static void objective_and_gradient(void) {
    krein_ctx *ctx = test_ctx(2);
    int64_t factors = 0;
    for (int64_t classes = 2; classes <= 4; classes++)
        for (int variant = 0; variant < 3; variant++) /* plain; weights; no intercept */
            for (int l = 0; l < 3; l++) {
                double lambda = (const double[]){.1, 1e-3, 1e-6}[l];
                table t = make_table(ctx, test_sanitized() ? 140 : 300, 12, classes, .6, 128, true);
                double sum = 0;
                for (int64_t i = 0; variant == 1 && i < t.n; i++)
                    t.weight[i] = i % 7 == 0 ? 0 : 1 + test_random();
                for (int64_t i = 0; i < t.n; i++) sum += t.weight[i];
                for (int64_t i = 0; i < t.n; i++) t.weight[i] /= sum;
                krein_logistic p = problem_of(&t, lambda, 1e-6, variant != 2);
                int64_t size = (t.D + 1) * t.k;
                double *w = test_new(size, sizeof *w), *slow = test_new(size, sizeof *slow),
                       *g = test_new(size, sizeof *g);
                krein_logistic_result r;
                CHECK(krein__logistic_start(ctx, &p, w) == KREIN_OK);
                slow_value(&p, t.z, w, g, NULL);
                double first = length(size, g);
                CHECK(solve(ctx, &p, w, &r) == KREIN_OK);
                CHECK(r.stop == KREIN_STOP_GRADIENT && r.passes > 0);
                CHECK_REL(r.scale, first, 1e-5);
                /* What is reported is what it is, and it is small: the KKT conditions. */
                CHECK_REL(r.objective, slow_value(&p, t.z, w, g, NULL), 1e-6);
                CHECK(length(size, g) <= 2e-6 * first);
                CHECK_REL(r.objective, slow_solve(&p, t.z, slow), 1e-6);
                /* |w - best| <= |gradient| / (2 lambda), and the reference says what best is. */
                double off = 0;
                for (int64_t i = 0; i < t.D * t.k; i++) off += pow(w[i] - slow[i], 2);
                CHECK(sqrt(off) <= 1.5 * length(size, g) / (2 * lambda) + 1e-9);
                double common = 0;
                for (int64_t c = 0; c < t.k && t.k > 1; c++) common += w[t.D * t.k + c];
                CHECK(fabs(common) < 1e-6);
                for (int64_t c = 0; variant == 2 && c < t.k; c++) CHECK(w[t.D * t.k + c] == 0);
                factors += r.factors;
                free(w);
                free(slow);
                free(g);
                drop_table(&t);
            }
    CHECK(factors > 5); /* the preconditioner was made for the small lambdas */
    krein_ctx_destroy(ctx);
}

/* The same bits for any threads, kept or made again; near ones for other blocks. */
static void bits(void) {
    for (int64_t classes = 2; classes <= 3; classes++) {
        double *first = NULL;
        int64_t size = 0;
        for (int run = 0; run < 6; run++) {
            krein_ctx *ctx = test_ctx(1 + run % 3);
            table t = make_table(ctx, 1500, 40, classes, .8, 384, run < 3);
            krein_logistic p = problem_of(&t, 1e-6, 1e-5, true);
            krein_logistic_result r;
            size = (t.D + 1) * t.k;
            double *w = test_new(size, sizeof *w);
            CHECK(solve(ctx, &p, w, &r) == KREIN_OK && r.factors > 0);
            if (!first)
                first = w;
            else {
                CHECK(memcmp(first, w, (size_t)size * sizeof *w) == 0);
                free(w);
            }
            drop_table(&t);
            krein_ctx_destroy(ctx);
        }
        free(first);
    }
}

/* A warm start takes fewer passes and ends at the same place; rows of weight zero are predicted. */
static void warm_starts(void) {
    krein_ctx *ctx = test_ctx(1);
    table t = make_table(ctx, 600, 20, 3, .7, 256, true);
    for (int64_t i = 0; i < t.n; i++) t.weight[i] = i % 3 ? 1 / 400. : 0;
    krein_logistic p = problem_of(&t, 1e-4, 1e-5, true);
    krein_logistic_result cold, warm;
    krein_newton *s = NULL;
    double *w = test_new((t.D + 1) * t.k, sizeof *w), prob[16];
    CHECK(krein__newton_create(&t.features, t.k, &s) == KREIN_OK);
    CHECK(krein__logistic_start(ctx, &p, w) == KREIN_OK);
    CHECK(krein__logistic_solve(s, &p, w, &cold) == KREIN_OK);
    for (int64_t i = 0; i < 20; i++) {
        double loss = slow_row(&p, t.z + i * t.D, w, t.class[i], prob);
        CHECK_ABS(krein__newton_loss(s)[i], loss, 1e-5);
        for (int64_t c = 0; c < 3; c++)
            CHECK_ABS((double)krein__newton_probability(s)[i * 3 + c], prob[c], 1e-5);
    }
    p.scale = cold.scale;
    p.lambda = .8e-4;
    CHECK(krein__logistic_solve(s, &p, w, &warm) == KREIN_OK);
    CHECK(warm.passes < cold.passes && warm.stop == KREIN_STOP_GRADIENT);
    CHECK(warm.gradient <= 1e-5 * cold.scale);
    p.deadline = 1e-9; /* long ago: one step from the start */
    p.scale = 0;
    CHECK(krein__logistic_start(ctx, &p, w) == KREIN_OK);
    CHECK(krein__logistic_solve(s, &p, w, &warm) == KREIN_OK);
    CHECK(warm.stop == KREIN_STOP_TIME && warm.steps == 1);
    krein__newton_destroy(s);
    free(w);
    drop_table(&t);
    krein_ctx_destroy(ctx);
}

static void solver_edges(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    table t = make_table(ctx, 200, 8, 3, .5, 200, true);
    krein_logistic p = problem_of(&t, 1e-4, 1e-4, true);
    krein_logistic_result r;
    double *w = test_new((t.D + 1) * t.k, sizeof *w);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_status st = solve(ctx, &p, w, &r);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
    }
    /* A class that no row has: never predicted, and no trouble. */
    for (int64_t i = 0; i < t.n; i++) t.class[i] = t.class[i] == 2 ? 0 : t.class[i];
    CHECK(solve(ctx, &p, w, &r) == KREIN_OK && r.stop == KREIN_STOP_GRADIENT);
    double prob[16];
    slow_row(&p, t.z, w, 0, prob);
    CHECK(prob[2] < 1e-6);
    t.z[77] = INFINITY;
    CHECK(solve(ctx, &p, w, &r) == KREIN_ENUMERIC);
    CHECK_HAS(krein_message(ctx), "not finite");
    free(w);
    drop_table(&t);
    CHECK(test_live(&memory) == 0);
    krein_ctx_destroy(ctx);
}

/* Every row once in each class, or all rows the same: W = 0 is best, the gradient nothing but
 * rounding, and no reason to go on or to complain. For features of any size. */
static void nothing_to_learn(void) {
    krein_ctx *ctx = test_ctx(2);
    krein_logistic_result r;
    for (int i = 0; i < 16; i++) {
        int64_t classes = i & 1 ? 3 : 2, n = i & 2 ? 1200 : 60;
        table t = make_table(ctx, n, 10, classes, .8, 240, true);
        double *w = test_new((t.D + 1) * t.k, sizeof *w), size = i & 8 ? 1e6 : 1;
        for (int64_t a = 0; a < n; a++) {
            t.class[a] = (int32_t)(a * classes / n);
            for (int64_t j = 0; j < t.D; j++) {
                double z = i & 4 ? .3 : det(a % (n / classes), j, 0);
                t.z[a * t.D + j] = (float)(size * z);
            }
        }
        krein_logistic p = problem_of(&t, 1e-6 * size * size, 1e-3, true);
        CHECK(solve(ctx, &p, w, &r) == KREIN_OK);
        CHECK(r.stop == KREIN_STOP_GRADIENT && r.steps == 0);
        CHECK_REL(r.objective, log((double)classes), 1e-9);
        /* One row tells the classes apart, a little: that is seen. */
        t.z[0] += (float)(.05 * size);
        CHECK(solve(ctx, &p, w, &r) == KREIN_OK);
        CHECK(r.stop == KREIN_STOP_GRADIENT && r.steps > 0);
        free(w);
        drop_table(&t);
    }
    krein_ctx_destroy(ctx);
}

/* More features than a preconditioner is made for. */
static void many_features(void) {
    krein_ctx *ctx = test_ctx(2);
    table t = make_table(ctx, 80, 8300, 2, .999, 80, true);
    krein_logistic p = problem_of(&t, 1e-3, 1e-5, true);
    krein_logistic_result r;
    double *w = test_new(t.D + 1, sizeof *w), *g = test_new(t.D + 1, sizeof *g);
    CHECK(solve(ctx, &p, w, &r) == KREIN_OK);
    CHECK(r.stop == KREIN_STOP_GRADIENT && r.factors == 0);
    CHECK_REL(r.objective, slow_value(&p, t.z, w, g, NULL), 1e-6);
    CHECK(length(t.D + 1, g) <= 2e-5 * r.scale);
    free(w), free(g);
    drop_table(&t);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(objective_and_gradient);
    RUN(bits);
    RUN(warm_starts);
    RUN(solver_edges);
    RUN(nothing_to_learn);
    RUN(many_features);
    return DONE();
}
