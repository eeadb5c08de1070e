/* test_pcg.c -- ridge regression by conjugate gradients on features, beside the normal equations.
 */
#include "common.h"

#include "solve/passes.h"
#include "solve/pcg.h"

/* ---- problems ----------------------------------------------------------- */

/* z n x D, y n x k, weights or NULL. */
typedef struct problem {
    int64_t n, D, k;
    double *z, *y, *weight;
} problem;

static double weight_of(const problem *p, int64_t i) { return p->weight ? p->weight[i] : 1; }

/* The obvious way: x ((D + 1) x k) with the intercepts last. */
static void fit_primal(const problem *p, double lambda, double *x) {
    int64_t m = p->D + 1;
    double *a = test_new(m * m, sizeof *a), weight = 0;
    memset(x, 0, (size_t)(m * p->k) * sizeof *x);
    for (int64_t i = 0; i < p->n; i++) {
        double w = weight_of(p, i);
        weight += w;
        for (int64_t r = 0; r < m; r++) {
            double zr = w * (r < p->D ? p->z[i * p->D + r] : 1);
            for (int64_t s = 0; s < m; s++)
                a[r * m + s] += zr * (s < p->D ? p->z[i * p->D + s] : 1);
            for (int64_t c = 0; c < p->k; c++) x[r * p->k + c] += zr * p->y[i * p->k + c];
        }
    }
    for (int64_t r = 0; r < p->D; r++) a[r * m + r] += weight * lambda;
    test_solve(m, p->k, a, x);
    free(a);
}

static double value_primal(const problem *p, const double *x, const double *z, int64_t c) {
    double f = x[p->D * p->k + c];
    for (int64_t j = 0; j < p->D; j++) f += z[j] * x[j * p->k + c];
    return f;
}

/* The features as float32, in blocks that are kept or made again. */
typedef struct table {
    krein_features features;
    float *z;
    int64_t made; /* times that a block was */
    int64_t open; /* the block whose rows are made */
} table;

static krein_status make(void *state, int64_t block, float *out) {
    table *t = state;
    const krein_features *f = &t->features;
    t->made++;
    int64_t n = krein__min(f->rows, f->n - block * f->rows);
    memcpy(out, t->z + block * f->rows * f->D, (size_t)(n * f->D) * sizeof *out);
    return KREIN_OK;
}

static table make_table(krein_ctx *ctx, const problem *p, int64_t rows, bool kept) {
    table t = {.z = test_new(p->n * p->D, sizeof(float))};
    for (int64_t i = 0; i < p->n * p->D; i++) t.z[i] = (float)p->z[i];
    t.features = (krein_features){.ctx = ctx,
                                  .n = p->n,
                                  .D = p->D,
                                  .rows = rows,
                                  .blocks = (p->n + rows - 1) / rows,
                                  .at = -1,
                                  .make = make};
    if (kept)
        t.features.kept = t.z;
    else
        t.features.made = test_new(rows * p->D, sizeof(float));
    return t;
}

/* One of 16 bits, whose state is set. */
static void round_table(table *t, bool kept) {
    krein_features *f = &t->features;
    f->state = t;
    f->rounded = true;
    f->scale = test_new(f->n, sizeof *f->scale);
    f->codes = kept;
    f->code_at = -1;
    f->code = test_new((kept ? f->n : f->rows) * f->D, sizeof *f->code);
    if (kept) CHECK(krein__features_keep(f) == KREIN_OK);
}

static void drop_table(table *t) {
    free(t->features.made);
    free(t->features.code);
    free(t->features.scale);
    free(t->z);
}

