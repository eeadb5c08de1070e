/* test_cluster.c -- k-means against a slow one, on features and on a kernel matrix; eigenvectors;
 * spectral clustering of rings; measures; models; refusals; failing memory. */
#include "clusters.h"

#include "num/blas.h"
#include "num/centres.h"
#include "num/lanczos.h"

/* ---- helpers ------------------------------------------------------------ */

static double distance2(int64_t d, const float *x, const double *c) {
    double sum = 0;
    for (int64_t j = 0; j < d; j++) sum += ((double)x[j] - c[j]) * ((double)x[j] - c[j]);
    return sum;
}

/* ---- k-means ------------------------------------------------------------ */

static void slow_means(int64_t n, int64_t d, int64_t m, const float *x, const int32_t *cluster,
                       double *centre) {
    for (int64_t c = 0; c < m; c++) {
        double count = 0;
        for (int64_t j = 0; j < d; j++) centre[c * d + j] = 0;
        for (int64_t i = 0; i < n; i++) {
            if (cluster[i] != c) continue;
            count++;
            for (int64_t j = 0; j < d; j++) centre[c * d + j] += (double)x[i * d + j];
        }
        for (int64_t j = 0; j < d; j++) centre[c * d + j] /= count;
    }
}

/* Lloyd's iterations from a partition, as they are written in a book. */
static double slow_lloyd(int64_t n, int64_t d, int64_t m, const float *x, int32_t *cluster,
                         double *centre) {
    double inertia = 0;
    for (int64_t moved = 1; moved > 0;) {
        slow_means(n, d, m, x, cluster, centre);
        moved = 0;
        inertia = 0;
        for (int64_t i = 0; i < n; i++) {
            int32_t best = 0;
            for (int32_t c = 1; c < m; c++)
                if (distance2(d, x + i * d, centre + c * d) <
                    distance2(d, x + i * d, centre + best * d))
                    best = c;
            moved += best != cluster[i];
            cluster[i] = best;
            inertia += distance2(d, x + i * d, centre + best * d);
        }
    }
    return inertia;
}

static void against_slow(void) {
    enum { N = 700, D = 5, M = 6 };
    float *x = blobs(N, D, 9, 2);
    krein_features t = table(ctx, N, D, x, 192);
    for (uint64_t s = 1; s < 6; s++) {
        krein_kmeans_options one = wanted(M, 1, 1), all = wanted(M, 1, 300);
        krein_kmeans start, end;
        double centre[M * D];
        one.rng.seed = all.rng.seed = s;
        CHECK(krein__kmeans_features(&t, &one, &start) == KREIN_OK && !start.settled);
        CHECK(krein__kmeans_features(&t, &all, &end) == KREIN_OK && end.settled);
        double inertia = slow_lloyd(N, D, M, x, start.cluster, centre);
        CHECK(memcmp(start.cluster, end.cluster, N * sizeof *end.cluster) == 0);
        CHECK_REL(end.inertia, inertia, 1e-12);
        for (int64_t k = 0; k < M * D; k++) CHECK(fabs(end.centre[k] - centre[k]) < 1e-12);
        int64_t size[M] = {0};
        for (int64_t i = 0; i < N; i++) size[end.cluster[i]]++;
        CHECK(memcmp(size, end.size, sizeof size) == 0);
        krein__kmeans_clear(ctx, &start);
        krein__kmeans_clear(ctx, &end);
    }
    free(x);
}

static float *recomputed;
static krein_status make(void *state, int64_t block, float *out) {
    const krein_features *t = state;
    int64_t n = krein__min(t->rows, t->n - block * t->rows);
    memcpy(out, recomputed + block * t->rows * t->D, (size_t)(n * t->D) * sizeof *out);
    return KREIN_OK;
}

