/* test_laprls.c -- Laplacian regularised least squares: reference values, elimination over all
 * rows, the solvers against each other, krr, steps, threads, files, wrong calls. */
#include "manifolds.h"

#include "graph/graph.h"
#include "model/model.h"
#include "model/probability.h"
#include "solve/manifold.h"

/* ---- conjugate gradients ------------------------------------------------ */

typedef struct diagonal {
    int64_t n, k;
    const double *a, *p;
} diagonal;

static krein_status diagonal_apply(void *state, const double *v, const double *Gv, double *out) {
    const diagonal *s = state;
    (void)Gv;
    for (int64_t e = 0; e < s->n * s->k; e++) out[e] = s->a[e / s->k] * v[e];
    return KREIN_OK;
}
static krein_status diagonal_precondition(void *state, const double *r, const double *Gr,
                                          double *out) {
    const diagonal *s = state;
    (void)Gr;
    for (int64_t e = 0; e < s->n * s->k; e++) out[e] = r[e] / s->p[e / s->k];
    return KREIN_OK;
}

/* Ten eigenvalues from 1 to 1000: ten steps, and the condition number; 2 with a preconditioner that
 * is off by a factor of up to 2. */
static void steps_and_condition(void) {
    enum { N = 40, K = 2 };
    krein_ctx *ctx = test_ctx(1);
    double a[N], p[N], x[N * K] = {0}, r[N * K], unit[K];
    for (int pre = 0; pre < 2; pre++) {
        for (int i = 0; i < N; i++) {
            a[i] = pow(1000, (i % 10) / 9.0);
            p[i] = a[i] / (1 + i % 2);
        }
        for (int e = 0; e < N * K; e++) {
            x[e] = 0;
            r[e] = det(e / K, e % K, 0);
        }
        for (int j = 0; j < K; j++) unit[j] = 1;
        diagonal state = {N, K, a, p};
        krein_cg cg = {.ctx = ctx,
                       .n = N,
                       .k = K,
                       .state = &state,
                       .apply = diagonal_apply,
                       .precondition = pre ? diagonal_precondition : NULL,
                       .unit = unit};
        krein_pcg_limits limits = {1e-11, 100, 0, "test"};
        krein_cg_result result;
        CHECK(krein__cg(&cg, &limits, x, r, &result) == KREIN_OK);
        CHECK(result.converged && result.residual <= 1e-11);
        CHECK(pre ? result.iterations == 2 : result.iterations >= 9 && result.iterations <= 20);
        CHECK_REL(result.condition, pre ? 2 : 1000, 1e-6);
        for (int e = 0; e < N * K; e++) CHECK_REL(x[e] * a[e / K], det(e / K, e % K, 0), 1e-9);
        limits.iterations = 3;
        memset(x, 0, sizeof x);
        for (int e = 0; e < N * K; e++) r[e] = det(e / K, e % K, 0);
        CHECK(krein__cg(&cg, &limits, x, r, &result) == KREIN_OK);
        CHECK(pre || (!result.converged && result.iterations == 3 && result.residual > 1e-6));
    }
    krein_ctx_destroy(ctx);
}

/* ---- reference values --------------------------------------------------- */

enum { NODES = 12, LABELLED = 5 };

static double square_distance(const float *a, const float *b, int64_t d) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++) sum += pow((double)a[j] - (double)b[j], 2);
    return sum;
}

/* The graph of all pairs, S = exp(-|x - y|^2). */
static krein_graph all_pairs(krein_ctx *ctx, const float *x, int64_t n, int64_t d) {
    krein_graph g = {.n = n};
    krein_status st = KREIN_OK;
    NEW(g.ptr, n + 1);
    NEW(g.col, n * n);
    NEW(g.val, n * n);
    g.ptr[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = g.ptr[i];
        for (int64_t j = 0; j < n; j++) {
            if (i == j) continue;
            g.col[at] = (int32_t)j;
            g.val[at++] = exp(-square_distance(x + i * d, x + j * d, d));
        }
        g.ptr[i + 1] = at;
    }
done:
    CHECK(st == KREIN_OK);
    return g;
}

/* FORMULAS 13: no intercept, sums and not means: lambda and mu are lA / n and lI / n. The inputs
 * are float32. */
