/* test_crammer_l1.c -- the machine of Crammer and Singer with an l1 penalty: by its certificate in
 * slow sums, which proves that no weights do better, and what is given and left out. */
#include "multiclass.h"

#include "solve/crammer.h"

static krein_status copy_block(void *state, int64_t block, float *out) {
    krein_features *all = state;
    int64_t first = block * all->rows, n = krein__min(all->rows, all->n - first);
    memcpy(out, all->made + first * all->D, (size_t)(n * all->D) * sizeof *out);
    return KREIN_OK;
}

static krein_features features(krein_ctx *ctx, const set *s, int64_t rows) {
    return (krein_features){.ctx = ctx,
                            .n = s->n,
                            .D = s->D,
                            .rows = rows,
                            .blocks = (s->n + rows - 1) / rows,
                            .kept = s->x,
                            .at = -1};
}
static krein_crammer machine(const set *s) {
    return (krein_crammer){.n = s->n,
                           .classes = s->k,
                           .class = s->class,
                           .cost = s->cost,
                           .alpha = test_new(s->n * s->k, sizeof(double)),
                           .w = test_new(s->D * s->k, sizeof(double)),
                           .b = test_new(s->k, sizeof(double))};
}
static void clear(krein_crammer *m) {
    free(m->alpha);
    free(m->w);
    free(m->b);
}
static krein_crammer solve(krein_ctx *ctx, const set *s, bool intercept, double tol) {
    krein_crammer m = machine(s);
    krein_features z = features(ctx, s, 64);
    krein_machine_options o = {.intercept = intercept, .tol = tol};
    CHECK(krein__crammer_l1(&z, &m, &o) == KREIN_OK);
    CHECK(m.converged && m.passes > 0);
    return m;
}

/* ---- the certificate ---------------------------------------------------- */

static double slow_primal(const set *s, const krein_crammer *m) {
    double value = 0;
    for (int64_t e = 0; e < s->D * s->k; e++) value += fabs(m->w[e]);
    for (int64_t i = 0; i < s->n; i++) {
        double most = 0, f[64];
        for (int64_t c = 0; c < s->k; c++) {
            f[c] = m->b[c];
            for (int64_t j = 0; j < s->D; j++)
                f[c] += m->w[j * s->k + c] * (double)s->x[i * s->D + j];
        }
        for (int64_t c = 0; c < s->k; c++)
            most = fmax(most, (c != s->class[i]) + f[c] - f[s->class[i]]);
        value += s->cost[i] * most;
    }
    return value;
}

/* alpha is feasible in the dual, and has the dual's value: nothing is below it. */
static double slow_dual(const set *s, const krein_crammer *m, bool intercept) {
    double value = 0, total = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double sum = 0;
        for (int64_t c = 0; c < s->k; c++) {
            double a = m->alpha[i * s->k + c];
            CHECK(a <= (c == s->class[i] ? s->cost[i] : 0));
            sum += a;
        }
        CHECK_ABS(sum, 0, 1e-11 * s->cost[i]);
        value += m->alpha[i * s->k + s->class[i]];
        total += s->cost[i];
    }
    for (int64_t c = 0; c < s->k; c++) {
        double sum = 0;
        for (int64_t i = 0; i < s->n; i++) sum += m->alpha[i * s->k + c];
        if (intercept) CHECK_ABS(sum, 0, 1e-11 * total);
        for (int64_t j = 0; j < s->D; j++) {
            double G = 0;
            for (int64_t i = 0; i < s->n; i++)
                G += m->alpha[i * s->k + c] * (double)s->x[i * s->D + j];
            CHECK(fabs(G) <= 1 + 1e-9);
        }
    }
    return value;
}

static void certificate(void) {
    static const struct {
        int64_t n, D, k;
        double C;
    } all[] = {{150, 6, 3, 1}, {300, 10, 5, .1}, {90, 3, 2, 30}, {60, 90, 4, 5}, {400, 4, 20, 3}};
    krein_ctx *ctx = test_ctx(2);
    for (size_t t = 0; t < sizeof all / sizeof *all; t++)
        for (int intercept = 0; intercept < 2; intercept++) {
            set s = make(all[t].n, all[t].D, all[t].k, 1.5, all[t].C);
            krein_crammer m = solve(ctx, &s, intercept, 1e-5);
            CHECK_REL(slow_primal(&s, &m), m.primal, 1e-7);
            double dual = slow_dual(&s, &m, intercept), mean = 0;
            CHECK(dual <= m.dual_value * (1 + 1e-9) && m.dual_value <= m.primal * (1 + 1e-9));
            CHECK(m.primal - dual <= 1e-4 * m.primal);
            for (int64_t c = 0; c < s.k; c++) {
                mean += m.b[c];
                if (!intercept) CHECK(m.b[c] == 0);
            }
            CHECK_ABS(mean, 0, 1e-9);
            clear(&m);
            drop(&s);
        }
    krein_ctx_destroy(ctx);
}