/* The bits depend neither on the threads nor on whether the table is kept. */
static void same_bits(void) {
    enum { N = 900, D = 70, M = 4 };
    float *x = blobs(N, D, 7, 2), *room = test_new(384 * D, sizeof *room);
    krein_kmeans_options o = wanted(M, 7, 300);
    krein_kmeans first, r;
    krein_features t = table(ctx, N, D, x, 384);
    CHECK(krein__kmeans_features(&t, &o, &first) == KREIN_OK);
    for (int k = 0; k < 2; k++) {
        krein_ctx *on = test_ctx(3);
        t = table(on, N, D, k ? NULL : x, 384);
        t.made = room;
        t.make = make;
        t.state = &t;
        recomputed = x;
        CHECK(krein__kmeans_features(&t, &o, &r) == KREIN_OK);
        CHECK(memcmp(r.cluster, first.cluster, N * sizeof *r.cluster) == 0);
        CHECK(memcmp(r.centre, first.centre, M * D * sizeof *r.centre) == 0);
        CHECK(r.inertia == first.inertia && r.steps == first.steps);
        krein__kmeans_clear(on, &r);
        krein_ctx_destroy(on);
    }
    /* more runs are not worse */
    o.restarts = 1;
    t = table(ctx, N, D, x, 384);
    CHECK(krein__kmeans_features(&t, &o, &r) == KREIN_OK && r.inertia >= first.inertia);
    krein__kmeans_clear(ctx, &r);
    krein__kmeans_clear(ctx, &first);
    free(x);
    free(room);
}

/* With the linear kernel the matrix and the rows say the same. */
static void matrix(void) {
    enum { N = 400, D = 4, M = 5 };
    float *x = blobs(N, D, 7, 1.5);
    double *K = test_new(N * N, sizeof *K);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            for (int64_t k = 0; k < D; k++)
                K[i * N + j] += (double)x[i * D + k] * (double)x[j * D + k];
    krein_features t = table(ctx, N, D, x, 192);
    krein_kmeans_options o = wanted(M, 4, 300);
    krein_kmeans a, b, c;
    CHECK(krein__kmeans_features(&t, &o, &a) == KREIN_OK);
    CHECK(krein__kmeans_matrix(ctx, N, K, &o, &b) == KREIN_OK);
    CHECK(a.settled && b.settled && a.steps == b.steps);
    CHECK(memcmp(a.cluster, b.cluster, N * sizeof *a.cluster) == 0);
    CHECK(memcmp(a.size, b.size, M * sizeof *a.size) == 0);
    CHECK_REL(b.inertia, a.inertia, 1e-10);
    krein_ctx *three = test_ctx(3);
    CHECK(krein__kmeans_matrix(three, N, K, &o, &c) == KREIN_OK);
    CHECK(memcmp(c.cluster, b.cluster, N * sizeof *c.cluster) == 0 && c.inertia == b.inertia);
    krein__kmeans_clear(three, &c);
    krein_ctx_destroy(three);
    krein__kmeans_clear(ctx, &a);
    krein__kmeans_clear(ctx, &b);
    free(x);
    free(K);
}

static krein_status note_move(void *state, int64_t row, int32_t to) {
    int64_t *noted = state;
    noted[to] = row;
    return KREIN_OK;
}

/* Empty clusters, and fewer different rows than clusters. */
static void few(void) {
    const int32_t cluster[] = {0, 0, 0, 2, 0};
    const int64_t count[] = {4, 0, 1, 0};
    double distance[] = {1, 5, 5, 9, 2};
    int64_t filled, noted[4] = {-1, -1, -1, -1};
    CHECK(krein__kmeans_fill(5, 4, cluster, 1, count, distance, note_move, noted, &filled) ==
          KREIN_OK);
    CHECK(filled == 2 && noted[1] == 1 && noted[3] == 2 && noted[0] == -1);

    enum { N = 60, D = 2 };
    float x[N * D];
    double K[N * N];
    for (int i = 0; i < N; i++) x[2 * i] = (float)(i % 3), x[2 * i + 1] = (float)(i % 3 == 1);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            K[i * N + j] = (double)(x[2 * i] * x[2 * j] + x[2 * i + 1] * x[2 * j + 1]);
    krein_features t = table(ctx, N, D, x, 192);
    krein_kmeans_options o = wanted(3, 2, 300);
    krein_kmeans r;
    for (int k = 0; k < 2; k++) {
        o.clusters = 3;
        CHECK((k ? krein__kmeans_matrix(ctx, N, K, &o, &r) : krein__kmeans_features(&t, &o, &r)) ==
              KREIN_OK);
        CHECK(r.inertia < 1e-12 && r.size[0] == 20 && r.size[1] == 20);
        krein__kmeans_clear(ctx, &r);
        o.clusters = 4;
        CHECK((k ? krein__kmeans_matrix(ctx, N, K, &o, &r) : krein__kmeans_features(&t, &o, &r)) ==
              KREIN_EDATA);
        CHECK_HAS(krein_message(ctx), "only 3 of the rows are different");
        krein__kmeans_clear(ctx, &r);
    }
    /* every row a cluster of its own */
    float *y = test_dense(20, 3, .4);
    t = table(ctx, 20, 3, y, 192);
    o = wanted(20, 1, 300);
    CHECK(krein__kmeans_features(&t, &o, &r) == KREIN_OK && r.inertia == 0 && r.size[7] == 1);
    krein__kmeans_clear(ctx, &r);
    free(y);
}

