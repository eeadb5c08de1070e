/* kernel_half.c -- one half of a large kernel matrix in float32, and products with it
 *
 * 2 n^2 bytes. A product K v reads them once: a tile T of rows I and columns J gives T v_J to the
 * rows I and T'v_I to the rows J. Each tile leaves its two parts in a place of their own, and the
 * parts of a row are added in the order of the tiles: the bits do not depend on threads. Both come
 * from one pass over the tile (num/both.c, num/both_wide.c). The products of a tile are float32, as
 * K is, and their sums over tiles float64: half of the time of float64, and off by about 2^-24 of
 * the root of the sum of squares.
 */
#include "solve/kernel_half.h"

#include "num/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

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

double krein__half_bytes(int64_t n) { return 4 * (double)size_of(n); }

double krein__half_make_bytes(const krein_kernel *kernel, int64_t n, int64_t d, int threads) {
    return krein__gram_full_bytes(kernel, krein__min(n, KREIN_BAND), d, threads);
}

double krein__half_at(const krein_half *h, int64_t i, int64_t j) {
    if (i / KREIN_BAND > j / KREIN_BAND) return krein__half_at(h, j, i);
    int64_t b = i / KREIN_BAND, first = b * KREIN_BAND;
    return (double)h->value[start_of(h, b) + (i - first) * (h->n - first) + j - first];
}

/* The columns of one band: rows from the first on, as far as the band's last. */
static krein_status make_columns(krein_half *h, const krein_kernel *kernel, const krein_rows *x,
                                 int64_t band, bool *finite) {
    krein_ctx *ctx = h->ctx;
    krein_status st = KREIN_OK;
    krein_gram_rows g = {0};
    double *scratch = NULL;
    int64_t from = band * KREIN_BAND, wide = band_rows(h, band), tiles = 0, bad = 0;
    int64_t per = (KREIN_BAND + KREIN_TILE - 1) / KREIN_TILE; /* tiles do not cross bands */
    TRY(krein__gram_begin(ctx, kernel, krein__rows_slice(x, from, wide), true, &g));
    int64_t room = g.scratch + KREIN_TILE * wide;
    NEW(scratch, ctx->threads * room);
    tiles = (band + 1) * per;
    krein_compute c = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic) reduction(+ : bad)
    for (int64_t t = 0; t < tiles; t++) {
        int64_t b = t / per, first = t % per * KREIN_TILE, m = band_rows(h, b) - first;
        if (m <= 0) continue;
        krein__worker_begin();
        double *mine = scratch + omp_get_thread_num() * room, *tile = mine + g.scratch;
        m = krein__min(m, KREIN_TILE);
        krein_rows rows = krein__rows_slice(x, b * KREIN_BAND + first, m);
        krein__gram_tile64(&g, &rows, tile, wide, mine);
        int64_t ld = h->n - b * KREIN_BAND;
        float *to = h->value + start_of(h, b) + first * ld + from - b * KREIN_BAND;
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < wide; j++) {
                to[i * ld + j] = (float)tile[i * wide + j];
                bad += !isfinite(to[i * ld + j]);
            }
        krein__worker_end(c);
    }
    krein__compute_end(c);
    *finite = bad == 0;
done:
    krein__free(ctx, scratch);
    krein__gram_end(ctx, &g);
    return st;
}

krein_status krein__half_make(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                              krein_half *h) {
    krein_status st = KREIN_OK;
    bool finite = true;
    *h = (krein_half){.ctx = ctx, .n = x->n, .bands = (x->n + KREIN_BAND - 1) / KREIN_BAND};
    NEW(h->value, size_of(x->n));
    for (int64_t b = 0; b < h->bands; b++) {
        TRY(make_columns(h, kernel, x, b, &finite));
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
    if (st != KREIN_OK) krein__half_clear(h);
    return st;
}

void krein__half_clear(krein_half *h) {
    if (h->ctx) krein__free(h->ctx, h->value);
    memset(h, 0, sizeof *h);
}

/* ---- products ----------------------------------------------------------- */

/* Parts of all rows by band in float64, v in float32, a tile's products for each thread. */
int64_t krein__half_room(int64_t n, int64_t c, int threads) {
    int64_t bands = (n + KREIN_BAND - 1) / KREIN_BAND;
    return bands * n * c + (n + 3 * threads * KREIN_BAND) * krein__wide(c) / 2 + 1;
}

/* To n x c in float64, from as many rows of ld numbers. */
static void widen(int64_t n, int64_t c, const float *from, int64_t ld, double *to) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < c; l++) to[i * c + l] = (double)from[i * ld + l];
}

