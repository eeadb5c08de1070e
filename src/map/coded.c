/* coded.c -- kernel values at landmarks in a few bits
 *
 *     <x, l> = sum_j (u_j x_j) (l_j / u_j)
 *
 * u_j brings column j to [-1, 1], where it has codes of 8 bits; the landmarks divided by u have
 * codes of the bits that are asked for, on one range: an error of theirs counts the same in every
 * column. The product is one of whole numbers (num/codes.h). Kernel values follow from it and from
 * the lengths of the rows that the codes stand for, in float32, so that x and l are the same points
 * in all of them; they become codes of 8 bits. Fewer would not do for values that differ little
 * from row to row, and they take no room in a file. */
#include "map/coded.h"

#include <math.h>
#include <string.h>

enum { BITS = 8 }; /* of rows and values */

const krein_coded *krein__coded(const krein_map *map) {
    return ((const krein_landmarks *)map->state)->coded;
}

krein_status krein__coded_check(krein_ctx *ctx, const krein_kernel *kernel) {
    if (krein__kernel_all(kernel, krein__from_dots)) return KREIN_OK;
    return krein__fail(ctx, KREIN_EDATA,
                       "landmarks in codes need kernels that are computed from inner products "
                       "(gaussian, matern, exponential, rq, poly, tanh, linear, ...); use one of "
                       "these, or a map of frequencies such as rff");
}

void krein__coded_clear(krein_ctx *ctx, krein_coded *c) {
    if (!c) return;
    krein__free(ctx, c->unit);
    krein__codes_clear(ctx, &c->codes);
    krein__product_destroy(ctx, c->product);
    krein__free(ctx, c);
}

/* ---- scratch of a tile -------------------------------------------------- */

typedef struct rooms {
    float *x, *dots, *values, *xx, *spare;
    uint8_t *in, *out;
    void *product;
} rooms;

static int64_t bytes_of(const krein_map *map, const krein_coded *c) {
    const krein_landmarks *s = map->state;
    int64_t d = map->d, R = map->R;
    return 4 * (KREIN_TILE * (d + 2 * R + 1) + s->gram.scratch) + KREIN_TILE * (d + R) +
           krein__product_scratch(c->product) + 256;
}

static rooms divide(const krein_map *map, float *scratch) {
    const krein_landmarks *s = map->state;
    int64_t d = map->d, R = map->R;
    rooms r;
    r.x = scratch;
    r.dots = r.x + KREIN_TILE * d;
    r.values = r.dots + KREIN_TILE * R;
    r.xx = r.values + KREIN_TILE * R;
    r.spare = r.xx + KREIN_TILE;
    r.in = (uint8_t *)(r.spare + s->gram.scratch);
    r.out = r.in + KREIN_TILE * d;
    r.product = (void *)(((uintptr_t)(r.out + KREIN_TILE * R) + 63) / 64 * 64);
    return r;
}

double krein__coded_bytes(const krein_map *map, int64_t m) {
    double d = (double)map->d, R = (double)m, scratch = 0;
    double product = krein__product_bytes(BITS, map->d, m, &scratch);
    return product + 9 * d * R + 4 * d +
           map->ctx->threads * (4.0 * KREIN_TILE * (2 * d + 3 * R + 1) + scratch + 256);
}

/* ---- made --------------------------------------------------------------- */

/* The rows that the codes stand for. */
static krein_status decode(krein_map *map, const krein_coded *c, krein_matrix *out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t d = map->d, m = c->codes.outputs;
    float *turned = NULL;
    NEW(turned, d * m);
    TRY(krein__codes_reals(ctx, &c->codes, turned));
    out->n = m;
    out->d = d;
    NEW(out->x, m * d);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < d; j++) out->x[i * d + j] = turned[j * m + i] * c->unit[j];
done:
    krein__free(ctx, turned);
    return st;
}

/* Takes c over, which has all but the product and perhaps the range of values. */
static krein_status begin(krein_map *map, krein_coded *c) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_matrix rows = {0};
    krein_product_plan plan = {.rows = c->input};
    TRY(krein__product_create(ctx, &c->codes, &plan, &c->product));
    TRY(decode(map, c, &rows));
    TRY(krein__landmarks_hold(map, &rows, false));
    krein_landmarks *held = map->state;
    krein__gram_unpack(ctx, &held->gram); /* inner products are those of codes */
    held->coded = c;
    map->scratch = bytes_of(map, c) / 4 + 1;
    c = NULL;
done:
    krein__coded_clear(ctx, c);
    krein__matrix_clear(ctx, &rows);
    return st;
}

