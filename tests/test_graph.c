/* test_graph.c -- nearest rows in all ways against brute force, edges, the Laplacian against dense
 * matrices, pieces, graphs in files. */
#include "common.h"

#include "graph/near.h"

static krein_ctx *ctx;

/* ---- rows --------------------------------------------------------------- */

enum { PLAIN, FAR, GRID, SPARSE, FILLED, KINDS };
typedef struct sample {
    int64_t n, d;
    krein_matrix m;
    double *weight;
} sample;

/* FAR: far from the origin; GRID: small whole numbers, so that many distances are equal; SPARSE,
 * FILLED: CSR with few and with many entries. */
static sample make(int kind, int64_t n, int64_t d) {
    sample s = {.n = n, .d = d, .m = {.n = n, .d = d}};
    float *x = test_new(n * d, sizeof *x);
    bool csr = kind == SPARSE || kind == FILLED;
    int64_t e = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) {
            double v = sin(12.9898 * (double)i * (double)(j + 3) + 78.233 * (double)j);
            if (kind == FAR) v += 1000 + (double)j;
            if (kind == GRID) v = rint(1.5 * v);
            if (csr)
                v = (i * 31 + j * 17 + i * j) % (kind == SPARSE ? 97 : 3) == 0 ? rint(4 * v) : 0;
            x[i * d + j] = (float)v;
            e += v != 0;
        }
    s.weight = test_new(n, sizeof *s.weight);
    for (int64_t i = 0; i < n; i++) s.weight[i] = i % 7 == 3 ? 0 : 1;
    if (!csr) {
        s.m.x = x;
        return s;
    }
    s.m.ptr = test_new(n + 1, sizeof *s.m.ptr);
    s.m.col = test_new(e, sizeof *s.m.col);
    s.m.val = test_new(e, sizeof *s.m.val);
    s.m.nnz = e;
    for (int64_t i = 0, t = 0; i < n; i++) {
        for (int64_t j = 0; j < d; j++) {
            if (x[i * d + j] == 0) continue;
            s.m.col[t] = (int32_t)j;
            s.m.val[t++] = x[i * d + j];
        }
        s.m.ptr[i + 1] = t;
    }
    free(x);
    return s;
}

static void drop(sample *s) {
    free(s->m.x);
    free(s->m.ptr);
    free(s->m.col);
    free(s->m.val);
    free(s->weight);
}

/* ---- brute force -------------------------------------------------------- */

typedef struct other {
    double square;
    int64_t row;
} other;

static int nearer(const void *a, const void *b) {
    const other *x = a, *y = b;
    if (x->square != y->square) return x->square < y->square ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Squares of all distances, n x n, each pair once. */
static double *squares_of(const sample *s) {
    krein_rows x = krein__matrix_rows(&s->m);
    double *all = test_new(s->n * s->d, sizeof *all), *square = test_new(s->n * s->n, 8);
    for (int64_t i = 0; i < s->n; i++) krein__row_copy_double(&x, i, all + i * s->d);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double *a = all + i * s->d, *b = all + j * s->d;
            double part[4] = {0}, sum; /* four sums: one waits for itself */
            for (int64_t c = 0; c < s->d; c++) part[c % 4] += (a[c] - b[c]) * (a[c] - b[c]);
            sum = part[0] + part[1] + part[2] + part[3];
            square[i * s->n + j] = square[j * s->n + i] = sum;
        }
    free(all);
    return square;
}

/* Ascending others of row i, and how many. */
static int64_t sorted(const sample *s, const double *square, const double *weight, int64_t i,
                      other *out) {
    int64_t n = 0;
    for (int64_t j = 0; j < s->n; j++)
        if (j != i && !(weight && weight[j] == 0)) out[n++] = (other){square[i * s->n + j], j};
    qsort(out, (size_t)n, sizeof *out, nearer);
    return n;
}

/* Squares to rounding; the same rows wherever these differ by more than that (on a grid they are
 * whole numbers, so that every tie is exact). */