/* ---- eigenvectors ------------------------------------------------------- */

typedef struct square {
    int64_t n;
    const double *a;
} square;
static krein_status apply(void *state, int64_t k, const double *x, double *y) {
    const square *s = state;
    krein__dgemm(false, false, s->n, k, s->n, 1, s->a, s->n, x, k, 0, y, k);
    return KREIN_OK;
}

/* A = Q diag(h) Q' with some eigenvalues several times. */
static void eigen(void) {
    const int64_t sizes[][2] = {{1, 1}, {5, 5}, {7, 2}, {41, 3}, {150, 8}, {400, 5}};
    for (int s = 0; s < 6; s++) {
        int64_t n = sizes[s][0], k = sizes[s][1];
        double *q = test_new(n * n, sizeof *q), *a = test_new(n * n, sizeof *a);
        double *h = test_new(n, sizeof *h), *scaled = test_new(n * n, sizeof *scaled);
        double *value = test_new(k, sizeof *value), *v = test_new(n * k, sizeof *v), residual;
        for (int64_t i = 0; i < n * n; i++) q[i] = test_random();
        CHECK(krein__haar_rows(ctx, n, n, q) == KREIN_OK);
        for (int64_t i = 0; i < n; i++) h[i] = i < 3 ? 1 : 1 - (double)i / (double)n * 1.9;
        for (int64_t i = 0; i < n * n; i++) scaled[i] = q[i] * h[i / n];
        krein__dgemm(true, false, n, n, n, 1, scaled, n, q, n, 0, a, n);
        square op = {n, a};
        CHECK(krein__top_eigen(ctx, n, k, apply, &op, (krein_rng){1, 2}, 1e-9, 2000, value, v,
                               &residual) == KREIN_OK);
        CHECK(residual < 1e-9);
        for (int64_t c = 0; c < k; c++) {
            CHECK_REL(value[c], h[c], 1e-9);
            for (int64_t b = 0; b <= c; b++) {
                double dot = 0;
                for (int64_t i = 0; i < n; i++) dot += v[i * k + b] * v[i * k + c];
                CHECK(fabs(dot - (b == c)) < 1e-10);
            }
        }
        free(q), free(a), free(h), free(scaled), free(value), free(v);
    }
}

/* ---- measures ----------------------------------------------------------- */

static double ari_of(int64_t n, int64_t m, const int32_t *a, int64_t k, const int32_t *b,
                     double *nmi) {
    double ari;
    CHECK(krein__agreement(ctx, n, m, a, k, b, NULL, &ari, nmi) == KREIN_OK);
    return ari;
}

/* Values of scikit-learn's documentation, and by hand. */
static void agreement(void) {
    const int32_t two[] = {0, 0, 1, 1}, three[] = {0, 0, 1, 2}, one[] = {0, 0, 0, 0},
                  four[] = {0, 1, 2, 3}, swapped[] = {1, 1, 0, 0}, cross[] = {0, 1, 0, 1};
    double nmi;
    CHECK_REL(ari_of(4, 2, two, 3, three, &nmi), 4. / 7, 1e-14);
    CHECK_REL(nmi, 0.8, 1e-14);
    CHECK_REL(ari_of(4, 3, three, 2, two, &nmi), 4. / 7, 1e-14);
    CHECK(ari_of(4, 2, two, 2, swapped, &nmi) == 1);
    CHECK_REL(nmi, 1, 1e-14);
    CHECK(ari_of(4, 1, one, 4, four, &nmi) == 0 && nmi == 0);
    CHECK_REL(ari_of(4, 2, two, 2, cross, &nmi), -.5, 1e-14);
    CHECK(fabs(nmi) < 1e-14);
    CHECK(ari_of(4, 1, one, 1, one, &nmi) == 1 && nmi == 1);
}