/* Features of float32 whose scales fall to `least`, and targets of all scales. */
static problem conditioned(int64_t n, int64_t D, int64_t k, double least, bool weighted) {
    problem p = {n,
                 D,
                 k,
                 test_new(n * D, sizeof(double)),
                 test_new(n * k, sizeof(double)),
                 weighted ? test_new(n, sizeof(double)) : NULL};
    test_random_state = 88172645463325252u;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < D; j++) {
            double scale = pow(least, (double)j / (double)D), v = scale * (test_random() + .3);
            p.z[i * D + j] = (double)(float)v;
            for (int64_t c = 0; c < k; c++)
                p.y[i * k + c] += sin((double)(j * (c + 1))) * v / sqrt(scale);
        }
        for (int64_t c = 0; c < k; c++) p.y[i * k + c] += .1 * test_random() + 3;
        if (weighted) p.weight[i] = i % 7 == 0 ? 0 : 1 + (double)(i % 3);
    }
    return p;
}

static void drop_problem(problem *p) {
    free(p->z);
    free(p->y);
    free(p->weight);
}

static const krein_pcg_limits limits = {1e-6, 3000, 0, "test"};

/* One lambda; w is k x D. */
static krein_pcg_result solve_by(const problem *p, table *t, int64_t sample, bool cholesky,
                                 double lambda, double *w, double *b) {
    krein_pcg *s = NULL;
    krein_pcg_result result = {0};
    krein_pcg_rows rows = {&t->features, p->k, p->y, p->weight, NULL};
    krein_pcg_options o = {sample, p->k, 1, cholesky, NULL, 0};
    CHECK(krein__pcg_create(&rows, &o, &s) == KREIN_OK);
    if (s) CHECK(krein__pcg_solve(s, 1, &lambda, &limits, w, b, NULL, &result) == KREIN_OK);
    krein__pcg_destroy(s);
    return result;
}

static krein_pcg_result solve(const problem *p, table *t, int64_t sample, double lambda, double *w,
                              double *b) {
    return solve_by(p, t, sample, false, lambda, w, b);
}

/* Predictions of w (k x D) and b beside those of x ((D + 1) x k): the largest difference, relative
 * to the spread of the latter. */
static double apart(const problem *p, const double *w, const double *b, const double *x) {
    double most = 0, sum = 0, square = 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t c = 0; c < p->k; c++) {
            double f = b[c], g = value_primal(p, x, p->z + i * p->D, c);
            for (int64_t j = 0; j < p->D; j++) f += p->z[i * p->D + j] * w[c * p->D + j];
            most = fmax(most, fabs(f - g));
            sum += g;
            square += g * g;
        }
    double m = (double)(p->n * p->k);
    return most / sqrt(square / m - sum * sum / m / m);
}

/* ---- the solver --------------------------------------------------------- */

/* Weights, several outputs, conditions up to 1e8, where a sample saves most iterations. */
static void solves(void) {
    krein_ctx *ctx = test_ctx(2);
    for (int kind = 0; kind < 3; kind++) {
        double least = kind == 0 ? .1 : 1e-4;
        problem p = conditioned(400, 90, 3, least, kind == 1);
        table t = make_table(ctx, &p, 150, true);
        double *x = test_new((p.D + 1) * p.k, sizeof *x), b[3], lambda = least * least / 10;
        double *w = test_new(p.D * p.k, sizeof *w);
        fit_primal(&p, lambda, x);
        krein_pcg_result plain = solve(&p, &t, 0, lambda, w, b);
        if (kind == 0) CHECK(plain.converged && apart(&p, w, b, x) < 1e-4);
        krein_pcg_result r = solve(&p, &t, 180, lambda, w, b);
        CHECK(r.converged && r.residual <= limits.tol && r.passes > r.iterations);
        CHECK(apart(&p, w, b, x) < 1e-4);
        CHECK(r.iterations < 60 && plain.iterations > (kind ? 10 : 1) * r.iterations);
        if (kind == 2) /* all rows: the matrix itself */
            CHECK(solve(&p, &t, 400, lambda, w, b).iterations <= 6 && apart(&p, w, b, x) < 1e-4);
        krein_pcg_result factor = solve_by(&p, &t, 180, true, lambda, w, b);
        CHECK(factor.converged && factor.iterations < 40 && apart(&p, w, b, x) < 1e-4);
        free(x);
        free(w);
        drop_table(&t);
        drop_problem(&p);
    }
    krein_ctx_destroy(ctx);
}

