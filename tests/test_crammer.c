/* test_crammer.c -- the multi-class machine of Crammer and Singer on features: against LIBLINEAR
 * without an intercept, against an interior point method with one, and by its own certificate. */
#include "liblinear.h"
#include "multiclass.h"

#include "solve/crammer.h"

#include <zlib.h>

/* ---- inputs ------------------------------------------------------------- */

/* The first n rows of a file with the class, 0 .. k - 1, in front. */
static set read_set(const char *path, int64_t n, int64_t D, int64_t k, double C) {
    set s = make(n, D, k, 0, C);
    gzFile in = gzopen(path, "rb");
    char line[4096];
    for (int64_t i = 0; i < n && gzgets(in, line, sizeof line); i++) {
        char *at = line;
        s.class[i] = (int32_t)strtol(at, &at, 10);
        s.y[i] = s.class[i];
        for (int64_t j = 0; j < D; j++) s.x[i * D + j] = (float)strtod(at + 1, &at);
    }
    gzclose(in);
    return s;
}

static test_linear oracle(const set *s) {
    return (test_linear){.solver = MCSVM_CS,
                         .C = s->cost[0],
                         .n = s->n,
                         .D = s->D,
                         .x = s->x,
                         .y = s->y,
                         .classes = s->k};
}

/* ---- runs --------------------------------------------------------------- */

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

static krein_machine_options options(bool intercept, double tol) {
    return (krein_machine_options){.intercept = intercept, .tol = tol, .seed = 7};
}

static krein_crammer solve(krein_ctx *ctx, const set *s, bool intercept, double tol) {
    krein_crammer m = machine(s);
    krein_features z = features(ctx, s, 128);
    krein_machine_options o = options(intercept, tol);
    CHECK(krein__crammer(&z, &m, &o) == KREIN_OK);
    CHECK(m.converged && m.passes > 0);
    return m;
}

/* ---- the certificate, in slow sums -------------------------------------- */

static double slow_dual(const set *s, const krein_crammer *m) {
    double value = 0;
    for (int64_t c = 0; c < s->k; c++)
        for (int64_t j = 0; j < s->D; j++) {
            double w = 0;
            for (int64_t i = 0; i < s->n; i++)
                w += m->alpha[i * s->k + c] * (double)s->x[i * s->D + j];
            value -= w * w / 2;
        }
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < s->k; c++)
            if (c != s->class[i]) value -= m->alpha[i * s->k + c];
    return value;
}

static void check_feasible(const set *s, const krein_crammer *m, bool intercept) {
    double total = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double sum = 0;
        total += s->cost[i];
        for (int64_t c = 0; c < s->k; c++) {
            double a = m->alpha[i * s->k + c];
            CHECK(a <= (c == s->class[i] ? s->cost[i] : 0));
            sum += a;
        }
        CHECK_ABS(sum, 0, 1e-11 * s->cost[i]);
    }
    for (int64_t c = 0; intercept && c < s->k; c++) {
        double sum = 0;
        for (int64_t i = 0; i < s->n; i++) sum += m->alpha[i * s->k + c];
        CHECK_ABS(sum, 0, 1e-11 * total);
    }
}