static void check_lists(const sample *s, const double *weight, const krein_nearest *nn,
                        const char *what) {
    other *all = test_new(s->n, sizeof *all);
    double *square = squares_of(s);
    int64_t wrong = 0;
    for (int64_t i = 0; i < s->n; i++) {
        sorted(s, square, weight, i, all);
        for (int64_t t = 0; t < nn->k; t++) {
            double got = nn->square[i * nn->k + t], want = all[t].square;
            bool close = fabs(got - want) <= 1e-13 * want;
            bool tied = (t > 0 && want - all[t - 1].square <= 1e-13 * want && want != rint(want)) ||
                        (all[t + 1].square - want <= 1e-13 * want && want != rint(want));
            wrong += !close || (nn->near[i * nn->k + t] != all[t].row && !tied);
        }
    }
    CHECK_ELSE(wrong == 0, "%s: %lld places differ from brute force\n", what, (long long)wrong);
    free(all);
    free(square);
}

typedef krein_status search(krein_ctx *, const krein_rows *, const double *, krein_nearest *);

static void compare(search *find, const char *how, int kind, int64_t n, int64_t d, bool weights) {
    sample s = make(kind, n, d);
    krein_rows x = krein__matrix_rows(&s.m);
    krein_ctx *three = test_ctx(3);
    krein_nearest a = {0}, b = {0};
    char what[64];
    const int64_t k = 9;
    const double *weight = weights ? s.weight : NULL;
    snprintf(what, sizeof what, "%s, kind %d, %lld columns", how, kind, (long long)d);
    CHECK(krein__nearest_begin(ctx, n, k, &a) == KREIN_OK);
    CHECK(krein__nearest_begin(three, n, k, &b) == KREIN_OK);
    CHECK(find(ctx, &x, weight, &a) == KREIN_OK);
    CHECK(find(three, &x, weight, &b) == KREIN_OK);
    check_lists(&s, weight, &a, what);
    CHECK(memcmp(a.near, b.near, (size_t)(n * k) * sizeof *a.near) == 0);
    CHECK(memcmp(a.square, b.square, (size_t)(n * k) * sizeof *a.square) == 0);
    krein__nearest_end(ctx, &a);
    krein__nearest_end(three, &b);
    krein_ctx_destroy(three);
    drop(&s);
}

static void all_pairs(void) {
    const bool few = test_sanitized();
    const int64_t odd = few ? 450 : 900, even = few ? 300 : 1100; /* blocks of a tile */
    compare(krein__near_exact, "exact", PLAIN, odd, 5, false);
    compare(krein__near_exact, "exact", PLAIN, even, 70, true);
    compare(krein__near_exact, "exact", FAR, even, 20, false);
    compare(krein__near_exact, "exact", GRID, odd, 4, true);
    compare(krein__near_exact, "exact", SPARSE, odd, 1000, false);
    compare(krein__near_exact, "exact", SPARSE, even, 300, true);
    compare(krein__near_exact, "exact", FILLED, odd, 90, false);
}

static void tree(void) {
    int64_t n = test_sanitized() ? 500 : 1300;
    compare(krein__near_tree, "tree", PLAIN, n, 1, false);
    compare(krein__near_tree, "tree", PLAIN, n, 3, true);
    compare(krein__near_tree, "tree", PLAIN, n, 13, false);
    compare(krein__near_tree, "tree", FAR, n, 6, false);
    compare(krein__near_tree, "tree", GRID, n, 4, true);
    compare(krein__near_tree, "tree", GRID, n, 1, false);
    sample s = make(SPARSE, 100, 40);
    krein_rows x = krein__matrix_rows(&s.m);
    krein_nearest nn = {0};
    CHECK(krein__nearest_begin(ctx, 100, 3, &nn) == KREIN_OK);
    CHECK(krein__near_tree(ctx, &x, NULL, &nn) == KREIN_EARG);
    CHECK_HAS(ctx->message, "near=exact");
    krein__nearest_end(ctx, &nn);
    drop(&s);
}

