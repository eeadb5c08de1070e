/* centres.c -- k-means++ seeds and Lloyd's iterations.
 *
 * Seeds (arthur2007): the first row uniformly, each next one in proportion to the squared distance
 * to the nearest seed so far. O(n d) each. Lloyd: nearest centres from one matrix product a tile,
 * |c|^2 - 2 <x, c>; ties go to the lowest number; means are summed in double in the order of the
 * rows. Nothing depends on the number of threads.
 */
#include "num/centres.h"

#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* |row i - s|^2, s dense with squared length ss. */
static double distance2(const krein_rows *x, int64_t i, const float *s, double ss) {
    double sum = 0;
    if (x->ptr) {
        for (int64_t k = x->ptr[i]; k < x->ptr[i + 1]; k++) {
            double v = (double)x->val[k];
            sum += v * (v - 2 * (double)s[x->col[k]]);
        }
        return fmax(0, sum + ss);
    }
    const float *row = x->x + i * x->ld;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < x->d; j++) {
        double t = (double)row[j] - (double)s[j];
        sum += t * t;
    }
    return sum;
}

void krein__centres_approach(krein_ctx *ctx, const krein_rows *x, const float *s, double least,
                             double *near) {
    double ss = 0;
    for (int64_t j = 0; x->ptr && j < x->d; j++) ss += (double)s[j] * (double)s[j];
    least = fmax(least, 1e-12 * ss); /* of equal rows, CSR sums leave a rounding error */
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < x->n; i++) {
        double t = distance2(x, i, s, ss);
        if (t <= least) t = 0;
        if (t < near[i]) near[i] = t;
    }
}

int64_t krein__centres_draw(int64_t n, const double *near, const double *weight, double u) {
    double total = 0, sum = 0;
    int64_t last = -1;
    for (int64_t i = 0; i < n; i++) total += near[i] * (weight ? weight[i] : 1);
    for (int64_t i = 0; i < n; i++) {
        double share = near[i] * (weight ? weight[i] : 1);
        if (share <= 0) continue;
        sum += share;
        last = i;
        if (sum > u * total) break;
    }
    return last;
}

krein_status krein__centres_seeds(krein_ctx *ctx, krein_rng g, const krein_rows *x, int64_t m,
                                  int64_t *seed, int64_t *got) {
    krein_status st = KREIN_OK;
    double *near = NULL;
    float *s = NULL;
    *got = 0;
    NEW(near, x->n);
    NEW(s, x->d);
    for (int64_t i = 0; i < x->n; i++) near[i] = INFINITY;
    for (int64_t k = 0; k < m; k++) {
        int64_t next =
            k == 0 ? (int64_t)krein__rng_below(g, 0, 1, (uint64_t)x->n)
                   : krein__centres_draw(x->n, near, NULL, krein__rng_uniform(g, (uint64_t)k, 0));
        if (next < 0) break;
        seed[(*got)++] = next;
        krein__row_copy(x, next, s);
        krein__centres_approach(ctx, x, s, 0, near);
        near[next] = 0;
        if (k % 64 == 0) TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, near);
    krein__free(ctx, s);
    return st;
}

int64_t krein__centres_tries(int64_t m) { return m > 1 ? 2 + (int64_t)log((double)m) : 1; }

int64_t krein__centres_parts(int64_t n, int64_t tries, int64_t runs) {
    return (n + KREIN_TILE - 1) / KREIN_TILE * tries * runs;
}

void krein__centres_try(krein_ctx *ctx, const krein_rows *x, int64_t tries, int64_t runs,
                        const float *s, const double *square, const double *weight,
                        const double *near, int64_t stride, float *scratch, double *part,
                        double *sum) {
    int64_t tiles = (x->n + KREIN_TILE - 1) / KREIN_TILE, columns = tries * runs;
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++) {
        krein__worker_begin();
        float *dot = scratch + omp_get_thread_num() * KREIN_TILE * columns;
        int64_t from = t * KREIN_TILE, rows = krein__min(KREIN_TILE, x->n - from);
        krein__sgemm(false, true, rows, columns, x->d, -2, x->x + from * x->ld, x->ld, s, x->d, 0,
                     dot, columns);
        for (int64_t k = 0; k < columns; k++) {
            const double *mine = near + k / tries * stride + from;
            double ss = 0, total = 0;
            for (int64_t j = 0; j < x->d; j++)
                ss += (double)s[k * x->d + j] * (double)s[k * x->d + j];
            for (int64_t i = 0; i < rows; i++) {
                double d2 = square[from + i] + ss + (double)dot[i * columns + k];
                total += (weight ? weight[from + i] : 1) * fmin(mine[i], fmax(0, d2));
            }
            part[t * columns + k] = total;
        }
        krein__worker_end(c);
    }
    krein__compute_end(c);
    for (int64_t t = 0; t < tiles; t++)
        for (int64_t k = 0; k < columns; k++) sum[k] += part[t * columns + k];
}

