/* screen.c -- how much the columns tell of the targets, alone and two at a time
 *
 * phi_j1, phi_j2, phi_j3: polynomials of the ranks of column j, orthonormal over the rows with each
 * other and the constant (of a column with two values only phi_j1 is not zero).
 *
 *     alone   m_j  = 1/n sum_p   <y, phi_jp>^2
 *     pairs   m_jl = 1/n sum_p,q <y, phi_jp phi_lq>^2
 *
 * are parts of the variance v of y, if the columns are independent. If they tell nothing, n m_j / v
 * is chi squared with 3 degrees of freedom, n m_jl / v with 9. The chance that is taken off is what
 * none of all columns, or none of all pairs, would exceed in one of two samples:
 *
 *     h_j = (m_j - chance)+ + max_l (m_jl - chance)+
 *
 * All pairs are one matrix product, 9 n d^2 k flops. A kernel needs far more rows than these
 * statistics to see a few columns among many.
 */
#include "select/screen.h"

#include "num/blas.h"
#include "num/order.h"
#include "num/quantile.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { DEGREE = 3, COLUMNS = 64, WIDTH = DEGREE * COLUMNS }; /* COLUMNS: of a tile */
enum { RARE = 20 };
enum { LEAST = 400 };              /* rows that pairs are looked at with */
static const double WORK = 1.5e10; /* flops of the pairs; fewer rows where it would be more */

/* The ranks of a column to -1 .. 1, equal values in the middle of theirs. sorted: n. */
static void ranks_of(const krein_rows *x, int64_t j, double *sorted, double *rank) {
    int64_t n = x->n;
    for (int64_t i = 0; i < n; i++) sorted[i] = (double)x->x[i * x->ld + j];
    qsort(sorted, (size_t)n, sizeof *sorted, krein__ascending);
    for (int64_t i = 0; i < n; i++) {
        double v = (double)x->x[i * x->ld + j];
        int64_t below = 0, upto = 0; /* rows with less; with no more */
        for (int64_t step = INT64_C(1) << 40; step > 0; step /= 2) {
            if (below + step <= n && sorted[below + step - 1] < v) below += step;
            if (upto + step <= n && sorted[upto + step - 1] <= v) upto += step;
        }
        rank[i] = (double)(below + upto) / (double)n - 1;
    }
}

/* phi of a column: DEGREE numbers of each row, `step` apart. What differs for fewer than RARE rows
 * is left out: there chance has another law, and two rare values meet in one row. */
static void polynomials(int64_t n, const double *rank, double *work, float *out, int64_t step) {
    double least = fmin(RARE / (double)n, 0.05), *phi[DEGREE];
    for (int p = 0; p < DEGREE; p++) {
        double *z = phi[p] = work + p * n, mean = 0, square = 0;
        for (int64_t i = 0; i < n; i++) z[i] = rank[i] * (p == 0 ? 1 : phi[p - 1][i]);
        for (int64_t i = 0; i < n; i++) mean += z[i] / (double)n;
        for (int64_t i = 0; i < n; i++) z[i] -= mean;
        for (int q = 0; q < p; q++) {
            double along = krein__ddot(n, z, phi[q]) / (double)n;
            for (int64_t i = 0; i < n; i++) z[i] -= along * phi[q][i];
        }
        square = krein__ddot(n, z, z) / (double)n;
        double by = square > least ? 1 / sqrt(square) : 0;
        for (int64_t i = 0; i < n; i++) z[i] *= by;
        for (int64_t i = 0; i < n; i++) out[i * step + p] = (float)z[i];
    }
}

static krein_status basis_of(krein_ctx *ctx, const krein_rows *x, float *phi) {
    krein_status st = KREIN_OK;
    int64_t n = x->n, d = x->d, each = (2 + DEGREE) * n;
    double *work = NULL;
    NEW(work, ctx->threads * each);
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t j = 0; j < d; j++) {
        double *mine = work + omp_get_thread_num() * each;
        krein__worker_begin();
        ranks_of(x, j, mine, mine + n);
        polynomials(n, mine + n, mine + 2 * n, phi + j * DEGREE, d * DEGREE);
        krein__worker_end(c);
    }
    krein__compute_end(c);
done:
    krein__free(ctx, work);
    return st;
}

/* The rows' polynomials (n x DEGREE d) and targets (n x k), and what chance makes of these. */
typedef struct screen {
    int64_t n, d, k;
    float *phi, *y;
    double variance; /* of the targets, summed up */
    double count;    /* of independent targets of equal variance that they count for */
} screen;

static void set_variance(screen *s) {
    double square = 0;
    for (int64_t c = 0; c < s->k; c++) {
        double v = 0;
        for (int64_t i = 0; i < s->n; i++) v += pow((double)s->y[i * s->k + c], 2) / (double)s->n;
        s->variance += v;
        square += v * v;
    }
    s->count = square > 0 ? s->variance * s->variance / square : 1;
}

/* What the largest of `tests` statistics of n rows, with so many degrees of freedom each, exceeds
 * by chance in one of two samples. */
static double chance(const screen *s, double dof, double tests, int64_t n) {
    double quantile = 2 * krein__gamma_quantile(dof * s->count / 2, pow(0.5, 1 / tests));
    return s->variance * quantile / (s->count * (double)n);
}

