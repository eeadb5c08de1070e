/* kernel_half.c -- one half of a large kernel matrix in float32 or 16 bits, and products with it
 *
 * 2 n^2 bytes, or n^2: whole numbers q of 16 bits, k = q s, s the largest diagonal entry over 32767
 * (|k_ij| is no larger in a positive definite matrix). Their errors are even between -s/2 and s/2,
 * a random symmetric matrix of norm 2 sqrt(n) s / sqrt(12).
 *
 * A product K v reads them once: a tile T of rows I and columns J gives T v_J to the
 * rows I and T'v_I to the rows J. Each tile leaves its two parts in a place of their own, and those
 * of a row are added in the order of the tiles, of either kind: the bits do not depend on threads.
 * Both come from one pass over the tile (num/both.c). The products of a tile are float32, as K is,
 * and their sums over tiles float64: half of the time of float64, and off by about 2^-24 of the
 * root of the sum of squares.
 */
#include "solve/kernel_half.h"

#include "num/blas.h"
#include "num/both.h"
#include "num/rounded.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { TOP = 32767 };

static int64_t band_rows(const krein_half *h, int64_t b) {
    return krein__min(KREIN_BAND, h->n - b * KREIN_BAND);
}

/* Where band b begins. */
static int64_t start_of(const krein_half *h, int64_t b) {
    return KREIN_BAND * (b * h->n - KREIN_BAND * (b * (b - 1) / 2));
}

static int64_t size_of(int64_t n) {
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i += KREIN_BAND) sum += krein__min(KREIN_BAND, n - i) * (n - i);
    return sum;
}

double krein__half_bytes(int64_t n, bool rounded) { return (rounded ? 2 : 4) * (double)size_of(n); }

double krein__half_make_bytes(const krein_kernel *kernel, int64_t n, int64_t d, int threads) {
    return krein__gram_full_bytes(kernel, krein__min(n, KREIN_BAND), d, threads);
}

/* Of row i, whose band is no later than that of column j. */
static int64_t place_of(const krein_half *h, int64_t i, int64_t j) {
    int64_t I = i / KREIN_BAND, J = j / KREIN_BAND;
    return start_of(h, I) + band_rows(h, I) * (J - I) * KREIN_BAND +
           i % KREIN_BAND * band_rows(h, J) + j % KREIN_BAND;
}

double krein__half_at(const krein_half *h, int64_t i, int64_t j) {
    if (i / KREIN_BAND > j / KREIN_BAND) return krein__half_at(h, j, i);
    int64_t at = place_of(h, i, j);
    return h->code ? (double)(h->scale * (float)h->code[at]) : (double)h->value[at];
}

krein_status krein__half_columns(const krein_half *h, int64_t m, const int64_t *index, float *out) {
    krein_ctx *ctx = h->ctx;
    krein_status st = KREIN_OK;
    int64_t *all = NULL;
    NEW(all, 2 * ctx->threads * m);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t I = 0; I < h->bands; I++) {
        int64_t *at = all + 2 * omp_get_thread_num() * m, *step = at + m;
        for (int64_t l = 0; l < m; l++) { /* where the band's rows have column l */
            int64_t J = index[l] / KREIN_BAND;
            at[l] = J < I ? place_of(h, index[l], I * KREIN_BAND)
                          : place_of(h, I * KREIN_BAND, index[l]);
            step[l] = J < I ? 1 : band_rows(h, J);
        }
        for (int64_t i = 0; i < band_rows(h, I); i++) {
            float *row = out + (I * KREIN_BAND + i) * m;
            for (int64_t l = 0; l < m; l++) {
                int64_t place = at[l] + i * step[l];
                row[l] = h->code ? h->scale * (float)h->code[place] : h->value[place];
            }
        }
    }
done:
    krein__free(ctx, all);
    return st;
}

