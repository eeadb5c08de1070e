/* test_gram_shared.c -- kernel matrices that share their inner products and L1 distances.
 *
 * Against krein__gram_full for every base kernel and the expressions of kernels.h. */
#include "kernels.h"

#include "kernel/gram.h"
#include "kernel/gram_shared.h"

static const double NONE = 1e18; /* bytes beside which nothing is kept */

static void parse_all(krein_kernel **k) {
    for (int i = 0; i < ALL; i++) k[i] = kernel_of(text_of(i));
}
static void destroy_all(krein_kernel **k) {
    for (int i = 0; i < ALL; i++) krein__kernel_destroy(ctx, k[i]);
}

static void make(krein_ctx *on, const krein_kernel *k, const krein_gram_shared *s, double *K) {
    krein_status st = krein__gram_shared_full(on, k, s, K);
    if (st != KREIN_OK) printf("%s\n", krein_message(on));
    CHECK(st == KREIN_OK);
}

static bool refuses_sparse(const krein_kernel *k) {
    return k && (dense_only(k->kernel) || refuses_sparse(k->left) || refuses_sparse(k->right));
}

/* Twins far from each other, and neighbours. */
static float *twins(int64_t n, int64_t d) {
    float *x = test_dense(n, d, 0.2);
    for (int64_t j = 0; n > 50 && j < d; j++) {
        x[(n - 1) * d + j] = x[3 * d + j];
        x[8 * d + j] = x[7 * d + j];
    }
    return x;
}

/* Every kernel on few rows; on many, where the loops over bands, chunks and panels are tested,
 * every third and the expressions: inner products, L1 distances, both, neither. */
static bool looked_at(int i, int64_t n) { return n < 200 || i % 3 == 0 || i >= BASES; }

/* ---- values --------------------------------------------------------------- */

static void compare(int64_t n, const char *text, const double *want, const double *got) {
    double worst = 0, asymmetry = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double a = want[i * n + j], b = got[i * n + j];
            worst = fmax(worst, isnan(b) ? INFINITY : fabs(a - b) / (1 + fabs(a)));
            asymmetry = fmax(asymmetry, fabs(b - got[j * n + i]));
        }
    /* Equal rows: the roughest kernels turn eps into its root. */
    bool good = worst <= (rough(text) ? 1e-7 : 1e-13) && asymmetry == 0;
    if (!good) printf("%s, n=%lld: error %g, asymmetry %g\n", text, (long long)n, worst, asymmetry);
    CHECK(good);
}

/* k(x, x) of a radial kernel is its value at the distance zero, to the bit. */
static void diagonal(const krein_kernel *k, int64_t n, const double *K) {
    int64_t other = 0;
    for (int64_t i = 0; i < n; i++) other += K[i * n + i] != K[0];
    if (krein__kernel_all(k, krein__is_radial)) CHECK(other == 0);
    if (k->node == KREIN_NODE_LEAF && krein__is_radial(k->kernel))
        CHECK(K[0] == krein__kernel_profile(k, false, 0));
    if (k->node == KREIN_NODE_LEAF && strcmp(k->kernel->cls.name, "laplacian") == 0)
        CHECK(other == 0 && K[0] == 1);
}

/* The upper triangle in float32 is K rounded, and nothing else is written. */
static void upper(const krein_kernel *k, const krein_gram_shared *s, const double *K) {
    int64_t n = s->x.n, wrong = 0;
    float *half = test_new(n * n, sizeof *half);
    for (int64_t e = 0; e < n * n; e++) half[e] = -7;
    CHECK(krein__gram_shared_upper32(ctx, k, s, half) == KREIN_OK);
    for (int64_t e = 0; e < n * n; e++) wrong += half[e] != (e % n >= e / n ? (float)K[e] : -7);
    CHECK(wrong == 0);
    free(half);
}

