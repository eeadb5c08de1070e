/* test_cluster_weights.c -- clustering of weighted rows: as of rows that are repeated, and a weight
 * of zero as no row; k-means, spectral clustering, measures, models. */
#include "clusters.h"

enum { N = 160, MOST = 3 * N };

static double weight_of(int64_t i) { return (double)(i * 7 % 4); }

/* Rows as often as their weights say; from: which row each is. */
typedef struct copies {
    int64_t n, from[MOST];
    double weight[N];
} copies;

static copies copy_rows(void) {
    copies c = {0};
    for (int64_t i = 0; i < N; i++) {
        c.weight[i] = weight_of(i);
        for (int64_t k = 0; k < i * 7 % 4; k++) c.from[c.n++] = i;
    }
    return c;
}
static float *repeat(const copies *c, int64_t d, const float *x) {
    float *out = test_new(c->n * d, sizeof *out);
    for (int64_t i = 0; i < c->n; i++)
        memcpy(out + i * d, x + c->from[i] * d, (size_t)d * sizeof *x);
    return out;
}
static double *inner(int64_t n, int64_t d, const float *x, double sigma) {
    double *K = test_new(n * n, sizeof *K);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double dot = 0, square = 0;
            for (int64_t k = 0; k < d; k++) {
                double a = (double)x[i * d + k], b = (double)x[j * d + k];
                dot += a * b;
                square += (a - b) * (a - b);
            }
            K[i * n + j] = sigma > 0 ? exp(-square / (2 * sigma * sigma)) : dot;
        }
    return K;
}

/* Both numbered by mass: the copies of a row are where it is. */
static void same_clusters(const copies *c, int64_t m, int64_t D, krein_kmeans *a, krein_kmeans *b) {
    CHECK(krein__cluster_order(ctx, N, D, m, c->weight, a) == KREIN_OK);
    CHECK(krein__cluster_order(ctx, c->n, D, m, NULL, b) == KREIN_OK);
    int64_t wrong = 0, rows = 0;
    for (int64_t i = 0; i < c->n; i++) wrong += a->cluster[c->from[i]] != b->cluster[i];
    CHECK(wrong == 0);
    for (int64_t k = 0; k < m; k++) {
        rows += a->size[k];
        CHECK_REL(a->mass[k], (double)b->size[k], 1e-12);
        CHECK_REL(b->mass[k], (double)b->size[k], 1e-12);
    }
    CHECK(rows == N);
}

/* ---- k-means -------------------------------------------------------------- */

enum { D = 3, M = 5 };

/* A row without weight is at the nearest centre too. */
static void at_the_nearest(const float *x, const krein_kmeans *a) {
    for (int64_t i = 0; i < N; i += 4) {
        double square[M] = {0};
        for (int64_t e = 0; e < M * D; e++)
            square[e / D] += pow((double)x[i * D + e % D] - a->centre[e], 2);
        for (int64_t k = 0; k < M; k++) CHECK(square[a->cluster[i]] <= square[k] * (1 + 1e-5));
    }
}

static void kmeans(void) {
    copies c = copy_rows();
    float *x = blobs(N, D, M, 1);
    for (int64_t i = 0; i < N; i += 4) x[i * D] += 1; /* would be seen */
    float *y = repeat(&c, D, x);
    double *K = inner(N, D, x, 0), *L = inner(c.n, D, y, 0);
    krein_features t = table(ctx, N, D, x, 96), u = table(ctx, c.n, D, y, 96);
    krein_kmeans_options o = wanted(M, 20, 300), p = o;
    krein_kmeans a, b, e, f;
    o.weight = c.weight;
    CHECK(krein__kmeans_features(&t, &o, &a) == KREIN_OK && a.settled);
    CHECK(krein__kmeans_features(&u, &p, &b) == KREIN_OK && b.settled);
    CHECK(krein__kmeans_matrix(ctx, N, K, &o, &e) == KREIN_OK && e.settled);
    CHECK(krein__kmeans_matrix(ctx, c.n, L, &p, &f) == KREIN_OK && f.settled);
    CHECK_REL(a.inertia, b.inertia, 1e-12);
    CHECK_REL(e.inertia, a.inertia, 1e-10);
    same_clusters(&c, M, D, &a, &b);
    same_clusters(&c, M, 0, &e, &f);
    CHECK(memcmp(a.cluster, e.cluster, N * sizeof *a.cluster) == 0);
    for (int64_t k = 0; k < M * D; k++) CHECK_ABS(a.centre[k], b.centre[k], 1e-12);
    at_the_nearest(x, &a);
    krein__kmeans_clear(ctx, &a);
    krein__kmeans_clear(ctx, &b);
    krein__kmeans_clear(ctx, &e);
    krein__kmeans_clear(ctx, &f);
    free(x);
    free(y);
    free(K);
    free(L);
}

