/* tall.c -- matrices of many rows and few columns in blocks
 *
 * Sums over rows are taken for ROWS rows at a time and then added in their order, so that the bits
 * do not depend on threads.
 *
 * Orthonormal columns by the eigenvectors of their products (each column scaled to length one
 * first):
 *     A'A = V diag(w) V',    A <- A V diag(w)^(-1/2),    w <= CUT max w: a column of zeros
 */
#include "num/tall.h"

#include "num/blas.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { ROWS = 512 };
/* The columns are then orthonormal to 1e-16 / CUT. */
static const double CUT = 1e-10;

typedef struct block {
    int64_t first, wide;
} block;

int64_t krein__tall_wide(int64_t k) {
    int64_t blocks = (k + KREIN_TALL_WIDE - 1) / KREIN_TALL_WIDE;
    return (k + blocks - 1) / krein__max(1, blocks);
}

static int64_t row_blocks(int64_t n) { return (n + ROWS - 1) / ROWS; }

int64_t krein__tall_room(int64_t n, int64_t c, int64_t wide) { return row_blocks(n) * c * wide; }

static int64_t per_group(const krein_tall *t) { return (t->k + t->wide - 1) / t->wide; }

static int64_t blocks_of(const krein_tall *t) { return t->c / t->k * per_group(t); }

static block block_at(const krein_tall *t, int64_t b) {
    int64_t per = per_group(t), in = b % per * t->wide;
    return (block){b / per * t->k + in, krein__min(t->wide, t->k - in)};
}

/* The sums of all blocks of rows, `size` numbers each. */
static void add_up(const krein_tall *t, int64_t size, double *out) {
    memset(out, 0, (size_t)size * sizeof *out);
    for (int64_t r = 0; r < row_blocks(t->n); r++)
        for (int64_t e = 0; e < size; e++) out[e] += t->room[r * size + e];
}

void krein__tall_dots(const krein_tall *t, bool own, const double *a, const double *b,
                      double *out) {
    int64_t n = t->n, c = t->c;
#pragma omp parallel for num_threads(t->ctx->threads) schedule(static)
    for (int64_t r = 0; r < row_blocks(n); r++) {
        double *sum = t->room + r * c;
        memset(sum, 0, (size_t)c * sizeof *sum);
        for (int64_t i = r * ROWS; i < krein__min(n, (r + 1) * ROWS); i++)
            for (int64_t j = 0; j < c; j++) sum[j] += (own ? a[i] : a[i * c + j]) * b[i * c + j];
    }
    add_up(t, c, out);
}