/* A row of values of a tile to the half from `at` on; false where one is not finite. */
static bool put_row(krein_half *h, int64_t wide, const float *row, int64_t at) {
    if (h->code) return krein__round_by(wide, row, h->scale, h->code + at);
    int64_t bad = 0;
    for (int64_t j = 0; j < wide; j++) {
        h->value[at + j] = row[j];
        bad += !isfinite(row[j]);
    }
    return bad == 0;
}

/* Kernel values of some rows with those of a band, to the half from `at` on. room: for the values
 * and the scratch of g. */
static bool make_tile(krein_half *h, const krein_gram_rows *g, const krein_rows *rows, int64_t at,
                      void *room) {
    int64_t wide = g->y.n, size = KREIN_TILE * wide;
    double *tile64 = room;
    float *tile32 = room, narrow[KREIN_BAND];
    bool finite = true;
    if (g->wide)
        krein__gram_tile64(g, rows, tile64, wide, tile64 + size);
    else
        krein__gram_tile32(g, rows, tile32, wide, tile32 + size);
    for (int64_t i = 0; i < rows->n; i++) {
        for (int64_t j = 0; g->wide && j < wide; j++) narrow[j] = (float)tile64[i * wide + j];
        finite = put_row(h, wide, g->wide ? narrow : tile32 + i * wide, at + i * wide) && finite;
    }
    return finite;
}

/* The columns of one band: rows from the first on, as far as the band's last. */
static krein_status make_columns(krein_half *h, const krein_kernel *kernel, const krein_rows *x,
                                 bool fine, int64_t band, bool *finite) {
    krein_ctx *ctx = h->ctx;
    krein_status st = KREIN_OK;
    krein_gram_rows g = {0};
    double *scratch = NULL;
    int64_t from = band * KREIN_BAND, wide = band_rows(h, band), tiles = 0, bad = 0;
    int64_t per = (KREIN_BAND + KREIN_TILE - 1) / KREIN_TILE; /* tiles do not cross bands */
    TRY(krein__gram_begin(ctx, kernel, krein__rows_slice(x, from, wide), fine, &g));
    int64_t room = g.scratch + KREIN_TILE * wide;
    NEW(scratch, ctx->threads * room);
    tiles = (band + 1) * per;
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic) reduction(+ : bad)
    for (int64_t t = 0; t < tiles; t++) {
        int64_t b = t / per, first = t % per * KREIN_TILE, m = band_rows(h, b) - first;
        if (m <= 0) continue;
        krein__worker_begin();
        int64_t row = b * KREIN_BAND + first;
        krein_rows rows = krein__rows_slice(x, row, krein__min(m, KREIN_TILE));
        bad +=
            !make_tile(h, &g, &rows, place_of(h, row, from), scratch + omp_get_thread_num() * room);
        krein__worker_end(c);
    }
    krein__compute_end(c);
    *finite = bad == 0;
done:
    krein__free(ctx, scratch);
    krein__gram_end(ctx, &g);
    return st;
}

/* The values, in 16 bits where the scale is positive, else in float32. */
static krein_status make_values(krein_half *h, const krein_kernel *kernel, const krein_rows *x,
                                bool fine) {
    krein_ctx *ctx = h->ctx;
    krein_status st = KREIN_OK;
    bool finite = true;
    if (h->scale > 0)
        NEW(h->code, size_of(x->n));
    else
        NEW(h->value, size_of(x->n));
    for (int64_t b = 0; b < h->bands; b++) {
        TRY(make_columns(h, kernel, x, fine, b, &finite));
        if (!finite) {
            st = krein__fail(ctx, KREIN_ENUMERIC,
                             "some values of the kernel are not finite in float32; scale the data "
                             "(`scale=standard`), or use another kernel");
            goto done;
        }
        krein__progress(ctx, "kernel matrix", (double)((b + 1) * (b + 1)),
                        (double)(h->bands * h->bands));
        TRY(krein__poll(ctx));
    }
done:
    return st;
}

/* Twice the norm of what rounding takes off. */
static double rounding_ridge(int64_t n, double scale) { return 4 * sqrt((double)n / 12) * scale; }

double krein__half_ridge(const krein_half *h) { return rounding_ridge(h->n, (double)h->scale); }

