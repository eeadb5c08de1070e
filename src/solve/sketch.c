/* sketch -- the preconditioner of pcg.c, from some rows
 *
 *     Gc / W  ~  Zs'Zs / Ws  =  U diag(value) U',   Zs Zs' = V'diag(Ws value) V,
 *     U' = diag(Ws value)^-1/2 V Zs
 *
 * for s sampled rows Zs (centred, times the roots of their weights, which sum up to Ws), of which
 * the larger half of the eigenvalues is kept: the smaller half of a sample's is mostly noise. The
 * least one kept (tail) stands for all other directions. P = U diag(value) U' + tail (I - UU') +
 * lambda I serves every lambda. Where the sample is all rows, everything is kept, the tail is 0,
 * and P is the matrix itself. U is float64: with a float32 one, 1/(tail + lambda) (I - UU') would
 * leave 1e-7 of the leading directions, whose eigenvalues are that many times larger.
 *
 * Cost s^2 D + 9 s^3 + s^2 D flops, applied in 2 s D a column.
 *
 * A Gaussian range finder (frangella2023) sketches all rows instead. Iterations to 1e-4 on 5,000
 * rows of 2,000 Fourier features (gaussian, 8 columns) with the same rank:
 *
 *   lambda                       1e-4            1e-5            1e-6
 *   rank                    250 500 1000    250 500 1000    250 500 1000
 *   sampled rows             22  16   11     43  28   22    108  65   38
 *   range finder             13   8    4     34  20    7     92  52   18
 *
 * It saves about ten iterations for what rank of them cost (4 n D rank flops), so that a sample is
 * better. With it all kept and no tail, the 500 above are 98 iterations and not 65 at 1e-6.
 */
#include "solve/sketch.h"

#include "num/blas.h"

#include <math.h>
#include <string.h>

enum { STRIP = 512, TILE = 256 };
/* Eigenvalues below this much of the largest are rounding, as are their vectors. */
static const double RESOLVED = 1e-10;

/* ---- making it ---------------------------------------------------------- */

/* Columns j .. j + m - 1 of z in double, rows x m. */
static void widen(krein_ctx *ctx, int64_t rows, int64_t D, const float *z, int64_t j, int64_t m,
                  double *out) {
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < rows; i++)
        for (int64_t a = 0; a < m; a++) out[i * m + a] = (double)z[i * D + j + a];
}