/* Rows in a few directions of many columns, as descent wants them. */
static sample clouds(int64_t n, int64_t d) {
    sample s = make(PLAIN, n, d);
    for (int64_t i = 0; i < n; i++) {
        double a = sin(3.1 * (double)i), b = cos(5.7 * (double)i), c = sin(7.3 * (double)i + 1);
        for (int64_t j = 0; j < d; j++)
            s.m.x[i * d + j] =
                (float)(a * sin((double)j) + b * cos(2.0 * (double)j) +
                        c * sin(.7 * (double)(j * j)) + .05 * (double)s.m.x[i * d + j]);
    }
    return s;
}

/* Recall above a bound, said truly, the same for any threads. */
static void descent(void) {
    int64_t n = test_sanitized() ? 800 : 4000, d = 16, k = 10;
    sample s = clouds(n, d);
    krein_rows x = krein__matrix_rows(&s.m);
    krein_ctx *three = test_ctx(3);
    krein_nearest truth = {0}, a = {0}, b = {0};
    CHECK(krein__nearest_begin(ctx, n, k, &truth) == KREIN_OK);
    CHECK(krein__nearest_begin(ctx, n, k, &a) == KREIN_OK);
    CHECK(krein__nearest_begin(three, n, k, &b) == KREIN_OK);
    CHECK(krein__near_exact(ctx, &x, NULL, &truth) == KREIN_OK);
    CHECK(krein__near_descent(ctx, &x, NULL, 1, &a) == KREIN_OK);
    CHECK(krein__near_descent(three, &x, NULL, 1, &b) == KREIN_OK);
    int64_t hits = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < k; t++)
            for (int64_t u = 0; u < k; u++) hits += truth.near[i * k + t] == a.near[i * k + u];
    double recall = (double)hits / (double)(n * k), said;
    CHECK_ELSE(recall > .97, "recall %.4f\n", recall);
    CHECK(memcmp(a.near, b.near, (size_t)(n * k) * sizeof *a.near) == 0);
    CHECK(krein__near_recall(ctx, &x, NULL, 1, &a, &said) == KREIN_OK);
    /* of 100 rows with 10 neighbours each; those of a row go together */
    CHECK_Z(said, recall, recall * (1 - recall) + 1e-4, 100);
    CHECK(krein__near_recall(ctx, &x, NULL, 1, &truth, &said) == KREIN_OK && said == 1);
    for (int64_t e = 0; e < n * k; e++) truth.square[e] *= 4; /* as if others had been found */
    CHECK(krein__near_recall(ctx, &x, NULL, 1, &truth, &said) == KREIN_OK && said < .7);
    krein__nearest_end(ctx, &truth);
    krein__nearest_end(ctx, &a);
    krein__nearest_end(three, &b);
    krein_ctx_destroy(three);
    drop(&s);
}

/* ---- edges -------------------------------------------------------------- */