static void certificate(void) {
    static const struct {
        int64_t n, D, k;
        double C;
    } all[] = {{300, 10, 3, 1}, {700, 30, 6, .1}, {1500, 40, 26, 1}, {80, 5, 2, 30}};
    krein_ctx *ctx = test_ctx(2);
    for (size_t t = 0; t < sizeof all / sizeof *all; t++)
        for (int intercept = 0; intercept < 2; intercept++) {
            set s = make(all[t].n, all[t].D, all[t].k, 1.5, all[t].C);
            krein_crammer m = solve(ctx, &s, intercept, 1e-3);
            test_linear q = oracle(&s);
            check_feasible(&s, &m, intercept);
            CHECK_REL(m.primal, test_linear_objective(&q, m.w, m.b, NULL), 1e-5);
            /* that of alpha, or of an earlier one */
            double dual = slow_dual(&s, &m);
            CHECK(dual <= m.dual_value * (1 + 1e-6));
            CHECK_REL(dual, m.dual_value, 1e-3);
            CHECK(m.primal >= m.dual_value && m.primal - m.dual_value <= 1e-3 * m.primal);
            double mean = 0;
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

/* max over classes of G <= min over classes whose alpha can grow, at a tight solution. */
static void conditions(void) {
    krein_ctx *ctx = test_ctx(1);
    set s = make(200, 12, 4, 1.5, 1);
    krein_crammer m = solve(ctx, &s, true, 1e-6);
    double worst = 0;
    for (int64_t i = 0; i < s.n; i++) {
        double high = -INFINITY, low = INFINITY;
        for (int64_t c = 0; c < s.k; c++) {
            double g = m.b[c] + (c != s.class[i]), a = m.alpha[i * s.k + c];
            for (int64_t j = 0; j < s.D; j++) g += m.w[j * s.k + c] * (double)s.x[i * s.D + j];
            high = fmax(high, g);
            if (a < (c == s.class[i] ? s.cost[i] : 0) - 1e-4 * s.cost[i]) low = fmin(low, g);
        }
        worst = fmax(worst, high - low);
    }
    CHECK_ABS(worst, 0, 1e-3);
    CHECK(m.support > 10 && m.support < s.n);
    clear(&m);
    drop(&s);
    krein_ctx_destroy(ctx);
}

/* ---- LIBLINEAR ---------------------------------------------------------- */

static void like_liblinear(const set *s) {
    krein_ctx *ctx = test_ctx(2);
    test_linear q = oracle(s);
    double *w = test_new(s->D * s->k, sizeof *w);
    krein_crammer m = solve(ctx, s, false, 3e-5);
    CHECK(test_linear_train(&q, 1e-4, w));
    CHECK_REL(m.primal, test_linear_objective(&q, w, NULL, NULL), 1e-4);
    free(w);
    clear(&m);
    krein_ctx_destroy(ctx);
}

static void liblinear(void) {
    static const struct {
        int64_t n, D, k;
        double C;
    } all[] = {{300, 20, 3, 1}, {600, 30, 6, 10}, {900, 40, 26, .1}};
    if (!test_linear_there) SKIP("LIBLINEAR is not there");
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
        set s = make(all[t].n, all[t].D, all[t].k, 2, all[t].C);
        like_liblinear(&s);
        drop(&s);
    }
}

static void letter(void) {
    if (!test_set("letter.train")) SKIP("letter.train.csv.gz is not there");
    if (!test_linear_there) SKIP("LIBLINEAR is not there");
    set s = read_set(test_set("letter.train"), test_sanitized() ? 400 : 3000, 16, 26, .3);
    like_liblinear(&s);
    drop(&s);
}

/* ---- free intercepts ---------------------------------------------------- */

static void free_intercepts(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int t = 0; t < 6; t++) {
        int64_t k = t < 2 ? 2 : t < 4 ? 3 : 4;
        set s = make(24 + 2 * t, 2, k, 1.5, t % 2 ? 5 : .5);
        for (int64_t i = 0; i < s.n; i++) {
            s.x[i * s.D] += 1; /* so that an intercept matters */
            if (t >= 3) s.cost[i] *= .1 + (double)(i % 3);
        }
        krein_crammer m = solve(ctx, &s, true, 1e-5), none = solve(ctx, &s, false, 1e-5);
        double best = interior_point(&s);
        CHECK_REL(m.primal, best, 1e-4);
        CHECK(m.primal >= best * (1 - 1e-5) && m.dual_value <= best * (1 + 1e-5));
        CHECK(none.primal > best * 1.001);
        clear(&m);
        clear(&none);
        drop(&s);
    }
    krein_ctx_destroy(ctx);
}

/* ---- what is given ------------------------------------------------------ */