/* Points 0, 1 | 4, 6 on a line, and one alone. */
static void silhouettes(void) {
    const double at[] = {0, 1, 4, 6, 20};
    const int32_t cluster[] = {0, 0, 1, 1, 2};
    double G[25], value;
    for (int n = 4; n <= 5; n++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) G[i * n + j] = at[i] * at[j];
        CHECK(krein__silhouette(ctx, n, G, 3, cluster, NULL, NULL, &value) == KREIN_OK);
        double sum = 4. / 5 + 3. / 4 + (3.5 - 2) / 3.5 + (5.5 - 2) / 5.5;
        CHECK_REL(value, sum / n, 1e-14); /* the one alone counts 0 */
    }
    const int32_t same[] = {1, 1, 1, 1};
    CHECK(krein__silhouette(ctx, 4, G, 3, same, NULL, NULL, &value) == KREIN_OK && isnan(value));
}

static void order(void) {
    enum { N = 7, M = 4 };
    krein_kmeans r = {.cluster = krein__alloc(ctx, N, sizeof(int32_t)),
                      .size = krein__alloc(ctx, M, sizeof(int64_t)),
                      .mass = krein__alloc(ctx, M, sizeof(double)),
                      .centre = krein__alloc(ctx, M, sizeof(double))};
    const int32_t was[] = {3, 1, 0, 1, 0, 0, 3}, want[] = {1, 2, 0, 2, 0, 0, 1};
    const int64_t sizes[] = {3, 2, 0, 2}, sorted[] = {3, 2, 2, 0};
    memcpy(r.cluster, was, sizeof was);
    memcpy(r.size, sizes, sizeof sizes);
    for (int c = 0; c < M; c++) r.centre[c] = c, r.mass[c] = (double)sizes[c];
    CHECK(krein__cluster_order(ctx, N, 1, M, NULL, &r) == KREIN_OK);
    CHECK(memcmp(r.cluster, want, sizeof want) == 0 && memcmp(r.size, sorted, sizeof sorted) == 0);
    CHECK(r.centre[0] == 0 && r.centre[1] == 3 && r.centre[2] == 1 && r.centre[3] == 2);
    krein__kmeans_clear(ctx, &r);
}

/* ---- the whole ---------------------------------------------------------- */

/* Two rings: no k-means in the plane finds them. */
static void spectral(void) {
    enum { N = 600 };
    double class[N];
    float *x = rings(N, class);
    krein_data *data = rows_of(ctx, N, 2, x, class, NULL);
    const char *maps[] = {"exact", "nystrom(D=200)", NULL, "explicit"};
    for (int k = 0; k < 4; k++) {
        krein_cluster_options o = asked("gaussian(sigma=0.3)", maps[k], 2);
        krein_cluster_report r = KREIN_SIZED(krein_cluster_report);
        got g = {0};
        o.method = KREIN_CLUSTER_SPECTRAL;
        if (k == 2) o.graph = KREIN_GRAPH_KNN;
        if (k == 3) o.kernel = "linear", o.method = KREIN_CLUSTER_KMEANS;
        CHECK(krein_cluster(ctx, data, &o, keep, &g, &r, NULL) == KREIN_OK);
        CHECK(g.n == N && r.n == N && r.sizes[0] + r.sizes[1] == N && r.classes == 2);
        if (k < 3) CHECK(r.ari == 1 && fabs(r.nmi - 1) < 1e-12 && r.sizes[0] == N / 2);
        if (k < 3) CHECK(isnan(r.inertia) && r.silhouette > 0 && r.silhouette_rows == N);
        if (k < 3) CHECK(g.label[0] == 0 && g.label[1] == 1); /* equal sizes: by the first row */
        if (k == 3) CHECK(r.ari < .1 && r.inertia > 0);
        CHECK((k == 2) == (r.map == NULL) && (k == 2) == (r.D < 0));
        krein_cluster_report_clear(ctx, &r);
    }
    krein_data_close(data);
    free(x);
}

