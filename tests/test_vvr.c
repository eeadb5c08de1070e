/* test_vvr.c -- vector-valued learning with a graph and few singular values: draws of edges, what
 * it is without its terms (krr, laprls, a support vector machine), ranks, probabilities, threads,
 * files, wrong calls. */
#include "manifolds.h"

#include "graph/graph.h"
#include "num/blas.h"

static const char *const near_kernel = "gaussian(sigma=0.5)";

/* ---- edges -------------------------------------------------------------- */

/* Edges come as often as their weights say, and what a step makes of them has the mean f'Lf. */
static void draws_are_unbiased(void) {
    enum { N = 60, D = 2, DRAWS = 20000, PAIRS = 8 };
    krein_ctx *ctx = test_ctx(1);
    float *x = test_dense(N, D, 0.3);
    double count[N], f[N], Lf[N];
    krein_rows all = krein__rows_dense(N, D, x, D);
    for (int i = 0; i < N; i++) {
        count[i] = 1 + i % 3;
        f[i] = det(i, 0, 1.1);
    }
    for (int normalized = 0; normalized < 2; normalized++) {
        krein_graph g = {0};
        krein_laplacian l;
        krein_edge_draws d;
        krein_graph_options o = {.k = 4, .near = KREIN_NEAR_EXACT, .edges = KREIN_EDGES_HEAT};
        CHECK(krein__graph_make(ctx, NULL, &all, count, &o, &g) == KREIN_OK);
        CHECK(krein__laplacian_begin(ctx, &g, count, normalized, &l) == KREIN_OK);
        CHECK(krein__edge_draws_begin(ctx, &l, &d) == KREIN_OK);
        double want = 0, total = d.before[N], sum = 0, squares = 0;
        krein__laplacian_apply(&l, 1, f, Lf);
        for (int i = 0; i < N; i++) want += f[i] * Lf[i];
        int64_t *times = test_new(g.ptr[N], sizeof *times);
        memset(times, 0, (size_t)g.ptr[N] * sizeof *times);
        for (int64_t step = 1; step <= DRAWS; step++) {
            double term = 0;
            for (int64_t q = 0; q < PAIRS; q++) {
                int64_t i = -1, j = -1, e;
                krein__edge_draw(&d, 7, step, q, &i, &j);
                for (e = g.ptr[i]; e < g.ptr[i + 1] && g.col[e] != j; e++) continue;
                CHECK_ELSE(i < j && e < g.ptr[i + 1], "%lld and %lld\n", (long long)i,
                           (long long)j);
                times[e]++;
                term += total / PAIRS *
                        pow(krein__laplacian_factor(&l, i) * f[i] -
                                krein__laplacian_factor(&l, j) * f[j],
                            2);
            }
            sum += term;
            squares += term * term;
        }
        double mean = sum / DRAWS;
        CHECK_Z(mean, want, squares / DRAWS - mean * mean, DRAWS);
        for (int64_t i = 0; i < N; i++)
            for (int64_t e = g.ptr[i]; e < g.ptr[i + 1]; e++) {
                double p = krein__laplacian_edge(&l, i, e) / total;
                CHECK_Z((double)times[e] / (DRAWS * PAIRS), p, p * (1 - p), DRAWS * PAIRS);
            }
        free(times);
        krein__edge_draws_end(ctx, &d);
        krein__laplacian_end(ctx, &l);
        krein__graph_clear(ctx, &g);
    }
    free(x);
    krein_ctx_destroy(ctx);
}

/* ---- what it is without its terms --------------------------------------- */

/* The largest difference of predictions of all rows, in deviations of the labels (about 0.7). */
static double apart(const rows *r, const double *weight, const char *one, const char *other,
                    const char *map, double lambda) {
    krein_ctx *ctx = test_ctx(1);
    int64_t n = r->n * r->k;
    double *f = test_new(n, 8), *g = test_new(n, 8), most = 0;
    predict_own(ctx, r, weight, with(one, near_kernel, map, lambda), NULL, f);
    predict_own(ctx, r, weight, with(other, near_kernel, map, lambda), NULL, g);
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(f[i] - g[i]));
    free(f), free(g);
    krein_ctx_destroy(ctx);
    return most;
}

