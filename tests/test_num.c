/* test_num.c -- the numerical floor: products, factorisations, rows.
 *
 * Products are compared with triple loops in double; the error of a float32 sum of k products
 * is bounded by a multiple of k eps |a|'|b|, of which a few sqrt(k) eps are ever seen. What must
 * not depend on threads is compared to the bit. */
#include "num.h"
#include "num/distance.h"

/* ---- products ----------------------------------------------------------- */

static void gemm(void) {
    enum { M = 37, N = 29, K = 53, LA = 61, LB = 64, LC = 33 };
    float *a = random_float(64 * LA), *b = random_float(64 * LB), *c0 = random_float(M * LC);
    double *da = need(64 * LA, 8), *db = need(64 * LB, 8);
    for (int i = 0; i < 64 * LA; i++) da[i] = (double)a[i];
    for (int i = 0; i < 64 * LB; i++) db[i] = (double)b[i];
    krein_ctx *ctx = context(2, NULL);
    for (int t = 0; t < 4; t++) {
        bool ta = t & 1, tb = t & 2;
        float c[M * LC];
        double dc[M * LC], pc[M * LC];
        memcpy(c, c0, sizeof c);
        for (int i = 0; i < M * LC; i++) dc[i] = pc[i] = (double)c0[i];
        krein__sgemm(ta, tb, M, N, K, 1.5f, a, LA, b, LB, 0.25f, c, LC);
        krein__dgemm(ta, tb, M, N, K, 1.5, da, LA, db, LB, 0.25, dc, LC);
        krein__pgemm(ctx, ta, tb, M, N, K, 1.5, da, LA, db, LB, 0.25, pc, LC);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < LC; j++) {
                double want = (double)c0[i * LC + j];
                if (j < N) {
                    want *= 0.25;
                    for (int k = 0; k < K; k++)
                        want += 1.5 * da[ta ? k * LA + i : i * LA + k] *
                                db[tb ? j * LB + k : k * LB + j];
                } /* beyond N: padding, not to be touched */
                CHECK_ABS((double)c[i * LC + j], want, K * (double)FLT_EPSILON);
                CHECK_ABS(dc[i * LC + j], want, K * DBL_EPSILON);
                CHECK_ABS(pc[i * LC + j], want, K * DBL_EPSILON);
            }
    }
    krein_ctx_destroy(ctx);
    free(a), free(b), free(c0), free(da), free(db);
}

static void syrk(void) {
    enum { N = 41, K = 67 };
    float *a = random_float(K * N), *c = random_float(N * N);
    double *da = random_double(K * N), *dc = random_double(N * N);
    float lower = c[5 * N + 2];
    double dlower = dc[5 * N + 2], d01 = dc[1];
    krein__ssyrk(N, K, 2, a, N, 0, c, N);
    krein__dsyrk(N, K, -1, da, N, 1, dc, N);
    for (int i = 0; i < N; i++)
        for (int j = i; j < N; j++) {
            double want = 0;
            for (int k = 0; k < K; k++) want += 2 * (double)a[k * N + i] * (double)a[k * N + j];
            CHECK_ABS((double)c[i * N + j], want, 4 * K * (double)FLT_EPSILON);
        }
    double want = d01;
    for (int k = 0; k < K; k++) want -= da[k * N] * da[k * N + 1];
    CHECK_ABS(dc[1], want, K * DBL_EPSILON);
    CHECK(c[5 * N + 2] == lower && dc[5 * N + 2] == dlower);
    double dot = 0;
    for (int k = 0; k < K; k++) dot += da[k] * dc[k];
    CHECK_ABS(krein__ddot(K, da, dc), dot, K * DBL_EPSILON * 100);
    CHECK(krein__ddot(0, NULL, NULL) == 0);
    free(a), free(c), free(da), free(dc);
}