static void fewer_rows_than_features(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p = conditioned(60, 130, 2, 1e-2, false);
    table t = make_table(ctx, &p, 64, true);
    double *x = test_new((p.D + 1) * p.k, sizeof *x), *w = test_new(p.D * p.k, sizeof *w), b[2];
    fit_primal(&p, 1e-5, x);
    CHECK(solve(&p, &t, 60, 1e-5, w, b).iterations <= 6);
    CHECK(apart(&p, w, b, x) < 1e-4);
    CHECK(solve(&p, &t, 30, 1e-5, w, b).converged);
    CHECK(apart(&p, w, b, x) < 1e-4);
    free(x);
    free(w);
    drop_table(&t);
    drop_problem(&p);
    krein_ctx_destroy(ctx);
}

/* Lambdas together are as each alone, and rows held out are scored by a fit without them. */
static void path_and_held_rows_of(bool rounded) {
    krein_ctx *ctx = test_ctx(2);
    problem p = conditioned(300, 40, 2, 1e-2, true);
    enum { L = 5 };
    double lambda[L] = {1, 1e-2, 1e-3, 1e-4, 1e-5}, b[2 * L], *x = test_new(41 * 2, sizeof *x);
    int32_t *held = test_new(300, sizeof *held);
    int64_t m = 0;
    for (int64_t i = 0; i < 300; i++) held[i] = i % 10 == 3 ? (int32_t)m++ : -1;
    double *w = test_new(40 * 2 * L, sizeof *w), *score = test_new(m * 2 * L, sizeof *score);
    table t = make_table(ctx, &p, 64, !rounded);
    if (rounded) round_table(&t, true);
    krein_pcg_rows rows = {&t.features, 2, p.y, p.weight, NULL};
    krein_pcg_options o = {50, 2 * L, 1, false, NULL, 0};
    krein_pcg *s = NULL;
    krein_pcg_result r;
    CHECK(krein__pcg_create(&rows, &o, &s) == KREIN_OK);
    rows.held = held;
    CHECK(krein__pcg_set_rows(s, &rows) == KREIN_OK);
    CHECK(krein__pcg_solve(s, L, lambda, &limits, w, b, score, &r) == KREIN_OK && r.converged);
    for (int64_t i = 0; i < 300; i++)
        if (held[i] >= 0) p.weight[i] = 0;
    for (int64_t l = 0; l < L; l++) {
        fit_primal(&p, lambda[l], x);
        CHECK(apart(&p, w + l * 80, b + l * 2, x) < 1e-4);
        for (int64_t i = 0; i < 300; i++)
            for (int64_t c = 0; held[i] >= 0 && c < 2; c++)
                CHECK_ABS(score[held[i] * 2 * L + l * 2 + c], value_primal(&p, x, p.z + i * 40, c),
                          1e-3);
    }
    krein__pcg_destroy(s);
    free(held);
    free(score);
    free(w);
    free(x);
    drop_table(&t);
    drop_problem(&p);
    krein_ctx_destroy(ctx);
}

static void path_and_held_rows(void) {
    path_and_held_rows_of(false);
    path_and_held_rows_of(true);
}

/* Threads and blocks that are made again change no bit. */
static void same_bits(void) {
    problem p = conditioned(500, 70, 9, 1e-2, true);
    double *w[3], b[3][9];
    for (int kind = 0; kind < 3; kind++) {
        krein_ctx *ctx = test_ctx(kind == 1 ? 3 : 1);
        table t = make_table(ctx, &p, 130, kind != 2);
        t.features.state = &t;
        w[kind] = test_new(p.D * p.k, sizeof(double));
        CHECK(solve(&p, &t, 60, 1e-4, w[kind], b[kind]).converged);
        drop_table(&t);
        krein_ctx_destroy(ctx);
    }
    for (int kind = 1; kind < 3; kind++) {
        CHECK(memcmp(w[0], w[kind], (size_t)(p.D * p.k) * sizeof(double)) == 0);
        CHECK(memcmp(b[0], b[kind], sizeof b[0]) == 0);
    }
    for (int kind = 0; kind < 3; kind++) free(w[kind]);
    drop_problem(&p);
}