/* The scale of 16 bits; 0: they are too coarse, for the ridge or, where some rows are far larger
 * than others, for these. */
static krein_status find_scale(krein_half *h, const krein_kernel *kernel, const krein_rows *x,
                               double ridge) {
    static const double EVEN = 4, TINY = 1e-30;
    krein_ctx *ctx = h->ctx;
    krein_status st = KREIN_OK;
    double *diagonal = NULL, most = 0, mean = 0;
    NEW(diagonal, h->n);
    TRY(krein__gram_diagonal(ctx, kernel, x, diagonal));
    for (int64_t i = 0; i < h->n; i++) {
        most = fmax(most, fabs(diagonal[i]));
        mean += fabs(diagonal[i]) / (double)h->n;
    }
    double scale = most / TOP;
    if (rounding_ridge(h->n, scale) <= ridge && most <= EVEN * mean && scale >= TINY)
        h->scale = (float)scale;
done:
    krein__free(ctx, diagonal);
    return st;
}

/* Whether float32 does for the values: seen at some rows, with themselves as well, where distances
 * are small differences of large numbers. */
static krein_status float32_does(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                                 bool *out) {
    enum { SOME = 64 };
    static const double FINE = 1e-6;
    krein_status st = KREIN_OK;
    krein_rows some = krein__rows_slice(x, 0, krein__min(SOME, x->n));
    krein_gram_rows g = {0};
    float *tile = NULL;
    double *exact = NULL, error = 0, square = 0;
    TRY(krein__gram_begin(ctx, kernel, some, false, &g));
    NEW(tile, KREIN_TILE * some.n + g.scratch);
    NEW(exact, some.n * some.n);
    krein_compute c = krein__compute_begin();
    krein__gram_tile32(&g, &some, tile, some.n, tile + KREIN_TILE * some.n);
    krein__compute_end(c);
    TRY(krein__gram_full(ctx, kernel, &some, &some, exact));
    for (int64_t e = 0; e < some.n * some.n; e++) {
        error += pow((double)tile[e] - exact[e], 2);
        square = fmax(square, exact[e] * exact[e]);
    }
    *out = sqrt(error) <= FINE * sqrt(square) * (double)some.n;
done:
    krein__free(ctx, tile);
    krein__free(ctx, exact);
    krein__gram_end(ctx, &g);
    return st;
}

krein_status krein__half_make(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                              bool fine, double ridge, krein_half *h) {
    krein_status st = KREIN_OK;
    bool does = false;
    *h = (krein_half){.ctx = ctx, .n = x->n, .bands = (x->n + KREIN_BAND - 1) / KREIN_BAND};
    if (!fine) TRY(float32_does(ctx, kernel, x, &does));
    if (!fine && ridge > 0) TRY(find_scale(h, kernel, x, ridge));
    TRY(make_values(h, kernel, x, !does));
done:
    if (st != KREIN_OK) krein__half_clear(h);
    return st;
}

void krein__half_clear(krein_half *h) {
    if (h->ctx) krein__free(h->ctx, h->value);
    if (h->ctx) krein__free(h->ctx, h->code);
    memset(h, 0, sizeof *h);
}

/* ---- products ----------------------------------------------------------- */

/* Parts of all rows by band, v as it is and in lanes: float32. */
static int64_t parts_of(int64_t n, int64_t c) {
    return (n + KREIN_BAND - 1) / KREIN_BAND * krein__lanes_size(n, c);
}

/* Sums of a band in float64, which are a tile's products in float32 before. */
static int64_t own_of(int64_t c) { return KREIN_BAND * c; }

int64_t krein__half_room(int64_t n, int64_t c, int threads) {
    int64_t single = parts_of(n, c) + n * c + krein__lanes_size(n, c);
    return threads * own_of(c) + single / 2 + 1;
}

/* Where a product's numbers are in the room. */
typedef struct parts {
    const krein_half *h;
    int64_t c;
    double *own; /* each thread's */
    float *part; /* part b of the rows of band I: see part_at */
    float *rows; /* v as it is */
    krein_lanes lanes;
} parts;