/* ---- what it is like ----------------------------------------------------- */

/* Weights that are zero: all for a small C, those of noise for a larger one. */
static void sparse(void) {
    krein_ctx *ctx = test_ctx(1);
    set s = make(200, 30, 3, .3, .001);
    for (int64_t i = 0; i < s.n; i++)
        for (int64_t j = 3; j < s.D; j++) s.x[i * s.D + j] = (float)(.05 * test_random());
    krein_crammer m = solve(ctx, &s, true, 1e-6);
    for (int64_t e = 0; e < s.D * s.k; e++) CHECK(m.w[e] == 0);
    clear(&m);
    for (int64_t i = 0; i < s.n; i++) s.cost[i] = .1;
    m = solve(ctx, &s, true, 1e-6);
    int64_t useful = 0, noise = 0;
    for (int64_t e = 0; e < s.D * s.k; e++) {
        useful += m.w[e] != 0 && e / s.k < 3;
        noise += m.w[e] != 0 && e / s.k >= 3;
    }
    CHECK(useful >= 2 && noise <= 6);
    CHECK(m.support > 0 && m.support < s.n);
    clear(&m);
    drop(&s);
    krein_ctx_destroy(ctx);
}

/* Two classes: min |w|_1 + C sum of hinge losses of f = f_1 - f_0, on one feature by a scan. */
static void two_classes(void) {
    krein_ctx *ctx = test_ctx(1);
    set s = make(40, 1, 2, 1.5, 1);
    krein_crammer m = solve(ctx, &s, true, 1e-7);
    double least = INFINITY;
    for (int a = -300; a <= 300; a++)
        for (int e = -200; e <= 200; e++) {
            double w = a * .02, b = e * .02, value = fabs(w);
            for (int64_t i = 0; i < s.n; i++)
                value += fmax(0, 1 - (s.class[i] ? 1 : -1) * (w * (double)s.x[i] + b));
            least = fmin(least, value);
        }
    CHECK(m.primal <= least * (1 + 1e-6) && m.primal > least * .98);
    clear(&m);
    drop(&s);
    krein_ctx_destroy(ctx);
}

/* Cost 2 is the row twice, cost 0 is no row, and rows not named are not there. */
static void costs_and_rows(void) {
    krein_ctx *ctx = test_ctx(1);
    set s = make(150, 5, 3, 1.5, 1), twice = make(150, 5, 3, 1.5, 1);
    int32_t row[150];
    krein_crammer some = {0};
    twice.n = 0;
    for (int64_t i = 0; i < s.n; i++) {
        s.cost[i] = (double)(i % 3);
        for (int64_t t = 0; t < i % 3; t++, twice.n++) {
            memcpy(twice.x + twice.n * 5, s.x + i * 5, 5 * sizeof *s.x);
            twice.class[twice.n] = s.class[i];
        }
    }
    krein_crammer a = solve(ctx, &s, true, 1e-7), b = solve(ctx, &twice, true, 1e-7);
    CHECK_REL(a.primal, b.primal, 1e-6);
    some = machine(&s); /* the rows of cost 1 and 2 alone */
    int32_t *class = test_new(s.n, sizeof *class);
    double *cost = test_new(s.n, sizeof *cost);
    some.n = 0;
    for (int64_t i = 0; i < s.n; i++) {
        if (i % 3 == 0) continue;
        row[some.n] = (int32_t)i;
        class[some.n] = s.class[i];
        cost[some.n++] = s.cost[i];
    }
    some.row = row;
    some.class = class;
    some.cost = cost;
    krein_features z = features(ctx, &s, 64);
    krein_machine_options o = {.intercept = true, .tol = 1e-7};
    CHECK(krein__crammer_l1(&z, &some, &o) == KREIN_OK && some.converged);
    CHECK_REL(some.primal, a.primal, 1e-6);
    clear(&a);
    clear(&b);
    clear(&some);
    free(class);
    free(cost);
    drop(&s);
    drop(&twice);
    krein_ctx_destroy(ctx);
}