/* Square loss, neither graph nor singular values: ridge regression on the labelled rows; with the
 * graph laprls. Batches of all rows are gradient descent, without noise but for the edges. */
static void square_is_ridge_regression(void) {
    enum { N = 150 };
    static const struct {
        const char *own, *other, *map;
        double close;
    } all[] = {{"vvr(loss=square, lambda_i=0, lambda_s=0, batch=1000, epochs=%d)",
                "laprls(lambda_i=0)", "rff(D=32)", 2e-3},
               {"vvr(loss=square, lambda_i=0, lambda_s=0, batch=16, epochs=%d)",
                "laprls(lambda_i=0)", "nystrom(D=24)", 3e-2},
               {"vvr(loss=square, lambda_i=100, lambda_s=0, batch=1000, pairs=64, epochs=%d)",
                "laprls(lambda_i=100)", "rff(D=32)", 3e-2},
               {"vvr(loss=square, lambda_i=0.2, lambda_s=0, batch=1000, pairs=64, epochs=%d, "
                "laplacian=normalized)",
                "laprls(lambda_i=0.2, laplacian=normalized)", "rff(D=32)", 3e-2}};
    rows r = curve(N, 2, 3, true);
    double weight[N];
    for (int i = 0; i < N; i++) weight[i] = 1 + i % 2;
    for (int a = 0; a < KREIN__COUNT(all); a++) {
        char spec[160];
        snprintf(spec, sizeof spec, all[a].own, a == 1 ? 600 : 2000);
        double off = apart(&r, a % 2 ? weight : NULL, spec, all[a].other, all[a].map, 1e-2);
        CHECK_ELSE(off < all[a].close, "%s: off by %g\n", spec, off);
    }
    /* The term of the graph is not nothing there. */
    double far = apart(&r, NULL, "laprls(lambda_i=0)", "laprls(lambda_i=100)", "rff(D=32)", 1e-2);
    CHECK_ELSE(far > .1, "%g\n", far);
    drop(&r);
}

/* The mean hinge loss and lambda |w|^2 of a linear model on the features of its map. */
static double hinge_objective(krein_ctx *ctx, const rows *r, const krein_model *m, double lambda) {
    double *f = test_new(r->n * m->k, 8), loss = 0, square = 0;
    CHECK(krein_predict_dense(ctx, m, r->n, r->d, r->x, r->d, f) == KREIN_OK);
    for (int64_t i = 0; i < r->n; i++)
        loss += fmax(0, 1 - (r->y[i] > 0 ? 1 : -1) * f[i]) / (double)r->n;
    for (int64_t j = 0; j < m->map->R; j++) square += m->w[j] * m->w[j];
    free(f);
    return loss + lambda * square;
}

/* Hinge loss alone: no support vector machine on the same features has less of its objective. */
static void hinge_is_a_support_vector_machine(void) {
    krein_ctx *ctx = test_ctx(1);
    const double lambda = 1e-2;
    rows r = rings(200, 2, 3);
    double value[2];
    for (int a = 0; a < 2; a++) {
        krein_model *m = NULL;
        krein_data *data = as_they_are(ctx, &r, NULL, KREIN_TASK_CLASSIFICATION);
        krein_train_options o =
            with(a ? "svm" : "vvr(lambda_i=0, lambda_s=0, epochs=1000, batch=50)",
                 "gaussian(sigma=0.3)", "rff(D=64)", lambda);
        CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
        value[a] = m ? hinge_objective(ctx, &r, m, lambda) : NAN;
        krein_model_destroy(m);
        krein_data_close(data);
    }
    CHECK_ELSE(value[0] < 1.01 * value[1], "%g, and the machine %g\n", value[0], value[1]);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- singular values ---------------------------------------------------- */

/* Three numbers that are two. */
static rows two_of_three(int64_t n) {
    rows r = curve(n, 3, 1, false);
    for (int64_t i = 0; i < n; i++) r.y[3 * i + 2] = r.y[3 * i] - r.y[3 * i + 1];
    return r;
}

static int rank_of(const char *learner) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    rows r = two_of_three(120);
    double f[3 * 120];
    int rank = -1;
    predict_own(ctx, &r, NULL, with(learner, near_kernel, "rff(D=32)", 1e-3), NULL, f);
    const char *at = strstr(log.text, "the rank of W is ");
    CHECK(at && sscanf(at, "the rank of W is %d of 3", &rank) == 1);
    drop(&r);
    krein_ctx_destroy(ctx);
    return rank;
}