static void reference_values(void) {
    static const double want[] = {2.9690682381, 4.7683392547, 1.1479557687, -.4127171652},
                        landmarks[] = {-1.197320396, -.7472131296, 1.3138622049, .9842953096};
    krein_ctx *ctx = test_ctx(1);
    float x[NODES * 2];
    double y[LABELLED], lambda = .1 / LABELLED, mu = .05 / LABELLED, alpha[NODES], b;
    int32_t node[LABELLED];
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < 2; j++) x[2 * i + j] = (float)det(i, j, 0);
    for (int i = 0; i < LABELLED; i++) {
        y[i] = det(0, i, .2);
        node[i] = i;
    }
    krein_graph g = all_pairs(ctx, x, NODES, 2);
    krein_laplacian l;
    krein_manifold f;
    krein_kernel *kernel = NULL;
    krein_kernel_product *K = NULL;
    krein_rows at_all = krein__rows_dense(NODES, 2, x, 2);
    CHECK(krein__laplacian_begin(ctx, &g, NULL, false, &l) == KREIN_OK);
    CHECK(krein__manifold_begin(ctx, false, NODES, LABELLED, 1, y, NULL, node, &f) == KREIN_OK);
    f.laplacian = &l;
    f.mu = mu;
    CHECK(krein__kernel_parse(ctx, "gaussian(sigma=1)", &kernel) == KREIN_OK);
    krein_pcg_limits limits = {1e-13, 1000, 0, "test"};
    krein_cg_result result;
    for (int room = 0; room < 2; room++) { /* tiles made again; the whole matrix */
        CHECK(krein__kernel_product_create(ctx, kernel, &at_all, 1, room ? 1e9 : 0, &K) ==
              KREIN_OK);
        CHECK(krein__manifold_kernel_cg(&f, K, NULL, NULL, lambda, &limits, alpha, &b, &result) ==
              KREIN_OK);
        CHECK(b == 0);
        for (int i = 0; i < 4; i++) CHECK_ABS(alpha[i], want[i], room ? 2e-6 : 2e-4);
        double loss = 0, norm = 0, energy = 0, at[NODES] = {0};
        for (int i = 0; i < NODES; i++)
            for (int j = 0; j < NODES; j++)
                at[i] += exp(-square_distance(x + 2 * i, x + 2 * j, 2) / 2) * alpha[j];
        for (int i = 0; i < NODES; i++) {
            norm += alpha[i] * at[i];
            if (i < LABELLED) loss += pow(y[i] - at[i], 2);
            for (int j = 0; j < NODES; j++)
                if (i != j)
                    energy +=
                        exp(-square_distance(x + 2 * i, x + 2 * j, 2)) * pow(at[i] - at[j], 2) / 2;
        }
        CHECK_ABS(loss + .1 * norm + .05 * energy, 1.1633218325, 1e-6);
        krein__kernel_product_destroy(K);
    }
    /* Four landmarks: kernel values as features, in coordinates of their factor. */
    enum { M = 4 };
    float R[NODES * M];
    double *S = krein__alloc(ctx, M * M, sizeof *S), w[M];
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < M; j++)
            R[i * M + j] = (float)exp(-square_distance(x + 2 * i, x + 2 * 3 * j, 2) / 2);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++)
            S[i * M + j] = exp(-square_distance(x + 6 * i, x + 6 * j, 2) / 2);
    krein_basis basis = {0};
    bool changed;
    CHECK(krein__basis_make(ctx, M, S, 0, &basis) == KREIN_OK);
    CHECK(krein__basis_factor(&basis, 1e-12, &changed) == KREIN_OK);
    krein_features z = {
        .ctx = ctx, .n = NODES, .D = M, .rows = NODES, .blocks = 1, .kept = R, .at = -1};
    CHECK(krein__manifold_features_cg(&f, &z, &basis, NULL, lambda, &limits, w, &b, &result) ==
          KREIN_OK);
    krein__basis_to_raw(&basis, 1, w);
    for (int i = 0; i < M; i++) CHECK_ABS(w[i], landmarks[i], 2e-5);
    krein__basis_clear(&basis);
    krein__kernel_destroy(ctx, kernel);
    krein__manifold_end(&f);
    krein__laplacian_end(ctx, &l);
    krein__graph_clear(ctx, &g);
    krein_ctx_destroy(ctx);
}

/* ---- against elimination ------------------------------------------------ */