/* Kept, made anew, on two threads: the same bits. */
static void against_full(krein_rows x) {
    krein_kernel *k[ALL];
    krein_gram_shared kept, anew, other;
    krein_ctx *two = test_ctx(2);
    int64_t n = x.n;
    size_t bytes = (size_t)(n * n) * sizeof(double);
    double *want = test_new(n * n, 8), *a = test_new(n * n, 8), *b = test_new(n * n, 8);
    parse_all(k);
    CHECK(krein__gram_share(ctx, &x, k, ALL, 0, &kept) == KREIN_OK);
    CHECK(kept.basis[KREIN_GRAM_DOT] && kept.basis[KREIN_GRAM_L1]);
    CHECK(krein__gram_share(ctx, &x, k, ALL, NONE, &anew) == KREIN_OK);
    CHECK(!anew.basis[KREIN_GRAM_DOT] && !anew.basis[KREIN_GRAM_L1]);
    CHECK(krein__gram_share(two, &x, k, ALL, 0, &other) == KREIN_OK);
    for (int i = 0; i < ALL; i++) {
        if (!looked_at(i, n)) continue;
        if (x.ptr && refuses_sparse(k[i])) {
            CHECK(krein__gram_shared_full(ctx, k[i], &kept, a) == KREIN_EDATA);
            continue;
        }
        CHECK(krein__gram_full(ctx, k[i], &x, &x, want) == KREIN_OK);
        memset(a, 0xff, bytes); /* NaN: everything is written */
        make(ctx, k[i], &kept, a);
        compare(n, text_of(i), want, a);
        diagonal(k[i], n, a);
        if (!krein__has_tables(k[i])) {
            upper(k[i], &kept, a);
            upper(k[i], &anew, a);
        }
        make(ctx, k[i], &anew, b);
        CHECK(memcmp(a, b, bytes) == 0);
        make(two, k[i], &other, b);
        CHECK(memcmp(a, b, bytes) == 0);
        make(two, k[i], &anew, b);
        CHECK(memcmp(a, b, bytes) == 0);
    }
    krein__gram_share_end(ctx, &kept);
    krein__gram_share_end(ctx, &anew);
    krein__gram_share_end(two, &other);
    krein_ctx_destroy(two);
    destroy_all(k);
    free(want);
    free(a);
    free(b);
}

/* In float32, exactly symmetric, the same bits on two threads: the values of float64, rounded. */
static void symmetric32(krein_rows x) {
    krein_kernel *k[ALL];
    krein_ctx *two = test_ctx(2);
    int64_t n = x.n;
    size_t bytes = (size_t)(n * n) * sizeof(float);
    double *want = test_new(n * n, 8), bytes_most = 0;
    float *a = test_new(n * n, 4), *b = test_new(n * n, 4);
    parse_all(k);
    for (int i = 0; i < ALL; i++) {
        double worst = 0;
        int64_t other = 0;
        if (!looked_at(i, n) || (x.ptr && refuses_sparse(k[i]))) continue;
        CHECK(krein__gram_full(ctx, k[i], &x, &x, want) == KREIN_OK);
        memset(a, 0xff, bytes);
        CHECK(krein__gram_symmetric32(ctx, k[i], &x, a) == KREIN_OK);
        CHECK(krein__gram_symmetric32(two, k[i], &x, b) == KREIN_OK);
        CHECK(memcmp(a, b, bytes) == 0);
        bytes_most = fmax(bytes_most, krein__gram_symmetric_bytes(k[i], n, x.ptr ? 1024 : x.d, 2));
        CHECK((double)krein_ctx_peak_bytes(two) <= bytes_most);
        for (int64_t e = 0; e < n * n; e++) {
            double got = (double)a[e];
            worst = fmax(worst, isnan(got) ? INFINITY : fabs(got - want[e]) / (1 + fabs(want[e])));
            other += a[e] != a[e % n * n + e / n];
        }
        CHECK(worst <= (rough(text_of(i)) ? 2e-7 : 6.1e-8) && other == 0);
    }
    krein_ctx_destroy(two);
    destroy_all(k);
    free(want);
    free(a);
    free(b);
}