static void gram_add(void) {
    static const int64_t shapes[][3] = {{5, 3, 5},       {256, 64, 256},   {300, 100, 320},
                                        {700, 257, 701}, {2100, 40, 2100}, {1, 1, 1}};
    for (int64_t s = 0; s < KREIN__COUNT(shapes); s++) {
        int64_t n = shapes[s][0], k = shapes[s][1], ld = shapes[s][2];
        int64_t T = krein__syrk_tile(n);
        float *a = random_float(k * ld), *scratch = need(3 * T * T, sizeof *scratch);
        double *first = NULL, *c0 = random_double(n * n);
        for (int threads = 1; threads <= 3; threads++) {
            krein_ctx *ctx = context(threads, NULL);
            double *c = need(n * n, sizeof *c);
            memcpy(c, c0, (size_t)(n * n) * sizeof *c);
            for (int twice = 0; twice < 2; twice++)
                krein__syrk_add(ctx, n, k, a, ld, c, n, scratch);
            if (!first) {
                first = c;
                for (int64_t i = 0; i < n; i += 1 + n / 97) /* rows enough to be sure */
                    for (int64_t j = 0; j < n; j++) {
                        double want = c0[i * n + j];
                        for (int64_t r = 0; j >= i && r < k; r++)
                            want += 2 * (double)a[r * ld + i] * (double)a[r * ld + j];
                        CHECK_ABS(c[i * n + j], want,
                                  4 * sqrt((double)k) * (double)k * (double)FLT_EPSILON);
                    }
            } else {
                CHECK(same(c, first, n * n, sizeof *c));
                free(c);
            }
            krein_ctx_destroy(ctx);
        }
        free(first), free(c0), free(a), free(scratch);
    }
}

static void pgemm_threads(void) {
    enum { M = 530, N = 300, K = 70 };
    double *a = random_double(M * K), *b = random_double(K * N), *c[4];
    for (int t = 1; t <= 3; t++) {
        krein_ctx *ctx = context(t, NULL);
        c[t] = need(M * N, 8);
        krein__pgemm(ctx, false, false, M, N, K, 1, a, K, b, N, 0, c[t], N);
        CHECK(same(c[t], c[1], M * N, 8));
        krein_ctx_destroy(ctx);
    }
    for (int i = 0; i < M; i += 13)
        for (int j = 0; j < N; j++) {
            double want = 0;
            for (int k = 0; k < K; k++) want += a[i * K + k] * b[k * N + j];
            CHECK_ABS(c[1][i * N + j], want, K * DBL_EPSILON);
        }
    for (int t = 1; t <= 3; t++) free(c[t]);
    free(a), free(b);
}

/* The promise behind "the same prediction in a short block and in a full one": with the number
 * of rows m padded to a multiple of 192, row i of a product has the same bits for every m, and
 * whatever the other rows are. 64 is not enough: OpenBLAS's Haswell and Zen kernels take 12
 * rows at a time and sum the rest in another order, so row 60 of 64 differs from row 60 of 128;
 * and the first six and the last six of the 12 differ in a few columns, so that a row is NOT the
 * same at another place. */
static void row_in_any_block(void) {
    static const int64_t ks[] = {8, 54, 256}, ns[] = {512, 1024}, ms[] = {192, 384, 960, 2048};
    krein_compute compute = krein__compute_begin();
    for (int p = 0; p < 6; p++) {
        int64_t k = ks[p % 3], n = ns[p / 3];
        float *a = random_float(192 * k), *b = random_float(k * n), *want = need(192 * n, 4);
        krein__sgemm(false, false, 192, n, k, 1, a, k, b, n, 0, want, n);
        for (int q = 0; q < 4; q++) {
            float *full = random_float(ms[q] * k), *c = need(ms[q] * n, 4);
            memcpy(full, a, (size_t)(192 * k) * 4);
            krein__sgemm(false, false, ms[q], n, k, 1, full, k, b, n, 0, c, n);
            CHECK(same(c, want, 192 * n, 4));
            free(full), free(c);
        }
        free(a), free(b), free(want);
    }
    krein__compute_end(compute);
}

/* ---- factorisations ----------------------------------------------------- */