/* Fractions: centres and inertia as written out; the unit of the weights does not matter. */
static void fractions(void) {
    float *x = blobs(N, D, M, 1.5);
    double weight[2][N], *K = inner(N, D, x, 0);
    krein_features t = table(ctx, N, D, x, 96);
    krein_kmeans r[2];
    for (int64_t i = 0; i < N; i++) {
        weight[0][i] = .01 + fabs(det(i, 1, 2));
        weight[1][i] = 0x1p-30 * weight[0][i];
    }
    for (int k = 0; k < 2; k++) {
        krein_kmeans_options o = wanted(M, 1, 300);
        krein_kmeans e;
        double centre[M * D] = {0}, mass[M] = {0}, inertia = 0;
        o.weight = weight[k];
        CHECK(krein__kmeans_features(&t, &o, &r[k]) == KREIN_OK && r[k].settled);
        CHECK(krein__kmeans_matrix(ctx, N, K, &o, &e) == KREIN_OK);
        CHECK(memcmp(e.cluster, r[k].cluster, N * sizeof *e.cluster) == 0);
        CHECK_REL(e.inertia, r[k].inertia, 1e-10);
        for (int64_t i = 0; i < N; i++) {
            mass[r[k].cluster[i]] += weight[k][i];
            for (int64_t j = 0; j < D; j++)
                centre[r[k].cluster[i] * D + j] += weight[k][i] * (double)x[i * D + j];
        }
        for (int64_t q = 0; q < M * D; q++) {
            centre[q] /= mass[q / D];
            CHECK_ABS(r[k].centre[q], centre[q], 1e-12);
            CHECK_REL(r[k].mass[q / D], mass[q / D], 1e-12);
        }
        for (int64_t i = 0; i < N * D; i++)
            inertia +=
                weight[k][i / D] * pow((double)x[i] - centre[r[k].cluster[i / D] * D + i % D], 2);
        CHECK_REL(r[k].inertia, inertia, 1e-12);
        krein__kmeans_clear(ctx, &e);
    }
    CHECK(memcmp(r[0].cluster, r[1].cluster, N * sizeof *r[0].cluster) == 0);
    CHECK(r[1].inertia == 0x1p-30 * r[0].inertia);
    krein__kmeans_clear(ctx, &r[0]);
    krein__kmeans_clear(ctx, &r[1]);
    free(x);
    free(K);
}

/* ---- spectral ------------------------------------------------------------- */

/* The graph of the copies: each is linked with all copies of its row's neighbours. */
static krein_graph expand(const copies *c, const krein_graph *g) {
    krein_graph out = {.n = c->n, .ptr = krein__alloc(ctx, c->n + 1, sizeof *out.ptr)};
    for (int pass = 0; pass < 2; pass++) {
        int64_t count = 0;
        for (int64_t i = 0; i < c->n; i++) {
            out.ptr[i] = count;
            for (int64_t j = 0; j < c->n; j++)
                for (int64_t e = g->ptr[c->from[i]]; e < g->ptr[c->from[i] + 1]; e++) {
                    if (g->col[e] != c->from[j]) continue;
                    if (pass) out.col[count] = (int32_t)j, out.val[count] = g->val[e];
                    count++;
                }
        }
        out.ptr[c->n] = count;
        if (pass) break;
        out.col = krein__alloc(ctx, count, sizeof *out.col);
        out.val = krein__alloc(ctx, count, sizeof *out.val);
    }
    return out;
}

/* Two rings, from the matrix, from features (the linear kernel's: rows on a circle), and from
 * neighbours. The rows without weight are on the rings as well. */