/* Weights of all pairs by their definition. */
static void edges(void) {
    enum { N = 120, D = 3, K = 4 };
    sample s = make(PLAIN, N, D);
    krein_rows x = krein__matrix_rows(&s.m);
    static double W[N][N], far[N];
    static bool names[N][N];
    other all[N];
    double *square = squares_of(&s);
    for (int64_t i = 0; i < N; i++) {
        sorted(&s, square, NULL, i, all);
        for (int t = 0; t < K; t++) names[i][all[t].row] = true;
        for (int t = 0; t < N - 1; t++) W[i][all[t].row] = all[t].square;
        far[i] = all[K - 1].square;
    }
    free(square);
    for (int i = 1; i < N; i++)
        for (int j = i; j > 0 && far[j] < far[j - 1]; j--) {
            double v = far[j];
            far[j] = far[j - 1];
            far[j - 1] = v;
        }
    for (int kind = KREIN_EDGES_HEAT; kind <= KREIN_EDGES_MEAN; kind++)
        for (int given = 0; given < 2; given++) {
            krein_graph_options o = {.k = K,
                                     .edges = (krein_edges)kind,
                                     .width = given ? .4 : 0,
                                     .near = KREIN_NEAR_AUTO};
            krein_graph g = {0};
            CHECK(krein__graph_make(ctx, NULL, &x, NULL, &o, &g) == KREIN_OK);
            double width = given ? .4 : sqrt(far[N / 2]), worst = 0;
            if (kind == KREIN_EDGES_HEAT) CHECK_REL(g.width, width, 1e-12);
            int64_t count = 0;
            for (int64_t i = 0; i < N; i++)
                for (int64_t j = 0, e = g.ptr[i]; j < N; j++) {
                    bool is = names[i][j] || names[j][i];
                    bool has = e < g.ptr[i + 1] && g.col[e] == j;
                    double want = kind == KREIN_EDGES_HEAT     ? exp(-W[i][j] / (2 * width * width))
                                  : kind == KREIN_EDGES_BINARY ? 1
                                                               : (names[i][j] + names[j][i]) / 2.;
                    CHECK(is == has);
                    if (has) worst = fmax(worst, fabs(g.val[e++] - want));
                    count += has;
                }
            CHECK(count == g.ptr[N]);
            CHECK(worst < 1e-12);
            krein__graph_clear(ctx, &g);
        }
    krein_graph_options o = {.k = N};
    krein_graph g = {0};
    CHECK(krein__graph_make(ctx, NULL, &x, NULL, &o, &g) == KREIN_EARG);
    CHECK_HAS(ctx->message, "120 different rows do not have 120 neighbours each");
    o.k = 104; /* 17 of the rows have no weight */
    CHECK(krein__graph_make(ctx, NULL, &x, s.weight, &o, &g) == KREIN_EARG);
    CHECK_HAS(ctx->message, "103 different rows");
    drop(&s);
}

/* Equal rows, which nobody made one node: distances 0, and a width all the same. */
static void duplicates(void) {
    enum { N = 60 };
    float x[N];
    for (int i = 0; i < N; i++) x[i] = (float)(i / 20);
    krein_rows rows = krein__rows_dense(N, 1, x, 1);
    krein_graph_options o = {.k = 5};
    krein_graph g = {0};
    for (int near = KREIN_NEAR_EXACT; near <= KREIN_NEAR_DESCENT; near++) {
        o.near = (krein_near)near;
        CHECK(krein__graph_make(ctx, NULL, &rows, NULL, &o, &g) == KREIN_OK);
        CHECK(krein__graph_pieces(ctx, &g, NULL) >= 3 && isfinite(g.width) && g.width > 0);
        for (int64_t i = 0; i < N; i++)
            for (int64_t e = g.ptr[i]; e < g.ptr[i + 1]; e++)
                CHECK(x[i] == x[g.col[e]] && g.val[e] == 1);
        krein__graph_clear(ctx, &g);
    }
    int32_t piece[N];
    o.near = KREIN_NEAR_EXACT;
    o.k = 19;
    CHECK(krein__graph_make(ctx, NULL, &rows, NULL, &o, &g) == KREIN_OK);
    CHECK(krein__graph_pieces(ctx, &g, piece) == 3);
    for (int i = 0; i < N; i++) CHECK(piece[i] == i / 20);
    krein__graph_clear(ctx, &g);
}

/* ---- the Laplacian ------------------------------------------------------ */