/* Features of 16 bits give the weights of exact ones, which are visited once more where the errors
 * of the others matter, and not where lambda is large. The same bits whether kept or not. */
static void rounded(void) {
    for (int large = 0; large < 2; large++) {
        problem p = conditioned(500, 70, 9, 1e-2, true);
        double *w[3], b[3][9], *x = test_new((p.D + 1) * p.k, sizeof *x),
                               lambda = large ? 1e4 : 1e-5;
        fit_primal(&p, lambda, x);
        for (int kind = 0; kind < 3; kind++) {
            krein_ctx *ctx = test_ctx(kind == 1 ? 3 : 1);
            table t = make_table(ctx, &p, 130, false);
            round_table(&t, kind != 2);
            w[kind] = test_new(p.D * p.k, sizeof(double));
            krein_pcg_result r = solve(&p, &t, 60, lambda, w[kind], b[kind]);
            CHECK(r.converged && r.residual <= limits.tol && apart(&p, w[kind], b[kind], x) < 1e-4);
            if (kind < 2) CHECK(t.made == t.features.blocks * (large ? 1 : 2));
            drop_table(&t);
            krein_ctx_destroy(ctx);
        }
        for (int kind = 1; kind < 3; kind++) {
            CHECK(memcmp(w[0], w[kind], (size_t)(p.D * p.k) * sizeof(double)) == 0);
            CHECK(memcmp(b[0], b[kind], sizeof b[0]) == 0);
        }
        for (int kind = 0; kind < 3; kind++) free(w[kind]);
        free(x);
        drop_problem(&p);
    }
}

/* Where float32 products find as many digits as are asked for, a round ends without a pass that
 * looks at its residual, and 16 bits that are fine enough are the only ones. */
static void rounded_once(void) {
    krein_ctx *ctx = test_ctx(2);
    problem p = conditioned(500, 70, 2, 1e-2, true);
    table t = make_table(ctx, &p, 130, false);
    double *x = test_new((p.D + 1) * p.k, sizeof *x), *w = test_new(p.D * p.k, sizeof *w), b[2];
    const double lambda = 1e-2;
    krein_pcg *s = NULL;
    round_table(&t, true);
    fit_primal(&p, lambda, x);
    krein_pcg_rows rows = {&t.features, p.k, p.y, p.weight, NULL};
    krein_pcg_options o = {30, p.k, 1, false, NULL, 0};
    CHECK(krein__pcg_create(&rows, &o, &s) == KREIN_OK);
    for (int exact = 0; s && exact < 2; exact++) {
        krein_pcg_limits how = {exact ? 9e-6 : 1e-4, 3000, 0, "test"};
        krein_pcg_result r = {0};
        CHECK(krein__pcg_solve(s, 1, &lambda, &how, w, b, NULL, &r) == KREIN_OK);
        CHECK(r.converged && r.residual <= how.tol && apart(&p, w, b, x) < 3 * how.tol);
        CHECK(exact ? r.passes > r.iterations + 1 : r.passes == r.iterations + 1);
        if (!exact) CHECK(t.made == t.features.blocks);
    }
    krein__pcg_destroy(s);
    free(x);
    free(w);
    drop_table(&t);
    drop_problem(&p);
    krein_ctx_destroy(ctx);
}

/* Features whose products single precision cannot hold are refused. */
static void too_large(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p = conditioned(300, 20, 1, 1, false);
    for (int64_t i = 0; i < p.n * p.D; i++) p.z[i] = (double)(float)(p.z[i] * 1e25);
    table t = make_table(ctx, &p, 64, true);
    krein_pcg_rows rows = {&t.features, 1, p.y, NULL, NULL};
    krein_pcg_options o = {200, 1, 1, true, NULL, 0};
    krein_pcg *s = NULL;
    CHECK(krein__pcg_create(&rows, &o, &s) == KREIN_ENUMERIC && !s);
    CHECK(strstr(krein_message(ctx), "too large for products in single precision"));
    drop_table(&t);
    drop_problem(&p);
    krein_ctx_destroy(ctx);
}