/* What the tile of bands I and b gave to the rows I: row by row where b >= I, else in lanes. */
static float *part_at(const parts *p, int64_t b, int64_t I) {
    return p->part + b * krein__lanes_size(p->h->n, p->c) + I * KREIN_BAND * p->c;
}

static krein_lanes lanes_from(const parts *p, int64_t I) {
    return (krein_lanes){p->lanes.x, p->lanes.n, I * KREIN_BAND};
}

/* v to float32, one band. */
static void take_band(const parts *p, int64_t I, const double *v) {
    int64_t at = I * KREIN_BAND * p->c, rows = band_rows(p->h, I);
    for (int64_t e = 0; e < rows * p->c; e++) p->rows[at + e] = (float)v[at + e];
    krein__to_lanes(rows, p->c, p->rows + at, lanes_from(p, I));
}

/* The tile of bands I <= J: its parts of the rows I and of the rows J. */
static void multiply_tile(const parts *p, int64_t I, int64_t J, double *own) {
    const krein_half *h = p->h;
    int64_t rows = band_rows(h, I), wide = band_rows(h, J), c = p->c;
    int64_t at = place_of(h, I * KREIN_BAND, J * KREIN_BAND);
    /* On the diagonal the tile is whole, and the other product not wanted. */
    krein_lanes v = lanes_from(p, J), w = {I < J ? part_at(p, I, J) : (float *)own, wide, 0};
    const float *x = p->rows + I * KREIN_BAND * c;
    float *u = part_at(p, J, I);
    memset(u, 0, (size_t)(rows * c) * sizeof *u);
    memset(w.x, 0, (size_t)krein__lanes_size(wide, c) * sizeof *w.x);
    if (h->code)
        krein__both16(rows, wide, c, h->code + at, wide, v, x, u, w);
    else
        krein__both(rows, wide, c, h->value + at, wide, v, x, u, I < J ? w : (krein_lanes){0});
}

/* The parts of band I in the order of the tiles, to its rows. */
static void add_band(const parts *p, int64_t I, double *own, double *out) {
    const krein_half *h = p->h;
    int64_t rows = band_rows(h, I), size = krein__lanes_size(rows, p->c);
    double *to = out + I * KREIN_BAND * p->c, scale = h->code ? (double)h->scale : 1;
    memset(own, 0, (size_t)size * sizeof *own);
    memset(to, 0, (size_t)(rows * p->c) * sizeof *to);
    for (int64_t b = 0; b < h->bands; b++) {
        const float *part = part_at(p, b, I);
        if (b < I)
            for (int64_t e = 0; e < size; e++) own[e] += (double)part[e];
        else
            for (int64_t e = 0; e < rows * p->c; e++) to[e] += (double)part[e];
    }
    krein__lanes_add(rows, p->c, own, to);
    for (int64_t e = 0; e < rows * p->c; e++) to[e] *= scale;
}

void krein__half_multiply(const krein_half *h, int64_t c, const double *v, double *out,
                          double *room) {
    int64_t n = h->n, bands = h->bands;
    parts p = {.h = h, .c = c, .own = room};
    p.part = (float *)(room + h->ctx->threads * own_of(c));
    p.lanes = (krein_lanes){p.part + parts_of(n, c), n, 0}; /* where the parts are aligned */
    p.rows = p.lanes.x + krein__lanes_size(n, c);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(h->ctx->threads)
    {
        krein__worker_begin();
        double *own = p.own + omp_get_thread_num() * own_of(c);
#pragma omp for schedule(static)
        for (int64_t I = 0; I < bands; I++) take_band(&p, I, v);
#pragma omp for schedule(dynamic, 1)
        for (int64_t t = 0; t < bands * bands; t++)
            if (t / bands <= t % bands) multiply_tile(&p, t / bands, t % bands, own);
#pragma omp for schedule(static)
        for (int64_t I = 0; I < bands; I++) add_band(&p, I, own, out);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}