static void cholesky(void) {
    static const int64_t sizes[] = {1, 2, 63, 128, 129, 500, 1601};
    enum { M = 5 };
    for (int64_t s = 0; s < KREIN__COUNT(sizes); s++) {
        int64_t n = sizes[s], lda = n + 3, m = s == 5 ? 150 : M;
        double *a = spd(n, lda), *first = NULL, *x1 = NULL, *x = random_double(n * m);
        double *b = need(n * m, 8);
        for (int64_t i = 0; i < n; i++) /* B = A X */
            for (int64_t j = 0; j < n; j++)
                for (int64_t r = 0; r < m; r++)
                    b[i * m + r] += (i <= j ? a[i * lda + j] : a[j * lda + i]) * x[j * m + r];
        for (int threads = 1; threads <= 3; threads++) {
            krein_ctx *ctx = context(threads, NULL);
            double *u = need(n * lda, 8), *y = need(n * m, 8);
            int64_t pivot = -1;
            memcpy(u, a, (size_t)(n * lda) * 8);
            memcpy(y, b, (size_t)(n * m) * 8);
            CHECK(krein__cholesky(ctx, n, u, lda, &pivot) == KREIN_OK);
            CHECK(krein__cholesky_solve(ctx, n, u, lda, m, y, m) == KREIN_OK);
            if (threads == 1) {
                first = u, x1 = y;
                for (int64_t i = 0; i < n; i++) {
                    for (int64_t j = 0; j < i; j++) CHECK(isnan(u[i * lda + j]));
                    for (int64_t j = i; j < n; j += 1 + n / 50) {
                        double sum = 0;
                        for (int64_t k = 0; k <= i; k++) sum += u[k * lda + i] * u[k * lda + j];
                        CHECK_ABS(sum, a[i * lda + j], 20 * DBL_EPSILON);
                    }
                }
                /* condition number at most 1 + largest eigenvalue of G'G/n, below 3 */
                for (int64_t i = 0; i < n * m; i++)
                    CHECK_ABS(y[i], x[i], 100 * DBL_EPSILON * sqrt((double)n));
            } else {
                CHECK(same(u, first, n * lda, 8));
                CHECK(same(y, x1, n * m, 8));
                free(u), free(y);
            }
            krein_ctx_destroy(ctx);
        }
        free(a), free(first), free(x1), free(x), free(b);
    }
}

static void not_positive(void) {
    enum { N = 450 };
    static const int64_t bad[] = {0, 1, 100, 128, 300, N - 1};
    krein_ctx *ctx = context(2, NULL);
    for (int64_t k = 0; k < KREIN__COUNT(bad); k++)
        for (int kind = 0; kind < 4; kind++) {
            double *a = spd(N, N);
            int64_t pivot = -1, at = bad[k];
            a[at * N + at] = kind == 0   ? -0.5
                             : kind == 1 ? 0.0
                             : kind == 2 ? (double)NAN
                                         : (double)INFINITY;
            CHECK(krein__cholesky(ctx, N, a, N, &pivot) == KREIN_ENUMERIC);
            CHECK(pivot == at);
            CHECK_HAS(krein_message(ctx), "positive definite");
            free(a);
        }
    double *a = spd(N, N); /* a NaN off the diagonal is found at its column */
    a[3 * N + 250] = (double)NAN;
    int64_t pivot = -1;
    CHECK(krein__cholesky(ctx, N, a, N, &pivot) == KREIN_ENUMERIC && pivot == 250);
    free(a);
    CHECK(krein__cholesky(ctx, 0, NULL, 0, NULL) == KREIN_OK);
    CHECK(krein__cholesky_solve(ctx, 0, NULL, 0, 3, NULL, 3) == KREIN_OK);
    krein_ctx_destroy(ctx);
}

static int stop(void *user) { return ++*(int *)user > 2; }

static void cancel(void) {
    enum { N = 900 };
    int polls = 0;
    krein_ctx_options o;
    krein_ctx *ctx;
    krein_ctx_options_init(&o);
    o.cancel = stop, o.user = &polls;
    CHECK(krein_ctx_create(&o, &ctx) == KREIN_OK);
    double *a = spd(N, N);
    CHECK(krein__cholesky(ctx, N, a, N, NULL) == KREIN_ECANCEL);
    free(a);
    krein_ctx_destroy(ctx);
}