static krein_status value_range(krein_map *map, const krein_rows *sample, krein_quant *out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_rows marks = krein__map_landmarks(map), rows = sample ? *sample : marks;
    double *k = NULL, low = INFINITY, high = -INFINITY;
    NEW(k, rows.n * marks.n);
    TRY(krein__gram_full(ctx, map->kernel, &rows, &marks, k));
    for (int64_t e = 0; e < rows.n * marks.n; e++) {
        low = fmin(low, k[e]);
        high = fmax(high, k[e]);
    }
    *out = krein__quant(BITS, low, high);
    if (krein__quant_check(ctx, out) != KREIN_OK)
        st = krein__fail(ctx, KREIN_ENUMERIC, "kernel values from %g to %g have no codes", low,
                         high);
done:
    krein__free(ctx, k);
    return st;
}

krein_status krein__coded_give(krein_map *map, const krein_coded_given *given) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_coded *c = NULL;
    TRY(krein__coded_check(ctx, map->kernel));
    ZNEW(c, 1);
    c->input = krein__quant(BITS, -1, 1);
    NEW(c->unit, map->d);
    memcpy(c->unit, given->unit, (size_t)map->d * sizeof *c->unit);
    TRY(given->codes
            ? krein__codes_pack(ctx, given->quant, map->d, given->m, given->codes, &c->codes)
            : krein__codes_create(ctx, given->bits, map->d, given->m, given->rows, given->m,
                                  &c->codes));
    krein_coded *made = c;
    c = NULL;
    TRY(begin(map, made));
    TRY(value_range(map, given->sample, &made->value));
    map->D = map->R;
done:
    krein__coded_clear(ctx, c);
    return st;
}

/* ---- features ----------------------------------------------------------- */

krein_map_codes krein__coded_codes(const krein_map *map) {
    return (krein_map_codes){krein__coded(map)->value, 1};
}

const uint8_t *krein__coded_tile(const krein_map *map, const krein_rows *rows, float *scratch) {
    const krein_landmarks *s = map->state;
    const krein_coded *c = s->coded;
    int64_t d = map->d, R = map->R, n = rows->n;
    rooms r = divide(map, scratch);
    for (int64_t i = 0; i < n; i++) krein__row_copy(rows, i, r.x + i * d);
    for (int64_t e = 0; e < n * d; e++) r.x[e] *= c->unit[e % d];
    krein__quant_codes(&c->input, n * d, r.x, r.in);
    krein__quant_reals(&c->input, n * d, r.in, r.x);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < d; j++) {
            double x = c->unit[j] > 0 ? (double)r.x[i * d + j] / (double)c->unit[j] : 0;
            sum += x * x;
        }
        r.xx[i] = (float)sum;
    }
    krein__product_reals(c->product, n, r.in, d, r.product, r.dots);
    krein__gram_values32(&s->gram, n, r.dots, r.xx, r.values, R, r.spare);
    krein__quant_codes(&c->value, n * R, r.values, r.out);
    return r.out;
}

void krein__coded_reals(const krein_map *map, const krein_rows *rows, float *out, int64_t ld,
                        float *scratch) {
    const krein_coded *c = krein__coded(map);
    const uint8_t *codes = krein__coded_tile(map, rows, scratch);
    for (int64_t i = 0; i < rows->n; i++)
        krein__quant_reals(&c->value, map->R, codes + i * map->R, out + i * ld);
}

/* ---- in a file ---------------------------------------------------------- */

static krein_status io_quant(krein_archive *a, const char *scale, const char *zero,
                             krein_quant *q) {
    krein_status st = KREIN_OK;
    TRY(krein__archive_double(a, scale, &q->scale));
    TRY(krein__archive_double(a, zero, &q->zero));
done:
    return st;
}

krein_status krein__coded_io(krein_map *map, krein_archive *a, int bits) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    bool reading = krein__archive_reading(a);
    krein_coded *c = reading ? NULL : ((krein_landmarks *)map->state)->coded, *made = NULL;
    if (reading) {
        ZNEW(made, 1);
        c = made;
        c->codes = (krein_codes){.quant = {.bits = bits}, .inputs = map->d, .outputs = map->R};
        c->input = krein__quant(BITS, -1, 1);
        c->value.bits = BITS;
    }
    TRY(io_quant(a, "landmarks.scale", "landmarks.zero", &c->codes.quant));
    TRY(io_quant(a, "landmarks.value.scale", "landmarks.value.zero", &c->value));
    if (krein__codes_check(ctx, &c->codes) != KREIN_OK ||
        krein__quant_check(ctx, &c->value) != KREIN_OK ||
        krein__coded_check(ctx, map->kernel) != KREIN_OK) {
        st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its landmarks are wrong)");
        goto done;
    }
    TRY(krein__archive_array(a, "landmarks.unit", KREIN_TYPE_F32, &c->unit, map->d));
    TRY(krein__archive_array(a, "landmarks.codes", KREIN_TYPE_BYTES, &c->codes.packed,
                             krein__codes_bytes(&c->codes)));
    made = NULL;
    if (reading) st = begin(map, c);
done:
    krein__coded_clear(ctx, made);
    return st;
}