/* One column so large that 16 bits leave little of the others: exact features for all products. */
static void rounded_too_far(void) {
    krein_ctx *ctx = test_ctx(2);
    problem p = conditioned(300, 30, 1, 1, false);
    for (int64_t i = 0; i < p.n; i++) p.z[i * p.D] = (double)(float)(p.z[i * p.D] * 3e4);
    double *x = test_new(p.D + 1, sizeof *x), w[30], b;
    fit_primal(&p, 1e-4, x);
    table t = make_table(ctx, &p, 64, false);
    round_table(&t, true);
    krein_pcg *s = NULL;
    krein_pcg_result r = {0};
    krein_pcg_rows rows = {&t.features, 1, p.y, NULL, NULL};
    krein_pcg_options o = {300, 1, 1, false, NULL, 0};
    double lambda = 1e-4, before[31] = {0};
    CHECK(krein__pcg_create(&rows, &o, &s) == KREIN_OK);
    for (int turn = 0; s && turn < 2; turn++) { /* what was solved before changes no bit */
        CHECK(krein__pcg_solve(s, 1, &lambda, &limits, w, &b, NULL, &r) == KREIN_OK);
        CHECK(r.converged && r.residual <= limits.tol && apart(&p, w, &b, x) < 1e-4);
        CHECK(turn == 0 || (memcmp(before, w, sizeof w) == 0 && before[30] == b));
        memcpy(before, w, sizeof w);
        before[30] = b;
    }
    CHECK(t.made > 3 * t.features.blocks);
    krein__pcg_destroy(s);
    free(x);
    drop_table(&t);
    drop_problem(&p);
    krein_ctx_destroy(ctx);
}

/* ---- rows that are made a few at a time ---------------------------------- */

static krein_status open_block(void *state, int64_t block) {
    table *t = state;
    t->open = block;
    t->made++;
    return KREIN_OK;
}

static void make_strip(void *state, int64_t first, int64_t n, float *out) {
    const table *t = state;
    const krein_features *f = &t->features;
    memcpy(out, t->z + (t->open * f->rows + first) * f->D, (size_t)(n * f->D) * sizeof *out);
}

static void half(const void *state, int64_t first, int64_t n, float *score, double *wide,
                 double *tail) {
    int64_t k = *(const int64_t *)state;
    (void)first, (void)wide;
    for (int64_t i = 0; i < n * k; i++) {
        score[i] = 1 - score[i] / 2;
        tail[i % k] += (double)score[i];
    }
}

/* Two passes of k columns over a table whose first `keep` blocks are kept at the first visit. */
static void pass_twice(krein_ctx *ctx, const problem *p, int64_t k, int64_t keep, bool slices,
                       double *out) {
    table t = make_table(ctx, p, 256, false);
    krein_features *f = &t.features;
    krein_passes passes;
    double *v = test_new(k * p->D, sizeof *v), sum[16];
    for (int64_t i = 0; i < k * p->D; i++) v[i] = sin((double)i);
    f->state = &t;
    f->open = open_block;
    f->strip = make_strip;
    f->slices = slices;
    if (keep > 0) f->kept = test_new(p->n * p->D, sizeof *f->kept);
    f->missing = f->blocks;
    CHECK(krein__passes_begin(f, k, &passes) == KREIN_OK);
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 0 && keep > 0) { /* these blocks, and no more */
            for (int64_t b = 0; b < keep; b++) {
                float *to = krein__features_place(f, b);
                CHECK(to == f->kept + b * 256 * p->D && !krein__features_there(f, b));
                CHECK(make(&t, b, to) == KREIN_OK);
                krein__features_placed(f, 1e9);
                CHECK(krein__features_there(f, b));
            }
            f->full = true;
            t.made = 0;
        }
        CHECK(krein__passes_run(&passes, f, half, &k, (krein_strides){1, p->D}, v, out, sum) ==
              KREIN_OK);
        CHECK(t.made == (pass + 1) * (f->blocks - keep));
    }
    krein__passes_end(&passes);
    free(f->kept);
    free(v);
    drop_table(&t);
}

