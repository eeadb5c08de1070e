/* features.c -- blocks of a table of features
 *
 * What is kept is filled at once, or, of rows that can be made a few at a time, when it is visited
 * first, block by block. Where the system then hands out memory slowly (a virtual machine whose
 * host has taken it back: 1.2 to 2 s a GB were seen, beside 0.1 s for making a GB of kernel
 * values), the rest is not kept but made again for every visit. The numbers are the same, so that a
 * clock may decide. */
#include "solve/features.h"

#include "num/rounded.h"

#include <math.h>

static int64_t rows_of(const krein_features *t, int64_t block) {
    return krein__min(t->rows, t->n - block * t->rows);
}

bool krein__features_there(const krein_features *t, int64_t block) {
    return t->kept && block < t->blocks - t->missing;
}

float *krein__features_place(krein_features *t, int64_t block) {
    enum { PAGE = 4096 / sizeof(float) };
    if (!t->kept || t->full || block != t->blocks - t->missing) return NULL;
    float *to = t->kept + block * t->rows * t->D;
    int64_t floats = rows_of(t, block) * t->D;
    double start = krein__clock();
#pragma omp parallel for num_threads(t->ctx->threads) schedule(static)
    for (int64_t i = 0; i < floats; i += PAGE) to[i] = 0;
    t->waited = krein__clock() - start;
    return to;
}

void krein__features_placed(krein_features *t, double seconds) {
    /* Ten visits and more are usual; one to what is kept takes a third of making it again, which
     * takes two thirds of making it where it is kept. */
    static const double WORTH = 5;
    enum { SLOW = 2 };
    t->took = t->took > 0 ? fmin(t->took, seconds) : seconds;
    t->missing--;
    t->slow = t->waited > WORTH * t->took ? t->slow + 1 : 0;
    if (t->slow < SLOW || t->missing == 0) return;
    t->full = true;
    krein__log(t->ctx, KREIN_LOG_DEBUG,
               "features: %lld of %lld blocks are made again for every pass: memory comes slowly",
               (long long)t->missing, (long long)t->blocks);
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
    bool there = krein__features_there(t, block);
    *z = there ? t->kept + block * t->rows * t->D : t->made;
    if (there || t->at == block) return KREIN_OK;
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
    t->missing = 0;
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