static void spectral(void) {
    copies c = copy_rows();
    double class[N];
    float *x = rings(N, class), *y = repeat(&c, 2, x), z[N * 2];
    krein_kmeans_options o = wanted(2, 10, 300), p = o;
    krein_kmeans a, b;
    krein_kernel *kernel = NULL;
    krein_graph g = {0}, h = {0};
    krein_rows rows = krein__rows_dense(N, 2, x, 2);
    o.weight = c.weight;
    for (int way = 0; way < 3; way++) {
        if (way == 0) {
            double *K = inner(N, 2, x, .5), *L = inner(c.n, 2, y, .5);
            CHECK(krein__spectral_matrix(ctx, N, K, &o, &a) == KREIN_OK);
            CHECK(krein__spectral_matrix(ctx, c.n, L, &p, &b) == KREIN_OK);
            free(K);
            free(L);
        } else if (way == 1) {
            CHECK(krein__kernel_parse(ctx, "gaussian(sigma=1)", &kernel) == KREIN_OK);
            krein_graph_options nearest = {.k = 6, .edges = KREIN_EDGES_MEAN};
            CHECK(krein__graph_make(ctx, kernel, &rows, c.weight, &nearest, &g) == KREIN_OK);
            for (int64_t i = 0; i < N; i++) /* rows without weight are named by nobody */
                for (int64_t e = g.ptr[i]; e < g.ptr[i + 1]; e++)
                    CHECK(c.weight[i] > 0 || (c.weight[g.col[e]] > 0 && g.val[e] == .5));
            h = expand(&c, &g);
            CHECK(krein__spectral_graph(ctx, &g, &o, &a) == KREIN_OK);
            CHECK(krein__spectral_graph(ctx, &h, &p, &b) == KREIN_OK);
        } else { /* two bundles of directions, all similarities positive */
            for (int64_t i = 0; i < N; i++) {
                double angle = .4 + .7 * (double)(i % 2) + .25 * det(i, 4, 1);
                z[2 * i] = (float)cos(angle), z[2 * i + 1] = (float)sin(angle);
            }
            float *s = repeat(&c, 2, z);
            krein_features t = table(ctx, N, 2, z, 96), u = table(ctx, c.n, 2, s, 96);
            CHECK(krein__spectral_features(&t, &o, &a) == KREIN_OK);
            CHECK(krein__spectral_features(&u, &p, &b) == KREIN_OK);
            free(s);
        }
        CHECK_REL(a.inertia, b.inertia, 1e-4); /* float32 rows of eigenvectors */
        same_clusters(&c, 2, 0, &a, &b);
        for (int64_t i = 0; i < N; i++)
            CHECK((a.cluster[i] == a.cluster[1]) == (class[i] == class[1]));
        krein__kmeans_clear(ctx, &a);
        krein__kmeans_clear(ctx, &b);
    }
    krein__graph_clear(ctx, &g);
    krein__graph_clear(ctx, &h);
    krein__kernel_destroy(ctx, kernel);
    free(x);
    free(y);
}

/* ---- measures --------------------------------------------------------------- */

static void measures(void) {
    copies c = copy_rows();
    float *x = blobs(N, 2, 3, 2), *y = repeat(&c, 2, x);
    double *G = inner(N, 2, x, 0), *H = inner(c.n, 2, y, 0), one, two, nmi[2], half[N];
    int32_t cluster[N], class[N], many[MOST], of[MOST];
    for (int64_t i = 0; i < N; i++) {
        cluster[i] = (int32_t)(i * i % 7 % 4);
        class[i] = (int32_t)(i % 3 ? i % 5 % 3 : cluster[i] % 3);
        half[i] = .25;
    }
    for (int64_t i = 0; i < c.n; i++) many[i] = cluster[c.from[i]], of[i] = class[c.from[i]];
    CHECK(krein__silhouette(ctx, N, G, 4, cluster, c.weight, NULL, &one) == KREIN_OK);
    CHECK(krein__silhouette(ctx, c.n, H, 4, many, NULL, NULL, &two) == KREIN_OK);
    CHECK_REL(one, two, 1e-10);
    CHECK(krein__agreement(ctx, N, 4, cluster, 3, class, c.weight, &one, &nmi[0]) == KREIN_OK);
    CHECK(krein__agreement(ctx, c.n, 4, many, 3, of, NULL, &two, &nmi[1]) == KREIN_OK);
    CHECK(two > .01 && two < .99);
    CHECK_REL(one, two, 1e-12);
    CHECK_REL(nmi[0], nmi[1], 1e-12);
    /* equal weights below one: those of plain rows */
    CHECK(krein__silhouette(ctx, N, G, 4, cluster, half, NULL, &one) == KREIN_OK);
    CHECK(krein__silhouette(ctx, N, G, 4, cluster, NULL, NULL, &two) == KREIN_OK);
    CHECK_REL(one, two, 1e-12);
    CHECK(krein__agreement(ctx, N, 4, cluster, 3, class, half, &one, &nmi[0]) == KREIN_OK);
    CHECK(krein__agreement(ctx, N, 4, cluster, 3, class, NULL, &two, &nmi[1]) == KREIN_OK);
    CHECK_REL(one, two, 1e-12);
    CHECK_REL(nmi[0], nmi[1], 1e-12);
    /* two rows, two clusters: one of them is three rows */
    const int32_t alone[] = {0, 1};
    const double three[] = {3, 1}, small[] = {1, 0, 0, 4};
    CHECK(krein__silhouette(ctx, 2, small, 2, alone, three, NULL, &one) == KREIN_OK);
    CHECK_REL(one, .75, 1e-14);
    CHECK(krein__silhouette(ctx, 2, small, 2, alone, NULL, NULL, &one) == KREIN_OK && isnan(one));
    free(x);
    free(y);
    free(G);
    free(H);
}