/* The tile of bands I <= J: its parts of the rows I and of the rows J. v: n x krein__wide(c). */
static void tile_product(const krein_half *h, int64_t I, int64_t J, int64_t c, const float *v,
                         double *to_I, double *to_J, float *part) {
    int64_t rows = band_rows(h, I), wide = band_rows(h, J), ld = h->n - I * KREIN_BAND;
    int64_t p = krein__wide(c);
    const float *tile = h->value + start_of(h, I) + (J - I) * KREIN_BAND;
    float *u = part, *w = I < J ? part + KREIN_BAND * p : NULL;
    if (w) memset(w, 0, (size_t)(wide * p) * sizeof *w);
    krein__both_wide(rows, wide, p, tile, ld, v + J * KREIN_BAND * p, v + I * KREIN_BAND * p, u, w);
    widen(rows, c, u, p, to_I);
    if (w) widen(wide, c, w, p, to_J);
}

/* The same for few columns, in one pass over the tile. part: three times KREIN_BAND c. */
static void tile_both(const krein_half *h, int64_t I, int64_t J, int64_t c, const float *v,
                      double *to_I, double *to_J, float *part) {
    int64_t rows = band_rows(h, I), wide = band_rows(h, J), ld = h->n - I * KREIN_BAND;
    const float *tile = h->value + start_of(h, I) + (J - I) * KREIN_BAND;
    const float *vJ = v + J * KREIN_BAND * c;
    float *columns = part, *u = columns + KREIN_BAND * c, *w = u + KREIN_BAND * c;
    for (int64_t j = 0; j < wide; j++)
        for (int64_t l = 0; l < c; l++) columns[l * wide + j] = vJ[j * c + l];
    memset(w, 0, (size_t)(wide * c) * sizeof *w);
    krein__both(rows, wide, c, tile, ld, columns, wide, v + I * KREIN_BAND * c, u, w, wide);
    widen(rows, c, u, c, to_I);
    for (int64_t e = 0; I < J && e < wide * c; e++) to_J[e] = (double)w[e % c * wide + e / c];
}

void krein__half_multiply(const krein_half *h, int64_t c, const double *v, double *out,
                          double *room) {
    int64_t n = h->n, bands = h->bands, p = krein__wide(c);
    float *v32 = (float *)(room + bands * n * c), *parts = v32 + n * p;
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < p; l++) v32[i * p + l] = l < c ? (float)v[i * c + l] : 0;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(h->ctx->threads)
    {
        krein__worker_begin();
        float *part = parts + 3 * omp_get_thread_num() * KREIN_BAND * p;
        /* Part J of the rows of band I: at J n c + I KREIN_BAND c. */
#pragma omp for schedule(dynamic, 1)
        for (int64_t t = 0; t < bands * bands; t++) {
            int64_t I = t / bands, J = t % bands;
            if (I > J) continue;
            (c <= KREIN_BOTH ? tile_both : tile_product)(h, I, J, c, v32,
                                                         room + (J * n + I * KREIN_BAND) * c,
                                                         room + (I * n + J * KREIN_BAND) * c, part);
        }
#pragma omp for schedule(static)
        for (int64_t e = 0; e < n * c; e++) {
            double sum = 0;
            for (int64_t b = 0; b < bands; b++) sum += room[b * n * c + e];
            out[e] = sum;
        }
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}