void krein__tall_cross(const krein_tall *t, const double *a, const double *b, double *out) {
    if (t->wide == 1) {
        krein__tall_dots(t, false, a, b, out);
        return;
    }
    int64_t n = t->n, c = t->c, wide = t->wide, size = c * wide;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(t->ctx->threads) schedule(static)
    for (int64_t r = 0; r < row_blocks(n); r++) {
        krein__worker_begin();
        double *sum = t->room + r * size;
        int64_t from = r * ROWS, rows = krein__min(ROWS, n - from);
        memset(sum, 0, (size_t)size * sizeof *sum);
        for (int64_t at = 0; at < blocks_of(t); at++) {
            block k = block_at(t, at);
            krein__dgemm(true, false, k.wide, k.wide, rows, 1, a + from * c + k.first, c,
                         b + from * c + k.first, c, 0, sum + k.first * wide, wide);
        }
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    add_up(t, size, out);
}

void krein__tall_combine(const krein_tall *t, double factor, const double *a, const double *C,
                         double keep, double *b) {
    int64_t n = t->n, c = t->c, wide = t->wide;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(t->ctx->threads) schedule(static)
    for (int64_t r = 0; r < row_blocks(n); r++) {
        krein__worker_begin();
        int64_t from = r * ROWS, rows = krein__min(ROWS, n - from);
        const double *A = a + from * c;
        double *B = b + from * c;
        for (int64_t e = 0; wide == 1 && e < rows * c; e++) /* 0 times what is no number is 0 */
            B[e] = factor * A[e] * C[e % c] + (keep != 0 ? keep * B[e] : 0);
        for (int64_t at = 0; wide > 1 && at < blocks_of(t); at++) {
            block k = block_at(t, at);
            krein__dgemm(false, false, rows, k.wide, k.wide, factor, A + k.first, c,
                         C + k.first * wide, wide, keep, B + k.first, c);
        }
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

static bool all_finite(int64_t n, int64_t ld, const double *a) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (!isfinite(a[i * ld + j])) return false;
    return true;
}

/* The eigenvectors (rows of G) and eigenvalues of D^-1/2 G D^-1/2, D the diagonal of G; scale (n):
 * of D^-1/2. */
static krein_status scaled_eigen(krein_ctx *ctx, int64_t n, double *G, int64_t ld, double *scale,
                                 double *w) {
    for (int64_t i = 0; i < n; i++) scale[i] = G[i * ld + i] > 0 ? 1 / sqrt(G[i * ld + i]) : 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) G[i * ld + j] *= scale[i] * scale[j];
    return krein__eigen(ctx, n, G, ld, w);
}

krein_status krein__tall_orthonormal(const krein_tall *t, const double *a, double *small,
                                     double *out) {
    krein_status st = KREIN_OK;
    double *T = small + t->c * t->wide, scale[KREIN_TALL_WIDE], w[KREIN_TALL_WIDE];
    krein__tall_cross(t, a, a, small);
    memset(T, 0, (size_t)(t->c * t->wide) * sizeof *T);
    for (int64_t at = 0; at < blocks_of(t); at++) {
        block k = block_at(t, at);
        double *G = small + k.first * t->wide, *to = T + k.first * t->wide;
        if (!all_finite(k.wide, t->wide, G)) continue;
        TRY(scaled_eigen(t->ctx, k.wide, G, t->wide, scale, w));
        for (int64_t v = 0; v < k.wide; v++) {
            if (!(w[v] > CUT * w[k.wide - 1])) continue;
            for (int64_t i = 0; i < k.wide; i++)
                to[i * t->wide + v] = scale[i] * G[v * t->wide + i] / sqrt(w[v]);
        }
    }
    krein__tall_combine(t, 1, a, T, 0, out);
done:
    return st;
}

krein_status krein__tall_solve(const krein_tall *t, const double *S, const double *B, double *small,
                               double *out) {
    krein_status st = KREIN_OK;
    int64_t ld = t->wide;
    double *vectors = small + t->c * ld, scale[KREIN_TALL_WIDE], w[KREIN_TALL_WIDE];
    memset(out, 0, (size_t)(t->c * ld) * sizeof *out);
    memcpy(vectors, S, (size_t)(t->c * ld) * sizeof *vectors);
    for (int64_t at = 0; at < blocks_of(t); at++) {
        block k = block_at(t, at);
        double *V = vectors + k.first * ld, *X = small + k.first * ld, *to = out + k.first * ld;
        if (!all_finite(k.wide, ld, V)) continue;
        TRY(scaled_eigen(t->ctx, k.wide, V, ld, scale, w));
        for (int64_t i = 0; i < k.wide; i++)
            for (int64_t j = 0; j < k.wide; j++)
                X[i * ld + j] = scale[i] * B[(k.first + i) * ld + j];
        for (int64_t v = 0; v < k.wide; v++) { /* along one eigenvector after the other */
            if (!(w[v] > DBL_EPSILON * w[k.wide - 1])) continue;
            for (int64_t j = 0; j < k.wide; j++) {
                double sum = 0;
                for (int64_t i = 0; i < k.wide; i++) sum += V[v * ld + i] * X[i * ld + j];
                for (int64_t i = 0; i < k.wide; i++)
                    to[i * ld + j] += scale[i] * V[v * ld + i] * sum / w[v];
            }
        }
    }
done:
    return st;
}