/* ---- the whole --------------------------------------------------------------- */

static void whole(void) {
    static const char *const maps[] = {"exact", "nystrom(D=60)", "exact", "nystrom(D=60)", NULL};
    copies c = copy_rows();
    float *x = blobs(N, D, M, .6), *y = repeat(&c, D, x);
    double class[N], many[MOST], ones[N];
    for (int64_t i = 0; i < N; i++) class[i] = (double)(i % M), ones[i] = 1;
    for (int64_t i = 0; i < c.n; i++) many[i] = class[c.from[i]];
    for (int k = 0; k < 5; k++) {
        krein_cluster_options o = asked("gaussian(sigma=2)", maps[k], M);
        krein_data *data[4] = {
            rows_of(ctx, N, D, x, class, c.weight), rows_of(ctx, c.n, D, y, many, NULL),
            rows_of(ctx, N, D, x, class, NULL), rows_of(ctx, N, D, x, class, ones)};
        krein_cluster_report r[4];
        krein_model *model = NULL;
        static got g[4];
        memset(g, 0, sizeof g);
        o.method = k < 2 ? KREIN_CLUSTER_KMEANS : KREIN_CLUSTER_SPECTRAL;
        o.graph = k == 4 ? KREIN_GRAPH_KNN : KREIN_GRAPH_FULL;
        for (int i = 0; i < 4; i++) {
            r[i] = KREIN_SIZED(krein_cluster_report);
            krein_status st = krein_cluster(ctx, data[i], &o, keep, &g[i], &r[i],
                                            i == 0 && k < 2 ? &model : NULL);
            if (st != KREIN_OK) printf("%d %d: %s\n", k, i, krein_message(ctx));
            CHECK(st == KREIN_OK);
        }
        int64_t wrong = 0, rows = 0;
        for (int64_t i = 0; i < c.n; i++) wrong += g[0].label[c.from[i]] != g[1].label[i];
        CHECK(wrong == 0 && g[0].n == N && r[0].n == N);
        for (int64_t m = 0; m < M; m++) rows += r[0].sizes[m];
        CHECK(rows == N && r[0].silhouette_rows == N - N / 4 && r[1].silhouette_rows == c.n);
        CHECK(r[0].ari == 1 && r[1].ari == 1);
        CHECK_REL(r[0].silhouette, r[1].silhouette, k % 2 ? 1e-2 : 1e-9); /* other landmarks */
        if (k == 0) CHECK_REL(r[0].inertia, r[1].inertia, 1e-9);
        /* weights of one are none, to the last bit */
        CHECK(memcmp(g[2].label, g[3].label, N * sizeof *g[2].label) == 0);
        CHECK(r[2].silhouette == r[3].silhouette && r[2].ari == r[3].ari);
        CHECK(r[2].inertia == r[3].inertia || k > 1);
        if (model) { /* it has the weighted centres */
            got again = {0};
            CHECK(krein_predict(ctx, model, data[2], keep, &again) == KREIN_OK);
            CHECK(memcmp(again.label, g[0].label, N * sizeof *again.label) == 0);
            krein_model_destroy(model);
        }
        for (int i = 0; i < 4; i++) {
            krein_cluster_report_clear(ctx, &r[i]);
            krein_data_close(data[i]);
        }
    }
    free(x);
    free(y);
}

/* Centres far from those of equal weights: of the model too. */
static void centres_of_a_model(void) {
    float x[] = {0, 1, 10, 11, 4.5f, 6.4f};
    double weight[] = {1, 1, 1, 1, 0, 0}, heavy[] = {1, 1000, 1, 1000, 0, 0};
    static const char *const maps[] = {"exact", "explicit"};
    for (int k = 0; k < 2; k++)
        for (int h = 0; h < 2; h++) {
            krein_cluster_options o = asked("linear", maps[k], 2);
            krein_data *data = rows_of(ctx, 6, 1, x, NULL, h ? heavy : weight);
            krein_model *model = NULL;
            got a = {0}, b = {0};
            /* the border is at 5.5, or at 6 */
            CHECK(krein_cluster(ctx, data, &o, keep, &a, NULL, &model) == KREIN_OK);
            CHECK(a.label[0] == a.label[1] && a.label[2] == a.label[3]);
            CHECK(a.label[4] == a.label[0] && a.label[5] == a.label[2]);
            x[5] = 5.7f;
            CHECK(krein_predict(ctx, model, data, keep, &b) == KREIN_OK);
            CHECK(b.label[5] == (h ? b.label[0] : b.label[2]) && b.label[4] == b.label[0]);
            x[5] = 6.4f;
            krein_model_destroy(model);
            krein_data_close(data);
        }
}