/* Upper tiles of K (rows x rows) += B B', B rows x m. */
static void add_products(krein_ctx *ctx, int64_t rows, int64_t m, const double *b, double *K) {
    int64_t tiles = (rows + TILE - 1) / TILE;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
    for (int64_t q = 0; q < tiles * tiles; q++) {
        int64_t i = q / tiles * TILE, j = q % tiles * TILE;
        if (i > j) continue;
        krein__worker_begin();
        krein__dgemm(false, true, krein__min(TILE, rows - i), krein__min(TILE, rows - j), m, 1,
                     b + i * m, m, b + j * m, m, 1, K + i * rows + j, rows);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

krein_status krein__rows_gram(krein_ctx *ctx, int64_t rows, int64_t D, const float *z, double *K) {
    krein_status st = KREIN_OK;
    double *wide = NULL;
    NEW(wide, rows * STRIP);
    memset(K, 0, (size_t)(rows * rows) * sizeof *K);
    for (int64_t j = 0; j < D; j += STRIP) {
        int64_t m = krein__min(STRIP, D - j);
        widen(ctx, rows, D, z, j, m, wide);
        add_products(ctx, rows, m, wide, K);
        TRY(krein__poll(ctx));
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < i; j++) K[i * rows + j] = K[j * rows + i];
done:
    krein__free(ctx, wide);
    return st;
}

/* u = diag(value)^-1/2 V Z, V the last `rank` rows of the eigenvectors. */
static krein_status make_basis(krein_sketch *s, int64_t rows, const float *z, double *v,
                               const double *value) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    double *wide = NULL;
    int64_t D = s->D;
    NEW(wide, rows * STRIP);
    for (int64_t i = 0; i < s->rank; i++)
        for (int64_t a = 0; a < rows; a++) v[i * rows + a] /= sqrt(value[i]);
    for (int64_t j = 0; j < D; j += STRIP) {
        int64_t m = krein__min(STRIP, D - j);
        widen(ctx, rows, D, z, j, m, wide);
        krein__pgemm(ctx, false, false, s->rank, m, rows, 1, v, rows, wide, m, 0, s->u + j, D);
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, wide);
    return st;
}

static int64_t rank_of(int64_t rows, int64_t D, bool all) {
    return krein__min(all ? rows : (rows + 1) / 2, D);
}

krein_status krein__sketch_make(krein_ctx *ctx, int64_t rows, int64_t D, const float *z,
                                double weight, bool all, double mean_square, krein_sketch *s) {
    krein_status st = KREIN_OK;
    double *K = NULL, *value = NULL;
    memset(s, 0, sizeof *s);
    s->ctx = ctx;
    s->D = D;
    s->tail = mean_square / (double)D;
    if (rows == 0 || !(weight > 0) || !(mean_square > 0)) return KREIN_OK;
    NEW(K, rows * rows);
    NEW(value, rows);
    TRY(krein__rows_gram(ctx, rows, D, z, K));
    TRY(krein__eigen(ctx, rows, K, rows, value));
    int64_t rank = rank_of(rows, D, all);
    while (rank > 0 && !(value[rows - rank] > RESOLVED * value[rows - 1])) rank--;
    if (rank == 0) goto done;
    s->rank = rank;
    NEW(s->value, rank);
    NEW(s->u, rank * D);
    TRY(make_basis(s, rows, z, K + (rows - rank) * rows, value + rows - rank));
    for (int64_t i = 0; i < rank; i++) s->value[i] = value[rows - rank + i] / weight;
    s->tail = all ? 0 : s->value[0];
done:
    krein__free(ctx, K);
    krein__free(ctx, value);
    if (st != KREIN_OK) krein__sketch_clear(s);
    return st;
}

void krein__sketch_clear(krein_sketch *s) {
    if (!s->ctx) return;
    krein__free(s->ctx, s->u);
    krein__free(s->ctx, s->value);
    memset(s, 0, sizeof *s);
}

/* ---- applying it -------------------------------------------------------- */

/* Up to so many columns are multiplied one by one, as in passes.c. */
enum { FEW = 7, WIDTH = 2048 };

/* work (columns x rank) = r U' */
static void project(const krein_sketch *s, int64_t columns, const double *r, double *work) {
    int64_t D = s->D, rank = s->rank;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(s->ctx->threads) schedule(static)
    for (int64_t i = 0; i < rank; i += 32) {
        krein__worker_begin();
        int64_t m = krein__min(32, rank - i);
        if (columns > FEW)
            krein__dgemm(false, true, columns, m, D, 1, r, D, s->u + i * D, D, 0, work + i, rank);
        for (int64_t a = i; columns <= FEW && a < i + m; a++)
            for (int64_t c = 0; c < columns; c++)
                work[c * rank + a] = krein__ddot(D, s->u + a * D, r + c * D);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

/* out += work U */
static void expand(const krein_sketch *s, int64_t columns, const double *work, double *out) {
    int64_t D = s->D, rank = s->rank;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(s->ctx->threads) schedule(static)
    for (int64_t j = 0; j < D; j += WIDTH) {
        krein__worker_begin();
        int64_t m = krein__min(WIDTH, D - j);
        if (columns > FEW)
            krein__dgemm(false, false, columns, m, rank, 1, work, rank, s->u + j, D, 1, out + j, D);
        for (int64_t i = 0; columns <= FEW && i < rank; i++)
            for (int64_t c = 0; c < columns; c++) {
                const double *u = s->u + i * D + j, t = work[c * rank + i];
                double *o = out + c * D + j;
                for (int64_t a = 0; a < m; a++) o[a] += t * u[a];
            }
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

void krein__sketch_apply(const krein_sketch *s, int64_t columns, const double *lambda,
                         const double *r, double *out, double *work) {
    int64_t D = s->D, rank = s->rank;
    project(s, columns, r, work);
    for (int64_t c = 0; c < columns; c++) {
        double rest = 1 / (s->tail + lambda[c]);
        for (int64_t i = 0; i < rank; i++)
            work[c * rank + i] *= 1 / (s->value[i] + lambda[c]) - rest;
        for (int64_t j = 0; j < D; j++) out[c * D + j] = rest * r[c * D + j];
    }
    expand(s, columns, work, out);
}

double krein__sketch_bytes(int64_t rows, int64_t D, bool all) {
    return 8 * (double)rank_of(rows, D, all) * ((double)D + 1);
}

double krein__sketch_work_bytes(int64_t rows) {
    double r = (double)rows;
    return 8 * r * STRIP + 8 * (3.5 * r * r + 200 * r) + 65536;
}