static void eigen(void) {
    static const int64_t sizes[] = {1, 2, 33, 130};
    krein_ctx *ctx = context(2, NULL);
    for (int64_t s = 0; s < KREIN__COUNT(sizes); s++) {
        int64_t n = sizes[s], lda = n + 2;
        double *a = random_double(n * lda), *v = need(n * lda, 8), *w = need(n, 8);
        memcpy(v, a, (size_t)(n * lda) * 8);
        CHECK(krein__eigen(ctx, n, v, lda, w) == KREIN_OK);
        double norm = fmax(fabs(w[0]), fabs(w[n - 1])), tolerance = 50 * DBL_EPSILON;
        for (int64_t i = 0; i < n; i++) {
            CHECK(i == 0 || w[i - 1] <= w[i]);
            for (int64_t j = i; j < n; j++) {
                double dot = 0, sum = 0;
                for (int64_t k = 0; k < n; k++) {
                    dot += v[i * lda + k] * v[j * lda + k];
                    sum += v[k * lda + i] * w[k] * v[k * lda + j];
                }
                CHECK_ABS(dot, i == j, tolerance);
                CHECK_ABS(sum, a[i * lda + j], tolerance * norm * sqrt((double)n));
            }
        }
        free(a), free(v), free(w);
    }
    double bad[4] = {1, (double)NAN, 0, 1}, w[2];
    CHECK(krein__eigen(ctx, 2, bad, 2, w) == KREIN_ENUMERIC);
    double inf[4] = {(double)INFINITY, 0.5, (double)NAN, 1};
    CHECK(krein__eigen(ctx, 2, inf, 2, w) == KREIN_ENUMERIC);
    double lower[4] = {2, 0, (double)NAN, 1}; /* the lower triangle is not read */
    CHECK(krein__eigen(ctx, 2, lower, 2, w) == KREIN_OK && w[0] == 1 && w[1] == 2);
    CHECK(krein__eigen(ctx, 40000, NULL, 40000, NULL) == KREIN_EARG);
    CHECK(krein__eigen(ctx, 0, NULL, 0, NULL) == KREIN_OK);
    krein_ctx_destroy(ctx);
}

static void haar(void) {
    enum { D = 97 };
    krein_ctx *ctx = context(1, NULL);
    for (int m = 1; m <= D; m += 32) { /* rows: fewer than, or as many as the dimension */
        double *a = random_double(m * D), *q = need(m * D, 8);
        memcpy(q, a, (size_t)(m * D) * 8);
        CHECK(krein__haar_rows(ctx, m, D, q) == KREIN_OK);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                double dot = 0, r = 0; /* QQ' = I; A = L Q with L lower triangular, diagonal > 0 */
                for (int k = 0; k < D; k++) {
                    dot += q[i * D + k] * q[j * D + k];
                    r += q[i * D + k] * a[j * D + k];
                }
                CHECK_ABS(dot, i == j, 50 * DBL_EPSILON);
                if (i > j) CHECK_ABS(r, 0, 50 * DBL_EPSILON * sqrt(D));
                if (i == j) CHECK(r > 0);
            }
        free(a), free(q);
    }
    double one = -3;
    CHECK(krein__haar_rows(ctx, 1, 1, &one) == KREIN_OK && one == -1);
    krein_ctx_destroy(ctx);
}

static void allocation_failures(void) {
    enum { N = 20 };
    faults f = {.left = -1};
    krein_ctx *ctx = context(2, &f);
    int64_t held = f.live, index[3] = {1, 0, 1}, ptr[3] = {0, 1, 2};
    int32_t col[2] = {3, 1};
    float val[2] = {2, 3}, x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    krein_rows dense = krein__rows_dense(2, 4, x, 4);
    krein_rows sparse = {.n = 2, .d = 4, .ptr = ptr, .col = col, .val = val};
    for (int what = 0; what < 5; what++) {
        int64_t k = 0;
        for (krein_status st = KREIN_EMEMORY; st != KREIN_OK && k < 20; k++) {
            double *a = spd(N, N), w[N];
            krein_matrix m;
            f.left = k;
            switch (what) {
            case 0:
                st = krein__cholesky(ctx, N, a, N, NULL);
                break;
            case 1:
                st = krein__eigen(ctx, N, a, N, w);
                break;
            case 2:
                for (int i = 0; i < N * N; i++) a[i] = uniform();
                st = krein__haar_rows(ctx, N, N, a);
                break;
            default:
                st = krein__matrix_gather(ctx, what == 3 ? &dense : &sparse, index, 3, &m);
                if (st != KREIN_OK) CHECK(!m.x && !m.ptr && !m.col && !m.val);
                krein__matrix_clear(ctx, &m);
            }
            f.left = -1;
            CHECK(st == KREIN_OK || st == KREIN_EMEMORY);
            CHECK(f.live == held);
            free(a);
        }
        CHECK(k < 20);
        CHECK(what == 0 || k > 1); /* it did fail at least once */
    }
    krein_ctx_destroy(ctx);
    CHECK(f.live == 0);
}

/* ---- rows --------------------------------------------------------------- */