/* The graph of the distinct rows, dense over all rows: S (n x n), 0 between equal ones. */
static void dense_graph(krein_ctx *ctx, const rows *r, int64_t k, bool binary, double *S) {
    int64_t n = r->n, nodes = 0, *node = test_new(n, sizeof *node);
    float *x = test_new(n * r->d, sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        node[i] = -1;
        for (int64_t j = 0; j < i; j++)
            if (memcmp(r->x + i * r->d, r->x + j * r->d, (size_t)r->d * sizeof *x) == 0)
                node[i] = node[j];
        if (node[i] >= 0) continue;
        memcpy(x + nodes * r->d, r->x + i * r->d, (size_t)r->d * sizeof *x);
        node[i] = nodes++;
    }
    krein_rows distinct = krein__rows_dense(nodes, r->d, x, r->d);
    krein_graph_options o = {.k = k, .edges = binary ? KREIN_EDGES_BINARY : KREIN_EDGES_HEAT};
    krein_graph g = {0};
    CHECK(krein__graph_make(ctx, NULL, &distinct, NULL, &o, &g) == KREIN_OK);
    for (int64_t i = 0; i < n * n; i++) S[i] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t e = g.ptr[node[i]]; e < g.ptr[node[i] + 1]; e++)
                if (g.col[e] == node[j]) S[i * n + j] = g.val[e];
    krein__graph_clear(ctx, &g);
    free(node);
    free(x);
}

/* min over alpha, b of sum over labelled rows of w (y - f)^2 / W + lambda g'g + lambda_i g'Lg /
 * n^2, g = K alpha, f = g + b, by elimination of the normal equations in g's coefficients over all
 * rows. K is n x n (a kernel, or XX'). Returns f on the rows, n x k. */
static void eliminate(const rows *r, const double *weight, const double *K, const double *S,
                      bool normalized, double lambda, double lambda_i, double *f) {
    int64_t n = r->n, k = r->k, m = n + 1;
    double *L = test_new(n * n, 8), *A = test_new(m * m, 8), *b = test_new(m * k, 8), W = 0, N = 0;
    double *degree = test_new(n, 8);
    for (int64_t i = 0; i < n; i++) {
        double w = weight ? weight[i] : 1;
        N += w;
        if (!isnan(r->y[i * k])) W += w;
        for (int64_t j = 0; j < n; j++) degree[i] += S[i * n + j] * (weight ? weight[j] : 1);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double w = S[i * n + j] * (weight ? weight[i] * weight[j] : 1);
            double own = normalized ? 1 / degree[i] : 1;
            L[i * n + i] += w * own;
            L[i * n + j] -= normalized ? w / sqrt(degree[i] * degree[j]) : w;
        }
    /* (J K + lambda + mu L K) alpha + J 1 b = J y;  sum J (K alpha + b) = sum J y */
    double mu = lambda_i / (N * N);
    for (int64_t i = 0; i < n; i++) {
        double w = isnan(r->y[i * k]) ? 0 : (weight ? weight[i] : 1) / W;
        for (int64_t j = 0; j < n; j++) {
            double LK = 0;
            for (int64_t l = 0; l < n; l++) LK += L[i * n + l] * K[l * n + j];
            A[i * m + j] = w * K[i * n + j] + mu * LK + (i == j ? lambda : 0);
            A[n * m + j] += w * K[i * n + j];
        }
        A[i * m + n] = w;
        A[n * m + n] += w;
        for (int64_t c = 0; w > 0 && c < k; c++) {
            b[i * k + c] = w * r->y[i * k + c];
            b[n * k + c] += w * r->y[i * k + c];
        }
    }
    test_solve(m, k, A, b);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++) {
            f[i * k + c] = b[n * k + c];
            for (int64_t j = 0; j < n; j++) f[i * k + c] += K[i * n + j] * b[j * k + c];
        }
    free(L);
    free(A);
    free(b);
    free(degree);
}