/* One row; a band less one row, a whole one, one more; more than a chunk of columns. */
static void dense_rows(void) {
    static const int64_t sizes[] = {1, 95, 96, 97, 390};
    enum { D = 5 };
    for (int i = 0; i < (test_sanitized() ? 4 : 5); i++) {
        float *x = twins(sizes[i], D);
        against_full(krein__rows_dense(sizes[i], D, x, D));
        free(x);
    }
}

static void sparse_rows(void) {
    static const int64_t sizes[] = {1, 97, 230};
    enum { D = 11 };
    for (int i = 0; i < 3; i++) {
        csr c;
        float *x = twins(sizes[i], D);
        against_full(sparse(sizes[i], D, x, &c));
        csr_free(&c);
        free(x);
    }
}

/* One row; a tile of rows and one more; more than a panel of columns. */
static void rows_in_float32(void) {
    static const int64_t sizes[] = {1, 193, 520};
    enum { D = 5 };
    for (int i = 0; i < (test_sanitized() ? 2 : 3); i++) {
        csr c;
        float *x = twins(sizes[i], D);
        symmetric32(krein__rows_dense(sizes[i], D, x, D));
        if (i < 2) {
            symmetric32(sparse(sizes[i], D, x, &c));
            csr_free(&c);
        }
        free(x);
    }
}

/* Rows with a stride, and many columns: several blocks inside a matrix product. */
static void wide_rows(void) {
    enum { N = 200, D = 700, LD = 703, KERNELS = 3 };
    static const char *spec[KERNELS] = {"gaussian(sigma=20)*laplacian(sigma=500)", "linear",
                                        "laplacian(sigma=500)"};
    float *x = test_dense(N, LD, 0.2);
    krein_rows rows = krein__rows_dense(N, D, x, LD);
    krein_kernel *k[KERNELS];
    krein_gram_shared s;
    double *want = test_new(N * N, 8), *got = test_new(N * N, 8);
    for (int i = 0; i < KERNELS; i++) k[i] = kernel_of(spec[i]);
    CHECK(krein__gram_share(ctx, &rows, k, KERNELS, 0, &s) == KREIN_OK);
    for (int i = 0; i < KERNELS; i++) {
        CHECK(krein__gram_full(ctx, k[i], &rows, &rows, want) == KREIN_OK);
        make(ctx, k[i], &s, got);
        compare(N, spec[i], want, got);
        krein__kernel_destroy(ctx, k[i]);
    }
    for (int64_t e = 0; e < N * N; e++) { /* of the last, by its definition */
        double sum = 0;
        for (int64_t j = 0; j < D; j++)
            sum += fabs((double)x[e / N * LD + j] - (double)x[e % N * LD + j]);
        CHECK_REL(want[e], exp(-sum / 500), 1e-12);
    }
    krein__gram_share_end(ctx, &s);
    free(x);
    free(want);
    free(got);
}

/* Two threads with a context each make matrices from the same numbers. */
static void at_the_same_time(void) {
    enum { N = 150, D = 6, MATRICES = 8 };
    float *x = test_dense(N, D, 0.2);
    krein_rows rows = krein__rows_dense(N, D, x, D);
    krein_kernel *k[MATRICES];
    krein_gram_shared s;
    double *K[2][MATRICES];
    for (int i = 0; i < MATRICES; i++) {
        k[i] = kernel_of(text_of(ALL - 1 - i));
        K[0][i] = test_new(N * N, 8), K[1][i] = test_new(N * N, 8);
    }
    CHECK(krein__gram_share(ctx, &rows, k, MATRICES, 0, &s) == KREIN_OK);
    for (int i = 0; i < MATRICES; i++) make(ctx, k[i], &s, K[0][i]);
    krein_ctx share = krein__ctx_share(ctx, 2);
    int bad = 0;
#pragma omp parallel for num_threads(2) schedule(static, 1) reduction(+ : bad)
    for (int i = 0; i < MATRICES; i++) {
        krein_ctx own = share;
        bad += krein__gram_shared_full(&own, k[i], &s, K[1][i]) != KREIN_OK;
    }
    for (int i = 0; i < MATRICES; i++) {
        bad += memcmp(K[0][i], K[1][i], N * N * sizeof(double)) != 0;
        krein__kernel_destroy(ctx, k[i]);
        free(K[0][i]);
        free(K[1][i]);
    }
    CHECK(bad == 0);
    krein__gram_share_end(ctx, &s);
    free(x);
}

