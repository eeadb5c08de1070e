/* wave_codes.c -- codes of cosines and sines by a table: see codes.h
 *
 * The phase is u / 65536 turns. With d the distance of u from 0 (cosine) or from a quarter turn
 * (sine), 0 <= d <= 32768, both are cos(2 pi d / 65536), which falls with d. 8 and 4 bits: a table
 * of the pairs for all u, 128 KB. 2 and 1 bits: the code is the number of thresholds above d, a few
 * comparisons on vectors; without vectors of 16-bit numbers the table is faster.
 *
 *   ns a pair, best of several runs (Zen 4, one core, gcc 12)
 *   phase 0.15 (AVX-512), 0.22 (AVX2), 0.57 (baseline);  table 0.55;
 *   thresholds (AVX2) 1 bit 0.08, 2 bits 0.15, 4 bits 0.63
 */
#include "num/codes.h"

#include "num/codes_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TURN = 65536, HALF = 32768, QUARTER = 16384, BLOCK = 256 };
#define INLINE static inline __attribute__((always_inline))

struct krein_wave_codes {
    krein_quant quant;
    uint16_t threshold[3]; /* of 1 and 2 bits: d < threshold[k] has a code above k */
    uint8_t pairs[TURN][2];
};

krein_status krein__wave_codes_create(krein_ctx *ctx, int bits, krein_wave_codes **out) {
    krein_status st = KREIN_OK;
    krein_wave_codes *w = NULL;
    uint8_t *code = NULL; /* of cos(2 pi d / 65536) */
    const krein_quant quant = {bits, 1, 0};
    *out = NULL;
    TRY(krein__quant_check(ctx, &quant));
    NEW(w, 1);
    NEW(code, HALF + 1);
    w->quant = krein__quant(bits, -1, 1);
    for (int d = 0; d <= HALF; d++)
        code[d] = (uint8_t)rint(cos(2 * M_PI / TURN * d) / w->quant.scale - w->quant.zero);
    for (int u = 0; u < TURN; u++) {
        w->pairs[u][0] = code[u <= HALF ? u : TURN - u];
        w->pairs[u][1] = code[u <= QUARTER + HALF ? abs(u - QUARTER) : TURN + QUARTER - u];
    }
    for (int k = 0; k < 3; k++) {
        int d = 0;
        while (d < HALF && code[d] > k) d++;
        w->threshold[k] = (uint16_t)d;
    }
    *out = w;
    w = NULL;
done:
    krein__free(ctx, code);
    krein__free(ctx, w);
    return st;
}

void krein__wave_codes_destroy(krein_ctx *ctx, krein_wave_codes *w) { krein__free(ctx, w); }

krein_quant krein__wave_codes_quant(const krein_wave_codes *w) { return w->quant; }

/* ---- phases and codes of a block ------------------------------------------- */

/* Modulo 2^32, then rounded to 16 bits; hi and lo are the halves of the factor. */
INLINE void phases(int64_t n, const uint32_t *sums, uint32_t hi, uint32_t lo,
                   const uint32_t *column, uint32_t row, uint16_t *u) {
    for (int64_t j = 0; j < n; j++) {
        uint32_t low = (uint32_t)(((uint64_t)lo * sums[j]) >> 32);
        u[j] = (uint16_t)((hi * sums[j] + low + column[j] + row + 0x8000) >> 16);
    }
}

INLINE uint16_t distance(uint16_t u) { return (uint16_t)((int16_t)u < 0 ? -u : u); }

/* The bytes of a pair in the order of x86. */
INLINE void compare(int count, const uint16_t *threshold, int64_t n, const uint16_t *u,
                    uint8_t *pairs) {
    for (int64_t j = 0; j < n; j++) {
        uint16_t c = distance(u[j]), s = distance((uint16_t)(u[j] - QUARTER)), pair = 0;
        for (int k = 0; k < count; k++)
            pair = (uint16_t)(pair + (c < threshold[k]) + ((s < threshold[k]) << 8));
        memcpy(pairs + 2 * j, &pair, 2);
    }
}

typedef struct path {
    void (*phases)(int64_t, const uint32_t *, uint32_t, uint32_t, const uint32_t *, uint32_t,
                   uint16_t *);
    /* 1 and 2 bits; NULL: by the table */
    void (*compare1)(const uint16_t *, int64_t, const uint16_t *, uint8_t *);
    void (*compare2)(const uint16_t *, int64_t, const uint16_t *, uint8_t *);
} path;

#define PHASES(NAME, TARGET)                                                                       \
    TARGET static void phases_##NAME(int64_t n, const uint32_t *sums, uint32_t hi, uint32_t lo,    \
                                     const uint32_t *column, uint32_t row, uint16_t *u) {          \
        phases(n, sums, hi, lo, column, row, u);                                                   \
    }
#define COMPARE(NAME, TARGET)                                                                      \
    TARGET static void compare1_##NAME(const uint16_t *threshold, int64_t n, const uint16_t *u,    \
                                       uint8_t *pairs) {                                           \
        const uint16_t t[1] = {threshold[0]};                                                      \
        compare(1, t, n, u, pairs);                                                                \
    }                                                                                              \
    TARGET static void compare2_##NAME(const uint16_t *threshold, int64_t n, const uint16_t *u,    \
                                       uint8_t *pairs) {                                           \
        const uint16_t t[3] = {threshold[0], threshold[1], threshold[2]};                          \
        compare(3, t, n, u, pairs);                                                                \
    }

PHASES(baseline, )
#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2")))
PHASES(avx2, AVX2)
PHASES(avx512, AVX512)
COMPARE(avx2, AVX2)
COMPARE(avx512, AVX512)
static const path paths[] = {{phases_baseline, NULL, NULL},
                             {phases_avx2, compare1_avx2, compare2_avx2},
                             {phases_avx512, compare1_avx512, compare2_avx512}};
#else
static const path paths[] = {{phases_baseline, NULL, NULL}};
#endif

static void look_up(const krein_wave_codes *w, int64_t n, const uint16_t *u, uint8_t *pairs) {
    for (int64_t j = 0; j < n; j++) memcpy(pairs + 2 * j, w->pairs[u[j]], 2);
}

void krein__wave_codes_of_sums(const krein_wave_codes *w, krein_codes_level level, int64_t n,
                               const uint32_t *sums, uint64_t factor, const uint32_t *column,
                               uint32_t row, uint8_t *pairs) {
    const path *p = &paths[level];
    uint16_t u[BLOCK];
    for (int64_t from = 0; from < n; from += BLOCK, pairs += 2 * BLOCK) {
        const int64_t m = krein__min(BLOCK, n - from);
        p->phases(m, sums + from, (uint32_t)(factor >> 32), (uint32_t)factor, column + from, row,
                  u);
        if (w->quant.bits == 1 && p->compare1)
            p->compare1(w->threshold, m, u, pairs);
        else if (w->quant.bits == 2 && p->compare2)
            p->compare2(w->threshold, m, u, pairs);
        else
            look_up(w, m, u, pairs);
    }
}

void krein__wave_codes_of(const krein_wave_codes *w, int64_t n, const float *turns,
                          uint8_t *pairs) {
    for (int64_t j = 0; j < n; j++) {
        float r = turns[j] - rintf(turns[j]); /* exact */
        r = r >= -0.5f && r <= 0.5f ? r : 0;
        memcpy(pairs + 2 * j, w->pairs[(uint16_t)(int)rintf(TURN * r)], 2);
    }
}