static void against_elimination(void) {
    enum { N = 60 };
    static const struct {
        const char *graph, *kernel, *map;
        int64_t outputs;
        bool weights, twice;
    } all[] = {{"", "gaussian(sigma=0.7)", "exact", 1, false, false},
               {"", "gaussian(sigma=0.7)", "exact", 2, true, true},
               {", laplacian=normalized", "gaussian(sigma=0.7)", "exact", 1, false, true},
               {", edges=binary", "linear", "explicit", 2, false, true},
               {", laplacian=normalized", "linear", "explicit", 1, true, false}};
    static const char *const solver[] = {"direct", "cg", "pcg"};
    for (int a = 0; a < KREIN__COUNT(all); a++) {
        krein_ctx *ctx = test_ctx(1);
        int64_t k = all[a].outputs;
        rows r = curve(N, k, 3, all[a].twice);
        double weight[N], K[N * N], S[N * N], want[N * 2], f[N * 2];
        for (int i = 0; i < N; i++) weight[i] = all[a].weights ? 1 + .5 * det(i, 0, 0) : 1;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                const float *x = r.x + 2 * i, *y = r.x + 2 * j;
                K[i * N + j] = a < 3 ? exp(-square_distance(x, y, 2) / (2 * .49))
                                     : (double)x[0] * (double)y[0] + (double)x[1] * (double)y[1];
            }
        dense_graph(ctx, &r, 5, strstr(all[a].graph, "binary"), S);
        eliminate(&r, all[a].weights ? weight : NULL, K, S, strstr(all[a].graph, "normalized"),
                  .001, 3, want);
        for (int s = 0; s < 3; s++) {
            char spec[160];
            snprintf(spec, sizeof spec, "laprls(lambda_i=3, k=5, tol=1e-9, solver=%s%s)", solver[s],
                     all[a].graph);
            krein_report report = KREIN_SIZED(krein_report);
            predict_own(ctx, &r, all[a].weights ? weight : NULL,
                        with(spec, all[a].kernel, all[a].map, .001), &report, f);
            double off = 0;
            for (int64_t e = 0; e < N * k; e++) off = fmax(off, fabs(f[e] - want[e]));
            CHECK_ELSE(off < 1e-6, "%s on %s: off by %g\n", spec, all[a].map, off);
            CHECK(report.lambda == .001);
            CHECK((report.iterations > 0) == (s > 0 || a >= 3));
            CHECK(report.iterations == 0 || report.residual <= 1e-9);
            CHECK(report.iterations < 2 || report.condition >= 1);
            krein_report_clear(ctx, &report);
        }
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

/* ---- solvers against each other, steps ---------------------------------- */

static void solvers_agree(void) {
    enum { N = 700 };
    static const struct {
        const char *map;
        double close;
    } all[] = {{"exact", 1e-6}, {"nystrom(D=300)", 1e-6}, {"rff(D=400)", 1e-6}};
    static const char *const solver[] = {"direct", "cg", "pcg"};
    for (int a = 0; a < KREIN__COUNT(all); a++) {
        krein_ctx *ctx = test_ctx(2);
        rows r = curve(N, 1, 10, false);
        double f[3][N];
        int64_t steps[3];
        for (int s = 0; s < 3; s++) {
            char spec[120];
            snprintf(spec, sizeof spec, "laprls(lambda_i=10, tol=1e-8, iterations=3000, solver=%s)",
                     solver[s]);
            krein_report report = KREIN_SIZED(krein_report);
            predict_own(ctx, &r, NULL, with(spec, "gaussian(sigma=0.4)", all[a].map, 1e-6), &report,
                        f[s]);
            steps[s] = report.iterations;
            krein_report_clear(ctx, &report);
        }
        for (int s = 1; s < 3; s++) {
            double off = 0;
            for (int i = 0; i < N; i++) off = fmax(off, fabs(f[s][i] - f[0][i]));
            CHECK_ELSE(off < all[a].close, "%s, %s: off by %g from the closed form\n", all[a].map,
                       solver[s], off);
        }
        CHECK_ELSE(steps[1] >= 50 && 5 * steps[2] <= steps[1], "%s: %d steps, %d with pcg\n",
                   all[a].map, (int)steps[1], (int)steps[2]);
        drop(&r);
        krein_ctx_destroy(ctx);
    }
}

/* Kernel values at many landmarks, solved as such; the features of all rows are the kernel matrix.
 */
static void many_landmarks(void) {
    enum { N = 1100 }; /* MANY of laprls.c is 1024 */
    krein_ctx *ctx = test_ctx(2);
    rows r = curve(N, 1, 10, false);
    double *exact = test_new(N, 8), *f = test_new(N, 8);
    static const char *const solver[] = {"direct", "cg", "pcg"};
    predict_own(ctx, &r, NULL, with("laprls(lambda_i=10)", "gaussian(sigma=0.4)", "exact", 1e-4),
                NULL, exact);
    for (int s = 0; s < 3; s++) {
        char spec[120];
        snprintf(spec, sizeof spec, "laprls(lambda_i=10, solver=%s)", solver[s]);
        predict_own(ctx, &r, NULL, with(spec, "gaussian(sigma=0.4)", "nystrom(D=1100)", 1e-4), NULL,
                    f);
        double off = 0;
        for (int i = 0; i < N; i++) off = fmax(off, fabs(f[i] - exact[i]));
        CHECK_ELSE(off < 2e-3, "%s: off by %g from the kernel matrix\n", spec, off);
    }
    free(exact);
    free(f);
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* More edges than the preconditioner has rows, of very unequal weights: few steps all the same, to
 * the same predictions, whatever the threads. */
static void many_edges(void) {
    enum { N = 2400 }; /* at least N k / 2 edges, more than CELLS / D of laprls_features.c */
    rows r = curve(N, 1, 4, false);
    double *weight = test_new(N, 8), *direct = test_new(N, 8), *f[2];
    for (int64_t i = 0; i < N; i++) weight[i] = pow(10, 1.5 * det(i, 1, 0));
    for (int t = 0; t < 2; t++) {
        krein_ctx *ctx = test_ctx(1 + t);
        krein_report report = KREIN_SIZED(krein_report);
        const char *spec = "laprls(k=25, lambda_i=1, tol=1e-8, solver=pcg)", *map = "rff(D=1100)";
        f[t] = test_new(N, 8);
        predict_own(ctx, &r, weight, with(spec, "gaussian(sigma=0.2)", map, 1e-6), &report, f[t]);
        CHECK_ELSE(report.iterations <= 20, "%d steps\n", (int)report.iterations);
        krein_report_clear(ctx, &report);
        if (t == 0)
            predict_own(ctx, &r, weight,
                        with("laprls(k=25, lambda_i=1, tol=1e-8, solver=direct)",
                             "gaussian(sigma=0.2)", "rff(D=1100)", 1e-6),
                        NULL, direct);
        krein_ctx_destroy(ctx);
    }
    double off = 0;
    for (int i = 0; i < N; i++) off = fmax(off, fabs(f[0][i] - direct[i]));
    CHECK_ELSE(off < 1e-5, "off by %g from the closed form\n", off);
    CHECK(memcmp(f[0], f[1], N * sizeof(double)) == 0);
    for (int t = 0; t < 2; t++) free(f[t]);
    free(weight);
    free(direct);
    drop(&r);
}

/* ---- krr ---------------------------------------------------------------- */

/* lambda_i = 0: the model of krr on the labelled rows, with the same lambda where it is chosen. */
static void without_the_graph(void) {
    enum { N = 150 };
    static const struct {
        const char *map;
        double close;
    } all[] = {{"exact", 1e-7}, {"rff(D=64)", 1e-5}, {"explicit", 1e-6}};
    for (int a = 0; a < 2 * KREIN__COUNT(all); a++) {
        krein_ctx *ctx = test_ctx(1);
        bool chosen = a % 2;
        const char *map = all[a / 2].map, *kernel = a / 2 == 2 ? "linear" : "gaussian(sigma=0.5)";
        rows r = curve(N, 2, 3, false), few = {0, 2, 2, test_new(2 * N, 4), test_new(2 * N, 8)};
        for (int i = 0; i < N; i += 3) {
            memcpy(few.x + 2 * few.n, r.x + 2 * i, 2 * sizeof(float));
            memcpy(few.y + 2 * few.n++, r.y + 2 * i, 2 * sizeof(double));
        }
        double f[2 * N], g[2 * N];
        krein_report own = KREIN_SIZED(krein_report), krr = KREIN_SIZED(krein_report);
        double lambda = chosen ? -1 : 1e-3;
        predict_own(ctx, &r, NULL, with("laprls(lambda_i=0)", kernel, map, lambda), &own, f);
        krein_model *m = NULL;
        krein_data *data = as_they_are(ctx, &few, NULL, KREIN_TASK_REGRESSION);
        krein_train_options o = with("krr", kernel, map, chosen ? own.lambda : lambda);
        CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
        CHECK(m && krein_predict_dense(ctx, m, N, 2, r.x, 2, g) == KREIN_OK);
        double off = 0;
        for (int e = 0; e < 2 * N; e++) off = fmax(off, fabs(f[e] - g[e]));
        /* The lambda that rows without noise get is what single precision resolves. */
        bool digits = chosen && a / 2 == 1;
        CHECK_ELSE(digits || off < all[a / 2].close, "%s: off by %g from krr\n", map, off);
        krein_model_destroy(m);
        if (chosen) { /* the held-out error is the best there is, within a factor of the grid */
            m = NULL;
            o.lambda = -1;
            CHECK(krein_train(ctx, data, &o, &krr, &m) == KREIN_OK);
            CHECK_ELSE(fabs(own.loo / krr.loo - 1) < .02, "%s: %g, krr %g\n", map, own.loo,
                       krr.loo);
            krein_model_destroy(m);
        }
        krein_report_clear(ctx, &own);
        krein_report_clear(ctx, &krr);
        krein_data_close(data);
        drop(&r);
        drop(&few);
        krein_ctx_destroy(ctx);
    }
}

/* ---- the choice --------------------------------------------------------- */

static void moons_are_told_apart(void) {
    static const char *const map[] = {"exact", "nystrom(D=200)", "rff(D=256)"}, *const solver[] = {
                                                                                    "direct",
                                                                                    "pcg"};
    krein_ctx *ctx = test_ctx(1);
    for (int classes = 2; classes <= 4; classes += 2) {
        int64_t each = classes == 2 ? 40 : 20; /* five labels a class */
        double krr = moons_error(ctx, "laprls(lambda_i=0)", "exact", classes, each);
        for (int a = 0; a < KREIN__COUNT(map); a++)
            for (int s = 0; s < 2; s++) {
                char spec[60];
                snprintf(spec, sizeof spec, "laprls(solver=%s)", solver[s]);
                double e = moons_error(ctx, spec, map[a], classes, each);
                CHECK_ELSE(e <= .04 && e < krr / 4, "%s on %s: %g, without the graph %g\n", spec,
                           map[a], e, krr);
            }
    }
    krein_ctx_destroy(ctx);
}

/* A graph that weighs far more than what float32 resolves of it beside lambda: the preconditioner
 * of the kernel matrix must stay positive. */
static void pcg_ends(void) {
    static const double lambda[] = {1e-7, 1e-7, 5e-9}, graph[] = {160, 16000, 9};
    krein_ctx *ctx = test_ctx(1);
    enum { N = 400 };
    rows r = moons(N, 40, 2);
    for (int a = 0; a < KREIN__COUNT(lambda); a++) {
        char spec[80];
        double f[2][N], off = 0;
        krein_report report = KREIN_SIZED(krein_report);
        snprintf(spec, sizeof spec, "laprls(lambda_i=%g, solver=direct)", graph[a]);
        predict_own(ctx, &r, NULL, with(spec, "gaussian(sigma=0.15)", "exact", lambda[a]), NULL,
                    f[0]);
        snprintf(spec, sizeof spec, "laprls(lambda_i=%g, solver=pcg)", graph[a]);
        predict_own(ctx, &r, NULL, with(spec, "gaussian(sigma=0.15)", "exact", lambda[a]), &report,
                    f[1]);
        for (int i = 0; i < N; i++) off = fmax(off, fabs(f[0][i] - f[1][i]));
        CHECK_ELSE(report.residual <= 1e-6 && report.iterations < 500 && off < 1e-3,
                   "lambda %g, lambda_i %g: residual %g after %lld, off by %g\n", lambda[a],
                   graph[a], report.residual, (long long)report.iterations, off);
        krein_report_clear(ctx, &report);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* One of the two lambdas given: the other is chosen, and what was chosen gives the same model. */
static void one_of_two(void) {
    krein_ctx *ctx = test_ctx(1);
    enum { N = 200 };
    rows r = curve(N, 1, 5, false);
    static const char *const spec[] = {"laprls", "laprls(lambda=1e-3)", "laprls(lambda_i=2)"};
    for (int s = 0; s < KREIN__COUNT(spec); s++) {
        krein_report report = KREIN_SIZED(krein_report);
        double f[N], again[N];
        krein_train_options o = with(spec[s], "gaussian(sigma=0.5)", "exact", -1);
        predict_own(ctx, &r, NULL, o, &report, f);
        CHECK(s != 1 || report.lambda == 1e-3);
        CHECK(isfinite(report.loo));
        if (s == 2) CHECK_HAS(report.learner, "lambda_i=2,");
        predict_own(ctx, &r, NULL, with(report.learner, report.kernel, report.map, report.lambda),
                    NULL, again);
        for (int i = 0; i < N; i++) CHECK(f[i] == again[i]);
        krein_report_clear(ctx, &report);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* ---- probabilities ------------------------------------------------------ */

enum { MOONS = 120, EACH = 3, KNOWN = MOONS / EACH };

static krein_model *moons_model(krein_ctx *ctx, const rows *r, const double *weight,
                                krein_train_options o) {
    krein_model *m = NULL;
    krein_data *data = as_they_are(ctx, r, weight, KREIN_TASK_CLASSIFICATION);
    krein_status st = krein_train(ctx, data, &o, NULL, &m);
    CHECK_ELSE(st == KREIN_OK && m, "%s: %s\n", o.learner, krein_message(ctx));
    krein_data_close(data);
    if (!m) exit(1);
    return m;
}

/* Slope and shift of scores of labelled rows, each by a model that did not know its label: trained
 * again without it, and with as much of the penalties for each row that is left. */
static krein_calibration by_hand(krein_ctx *ctx, const rows *r, const double *weight,
                                 const char *kernel, double lambda, double lambda_i) {
    double score[KNOWN], own[KNOWN], total = 0;
    int32_t class[KNOWN];
    int n = 0;
    for (int i = 0; i < MOONS; i++)
        if (!isnan(r->y[i])) total += weight ? weight[i] : 1;
    for (int i = 0; i < MOONS; i++) {
        double y = r->y[i];
        char spec[80];
        if (isnan(y)) continue;
        own[n] = weight ? weight[i] : 1;
        class[n] = (int32_t)y;
        double more = total / (total - own[n]);
        r->y[i] = NAN;
        snprintf(spec, sizeof spec, "laprls(lambda_i=%.17g, k=5, solver=direct)", more * lambda_i);
        krein_model *m = moons_model(ctx, r, weight, with(spec, kernel, "exact", more * lambda));
        CHECK(krein_predict_dense(ctx, m, 1, 2, r->x + 2 * i, 2, score + n) == KREIN_OK);
        krein_model_destroy(m);
        r->y[i] = y;
        n++;
    }
    CHECK(n == KNOWN);
    krein_model *m =
        moons_model(ctx, r, weight, with("laprls(lambda_i=0)", kernel, "exact", lambda));
    CHECK(krein__model_calibrate(ctx, m, n, score, class, NULL, own) == KREIN_OK);
    krein_calibration c = m->calibration;
    m->calibration = (krein_calibration){0};
    krein_model_destroy(m);
    return c;
}

static void probabilities_leave_labels_out(void) {
    static const struct {
        const char *solver, *map;
        double close;
    } all[] = {{"direct", "exact", 1e-3},          {"cg", "exact", 1e-2}, {"pcg", "exact", 1e-2},
               {"direct", "nystrom(D=120)", 2e-2}, /* all rows: the kernel, in float32 */
               {"pcg", "nystrom(D=120)", .1},      /* a sample of the edges */
               {"cg", "nystrom(D=120)", .1}};
    const char *kernel = "gaussian(sigma=0.4)";
    krein_ctx *ctx = test_ctx(1);
    rows r = moons(MOONS, EACH, 2);
    double weight[MOONS];
    for (int i = 0; i < MOONS; i++) weight[i] = 1 + i % 4;
    for (int i = 0; i < MOONS; i += 9) /* some that are not easy */
        if (!isnan(r.y[i])) r.y[i] = 1 - r.y[i];
    for (int w = 0; w < 2; w++) {
        krein_calibration want = by_hand(ctx, &r, w ? weight : NULL, kernel, 1e-2, 3);
        for (int a = 0; a < KREIN__COUNT(all); a++) {
            char spec[80];
            snprintf(spec, sizeof spec, "laprls(lambda_i=3, k=5, solver=%s)", all[a].solver);
            krein_train_options o = with(spec, kernel, all[a].map, 1e-2);
            o.probabilities = true;
            krein_model *m = moons_model(ctx, &r, w ? weight : NULL, o);
            const krein_calibration *c = &m->calibration;
            CHECK(c->slope && c->shift);
            if (c->slope)
                CHECK_ELSE(fabs(c->slope[0] - want.slope[0]) < all[a].close * want.slope[0] &&
                               fabs(c->shift[0] - want.shift[0]) < all[a].close,
                           "%s on %s: %g and %g, by hand %g and %g\n", spec, all[a].map,
                           c->slope[0], c->shift[0], want.slope[0], want.shift[0]);
            krein_model_destroy(m);
        }
        krein__free(ctx, want.slope);
        krein__free(ctx, want.shift);
    }
    drop(&r);
    krein_ctx_destroy(ctx);
}

/* Folds, where they are asked for. */
static void probabilities_by_folds(void) {
    static const char *const map[] = {"exact", "nystrom(D=60)", "rff(D=64)"};
    rows r = moons(MOONS, EACH, 2);
    for (int a = 0; a < 2 * KREIN__COUNT(map); a++) {
        test_log log;
        krein_ctx *ctx = test_ctx_full(1, NULL, &log);
        krein_train_options o = with(a % 2 ? "laprls(lambda_i=3, k=5, solver=pcg)" : "laprls(k=5)",
                                     "gaussian(sigma=0.4)", map[a / 2], a % 2 ? 1e-2 : -1);
        o.probabilities = true;
        o.select = "cv(k=4)";
        krein_model *m = moons_model(ctx, &r, NULL, o);
        CHECK_HAS(log.text, "calibrated on scores of 4 folds of 40 rows");
        CHECK(m->calibration.slope && m->calibration.slope[0] > 0);
        krein_model_destroy(m);
        krein_ctx_destroy(ctx);
    }
    drop(&r);
}

/* ---- bits and files ----------------------------------------------------- */

static void threads_and_files(void) {
    enum { N = 500 };
    static const char *const map[] = {"exact", "nystrom(D=100)", "rff(D=128)"}, *const solver[] = {
                                                                                    "direct", "cg",
                                                                                    "pcg"};
    rows r = curve(N, 1, 4, true);
    for (int a = 0; a < 9; a++) {
        char spec[60];
        double f[3][N];
        snprintf(spec, sizeof spec, "laprls(solver=%s)", solver[a % 3]);
        for (int t = 0; t < 2; t++) {
            krein_ctx *ctx = test_ctx(1 + t);
            krein_model *m = NULL, *loaded = NULL;
            krein_data *data = as_they_are(ctx, &r, NULL, KREIN_TASK_REGRESSION);
            krein_train_options o = with(spec, "gaussian(sigma=0.5)", map[a / 3], -1);
            CHECK(krein_train(ctx, data, &o, NULL, &m) == KREIN_OK);
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
        CHECK_ELSE(memcmp(f[0], f[1], sizeof f[0]) == 0, "%s on %s: threads\n", spec, map[a / 3]);
    }
    drop(&r);
}

/* ---- wrong calls -------------------------------------------------------- */

static void bad_input(void) {
    rows r = curve(40, 1, 4, false), none = curve(40, 1, 4, false);
    for (int i = 0; i < 40; i++) none.y[i] = NAN;
    const char *k = "gaussian(sigma=0.5)";
    refused(&r, with("laprls(k=40)", k, "exact", .1), KREIN_EARG, "40");
    refused(&r, with("laprls(lambda=0.2)", k, "exact", .1), KREIN_EARG, "give one");
    refused(&r, with("laprls", k, "exact", 0), KREIN_EARG, "lambda > 0");
    refused(&r, with("laprls(lambda_i=-1)", k, "exact", .1), KREIN_ESPEC, "lambda_i");
    refused(&r, with("laprls", "tanh(gamma=1, c=1)", "exact", .1), KREIN_EARG, "positive");
    refused(&none, with("laprls", k, "exact", .1), KREIN_EDATA, "0 of 40 rows have a label");
    drop(&r);
    drop(&none);
}

/* All rows labelled: a warning, and the graph of these. Two clouds far apart: two pieces. */
static void odd_input(void) {
    test_log log;
    krein_ctx *ctx = test_ctx_full(1, NULL, &log);
    enum { N = 40 };
    rows r = curve(N, 1, 1, false);
    double f[N];
    predict_own(ctx, &r, NULL, with("laprls(lambda_i=1)", "gaussian(sigma=0.5)", "exact", .1), NULL,
                f);
    CHECK(log.warnings == 1);
    CHECK_HAS(log.text, "every row has a label");
    drop(&r);
    r = curve(N, 1, 4, false);
    for (int i = 0; i < N; i += 2) {
        r.x[2 * i] += 1000;
        r.y[i] = NAN;
    }
    r.y[1] = r.y[3] = 3;
    r.y[5] = 4;
    predict_own(ctx, &r, NULL, with("laprls(lambda_i=1, k=3)", "gaussian(sigma=0.5)", "exact", .1),
                NULL, f);
    CHECK_HAS(log.text, "pieces");
    for (int i = 0; i < N; i++) CHECK(isfinite(f[i]));
    drop(&r);
    krein_ctx_destroy(ctx);
}

static void every_allocation(void) {
    every_allocation_of("laprls(lambda_i=1, k=4)", "exact", .1);
    every_allocation_of("laprls(lambda_i=1, k=4, solver=pcg)", "exact", .1);
    every_allocation_of("laprls(k=4, solver=pcg)", "rff(D=16)", .1);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(steps_and_condition);
    RUN(reference_values);
    RUN(against_elimination);
    RUN(solvers_agree);
    RUN(many_landmarks);
    RUN(many_edges);
    RUN(without_the_graph);
    RUN(moons_are_told_apart);
    RUN(pcg_ends);
    RUN(one_of_two);
    RUN(probabilities_leave_labels_out);
    RUN(probabilities_by_folds);
    RUN(threads_and_files);
    RUN(bad_input);
    RUN(odd_input);
    RUN(every_allocation);
    return DONE();
}