/* Neighbours by sorting all distances. */
static void neighbours(void) {
    enum { N = 250, D = 3, K = 4 };
    float *x = test_dense(N, D, 2.2);
    krein_rows rows = krein__rows_dense(N, D, x, D);
    krein_kernel *kernel = NULL;
    krein_graph g = {0}, h = {0};
    krein_ctx *three = test_ctx(3);
    CHECK(krein__kernel_parse(ctx, "gaussian(sigma=1)", &kernel) == KREIN_OK);
    krein_graph_options nearest = {.k = K, .edges = KREIN_EDGES_MEAN};
    CHECK(krein__graph_make(ctx, kernel, &rows, NULL, &nearest, &g) == KREIN_OK);
    CHECK(krein__graph_make(three, kernel, &rows, NULL, &nearest, &h) == KREIN_OK);
    static bool near[N][N];
    for (int i = 0; i < N; i++)
        for (int k = 0; k < K; k++) {
            int best = -1;
            double least = INFINITY;
            for (int j = 0; j < N; j++) {
                double s = 0;
                for (int c = 0; c < D; c++) {
                    double e = (double)x[i * D + c] - (double)x[j * D + c];
                    s += e * e;
                }
                if (j != i && !near[i][j] && s < least) best = j, least = s;
            }
            near[i][best] = true;
        }
    int64_t edges = 0;
    for (int i = 0; i < N; i++)
        for (int64_t e = g.ptr[i]; e < g.ptr[i + 1]; e++, edges++) {
            int j = g.col[e];
            CHECK(e == g.ptr[i] || g.col[e - 1] < j);
            CHECK(near[i][j] + near[j][i] == 2 * g.val[e]);
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) edges -= near[i][j] || near[j][i];
    CHECK(edges == 0);
    CHECK(memcmp(g.col, h.col, (size_t)g.ptr[N] * sizeof *g.col) == 0);
    int64_t ptr[] = {0, 1, 2, 3, 4, 4};
    int32_t col[] = {1, 0, 3, 2};
    krein_graph small = {.n = 5, .ptr = ptr, .col = col};
    CHECK(krein__graph_pieces(ctx, &small, NULL) == 3);
    krein__graph_clear(ctx, &g);
    krein__graph_clear(three, &h);
    krein__kernel_destroy(ctx, kernel);
    krein_ctx_destroy(three);
    free(x);
}

/* The model puts the rows it was made from, and new ones, where k-means does. */
static void models(void) {
    enum { N = 300, D = 3 };
    const char *maps[] = {"exact", "rff(D=200)", "nystrom(D=60)"};
    for (int64_t m = 2; m <= 4; m++) {
        float *x = blobs(N, D, m, .3);
        krein_data *data = rows_of(ctx, N, D, x, NULL, NULL);
        for (int k = 0; k < 3; k++) {
            krein_cluster_options o = asked("gaussian(sigma=2)", maps[k], m);
            krein_cluster_report r = KREIN_SIZED(krein_cluster_report);
            krein_model *model = NULL, *loaded = NULL;
            krein_model_info info = KREIN_SIZED(krein_model_info);
            got a = {0}, b = {0};
            CHECK(krein_cluster(ctx, data, &o, keep, &a, &r, &model) == KREIN_OK);
            CHECK(krein_model_save(ctx, model, test_path("c.krein")) == KREIN_OK);
            CHECK(krein_model_load(ctx, test_path("c.krein"), &loaded) == KREIN_OK);
            CHECK(krein_predict(ctx, loaded, data, keep, &b) == KREIN_OK);
            CHECK(a.n == N && b.n == N && memcmp(a.label, b.label, N * sizeof *a.label) == 0);
            krein_model_describe(loaded, &info);
            CHECK(info.classes == m && strcmp(krein_model_class(loaded, 1), "2") == 0);
            CHECK_HAS(info.learner, "kmeans(clusters=");
            CHECK(isnan(r.ari) && r.classes == -1 && r.settled && r.silhouette > .5);
            krein_model_destroy(model);
            krein_model_destroy(loaded);
            krein_cluster_report_clear(ctx, &r);
        }
        krein_data_close(data);
        free(x);
    }
}

static void refused(krein_data *data, krein_cluster_options o, bool model, const char *message) {
    krein_cluster_report r = KREIN_SIZED(krein_cluster_report);
    krein_model *m = NULL;
    krein_status st = krein_cluster(ctx, data, &o, NULL, NULL, &r, model ? &m : NULL);
    CHECK(st != KREIN_OK && !m && !r.sizes);
    if (st == KREIN_OK) krein_cluster_report_clear(ctx, &r);
    CHECK_HAS(krein_message(ctx), message);
}