/* Cost 2 is the row twice, cost 0 is no row, and rows not named are not there. */
static void costs_and_rows(void) {
    krein_ctx *ctx = test_ctx(2);
    set s = make(300, 8, 3, 1.5, 1), twice = make(200, 8, 3, 0, 1);
    int32_t row[100];
    for (int intercept = 0; intercept < 2; intercept++) {
        for (int64_t i = 0; i < 300; i++) s.cost[i] = i % 3 == 1 ? 2 : 0;
        for (int64_t i = 0; i < 200; i++) {
            int64_t from = i / 2 * 3 + 1;
            twice.class[i] = s.class[from];
            memcpy(twice.x + i * 8, s.x + from * 8, 8 * sizeof *s.x);
        }
        krein_crammer a = solve(ctx, &s, intercept, 1e-5), b = solve(ctx, &twice, intercept, 1e-5);
        CHECK_REL(a.primal, b.primal, 3e-5);
        CHECK(a.support <= 100);
        set some = s; /* rows 1, 4, .. by their numbers */
        some.n = 100;
        some.class = test_new(100, sizeof *some.class);
        some.cost = test_new(100, sizeof *some.cost);
        for (int64_t i = 0; i < 100; i++) {
            row[i] = (int32_t)(3 * i + 1);
            some.class[i] = s.class[row[i]];
            some.cost[i] = 2;
        }
        krein_crammer c = machine(&some);
        krein_features z = features(ctx, &s, 128);
        krein_machine_options o = options(intercept, 1e-5);
        c.row = row;
        CHECK(krein__crammer(&z, &c, &o) == KREIN_OK && c.converged);
        CHECK_REL(c.primal, a.primal, 3e-5);
        free(some.class);
        free(some.cost);
        clear(&a);
        clear(&b);
        clear(&c);
    }
    drop(&s);
    drop(&twice);
    krein_ctx_destroy(ctx);
}

static void same_bits(void) {
    set s = make(1100, 150, 5, 2, 1);
    krein_crammer m[4];
    for (int t = 0; t < 4; t++) {
        krein_ctx *ctx = test_ctx(t % 3 + 1);
        krein_features z = features(ctx, &s, 400), all = z;
        krein_machine_options o = options(true, 1e-3);
        m[t] = machine(&s);
        if (t >= 2) {
            all.made = s.x;
            z.kept = NULL;
            z.made = test_new(400 * s.D, sizeof *z.made);
            z.make = copy_block;
            z.state = &all;
        }
        CHECK(krein__crammer(&z, &m[t], &o) == KREIN_OK && m[t].converged);
        CHECK(m[t].primal == m[0].primal && m[t].dual_value == m[0].dual_value);
        CHECK(m[t].passes == m[0].passes && m[t].support == m[0].support);
        CHECK(!memcmp(m[t].w, m[0].w, (size_t)(s.D * s.k) * sizeof(double)));
        CHECK(!memcmp(m[t].b, m[0].b, (size_t)s.k * sizeof(double)));
        CHECK(!memcmp(m[t].alpha, m[0].alpha, (size_t)(s.n * s.k) * sizeof(double)));
        if (t >= 2) free(z.made);
        krein_ctx_destroy(ctx);
    }
    for (int t = 0; t < 4; t++) clear(&m[t]);
    drop(&s);
}

static void warm_start(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int intercept = 0; intercept < 2; intercept++) {
        set s = make(400, 10, 4, 1.5, 1);
        krein_crammer m = solve(ctx, &s, intercept, 1e-4);
        krein_features z = features(ctx, &s, 128);
        krein_machine_options o = options(intercept, 1e-3);
        double primal = m.primal;
        int64_t cold = m.passes;
        CHECK(krein__crammer(&z, &m, &o) == KREIN_OK && m.converged);
        CHECK_REL(m.primal, primal, 1e-3);
        CHECK(m.passes <= 3 && m.passes < cold);
        /* From the solution of another C, smaller or larger, which need not be feasible here. */
        for (int up = 0; up < 2; up++) {
            for (int64_t i = 0; i < s.n; i++) s.cost[i] = up ? 1 : .2;
            krein_crammer other = solve(ctx, &s, intercept, 1e-4);
            o.tol = 1e-4;
            CHECK(krein__crammer(&z, &m, &o) == KREIN_OK && m.converged);
            CHECK_REL(m.primal, other.primal, 1e-4);
            check_feasible(&s, &m, intercept);
            clear(&other);
        }
        for (int64_t e = 0; e < s.n * s.k; e++) m.alpha[e] = 3 * test_random(); /* anything */
        CHECK(krein__crammer(&z, &m, &o) == KREIN_OK && m.converged);
        CHECK_REL(m.primal, primal, 2e-4);
        clear(&m);
        drop(&s);
    }
    krein_ctx_destroy(ctx);
}

/* ---- limits ------------------------------------------------------------- */