int64_t krein__centres_scratch(const krein_ctx *ctx, int64_t m, int64_t runs) {
    return ctx->threads * KREIN_TILE * m * runs;
}

void krein__centres_assign(krein_ctx *ctx, const krein_rows *x, int64_t m, int64_t runs,
                           const float *centre, const float *square, float *scratch,
                           int32_t *nearest, float *gain) {
    int64_t tiles = (x->n + KREIN_TILE - 1) / KREIN_TILE, columns = m * runs;
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles; t++) {
        krein__worker_begin();
        float *dot = scratch + omp_get_thread_num() * KREIN_TILE * columns;
        int64_t from = t * KREIN_TILE, rows = krein__min(KREIN_TILE, x->n - from);
        krein__sgemm(false, true, rows, columns, x->d, -2, x->x + from * x->ld, x->ld, centre, x->d,
                     0, dot, columns);
        for (int64_t i = 0; i < rows * runs; i++) {
            const float *p = dot + i * m, *q = square + i % runs * m;
            int64_t best = 0;
            for (int64_t k = 1; k < m; k++)
                if (p[k] + q[k] < p[best] + q[best]) best = k;
            nearest[from * runs + i] = (int32_t)best;
            if (gain) gain[from * runs + i] = p[best] + q[best];
        }
        krein__worker_end(c);
    }
    krein__compute_end(c);
}

void krein__centres_squares(int64_t m, int64_t d, const float *centre, float *square) {
    for (int64_t k = 0; k < m; k++) {
        double sum = 0;
        for (int64_t j = 0; j < d; j++)
            sum += (double)centre[k * d + j] * (double)centre[k * d + j];
        square[k] = (float)sum;
    }
}

static void means(const krein_rows *x, int64_t m, const int32_t *nearest, double *sum,
                  int64_t *count, float *centre) {
    int64_t d = x->d;
    memset(sum, 0, (size_t)(m * d) * sizeof *sum);
    memset(count, 0, (size_t)m * sizeof *count);
    for (int64_t i = 0; i < x->n; i++) {
        const float *row = x->x + i * x->ld;
        double *to = sum + nearest[i] * d;
        count[nearest[i]]++;
        for (int64_t j = 0; j < d; j++) to[j] += (double)row[j];
    }
    for (int64_t k = 0; k < m; k++)
        for (int64_t j = 0; j < d && count[k] > 0; j++)
            centre[k * d + j] = (float)(sum[k * d + j] / (double)count[k]);
}

krein_status krein__centres_lloyd(krein_ctx *ctx, const krein_rows *x, int64_t m, int64_t steps,
                                  float *centre) {
    krein_status st = KREIN_OK;
    float *square = NULL, *scratch = NULL;
    double *sum = NULL;
    int32_t *nearest = NULL, *before = NULL;
    int64_t *count = NULL;
    size_t bytes = (size_t)x->n * sizeof *nearest;
    NEW(square, m);
    NEW(scratch, krein__centres_scratch(ctx, m, 1));
    NEW(sum, m * x->d);
    NEW(count, m);
    NEW(nearest, x->n);
    NEW(before, x->n);
    for (int64_t step = 0; step < steps; step++) {
        krein__centres_squares(m, x->d, centre, square);
        krein__centres_assign(ctx, x, m, 1, centre, square, scratch, nearest, NULL);
        if (step > 0 && memcmp(nearest, before, bytes) == 0) break;
        memcpy(before, nearest, bytes);
        means(x, m, nearest, sum, count, centre);
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, square);
    krein__free(ctx, scratch);
    krein__free(ctx, sum);
    krein__free(ctx, nearest);
    krein__free(ctx, before);
    krein__free(ctx, count);
    return st;
}

double krein__centres_bytes(int64_t n, int64_t d, int64_t m, int threads) {
    double M = (double)m;
    return 8.0 * (double)n + 4.0 * (double)d +
           M * (4.0 * KREIN_TILE * threads + 8.0 * (double)d + 16) + 4096;
}