static void same_bits(void) {
    set s = make(500, 12, 4, 2, 1);
    krein_crammer m[4];
    for (int t = 0; t < 4; t++) {
        krein_ctx *ctx = test_ctx(t % 3 + 1);
        krein_features z = features(ctx, &s, 200), all = z;
        krein_machine_options o = {.intercept = true, .tol = 1e-4};
        m[t] = machine(&s);
        if (t >= 2) { /* made again for every visit */
            all.made = s.x;
            z.kept = NULL;
            z.made = test_new(200 * s.D, sizeof *z.made);
            z.make = copy_block;
            z.state = &all;
        }
        CHECK(krein__crammer_l1(&z, &m[t], &o) == KREIN_OK && m[t].converged);
        CHECK(m[t].primal == m[0].primal && m[t].dual_value == m[0].dual_value);
        CHECK(!memcmp(m[t].w, m[0].w, (size_t)(s.D * s.k) * sizeof(double)));
        CHECK(!memcmp(m[t].alpha, m[0].alpha, (size_t)(s.n * s.k) * sizeof(double)));
        if (t >= 2) free(z.made);
        krein_ctx_destroy(ctx);
    }
    for (int t = 0; t < 4; t++) clear(&m[t]);
    drop(&s);
}

/* ---- limits ------------------------------------------------------------- */

static void edges(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int intercept = 0; intercept < 2; intercept++) {
        set s = make(90, 4, 3, 1, 1);
        for (int64_t i = 0; i < s.n; i++) s.class[i] = 1;
        krein_crammer m = solve(ctx, &s, intercept, 1e-4);
        if (intercept) CHECK_ABS(m.primal, 0, 1e-3);
        clear(&m);
        for (int64_t i = 0; i < s.n; i++) s.class[i] = i % 3 ? 2 : 0; /* 1 has no rows */
        m = solve(ctx, &s, intercept, 1e-4);
        clear(&m);
        memset(s.x, 0, (size_t)(s.n * s.D) * sizeof *s.x);
        m = solve(ctx, &s, intercept, 1e-4);
        /* the majority is right, by a margin: the others lose 2 each */
        CHECK_REL(m.primal, intercept ? 60 : 90, 1e-3);
        clear(&m);
        drop(&s);
    }
    krein_ctx_destroy(ctx);
}

static void limits(void) {
    krein_ctx *ctx = test_ctx(1);
    set s = make(120, 5, 3, 2, 1);
    krein_crammer m = machine(&s);
    krein_features z = features(ctx, &s, 64);
    krein_machine_options o = {.intercept = true, .tol = 1e-9, .deadline = krein__clock() - 1};
    CHECK(krein__crammer_l1(&z, &m, &o) == KREIN_OK && !m.converged && m.passes == 1);
    CHECK(isfinite(m.primal) && m.dual_value <= m.primal);
    slow_dual(&s, &m, true);
    z.D = 5000;
    CHECK(krein__crammer_l1(&z, &m, &o) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "4096 weights");
    CHECK_HAS(krein_message(ctx), "penalty=l2");
    clear(&m);
    drop(&s);
    krein_ctx_destroy(ctx);
}

static void memory(void) {
    static const struct { int64_t n, D, k; } all[] = {{40, 3, 3}, {600, 5, 20}, {100, 200, 4}};
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
        krein_ctx *ctx = test_ctx(3);
        set s = make(all[t].n, all[t].D, all[t].k, 1, .1);
        krein_crammer m = solve(ctx, &s, true, 1e-2);
        CHECK((double)ctx->peak <= krein__crammer_l1_bytes(ctx, s.n, 64, s.D, s.k));
        clear(&m);
        drop(&s);
        krein_ctx_destroy(ctx);
    }
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    set s = make(40, 3, 3, 1, 1);
    krein_features z = features(ctx, &s, 32);
    krein_machine_options o = {.intercept = true, .tol = 1e-2};
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_crammer m = machine(&s);
        krein_status st = krein__crammer_l1(&z, &m, &o);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        CHECK(st != KREIN_OK || (m.converged && isfinite(m.primal)));
        clear(&m);
    }
    drop(&s);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(certificate);
    RUN(sparse);
    RUN(two_classes);
    RUN(costs_and_rows);
    RUN(same_bits);
    RUN(edges);
    RUN(limits);
    RUN(memory);
    return DONE();
}