/* Node i stands for count[i] rows: the dense Laplacian of all rows, on functions of nodes. */
static void laplacian(void) {
    enum { N = 30, C = 3, M = 4 * N };
    sample s = make(PLAIN, N, 2);
    krein_rows x = krein__matrix_rows(&s.m);
    krein_graph_options o = {.k = 3};
    krein_graph g = {0};
    double count[N], f[N * C], out[N * C], again[N * C];
    int node[M], m = 0;
    CHECK(krein__graph_make(ctx, NULL, &x, NULL, &o, &g) == KREIN_OK);
    for (int i = 0; i < N; i++) {
        count[i] = 1 + i % 4;
        for (int t = 0; t < (int)count[i]; t++) node[m++] = i;
        for (int c = 0; c < C; c++) f[i * C + c] = det(i, c, .3);
    }
    static double W[M][M], L[M][M];
    for (int counts = 0; counts < 2; counts++)
        for (int normalized = 0; normalized < 2; normalized++) {
            int rows = counts ? m : N;
            double degree[M] = {0}, want[N * C] = {0};
            memset(W, 0, sizeof W);
            for (int a = 0; a < rows; a++)
                for (int b = 0; b < rows; b++) {
                    int i = counts ? node[a] : a, j = counts ? node[b] : b;
                    for (int64_t e = g.ptr[i]; e < g.ptr[i + 1]; e++)
                        if (g.col[e] == j) W[a][b] = g.val[e];
                    degree[a] += W[a][b];
                }
            for (int a = 0; a < rows; a++)
                for (int b = 0; b < rows; b++)
                    L[a][b] = normalized ? (a == b) - W[a][b] / sqrt(degree[a] * degree[b])
                                         : (a == b) * degree[a] - W[a][b];
            /* rows of a node are added up: f'Lf is then the same */
            for (int a = 0; a < rows; a++)
                for (int b = 0; b < rows; b++)
                    for (int c = 0; c < C; c++)
                        want[(counts ? node[a] : a) * C + c] +=
                            L[a][b] * f[(counts ? node[b] : b) * C + c];
            krein_laplacian l;
            krein_ctx *three = test_ctx(3);
            CHECK(krein__laplacian_begin(ctx, &g, counts ? count : NULL, normalized, &l) ==
                  KREIN_OK);
            krein__laplacian_apply(&l, C, f, out);
            for (int e = 0; e < N * C; e++) CHECK_ABS(out[e], want[e], 1e-12);
            for (int i = 0; i < N; i++) {
                double unit[N] = {0}, column[N];
                unit[i] = 1;
                krein__laplacian_apply(&l, 1, unit, column);
                CHECK_ABS(column[i], l.diagonal[i], 1e-14);
            }
            l.threads = 3;
            krein__laplacian_apply(&l, C, f, again);
            CHECK(memcmp(out, again, sizeof out) == 0);
            krein__laplacian_end(ctx, &l);
            krein_ctx_destroy(three);
        }
    krein__graph_clear(ctx, &g);
    drop(&s);
}

/* ---- files -------------------------------------------------------------- */