static void ranks(void) {
    int all = rank_of("vvr(lambda_i=0, lambda_s=0)"),
        two = rank_of("vvr(lambda_i=0, lambda_s=0.02)"),
        one = rank_of("vvr(lambda_i=0, lambda_s=10, theta=1)"),
        none = rank_of("vvr(lambda_i=0, lambda_s=10)");
    CHECK_ELSE(all >= 2 && two == 2 && one == 1 && none == 0, "ranks %d, %d, %d, %d\n", all, two,
               one, none);
}

/* The whole objective with the tail is not less at random steps from what comes out, but for the
 * noise that is left of the batches: here there is none. */
static double objective(const rows *r, const float *z, int64_t D, const double *w, const double *b,
                        double lambda, double tail, int64_t theta) {
    enum { K = 3 };
    double loss = 0, square = 0, S[K * K] = {0}, s[K], sum = 0, unit[K] = {0}, mean[K] = {0};
    krein_ctx *ctx = test_ctx(1);
    for (int64_t i = 0; i < r->n * K; i++) mean[i % K] += r->y[i] / (double)r->n;
    for (int64_t i = 0; i < r->n * K; i++)
        unit[i % K] += pow(r->y[i] - mean[i % K], 2) / (double)r->n;
    for (int64_t i = 0; i < r->n; i++)
        for (int c = 0; c < K; c++) {
            double f = b[c] - r->y[i * K + c];
            for (int64_t j = 0; j < D; j++) f += (double)z[i * D + j] * w[j * K + c];
            loss += f * f / unit[c] / (double)r->n;
        }
    for (int64_t j = 0; j < D; j++)
        for (int c = 0; c < K; c++) {
            square += w[j * K + c] * w[j * K + c] / unit[c];
            for (int e = 0; e < K; e++)
                S[c * K + e] += w[j * K + c] * w[j * K + e] / sqrt(unit[c] * unit[e]);
        }
    CHECK(krein__eigenvalues(ctx, K, S, K, s) == KREIN_OK);
    for (int64_t c = 0; c < K - theta; c++) sum += sqrt(fmax(0, s[c]));
    krein_ctx_destroy(ctx);
    return loss + lambda * square + tail * sum;
}