static void refusals(void) {
    enum { N = 50, D = 2 };
    float *x = test_dense(N, D, 1), same[N * D] = {0};
    krein_data *data = rows_of(ctx, N, D, x, NULL, NULL), *one = rows_of(ctx, 1, D, x, NULL, NULL),
               *equal = rows_of(ctx, N, D, same, NULL, NULL);
    krein_cluster_options o = asked("gaussian(sigma=1)", NULL, 3);
    o.clusters = 0;
    refused(data, o, false, "from 1");
    o.clusters = N + 1;
    refused(data, o, false, "51 clusters of 50 rows");
    o.clusters = 2;
    refused(one, o, false, "at least two");
    refused(equal, o, false, "only 1 of the rows are different");
    o.graph = KREIN_GRAPH_KNN;
    refused(data, o, false, "`method=spectral`");
    o.method = KREIN_CLUSTER_SPECTRAL;
    o.map = "rff";
    refused(data, o, false, "leave `map`");
    o.map = NULL;
    o.neighbours = N;
    refused(data, o, false, "do not have 50 `neighbours`");
    refused(data, o, true, "no model");
    o = asked("gaussian(sigma=1)", NULL, 1);
    refused(data, o, true, "one cluster needs no model");
    o = asked("gaussian(sigma=1) - gaussian(sigma=2)", "exact", 2);
    refused(data, o, false, "not positive definite");
    o.map = "nystrom(D=10)";
    o.method = KREIN_CLUSTER_SPECTRAL;
    refused(data, o, false, "`map=exact`");
    o = asked("linear", NULL, 5);
    o.method = KREIN_CLUSTER_SPECTRAL;
    refused(data, o, false, "2 features cannot tell 5 clusters apart");
    o.clusters = 2;
    refused(data, o, false, "do not sum to a positive number");
    o = asked("gaussian(sigma=0.01)", "rff(D=2)", 2);
    o.method = KREIN_CLUSTER_SPECTRAL;
    refused(data, o, false, "use more `features`");
    krein_data_close(data);
    krein_data_close(one);
    krein_data_close(equal);
    free(x);
}

/* One cluster, and a kernel matrix above --max-exact. */
static void edges(void) {
    enum { N = 30 };
    float *x = test_dense(N, 2, .7);
    krein_data *data = rows_of(ctx, N, 2, x, NULL, NULL);
    krein_cluster_report r = KREIN_SIZED(krein_cluster_report);
    for (int k = 0; k < 3; k++) {
        krein_cluster_options o = asked("gaussian(sigma=1)", k == 1 ? "rff(D=8)" : NULL, 1);
        if (k == 2) o.method = KREIN_CLUSTER_SPECTRAL;
        CHECK(krein_cluster(ctx, data, &o, NULL, NULL, &r, NULL) == KREIN_OK);
        CHECK(r.sizes[0] == N && isnan(r.silhouette));
        krein_cluster_report_clear(ctx, &r);
    }
    krein_cluster_options o = asked("gaussian(sigma=1)", "exact", 2);
    o.max_exact = 20;
    refused(data, o, false, "`max_exact` (20)");
    krein_data_close(data);
    free(x);
}

static void memory(void) {
    enum { N = 40, D = 2 };
    const char *maps[] = {"exact", "nystrom(D=12)", "exact", "nystrom(D=12)", NULL};
    double class[N];
    float *x = rings(N, class);
    test_memory m;
    krein_ctx *on = test_ctx_with(1, &m);
    for (int k = 0; k < 5; k++) {
        krein_cluster_options o = asked("gaussian(sigma=1)", maps[k], 3);
        o.restarts = 2;
        if (k >= 2) o.method = KREIN_CLUSTER_SPECTRAL;
        if (k == 4) o.graph = KREIN_GRAPH_KNN;
        TEST_EVERY_ALLOCATION(&m, at) {
            krein_cluster_report r = KREIN_SIZED(krein_cluster_report);
            krein_model *model = NULL;
            krein_data *data = rows_of(on, N, D, x, class, NULL);
            krein_status st =
                data ? krein_cluster(on, data, &o, NULL, NULL, &r, k < 2 ? &model : NULL)
                     : KREIN_EMEMORY;
            krein_status want = test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK;
            if (st != want) printf("%d, %lld: %s\n", k, (long long)at, krein_message(on));
            CHECK(st == want);
            if (st == KREIN_OK) krein_cluster_report_clear(on, &r);
            krein_model_destroy(model);
            krein_data_close(data);
        }
    }
    krein_ctx_destroy(on);
    free(x);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(against_slow);
    RUN(same_bits);
    RUN(matrix);
    RUN(few);
    RUN(eigen);
    RUN(agreement);
    RUN(silhouettes);
    RUN(order);
    RUN(spectral);
    RUN(neighbours);
    RUN(models);
    RUN(refusals);
    RUN(edges);
    RUN(memory);
    krein_ctx_destroy(ctx);
    return DONE();
}
