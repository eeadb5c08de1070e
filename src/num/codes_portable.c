/* codes_portable.c -- products of codes without vector instructions of one's own
 *
 * 8 and 4 bits: sums of products of 16-bit numbers, which compilers make vectors of. 2 and 1 bits:
 *     sum_j w_j s_j = sum_(m,k) 2^(m+k) popcount(W_m & S_k)
 * with the bit planes W_m of the weights and S_k of the row, 64 codes a word. A panel is one
 * output, laid out as a row. */
#include "base/base.h"
#include "num/codes_kernels.h"

#include <string.h>

static bool always(void) { return true; }

static void weights(const krein_codes_kernel *k, int64_t K, const uint8_t *codes, int o,
                    uint8_t *panel) {
    (void)o; /* 0 */
    k->row(K, codes, panel);
}

/* ---- 8 and 4 bits ------------------------------------------------------------ */

static void row_wide(int64_t K, const uint8_t *codes, uint8_t *out) {
    int16_t *wide = (int16_t *)(void *)out;
    for (int64_t k = 0; k < (K + 7) / 8 * 8; k++) wide[k] = k < K ? codes[k] : 0;
}

static void product_wide(int n, int64_t steps, const uint8_t *panel, const uint8_t *rows,
                         int64_t row_stride, uint32_t *sums, int64_t sums_stride) {
    const int16_t *w = (const int16_t *)(const void *)panel;
    for (int r = 0; r < n; r++) {
        const int16_t *s = (const int16_t *)(const void *)(rows + r * row_stride);
        int32_t sum = 0; /* of at most KREIN_CODES_CHUNK products below 2^16 */
        for (int64_t k = 0; k < 8 * steps; k++) sum += (int32_t)w[k] * (int32_t)s[k];
        sums[r * sums_stride] += (uint32_t)sum;
    }
}

/* ---- 2 and 1 bits: the planes of 64 codes one behind the other ----------------- */

/* A bit of eight codes in a byte: bit 8i of x goes to bit 56 + i of the product. */
static uint64_t eight(const uint8_t *codes, int bit) {
    uint64_t x = 0;
    for (int j = 0; j < 8; j++) x |= (uint64_t)codes[j] << 8 * j;
    return ((x >> bit & 0x0101010101010101u) * 0x0102040810204080u) >> 56;
}

static void planes(int64_t K, int bits, const uint8_t *codes, uint8_t *out) {
    uint64_t *word = (uint64_t *)(void *)out;
    for (int64_t k = 0; k < K; k += 64) {
        uint8_t last[64] = {0};
        const uint8_t *from = codes + k;
        if (K - k < 64) from = memcpy(last, from, (size_t)(K - k));
        for (int m = 0; m < bits; m++, word++) {
            *word = 0;
            for (int j = 0; j < 8; j++) *word |= eight(from + 8 * j, m) << 8 * j;
        }
    }
}
static void row_1(int64_t K, const uint8_t *codes, uint8_t *out) { planes(K, 1, codes, out); }
static void row_2(int64_t K, const uint8_t *codes, uint8_t *out) { planes(K, 2, codes, out); }

/* Where a CPU has no popcount gcc calls a function; additions and shifts it makes vectors of. */
static inline uint64_t ones(uint64_t x) {
#if defined(__x86_64__) && !defined(__clang__)
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    x += x >> 8;
    x += x >> 16;
    return (x + (x >> 32)) & 127;
#else
    return (uint64_t)__builtin_popcountll(x);
#endif
}

static void product_1(int n, int64_t steps, const uint8_t *panel, const uint8_t *rows,
                      int64_t row_stride, uint32_t *sums, int64_t sums_stride) {
    const uint64_t *w = (const uint64_t *)(const void *)panel;
    for (int r = 0; r < n; r++) {
        const uint64_t *s = (const uint64_t *)(const void *)(rows + r * row_stride);
        uint64_t sum = 0;
        for (int64_t k = 0; k < steps; k++) sum += ones(w[k] & s[k]);
        sums[r * sums_stride] += (uint32_t)sum;
    }
}

static void product_2(int n, int64_t steps, const uint8_t *panel, const uint8_t *rows,
                      int64_t row_stride, uint32_t *sums, int64_t sums_stride) {
    const uint64_t *w = (const uint64_t *)(const void *)panel;
    for (int r = 0; r < n; r++) {
        const uint64_t *s = (const uint64_t *)(const void *)(rows + r * row_stride);
        uint64_t sum = 0;
        for (int64_t k = 0; k < 2 * steps; k += 2)
            sum += ones(w[k] & s[k]) + 2 * (ones(w[k] & s[k + 1]) + ones(w[k + 1] & s[k])) +
                   4 * ones(w[k + 1] & s[k + 1]);
        sums[r * sums_stride] += (uint32_t)sum;
    }
}

#define KERNEL(BITS, GROUP, BYTES, ROW, PRODUCT)                                                   \
    {                                                                                              \
        .path = "portable", .level = KREIN_CODES_BASELINE, .bits = BITS, .tile = 4, .tiles = 8,    \
        .outputs = 1, .group = GROUP, .step_bytes = BYTES, .row_bytes = BYTES, .here = always,     \
        .weights = weights, .row = ROW, .product = PRODUCT                                         \
    }
const krein_codes_kernel krein__codes_portable[] = {
    KERNEL(8, 8, 16, row_wide, product_wide), KERNEL(4, 8, 16, row_wide, product_wide),
    KERNEL(2, 64, 16, row_2, product_2), KERNEL(1, 64, 8, row_1, product_1)};
const int64_t krein__codes_portable_count = KREIN__COUNT(krein__codes_portable);