static void keep_warning(void *user, krein_log_level level, const char *text) {
    if (level == KREIN_LOG_WARNING) test_log_line(user, level, text);
}

static void limits(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    ctx->log = keep_warning;
    set s = make(120, 5, 3, 2, 1e6);
    krein_crammer m = machine(&s);
    krein_features z = features(ctx, &s, 64);
    krein_machine_options o = options(true, 1e-9);
    o.deadline = krein__clock() - 1;
    CHECK(krein__crammer(&z, &m, &o) == KREIN_OK && !m.converged);
    CHECK(log.warnings == 0);
    CHECK(isfinite(m.primal) && isfinite(m.dual_value));
    o.deadline = 0;
    CHECK(krein__crammer(&z, &m, &o) == KREIN_OK && !m.converged);
    CHECK(log.warnings == 1 && isfinite(m.primal));
    CHECK_HAS(log.text, "gap");
    CHECK_HAS(log.text, "smaller C");
    CHECK_HAS(log.text, "multi=ovr");
    check_feasible(&s, &m, true);
    test_linear q = oracle(&s);
    CHECK_REL(m.primal, test_linear_objective(&q, m.w, m.b, NULL), 1e-4);
    m.classes = 70000;
    CHECK(krein__crammer(&z, &m, &o) == KREIN_ESPEC);
    CHECK_HAS(krein_message(ctx), "multi=ovr");
    clear(&m);
    drop(&s);
    krein_ctx_destroy(ctx);
}

/* One class, classes without rows, rows of zeros, no features worth the name. */
static void edges(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int intercept = 0; intercept < 2; intercept++) {
        set s = make(90, 4, 3, 1, 1);
        for (int64_t i = 0; i < s.n; i++) s.class[i] = 1, s.y[i] = 1;
        krein_crammer m = solve(ctx, &s, intercept, 1e-4);
        if (intercept) CHECK_ABS(m.primal, 0, 1e-6);
        clear(&m);
        for (int64_t i = 0; i < s.n; i++) { /* class 1 has no rows */
            s.class[i] = i % 3 ? 2 : 0;
            s.y[i] = s.class[i];
        }
        m = solve(ctx, &s, intercept, 1e-4);
        clear(&m);
        memset(s.x, 0, (size_t)(s.n / 2 * s.D) * sizeof *s.x);
        m = solve(ctx, &s, intercept, 1e-4);
        clear(&m);
        memset(s.x, 0, (size_t)(s.n * s.D) * sizeof *s.x);
        m = solve(ctx, &s, intercept, 1e-4);
        /* the majority is right, by a margin: the others lose 2 each */
        CHECK_REL(m.primal, intercept ? 60 : 90, 1e-3);
        clear(&m);
        s.k = 1;
        for (int64_t i = 0; i < s.n; i++) s.class[i] = 0;
        m = solve(ctx, &s, intercept, 1e-4);
        CHECK(m.primal == 0 && m.support == 0);
        clear(&m);
        drop(&s);
    }
    krein_ctx_destroy(ctx);
}

static void memory(void) {
    static const struct { int64_t n, D, k; } all[] = {{40, 3, 3}, {2000, 5, 30}, {300, 700, 4}};
    for (size_t t = 0; t < sizeof all / sizeof *all; t++) {
        krein_ctx *ctx = test_ctx(3);
        set s = make(all[t].n, all[t].D, all[t].k, 1, .01);
        krein_crammer m = solve(ctx, &s, true, 1e-2);
        CHECK((double)ctx->peak <= krein__crammer_bytes(s.n, s.D, s.k));
        clear(&m);
        drop(&s);
        krein_ctx_destroy(ctx);
    }
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    set s = make(60, 3, 3, 1, 1);
    krein_features z = features(ctx, &s, 32);
    krein_machine_options o = options(true, 1e-3);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_crammer m = machine(&s);
        krein_status st = krein__crammer(&z, &m, &o);
        CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
        clear(&m);
    }
    drop(&s);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(certificate);
    RUN(conditions);
    RUN(liblinear);
    RUN(letter);
    RUN(free_intercepts);
    RUN(costs_and_rows);
    RUN(same_bits);
    RUN(warm_start);
    RUN(limits);
    RUN(edges);
    RUN(memory);
    return DONE();
}