/* ---- what is kept --------------------------------------------------------- */

static void kept_is_what_is_needed(void) {
    static const struct {
        const char *text;
        bool dot, l1;
    } cases[] = {{"gaussian(sigma=1)", true, false},
                 {"linear + poly*ntk", true, false},
                 {"laplacian(sigma=2)", false, true},
                 {"2*tl1(rho=3) - laplacian(sigma=2)", false, true},
                 {"gaussian(sigma=1)*tl1(rho=3)", true, true},
                 {"chi2 + cauchy(sigma=2)", false, false}};
    float *x = test_dense(20, 3, 0.2);
    krein_rows rows = krein__rows_dense(20, 3, x, 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        krein_kernel *k = kernel_of(cases[i].text);
        krein_gram_shared s;
        CHECK(krein__gram_share(ctx, &rows, &k, 1, 0, &s) == KREIN_OK);
        CHECK((s.basis[KREIN_GRAM_DOT] != NULL) == cases[i].dot);
        CHECK((s.basis[KREIN_GRAM_L1] != NULL) == cases[i].l1);
        krein__gram_share_end(ctx, &s);
        krein__kernel_destroy(ctx, k);
    }
    free(x);
}

/* A budget for the rows and a matrix, not for the inner products: no failure. */
static void little_memory(void) {
    enum { N = 700, D = 4 };
    float *x = test_dense(N, D, 0.2);
    krein_rows rows = krein__rows_dense(N, D, x, D);
    krein_kernel *k = kernel_of("gaussian(sigma=1.3)*laplacian(sigma=2)");
    double *want = test_new(N * N, 8), work = krein__gram_shared_full_bytes(k, N, D, 1);
    krein_gram_shared s;
    CHECK(krein__gram_share(ctx, &rows, &k, 1, 0, &s) == KREIN_OK);
    make(ctx, k, &s, want);
    krein__gram_share_end(ctx, &s);
    krein_ctx *poor = test_ctx(1);
    double beside = 8.0 * N * N + 64 + work;
    poor->budget = (uint64_t)(beside + 8.0 * (N + 96) * (D + 1) + 200000);
    CHECK(krein__gram_share(poor, &rows, &k, 1, beside, &s) == KREIN_OK);
    CHECK(!s.basis[KREIN_GRAM_DOT] && !s.basis[KREIN_GRAM_L1]);
    double *K = krein__alloc(poor, N * N, sizeof *K);
    CHECK(K != NULL);
    if (K) {
        make(poor, k, &s, K);
        CHECK(memcmp(K, want, N * N * sizeof *K) == 0);
    }
    krein__free(poor, K);
    krein__gram_share_end(poor, &s);
    krein_ctx_destroy(poor);
    krein__kernel_destroy(ctx, k);
    free(x);
    free(want);
}

/* Values in a file are as krein__gram_full has them, asymmetric ones too. */
static void tables(void) {
    static const double file[] = {1, 2, 3, 2, 5, 6, 3.5, 6, 9};
    const char *path = test_path("k.npy");
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL);
    if (!f) return;
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fprintf(f, "%-117s\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }");
    fwrite(file, sizeof *file, 9, f);
    fclose(f);
    char text[300];
    snprintf(text, sizeof text, "0.5*precomputed(file=\"%s\") + linear", path);
    krein_kernel *k = kernel_of(text);
    static const float x[] = {2, 0, 1};
    krein_rows rows = krein__rows_dense(3, 1, x, 1);
    krein_gram_shared s;
    double want[9], got[9];
    CHECK(krein__gram_share(ctx, &rows, &k, 1, 0, &s) == KREIN_OK);
    CHECK(!s.basis[KREIN_GRAM_DOT]);
    CHECK(krein__gram_full(ctx, k, &rows, &rows, want) == KREIN_OK);
    make(ctx, k, &s, got);
    CHECK(memcmp(want, got, sizeof want) == 0 && got[1] == 1.75 && got[3] == 1.5);
    krein__gram_share_end(ctx, &s);
    krein__kernel_destroy(ctx, k);
}