static krein_status alone(krein_ctx *ctx, const screen *s, double *h) {
    krein_status st = KREIN_OK;
    int64_t w = s->d * DEGREE;
    double least = chance(s, DEGREE, (double)s->d, s->n);
    float *product = NULL;
    NEW(product, s->k * w);
    krein_compute compute = krein__compute_begin();
    krein__sgemm(true, false, s->k, w, s->n, 1, s->y, s->k, s->phi, w, 0, product, w);
    krein__compute_end(compute);
    for (int64_t j = 0; j < s->d; j++) {
        double sum = 0;
        for (int64_t c = 0; c < s->k; c++)
            for (int64_t e = j * DEGREE; e < (j + 1) * DEGREE; e++)
                sum += pow((double)product[c * w + e] / (double)s->n, 2);
        h[j] = fmax(sum - least, 0);
    }
done:
    krein__free(ctx, product);
    return st;
}

/* The largest m_jl of n rows, of each column of the tile from column a on with those of the tile
 * from b on, and the other way round. work: (n + WIDTH) WIDTH. */
static void pairs_of_tiles(const screen *s, int64_t n, int64_t a, int64_t b, float *work,
                           double *most_a, double *most_b) {
    int64_t w = s->d * DEGREE, columns_a = krein__min(COLUMNS, s->d - a),
            columns_b = krein__min(COLUMNS, s->d - b);
    float *by = work, *product = work + n * WIDTH;
    double m[COLUMNS][COLUMNS] = {{0}};
    for (int64_t c = 0; c < s->k; c++) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t e = 0; e < columns_a * DEGREE; e++)
                by[i * WIDTH + e] = s->y[i * s->k + c] * s->phi[i * w + a * DEGREE + e];
        krein__sgemm(true, false, columns_a * DEGREE, columns_b * DEGREE, n, 1, by, WIDTH,
                     s->phi + b * DEGREE, w, 0, product, WIDTH);
        for (int64_t e = 0; e < columns_a * DEGREE; e++)
            for (int64_t f = 0; f < columns_b * DEGREE; f++)
                m[e / DEGREE][f / DEGREE] += pow((double)product[e * WIDTH + f] / (double)n, 2);
    }
    for (int64_t j = 0; j < columns_a; j++)
        for (int64_t l = 0; l < columns_b; l++) {
            if (a + j == b + l) continue;
            most_a[j] = fmax(most_a[j], m[j][l]);
            most_b[l] = fmax(most_b[l], m[j][l]);
        }
}

/* Adds to h what the best pair of each column has beyond chance, on the first n rows. */
static krein_status pairs(krein_ctx *ctx, const screen *s, int64_t n, double *h) {
    krein_status st = KREIN_OK;
    int64_t d = s->d, tiles = (d + COLUMNS - 1) / COLUMNS, each = (n + WIDTH) * WIDTH;
    double least = chance(s, DEGREE * DEGREE, (double)(d * (d - 1) / 2), n);
    float *work = NULL;
    double *most =
        NULL; /* of the columns of a tile with those of another: tiles x tiles x COLUMNS */
    NEW(work, ctx->threads * each);
    ZNEW(most, tiles * tiles * COLUMNS);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t t = 0; t < tiles * tiles; t++) {
        int64_t a = t / tiles, b = t % tiles;
        if (b < a) continue;
        krein__worker_begin();
        pairs_of_tiles(s, n, a * COLUMNS, b * COLUMNS, work + omp_get_thread_num() * each,
                       most + (a * tiles + b) * COLUMNS, most + (b * tiles + a) * COLUMNS);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    for (int64_t j = 0; j < d; j++) {
        double largest = 0;
        for (int64_t b = 0; b < tiles; b++)
            largest = fmax(largest, most[(j / COLUMNS * tiles + b) * COLUMNS + j % COLUMNS]);
        h[j] += fmax(largest - least, 0);
    }
done:
    krein__free(ctx, work);
    krein__free(ctx, most);
    return st;
}

/* Rows that pairs are looked at with; 0: they are not. */
static int64_t rows_of_pairs(int64_t n, int64_t d, int64_t k) {
    double most = WORK / (pow(DEGREE * (double)d, 2) * (double)k);
    int64_t rows = (int64_t)fmin((double)n, most);
    return d > 1 && rows >= krein__min(n, LEAST) ? rows : 0;
}

krein_status krein__screen(krein_ctx *ctx, const krein_rows *x, int64_t k, const double *y,
                           const double *weight, double *h) {
    krein_status st = KREIN_OK;
    int64_t n = x->n, d = x->d;
    screen s = {.n = n, .d = d, .k = k};
    NEW(s.phi, n * d * DEGREE);
    NEW(s.y, n * k);
    for (int64_t i = 0; i < n * k; i++) s.y[i] = (float)(y[i] * (weight ? weight[i / k] : 1));
    set_variance(&s);
    TRY(basis_of(ctx, x, s.phi));
    TRY(krein__poll(ctx));
    TRY(alone(ctx, &s, h));
    int64_t rows = rows_of_pairs(n, d, k);
    if (rows > 0) TRY(pairs(ctx, &s, rows, h));
done:
    krein__free(ctx, s.phi);
    krein__free(ctx, s.y);
    return st;
}

double krein__screen_bytes(int64_t n, int64_t d, int64_t k, int threads) {
    double N = (double)n, D = (double)d, tiles = (double)((d + COLUMNS - 1) / COLUMNS);
    return 4 * N * (D * DEGREE + (double)k) + 4 * (double)k * D * DEGREE +
           threads * fmax(8 * (2 + DEGREE) * N, 4 * (N + WIDTH) * WIDTH) +
           8 * tiles * tiles * COLUMNS;
}

double krein__screen_flops(int64_t n, int64_t d, int64_t k) {
    double w = DEGREE * (double)d;
    return w * (double)k * (2 * (double)n + w * (double)rows_of_pairs(n, d, k));
}