static void files(void) {
    enum { N = 80 };
    sample s = make(PLAIN, N, 3), t = make(GRID, N, 3), c = make(SPARSE, N, 60);
    krein_rows x = krein__matrix_rows(&s.m), y = krein__matrix_rows(&t.m),
               z = krein__matrix_rows(&c.m);
    krein_graph_options o = {.k = 3}, p;
    krein_graph g = {0}, h = {0};
    char path[256];
    snprintf(path, sizeof path, "%s", test_path("g.graph"));
    CHECK(krein__graph_make(ctx, NULL, &x, NULL, &o, &g) == KREIN_OK);
    uint64_t is = krein__graph_digest(&x, NULL, NULL);
    CHECK(is != krein__graph_digest(&y, NULL, NULL));
    CHECK(is != krein__graph_digest(&x, s.weight, NULL));
    CHECK(is != krein__graph_digest(&x, NULL, "gaussian(sigma=1)"));
    CHECK(krein__graph_digest(&z, NULL, NULL) == krein__graph_digest(&z, NULL, NULL));
    CHECK(krein__graph_save(ctx, path, &g, &o, is) == KREIN_OK);
    CHECK(krein__graph_load(ctx, path, &o, N, is, &h) == KREIN_OK);
    CHECK(h.n == N && h.width == g.width && h.recall == 1 && h.near == g.near);
    CHECK(memcmp(g.ptr, h.ptr, (N + 1) * sizeof *g.ptr) == 0);
    CHECK(memcmp(g.col, h.col, (size_t)g.ptr[N] * sizeof *g.col) == 0);
    CHECK(memcmp(g.val, h.val, (size_t)g.ptr[N] * sizeof *g.val) == 0);
    krein__graph_clear(ctx, &h);
    CHECK(krein__graph_load(ctx, path, &o, N, is ^ 1, &h) == KREIN_EDATA);
    CHECK_HAS(ctx->message, "is the graph of other rows");
    CHECK(krein__graph_load(ctx, path, &o, N + 1, is, &h) == KREIN_EDATA);
    p = o;
    p.k = 4;
    CHECK(krein__graph_load(ctx, path, &p, N, is, &h) == KREIN_EDATA);
    CHECK_HAS(ctx->message, "a graph of 3 neighbours, asked for are 4");
    p = o;
    p.width = 2;
    CHECK(krein__graph_load(ctx, path, &p, N, is, &h) == KREIN_EDATA);
    CHECK_HAS(ctx->message, "width=2");
    p = o;
    p.edges = KREIN_EDGES_BINARY;
    CHECK(krein__graph_load(ctx, path, &p, N, is, &h) == KREIN_EDATA);
    CHECK_HAS(ctx->message, "edges=binary");
    p = o;
    p.near = KREIN_NEAR_DESCENT;
    CHECK(krein__graph_load(ctx, path, &p, N, is, &h) == KREIN_EDATA);
    CHECK_HAS(ctx->message, "near=descent");
    /* forged, with a right checksum: one direction of an edge has another weight; a column that is
     * not there; rows that do not ascend */
    double weight = g.val[0];
    int32_t col = g.col[0];
    g.val[0] *= .5;
    CHECK(krein__graph_save(ctx, path, &g, &o, is) == KREIN_OK);
    CHECK(krein__graph_load(ctx, path, &o, N, is, &h) == KREIN_EMODEL);
    CHECK_HAS(ctx->message, "not a symmetric graph");
    g.val[0] = weight;
    g.col[0] = N;
    CHECK(krein__graph_save(ctx, path, &g, &o, is) == KREIN_OK);
    CHECK(krein__graph_load(ctx, path, &o, N, is, &h) == KREIN_EMODEL);
    g.col[0] = col;
    g.ptr[1] = g.ptr[N] + 5;
    CHECK(krein__graph_save(ctx, path, &g, &o, is) == KREIN_OK);
    CHECK(krein__graph_load(ctx, path, &o, N, is, &h) == KREIN_EMODEL);
    CHECK(krein__graph_load(ctx, test_write("no.graph", "text"), &o, N, is, &h) != KREIN_OK);
    CHECK(!h.ptr);
    krein__graph_clear(ctx, &g);
    drop(&s);
    drop(&t);
    drop(&c);
}

static void failing(void) {
    test_memory memory;
    krein_ctx *own = test_ctx_with(2, &memory);
    sample dense = make(PLAIN, 90, 3), sparse = make(SPARSE, 90, 200);
    for (int near = KREIN_NEAR_EXACT; near <= KREIN_NEAR_DESCENT; near++)
        for (int csr = 0; csr < 2; csr++) {
            krein_rows x = krein__matrix_rows(csr ? &sparse.m : &dense.m);
            krein_graph_options o = {.k = 4, .near = (krein_near)near};
            if (csr && near == KREIN_NEAR_TREE) continue;
            TEST_EVERY_ALLOCATION(&memory, k) {
                krein_graph g;
                krein_laplacian l = {0};
                krein_status st = krein__graph_make(own, NULL, &x, NULL, &o, &g);
                if (st == KREIN_OK) st = krein__laplacian_begin(own, &g, NULL, true, &l);
                CHECK(st == (test_has_failed(&memory) ? KREIN_EMEMORY : KREIN_OK));
                krein__laplacian_end(own, &l);
                krein__graph_clear(own, &g);
            }
        }
    drop(&dense);
    drop(&sparse);
    krein_ctx_destroy(own);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(all_pairs);
    RUN(tree);
    RUN(descent);
    RUN(edges);
    RUN(duplicates);
    RUN(laplacian);
    RUN(files);
    RUN(failing);
    krein_ctx_destroy(ctx);
    return DONE();
}