/* ---- memory --------------------------------------------------------------- */

static double peak_from(krein_ctx *on, uint64_t before) {
    return (double)(atomic_load(&on->peak) - before);
}

static void cost_of(krein_rows x, int threads, double beside, krein_kernel **k) {
    krein_ctx *on = test_ctx(threads);
    krein_gram_shared s;
    double *K = test_new(x.n * x.n, sizeof *K);
    uint64_t before = atomic_load(&on->held);
    atomic_store(&on->peak, before);
    CHECK(krein__gram_share(on, &x, k, ALL, beside, &s) == KREIN_OK);
    double said = krein__gram_share_bytes(k, ALL, x.n, x.d, x.ptr != NULL, threads);
    CHECK(peak_from(on, before) <= said);
    if (beside == 0) CHECK(peak_from(on, before) >= 0.8 * said);
    for (int i = 0; i < ALL; i++) {
        before = atomic_load(&on->held);
        atomic_store(&on->peak, before);
        krein_status st = krein__gram_shared_full(on, k[i], &s, K);
        CHECK(st == KREIN_OK || (x.ptr && st == KREIN_EDATA));
        CHECK(peak_from(on, before) <= krein__gram_shared_full_bytes(k[i], x.n, x.d, threads));
    }
    krein__gram_share_end(on, &s);
    CHECK(atomic_load(&on->held) == 0);
    krein_ctx_destroy(on);
    free(K);
}

static void cost_is_a_bound(void) {
    enum { D = 3 };
    static const int64_t sizes[] = {1, 150};
    krein_kernel *k[ALL];
    parse_all(k);
    for (int i = 0; i < 2; i++)
        for (int threads = 1; threads <= 2; threads++) {
            csr c;
            float *x = test_dense(sizes[i], D, 0.2);
            krein_rows rows = krein__rows_dense(sizes[i], D, x, D);
            cost_of(rows, threads, 0, k);
            cost_of(rows, threads, NONE, k);
            rows = sparse(sizes[i], D, x, &c);
            cost_of(rows, threads, 0, k);
            cost_of(rows, threads, NONE, k);
            csr_free(&c);
            free(x);
        }
    destroy_all(k);
}

static void every_allocation_fails(void) {
    enum { N = 30, D = 4 };
    test_memory m;
    krein_ctx *mine = test_ctx_with(1, &m);
    float *x = test_dense(N, D, 0.2);
    csr c;
    krein_rows sx = sparse(N, D, x, &c), dx = krein__rows_dense(N, D, x, D);
    krein_kernel *k =
        kernel_of("gaussian(sigma=2) + 2*laplacian(sigma=1)*linear - cauchy(sigma=1)");
    double K[N * N];
    for (int shape = 0; shape < 2; shape++) TEST_EVERY_ALLOCATION(&m, i) {
            krein_gram_shared s;
            krein_status st = krein__gram_share(mine, shape ? &sx : &dx, &k, 1, 0, &s);
            if (st == KREIN_OK) st = krein__gram_shared_full(mine, k, &s, K);
            CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
            krein__gram_share_end(mine, &s);
        }
    CHECK(atomic_load(&mine->held) == 0);
    krein_ctx_destroy(mine);
    krein__kernel_destroy(ctx, k);
    csr_free(&c);
    free(x);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    ctx = test_ctx(1);
    RUN(dense_rows);
    RUN(sparse_rows);
    RUN(rows_in_float32);
    RUN(wide_rows);
    RUN(at_the_same_time);
    RUN(kept_is_what_is_needed);
    RUN(little_memory);
    RUN(tables);
    RUN(cost_is_a_bound);
    RUN(every_allocation_fails);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
    return DONE();
}
