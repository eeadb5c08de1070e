/* features.c -- blocks of a table of features. */
#include "solve/features.h"

#include "num/rounded.h"

static int64_t rows_of(const krein_features *t, int64_t block) {
    return krein__min(t->rows, t->n - block * t->rows);
}

/* The codes of a block, where they are kept or will be. */
static int16_t *codes_of(const krein_features *t, int64_t block) {
    return t->code + (t->codes ? block * t->rows * t->D : 0);
}

/* `made`, which is this block, to 16 bits. */
static void round_block(krein_features *t, int64_t block) {
    int16_t *code = codes_of(t, block);
    float *scale = t->scale + block * t->rows;
#pragma omp parallel for num_threads(t->ctx->threads) schedule(static)
    for (int64_t i = 0; i < rows_of(t, block); i++)
        krein__round_rows(1, t->D, t->made + i * t->D, code + i * t->D, scale + i);
}

static void widen_block(krein_features *t, int64_t block) {
    const int16_t *code = codes_of(t, block);
    const float *scale = t->scale + block * t->rows;
#pragma omp parallel for num_threads(t->ctx->threads) schedule(static)
    for (int64_t i = 0; i < rows_of(t, block); i++)
        krein__rounded_rows(1, t->D, code + i * t->D, scale + i, t->made + i * t->D);
}

krein_status krein__features_codes(krein_features *t, int64_t block, const int16_t **code,
                                   const float **scale, int64_t *n) {
    krein_status st = KREIN_OK;
    *n = rows_of(t, block);
    *code = codes_of(t, block);
    *scale = t->scale + block * t->rows;
    if (t->codes || t->code_at == block) return KREIN_OK;
    t->at = t->code_at = -1;
    TRY(t->make(t->state, block, t->made));
    round_block(t, block);
    t->code_at = block;
done:
    return st;
}

krein_status krein__features_block(krein_features *t, int64_t block, const float **z, int64_t *n) {
    krein_status st = KREIN_OK;
    const int16_t *code;
    const float *scale;
    *n = rows_of(t, block);
    *z = t->kept ? t->kept + block * t->rows * t->D : t->made;
    if (t->kept || t->at == block) return KREIN_OK;
    t->at = -1;
    if (t->rounded && !t->exact) {
        TRY(krein__features_codes(t, block, &code, &scale, n));
        widen_block(t, block);
    } else {
        TRY(t->make(t->state, block, t->made));
    }
    t->at = block;
done:
    return st;
}

krein_status krein__features_keep(krein_features *t) {
    krein_status st = KREIN_OK;
    for (int64_t b = 0; b < t->blocks; b++) {
        TRY(t->make(t->state, b, t->kept ? t->kept + b * t->rows * t->D : t->made));
        if (t->codes) round_block(t, b);
        krein__progress(t->ctx, "features", (double)(b + 1), (double)t->blocks);
        TRY(krein__poll(t->ctx));
    }
done:
    return st;
}

void krein__features_exact(krein_features *t, bool exact) {
    if (!t->rounded || t->exact == exact) return;
    t->exact = exact;
    t->at = -1;
}
