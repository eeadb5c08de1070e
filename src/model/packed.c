/* packed.c -- weights of a model in a few bits
 *
 *     w_ic = unit_c c (code_ic + z),   c, z of [-1, 1]
 *
 * unit_c is the largest size of the weights of score c. The map's features are codes as well, and a
 * score is a product of whole numbers (num/codes.h). */
#include "model/model.h"

#include <math.h>
#include <string.h>

void krein__packed_clear(krein_ctx *ctx, krein_packed *p) {
    krein__codes_clear(ctx, &p->codes);
    krein__product_destroy(ctx, p->product);
    krein__free(ctx, p->unit);
    *p = (krein_packed){0};
}

void krein__packed_units(int64_t R, int64_t k, const double *v, double *unit) {
    for (int64_t c = 0; c < k; c++) unit[c] = 0;
    for (int64_t e = 0; e < R * k; e++) unit[e % k] = fmax(unit[e % k], fabs(v[e]));
    for (int64_t c = 0; c < k; c++)
        if (!(unit[c] > 0)) unit[c] = 1;
}

/* The product for this CPU, and w. */
static krein_status prepare(krein_model *m) {
    krein_ctx *ctx = m->ctx;
    krein_status st = KREIN_OK;
    krein_packed *p = &m->packed;
    int64_t R = m->map->R, k = m->k, bytes = krein__packed_bytes(p->codes.quant.bits, R);
    krein_product_plan plan = {.rows = krein__map_codes(m->map).quant};
    uint8_t *codes = NULL;
    TRY(krein__product_create(ctx, &p->codes, &plan, &p->product));
    if (!m->w) NEW(m->w, R * k);
    NEW(codes, R);
    for (int64_t c = 0; c < k; c++) {
        krein__unpack(p->codes.quant.bits, R, p->codes.packed + c * bytes, codes);
        for (int64_t i = 0; i < R; i++)
            m->w[i * k + c] =
                p->unit[c] * p->codes.quant.scale * ((double)codes[i] + p->codes.quant.zero);
    }
done:
    krein__free(ctx, codes);
    return st;
}

krein_status krein__model_pack(krein_model *m, int bits, const double *v, const uint8_t *codes) {
    krein_ctx *ctx = m->ctx;
    krein_status st = KREIN_OK;
    krein_packed *p = &m->packed;
    int64_t R = m->map->R, k = m->k, bytes = krein__packed_bytes(bits, R);
    float *row = NULL;
    uint8_t *one = NULL;
    *p = (krein_packed){.codes = {.quant = krein__quant(bits, -1, 1), .inputs = R, .outputs = k}};
    NEW(p->unit, k);
    NEW(p->codes.packed, krein__codes_bytes(&p->codes));
    NEW(row, R);
    NEW(one, R);
    krein__packed_units(R, k, v, p->unit);
    for (int64_t c = 0; c < k; c++) {
        for (int64_t i = 0; i < R; i++) row[i] = (float)(v[i * k + c] / p->unit[c]);
        krein__quant_codes(&p->codes.quant, R, row, one);
        for (int64_t i = 0; codes && i < R; i++) one[i] = codes[i * k + c];
        krein__pack(bits, R, one, p->codes.packed + c * bytes);
    }
    TRY(prepare(m));
done:
    krein__free(ctx, row);
    krein__free(ctx, one);
    return st;
}

krein_status krein__packed_io(krein_archive *a, krein_model *m) {
    krein_ctx *ctx = m->ctx;
    krein_status st = KREIN_OK;
    krein_packed *p = &m->packed;
    bool reading = krein__archive_reading(a);
    int64_t bits = p->codes.quant.bits;
    TRY(krein__archive_int(a, "weights.bits", &bits, 1, 8));
    if (reading)
        p->codes = (krein_codes){
            .quant = krein__quant((int)bits, -1, 1), .inputs = m->map->R, .outputs = m->k};
    if (reading &&
        (!krein__map_has_codes(m->map) || krein__codes_check(ctx, &p->codes) != KREIN_OK)) {
        st = krein__fail(ctx, KREIN_EMODEL, "the model is damaged (its weights)");
        goto done;
    }
    TRY(krein__archive_array(a, "weights.unit", KREIN_TYPE_F64, &p->unit, m->k));
    TRY(krein__archive_array(a, "weights.codes", KREIN_TYPE_BYTES, &p->codes.packed,
                             krein__codes_bytes(&p->codes)));
    if (reading) TRY(prepare(m));
done:
    return st;
}
