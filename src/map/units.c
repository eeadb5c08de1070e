/* units.c -- a tile of rows times a chunk of units is one matrix product; the activation follows
 * while it is in cache. */
#include "map/units.h"

#include "map/draw.h"
#include "map/tile.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

static krein_status draw_plain(krein_ctx *ctx, krein_rng g, krein_units *u) {
    krein_status st = KREIN_OK;
    int64_t piece = krein__draw_rows(u->in);
    for (int64_t from = 0; from < u->m && st == KREIN_OK; from += piece) {
        int64_t end = krein__min(u->m, from + piece);
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
        for (int64_t j = 0; j < u->in; j++)
            for (int64_t f = from; f < end; f++)
                u->W[j * u->m + f] = (float)krein__rng_normal(g, (uint64_t)f, (uint64_t)j);
        st = krein__poll(ctx);
    }
    return st;
}

static krein_status draw_block(krein_ctx *ctx, krein_rng g, krein_units *u, int64_t first,
                               int64_t n, double *q) {
    int64_t in = u->in;
    krein_rng length = krein__role(g, 1 << 20); /* g has a role of its own, below */
    krein_status st = krein__normal_rows(ctx, g, first, n, in, q);
    if (st == KREIN_OK) st = krein__haar_rows(ctx, n, in, q);
    for (int64_t i = 0; st == KREIN_OK && i < n; i++) {
        double r = krein__rng_chi(length, (uint64_t)(first + i), 0, (double)in);
        for (int64_t j = 0; j < in; j++) u->W[j * u->m + first + i] = (float)(r * q[i * in + j]);
    }
    return st;
}

static krein_status draw_orthogonal(krein_ctx *ctx, krein_rng g, krein_units *u) {
    krein_status st = KREIN_OK;
    double *q = NULL;
    NEW(q, krein__min(u->in, u->m) * u->in);
    for (int64_t f = 0; f < u->m; f += u->in)
        TRY(draw_block(ctx, g, u, f, krein__min(u->in, u->m - f), q));
done:
    krein__free(ctx, q);
    return st;
}

krein_status krein__units_create(krein_ctx *ctx, krein_rng g, int64_t in, int64_t m,
                                 bool orthogonal, krein_units *out) {
    krein_status st = KREIN_OK;
    out->in = in;
    out->m = m;
    NEW(out->W, in * m);
    TRY(orthogonal ? draw_orthogonal(ctx, g, out) : draw_plain(ctx, g, out));
done:
    return st;
}

void krein__units_clear(krein_ctx *ctx, krein_units *u) { krein__free(ctx, u->W); }

double krein__units_bytes(double in, double m, bool orthogonal, double *drawing) {
    /* the block, and what its QR decomposition takes */
    double more = orthogonal ? 16 * fmin(in, m) * (in + 64) : 0;
    *drawing = fmax(*drawing, more);
    return 4 * in * m;
}

double krein__units_fit_flops(double in, double m, bool orthogonal) {
    return in * m * (100 + (orthogonal ? 4 * fmin(in, m) : 0));
}

static void activate(int order, float scale, int64_t m, float *t) {
    if (order == 0)
        for (int64_t f = 0; f < m; f++) t[f] = t[f] > 0 ? scale : 0;
    else if (order == 1)
        for (int64_t f = 0; f < m; f++) t[f] = t[f] > 0 ? scale * t[f] : 0;
    else
        for (int64_t f = 0; f < m; f++) t[f] = t[f] > 0 ? scale * t[f] * t[f] : 0;
}

void krein__units_dense(const krein_units *u, int order, float scale, const float *x, int64_t ldx,
                        int64_t from, int64_t m, float *out, int64_t ld) {
    for (int64_t f = 0; f < m; f += KREIN_UNITS_CHUNK) {
        int64_t c = krein__min(KREIN_UNITS_CHUNK, m - f);
        krein__sgemm(false, false, KREIN_TILE, c, u->in, 1, x, ldx, u->W + from + f, u->m, 0,
                     out + f, ld);
        for (int64_t i = 0; i < KREIN_TILE; i++) activate(order, scale, c, out + i * ld + f);
    }
}

void krein__units_sparse(const krein_units *u, int order, float scale, const krein_rows *rows,
                         int64_t from, int64_t m, float *out, int64_t ld) {
    krein__tile_times(rows, NULL, u->in, u->W + from, u->m, m, out, ld);
    for (int64_t i = 0; i < rows->n; i++) activate(order, scale, m, out + i * ld);
}

krein_status krein__units_signs(krein_map *map, const krein_term *terms, int64_t n,
                                const int64_t *first) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    bool mixed = false;
    for (int64_t t = 0; t < n; t++) mixed = mixed || terms[t].coefficient < 0;
    if (!mixed) goto done;
    NEW(map->sign, first[n]);
    for (int64_t t = 0; t < n; t++)
        for (int64_t i = first[t]; i < first[t + 1]; i++)
            map->sign[i] = terms[t].coefficient < 0 ? -1 : 1;
done:
    return st;
}