/* Made again by few rows or many, kept in part or as a whole, on one thread or two: the same bits.
 * Wide rows: several strips a slice, of blocks that are kept and of one that is not. */
static void strips_of(int64_t n, int64_t D) {
    problem p = conditioned(n, D, 1, 1, false);
    static const int64_t columns[] = {1, 3, 9}; /* each by itself, or a GEMM */
    double *want = test_new(9 * D, sizeof *want), *out = test_new(9 * D, sizeof *out);
    for (int q = 0; q < 3; q++)
        for (int threads = 1; threads <= 2; threads++) {
            krein_ctx *ctx = test_ctx(threads);
            for (int64_t keep = 0; keep <= 4; keep += 2) {
                bool first = threads == 1 && keep == 0;
                pass_twice(ctx, &p, columns[q], keep < n / 256 ? keep : 1, keep == 2,
                           first ? want : out);
                if (!first) CHECK(memcmp(want, out, (size_t)(columns[q] * D) * sizeof *out) == 0);
            }
            krein_ctx_destroy(ctx);
        }
    free(want);
    free(out);
    drop_problem(&p);
}

static void strips(void) { strips_of(900, 70); }
static void wide_strips(void) { strips_of(500, 2100); }

/* Blocks are no longer kept when memory comes slowly twice in a row. */
static void slow_memory(void) {
    krein_ctx *ctx = test_ctx(1);
    float kept[8 * 2];
    krein_features f = {.ctx = ctx,
                        .n = 8,
                        .D = 2,
                        .rows = 1,
                        .blocks = 8,
                        .kept = kept,
                        .missing = 8,
                        .strip = make_strip};
    static const double waited[] = {1, 0.1, 1, 1};
    for (int64_t b = 0; b < 4; b++) {
        CHECK(krein__features_place(&f, b) == kept + 2 * b && !f.full);
        CHECK(!krein__features_place(&f, b + 1));
        f.waited = waited[b];
        krein__features_placed(&f, b == 0 ? 0.1 : 0.15); /* the first was made fastest */
    }
    CHECK(f.full && f.missing == 4 && !krein__features_place(&f, 4));
    CHECK(krein__features_there(&f, 3) && !krein__features_there(&f, 4));
    krein_ctx_destroy(ctx);
}

/* One target, constant features, weights of zero. */
static void nothing_to_fit(void) {
    krein_ctx *ctx = test_ctx(1);
    problem p = conditioned(50, 10, 1, 1, true);
    double w[10], b;
    for (int64_t i = 0; i < 50; i++) p.y[i] = 2;
    table t = make_table(ctx, &p, 64, true);
    CHECK(solve(&p, &t, 20, 1e-3, w, &b).converged);
    CHECK_ABS(b, 2, 1e-12);
    for (int64_t i = 0; i < 500; i++) t.z[i] = 1.5F;
    CHECK(solve(&p, &t, 20, 1e-3, w, &b).converged);
    CHECK_ABS(b, 2, 1e-12);
    for (int64_t i = 0; i < 50; i++) p.weight[i] = 0;
    krein_pcg_rows rows = {&t.features, 1, p.y, p.weight, NULL};
    krein_pcg_options o = {20, 1, 1, false, NULL, 0};
    krein_pcg *s = NULL;
    CHECK(krein__pcg_create(&rows, &o, &s) == KREIN_EDATA && !s);
    CHECK_HAS(krein_message(ctx), "weights are zero");
    drop_table(&t);
    drop_problem(&p);
    krein_ctx_destroy(ctx);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(solves);
    RUN(fewer_rows_than_features);
    RUN(path_and_held_rows);
    RUN(same_bits);
    RUN(rounded);
    RUN(rounded_once);
    RUN(too_large);
    RUN(rounded_too_far);
    RUN(strips);
    RUN(wide_strips);
    RUN(slow_memory);
    RUN(nothing_to_fit);
    return DONE();
}