static void rows(void) {
    krein_ctx *ctx = context(1, NULL);
    float x[12] = {1, 2, 3, -9, 4, 5, 6, -9, 7, 8, 9, -9}, out[5];
    double wide[5];
    krein_rows r = krein__rows_dense(3, 3, x, 4), s = krein__rows_slice(&r, 1, 2);
    CHECK(s.n == 2 && s.d == 3 && !krein__rows_sparse(&s));
    krein__row_copy(&s, 1, out);
    CHECK(out[0] == 7 && out[2] == 9);
    krein__row_copy_double(&s, 0, wide);
    CHECK(wide[0] == 4 && wide[2] == 6);
    int64_t index[3] = {2, 2, 0}, ptr[4] = {0, 2, 2, 5};
    krein_matrix m;
    CHECK(krein__matrix_gather(ctx, &r, index, 3, &m) == KREIN_OK);
    krein_rows g = krein__matrix_rows(&m);
    CHECK(g.n == 3 && g.ld == 3 && g.x[0] == 7 && g.x[5] == 9 && g.x[8] == 3);
    krein__matrix_clear(ctx, &m);

    int32_t col[5] = {0, 4, 1, 2, 3};
    float val[5] = {1, 2, 3, 4, 5};
    krein_rows p = {.n = 3, .d = 5, .ptr = ptr, .col = col, .val = val};
    s = krein__rows_slice(&p, 1, 2);
    krein__row_copy(&s, 1, out);
    CHECK(out[0] == 0 && out[1] == 3 && out[2] == 4 && out[3] == 5 && out[4] == 0);
    krein__row_copy_double(&s, 0, wide);
    CHECK(wide[0] == 0 && wide[4] == 0);
    CHECK(krein__matrix_gather(ctx, &p, index, 3, &m) == KREIN_OK);
    CHECK(m.nnz == 8 && m.ptr[3] == 8 && m.col[7] == 4 && m.val[6] == 1);
    g = krein__matrix_rows(&m);
    krein__row_copy(&g, 1, out);
    CHECK(krein__rows_sparse(&g) && out[3] == 5);
    krein__matrix_clear(ctx, &m);
    CHECK(krein__matrix_gather(ctx, &p, index, 0, &m) == KREIN_OK && m.nnz == 0);
    krein__matrix_clear(ctx, &m);
    krein_ctx_destroy(ctx);
}

/* The same bits as eight partial sums by hand, for rows left over and columns left over. */
#define DISTANCES_OF(NAME, T, DISTANCES, ABS)                                                      \
    static void NAME(void) {                                                                       \
        enum { ROWS = 21, WIDE = 40 };                                                             \
        T x[WIDE], y[ROWS * WIDE], got[ROWS];                                                      \
        for (int64_t j = 0; j < WIDE; j++) x[j] = (T)sin(.7 * (double)j + 1);                      \
        for (int64_t e = 0; e < ROWS * WIDE; e++) y[e] = (T)cos(1.3 * (double)e);                  \
        for (int64_t d = 1; d <= 37; d += 3) {                                                     \
            DISTANCES(d, x, ROWS, y, WIDE, got);                                                   \
            for (int64_t i = 0; i < ROWS; i++) {                                                   \
                T part[8] = {0}, sum = 0;                                                          \
                for (int64_t j = 0; j < d / 8 * 8; j++)                                            \
                    part[j % 8] += ABS(x[j] - y[i * WIDE + j]);                                    \
                for (int64_t j = d / 8 * 8; j < d; j++) sum += ABS(x[j] - y[i * WIDE + j]);        \
                for (int64_t k = 0; k < 8; k++) sum += part[k];                                    \
                CHECK(got[i] == sum);                                                              \
            }                                                                                      \
        }                                                                                          \
    }
DISTANCES_OF(l1_distances32, float, krein__distances32, fabsf)
DISTANCES_OF(l1_distances64, double, krein__distances64, fabs)
#define SQUARE(v) ((v) * (v))
DISTANCES_OF(squares64, double, krein__squares64, SQUARE)

int main(void) {
    RUN(l1_distances32);
    RUN(l1_distances64);
    RUN(squares64);
    RUN(gemm);
    RUN(syrk);
    RUN(gram_add);
    RUN(pgemm_threads);
    RUN(row_in_any_block);
    RUN(cholesky);
    RUN(not_positive);
    RUN(cancel);
    RUN(eigen);
    RUN(haar);
    RUN(allocation_failures);
    RUN(rows);
    return DONE();
}