static void refused(krein_cluster_options o, int64_t n, const float *x, const double *weight,
                    const char *message) {
    krein_data *data = rows_of(ctx, n, D, x, NULL, weight);
    krein_cluster_report r = KREIN_SIZED(krein_cluster_report);
    krein_status st = krein_cluster(ctx, data, &o, NULL, NULL, &r, NULL);
    CHECK(st != KREIN_OK);
    if (st != KREIN_OK) CHECK_HAS(krein_message(ctx), message);
    krein_data_close(data);
}
static void refusals(void) {
    float *x = blobs(N, D, M, 1);
    double weight[N] = {0};
    krein_cluster_options o = asked("gaussian(sigma=1)", NULL, 3);
    refused(o, N, x, weight, "all row weights are zero");
    weight[3] = weight[5] = 1;
    refused(o, N, x, weight, "only 2 of the rows are different");
    weight[7] = weight[9] = 2;
    o.method = KREIN_CLUSTER_SPECTRAL;
    o.graph = KREIN_GRAPH_KNN;
    o.neighbours = 4;
    refused(o, N, x, weight, "4 rows do not have 4 `neighbours`");
    krein_data *data = NULL;
    krein_data_options d;
    krein_data_options_init(&d);
    weight[8] = -1;
    CHECK(krein_data_from_dense(ctx, N, D, x, D, NULL, weight, &d, &data) != KREIN_OK ||
          krein_cluster(ctx, data, &o, NULL, NULL, NULL, NULL) != KREIN_OK);
    CHECK_HAS(krein_message(ctx), "weight");
    krein_data_close(data);
    data = NULL;
    weight[8] = NAN;
    CHECK(krein_data_from_dense(ctx, N, D, x, D, NULL, weight, &d, &data) != KREIN_OK ||
          krein_cluster(ctx, data, &o, NULL, NULL, NULL, NULL) != KREIN_OK);
    CHECK_HAS(krein_message(ctx), "weight");
    krein_data_close(data);
    free(x);
}

static void threads_and_memory(void) {
    enum { FEW = 40 };
    static const char *const maps[] = {"exact", "nystrom(D=12)", "exact", "nystrom(D=12)", NULL};
    krein_ctx *own = ctx;
    copies c = copy_rows();
    float *x = blobs(N, D, 3, 1);
    test_memory m;
    krein_ctx *on = test_ctx_with(1, &m);
    for (int k = 0; k < 5; k++) {
        static got g[3];
        krein_cluster_options o = asked("gaussian(sigma=2)", maps[k], 3);
        o.restarts = 2;
        if (k >= 2) o.method = KREIN_CLUSTER_SPECTRAL;
        if (k == 4) o.graph = KREIN_GRAPH_KNN;
        for (int t = 0; t < 3; t++) {
            krein_ctx *some = test_ctx(t + 1);
            krein_data *data = rows_of(some, N, D, x, NULL, c.weight);
            g[t].n = 0;
            CHECK(krein_cluster(some, data, &o, keep, &g[t], NULL, NULL) == KREIN_OK);
            CHECK(memcmp(g[0].label, g[t].label, N * sizeof *g[t].label) == 0);
            krein_data_close(data);
            krein_ctx_destroy(some);
        }
        TEST_EVERY_ALLOCATION(&m, at) {
            krein_cluster_report r = KREIN_SIZED(krein_cluster_report);
            krein_data *data = rows_of(on, FEW, D, x, NULL, c.weight);
            krein_status st =
                data ? krein_cluster(on, data, &o, NULL, NULL, &r, NULL) : KREIN_EMEMORY;
            CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
            if (st == KREIN_OK) krein_cluster_report_clear(on, &r);
            krein_data_close(data);
        }
    }
    krein_ctx_destroy(on);
    ctx = own;
    free(x);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(2);
    RUN(kmeans);
    RUN(fractions);
    RUN(spectral);
    RUN(measures);
    RUN(whole);
    RUN(centres_of_a_model);
    RUN(refusals);
    RUN(threads_and_memory);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