static void nothing_near_is_better(void) {
    enum { N = 120, D = 32, K = 3 };
    for (int64_t theta = 0; theta < 2; theta++) {
        krein_ctx *ctx = test_ctx(1);
        rows r = two_of_three(N);
        char spec[120];
        krein_model *m = NULL;
        krein_data *data = as_they_are(ctx, &r, NULL, KREIN_TASK_REGRESSION);
        const double lambda = 1e-2, tail = 0.02;
        snprintf(spec, sizeof spec,
                 "vvr(lambda_i=0, lambda_s=%g, theta=%d, batch=1000, epochs=3000)", tail,
                 (int)theta);
        krein_train_options o = with(spec, near_kernel, "rff(D=32)", lambda);
        CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
        if (!m) exit(1);
        float *z = test_new(N * D, sizeof *z), *scratch = test_new(krein__map_scratch(m->map), 4);
        krein_rows x = krein__rows_dense(N, 2, r.x, 2);
        krein__map_raw(m->map, &x, NULL, z, scratch);
        double w[D * K], step[D * K];
        double least = objective(&r, z, D, m->w, m->intercept, lambda, tail, theta), lower = 0;
        krein_rng g = {3, KREIN_STREAM_GENERATE};
        for (uint64_t trial = 0; trial < 300; trial++) {
            double h = pow(10, -1 - (double)(trial % 3));
            for (int e = 0; e < D * K; e++) {
                double a = krein__rng_normal(g, trial, (uint64_t)e);
                /* all of them; one column; along W itself */
                step[e] = trial % 4 == 0   ? a
                          : trial % 4 == 1 ? a * (e % K == (int)(trial / 4 % K))
                          : trial % 4 == 2 ? m->w[e] * krein__rng_normal(g, trial, 0)
                                           : (e == (int)(trial % (D * K)) ? a : 0);
                w[e] = m->w[e] + h * step[e];
            }
            lower = fmax(lower, least - objective(&r, z, D, w, m->intercept, lambda, tail, theta));
        }
        CHECK_ELSE(lower < 1e-4 * least, "theta %d: %g below %g\n", (int)theta, lower, least);
        krein_model_destroy(m);
        krein_data_close(data);
        free(z), free(scratch);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

/* ---- the choice --------------------------------------------------------- */

static void moons_are_told_apart(void) {
    krein_ctx *ctx = test_ctx(1);
    static const char *const spec[] = {"vvr", "vvr(loss=square)", "vvr(loss=softmax)"};
    double krr = moons_error(ctx, "laprls(lambda_i=0)", "exact", 4, 20);
    for (int s = 0; s < KREIN__COUNT(spec); s++) {
        double e = moons_error(ctx, spec[s], s ? "rff(D=128)" : "nystrom(D=100)", 4, 20);
        CHECK_ELSE(e <= .08 && e < krr / 3, "%s: %g, without the graph %g\n", spec[s], e, krr);
    }
    krein_ctx_destroy(ctx);
}

/* What was chosen gives the same model. */
static void again(void) {
    enum { N = 160 };
    krein_ctx *ctx = test_ctx(1);
    rows r = curve(N, 2, 3, false);
    krein_report report = KREIN_SIZED(krein_report);
    double f[2 * N], g[2 * N];
    predict_own(ctx, &r, NULL, with("vvr(epochs=60)", near_kernel, "rff(D=32)", -1), &report, f);
    CHECK_HAS(report.learner, "lambda_i=");
    CHECK_HAS(report.learner, "lambda_s=");
    CHECK(report.lambda > 0 && isfinite(report.loo));
    CHECK(report.unlabelled == N - (N + 2) / 3);
    predict_own(ctx, &r, NULL, with(report.learner, report.kernel, report.map, report.lambda), NULL,
                g);
    double most = 0;
    for (int i = 0; i < 2 * N; i++) most = fmax(most, fabs(f[i] - g[i]));
    CHECK_ELSE(most < 1e-2, "off by %g\n", most);
    krein_report_clear(ctx, &report);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- bits and files ----------------------------------------------------- */

static void threads_and_files(void) {
    enum { N = 300 };
    static const char *const map[] = {"nystrom(D=60)", "rff(D=64)"};
    rows r = moons(N, 3, 4);
    for (int a = 0; a < 2; a++) {
        double f[3][4 * N];
        for (int t = 0; t < 2; t++) {
            krein_ctx *ctx = test_ctx(1 + t);
            krein_model *m = NULL, *loaded = NULL;
            krein_data *data = as_they_are(ctx, &r, NULL, KREIN_TASK_CLASSIFICATION);
            krein_train_options o =
                with("vvr(epochs=40, theta=1)", "gaussian(sigma=0.3)", map[a], -1);
            o.probabilities = true;
            CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
            CHECK(m && m->calibration.slope);
            CHECK(m && krein_predict_dense(ctx, m, N, 2, r.x, 2, f[t]) == KREIN_OK);
            CHECK(m && krein_model_save(ctx, m, test_path("m.krein")) == KREIN_OK);
            CHECK(krein_model_load(ctx, test_path("m.krein"), &loaded) == KREIN_OK);
            CHECK(loaded && krein_predict_dense(ctx, loaded, N, 2, r.x, 2, f[2]) == KREIN_OK);
            CHECK(memcmp(f[t], f[2], sizeof f[t]) == 0);
            krein_model_destroy(m);
            krein_model_destroy(loaded);
            krein_data_close(data);
            krein_ctx_destroy(ctx);
        }
        CHECK_ELSE(memcmp(f[0], f[1], sizeof f[0]) == 0, "%s: threads\n", map[a]);
    }
    drop(&r);
}

/* ---- wrong calls -------------------------------------------------------- */

static void bad_input(void) {
    rows r = curve(60, 2, 1, false), none = curve(60, 2, 4, false);
    for (int i = 0; i < 120; i++) none.y[i] = NAN;
    const char *k = near_kernel, *map = "rff(D=16)";
    refused(&r, with("vvr(theta=2)", k, map, -1), KREIN_EARG, "it has 2");
    refused(&r, with("vvr(lambda_a=0.2)", k, map, .1), KREIN_EARG, "give one");
    refused(&r, with("vvr(lambda_a=0)", k, map, -1), KREIN_EARG, "give lambda_i");
    refused(&r, with("vvr", k, "exact", .1), KREIN_ESPEC, "nystrom");
    refused(&r, with("vvr(loss=hinge)", k, map, .1), KREIN_EARG, "loss=square");
    refused(&r, with("vvr(lambda_s=-1)", k, map, .1), KREIN_ESPEC, "lambda_s");
    refused(&r, with("vvr(theta=1.5)", k, map, .1), KREIN_ESPEC, "theta");
    refused(&r, with("vvr(k=60)", k, map, -1), KREIN_EARG, "60");
    refused(&none, with("vvr", k, map, .1), KREIN_EDATA, "0 of 60 rows have a label");
    drop(&r);
    drop(&none);
}

/* Few labelled rows: none is held out, and lambda_s is 0; steps that are too long. */
static void odd_input(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    enum { N = 60 };
    rows r = curve(N, 1, 4, false);
    double f[N];
    predict_own(ctx, &r, NULL, with("vvr(epochs=20)", near_kernel, "rff(D=16)", -1), NULL, f);
    CHECK_HAS(log.text, "too few labelled rows to hold some out: lambda_s is 0");
    CHECK_HAS(log.text, "15 have labels (25 %)");
    for (int i = 0; i < N; i++) CHECK(isfinite(f[i]));
    predict_own(ctx, &r, NULL,
                with("vvr(epochs=20, lambda_s=0.001, rate=1e30)", near_kernel, "rff(D=16)", .1),
                NULL, f);
    CHECK_HAS(log.text, "rate=1e+30 is too large");
    for (int i = 0; i < N; i++) CHECK(isfinite(f[i]));
    drop(&r);
    krein_ctx_destroy(ctx);
}

static void every_allocation(void) {
    every_allocation_of("vvr(epochs=1, k=4)", "rff(D=16)", -1);
    if (!test_sanitized())
        every_allocation_of("vvr(epochs=1, k=4, lambda_s=0.01, lambda_i=1)", "nystrom(D=12)", .1);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(draws_are_unbiased);
    RUN(square_is_ridge_regression);
    RUN(hinge_is_a_support_vector_machine);
    RUN(ranks);
    RUN(nothing_near_is_better);
    RUN(moons_are_told_apart);
    RUN(again);
    RUN(threads_and_files);
    RUN(bad_input);
    RUN(odd_input);
    RUN(every_allocation);
    return DONE();
}
