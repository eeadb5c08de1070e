/* sequence.c -- Halton and Sobol points.
 *
 * Halton: coordinate j of point i is the radical inverse of i in base p_j, the j-th prime.
 * Sobol: coordinate j of point i is the sum over the set bits b of i (exclusive or) of the
 * direction numbers v_jb. They obey the recurrence of the j-th primitive polynomial over GF(2),
 * polynomials counted in ascending order: m_k = 2 a_1 m_{k-1} ^ 4 a_2 m_{k-2} ^ ... ^ 2^s m_{k-s} ^
 * m_{k-s},   v_k = m_k 2^(32-k). The first values m_1 .. m_s are those of Joe and Kuo (joe2008) for
 * 37 dimensions; above, any odd m_k < 2^k gives a Sobol sequence, and fixed pseudo-random ones are
 * taken. Scrambled (matousek1998): each coordinate's digits are multiplied by a random lower
 * triangular matrix over GF(2) and a random number is added to them; every point is then uniform,
 * and the points keep the structure of the net.
 */
#include "num/sequence.h"

#include <math.h>
#include <string.h>

enum { BITS = 32, TABLE = 36, FIRST_MAX = 7 };

/* m_1 .. m_s of dimensions 2 .. 37 (joe2008). */
static const uint8_t table[TABLE][FIRST_MAX] = {{1},
                                                {1, 3},
                                                {1, 3, 1},
                                                {1, 1, 1},
                                                {1, 1, 3, 3},
                                                {1, 3, 5, 13},
                                                {1, 1, 5, 5, 17},
                                                {1, 1, 5, 5, 5},
                                                {1, 1, 7, 11, 19},
                                                {1, 1, 5, 1, 1},
                                                {1, 1, 1, 3, 11},
                                                {1, 3, 5, 5, 31},
                                                {1, 3, 3, 9, 7, 49},
                                                {1, 1, 1, 15, 21, 21},
                                                {1, 3, 1, 13, 27, 49},
                                                {1, 1, 1, 15, 7, 5},
                                                {1, 3, 1, 15, 13, 25},
                                                {1, 1, 5, 5, 19, 61},
                                                {1, 3, 7, 11, 23, 15, 103},
                                                {1, 3, 7, 13, 13, 15, 69},
                                                {1, 1, 3, 13, 7, 35, 63},
                                                {1, 3, 5, 9, 1, 25, 53},
                                                {1, 3, 1, 13, 9, 35, 107},
                                                {1, 3, 1, 5, 27, 61, 31},
                                                {1, 1, 5, 11, 19, 41, 61},
                                                {1, 3, 5, 3, 3, 13, 69},
                                                {1, 1, 7, 13, 1, 19, 1},
                                                {1, 3, 7, 5, 13, 19, 59},
                                                {1, 1, 3, 9, 25, 29, 41},
                                                {1, 3, 5, 13, 23, 1, 55},
                                                {1, 3, 7, 3, 13, 59, 17},
                                                {1, 3, 1, 3, 5, 53, 69},
                                                {1, 1, 5, 5, 23, 33, 13},
                                                {1, 1, 7, 7, 1, 61, 123},
                                                {1, 1, 7, 9, 13, 61, 49},
                                                {1, 3, 3, 5, 3, 55, 33}};

/* ---- primitive polynomials over GF(2) ----------------------------------- */

static int degree(uint32_t p) { return 31 - __builtin_clz(p); }

/* x^e modulo the polynomial p of the given degree. */
static uint32_t power_of_x(uint32_t p, int s, uint32_t e) {
    uint32_t result = 1, base = s == 1 ? 1 : 2; /* x = 1 modulo x + 1 */
    for (; e; e >>= 1) {
        for (int half = e & 1 ? 0 : 1; half < 2; half++) {
            uint32_t a = half ? base : result, b = base, product = 0;
            for (; a; a >>= 1, b = b >> (s - 1) & 1 ? (b << 1) ^ p : b << 1)
                if (a & 1) product ^= b;
            if (half)
                base = product;
            else
                result = product;
        }
    }
    return result;
}

/* x has the order 2^s - 1. */
static bool primitive(uint32_t p) {
    int s = degree(p);
    uint32_t order = ((uint32_t)1 << s) - 1, rest = order;
    if (s == 1) return true;
    if (power_of_x(p, s, order) != 1) return false;
    for (uint32_t q = 3; rest > 1; q += 2) {
        if (q * q > rest) q = rest;
        if (rest % q) continue;
        if (power_of_x(p, s, order / q) == 1) return false;
        while (rest % q == 0) rest /= q;
    }
    return true;
}

static uint32_t next_primitive(uint32_t p) {
    do p += 2;
    while (!primitive(p));
    return p;
}

/* ---- Sobol -------------------------------------------------------------- */

static void directions(int64_t dim, uint32_t p, uint32_t *v) {
    static const krein_rng fixed = {0x536f626f6c, KREIN_STREAM_SOBOL};
    uint32_t m[BITS + 1];
    int s = degree(p);
    for (int k = 1; k <= BITS; k++) {
        if (dim == 0)
            m[k] = 1; /* van der Corput */
        else if (k <= s && dim <= TABLE)
            m[k] = table[dim - 1][k - 1];
        else if (k <= s)
            m[k] = ((uint32_t)krein__rng_bits(fixed, (uint64_t)dim, (uint64_t)k) &
                    (((uint32_t)1 << k) - 1)) |
                   1;
        else {
            m[k] = m[k - s] ^ (m[k - s] << s);
            for (int a = 1; a < s; a++)
                if (p >> (s - a) & 1) m[k] ^= m[k - a] << a;
        }
        v[k - 1] = m[k] << (BITS - k);
    }
}

/* v = L v with a random lower triangular L that has ones on the diagonal: digit r of the result is
 * digit r plus some of the digits before it. */
static void scramble(krein_rng g, int64_t dim, uint32_t *v) {
    uint32_t row[BITS];
    for (int r = 0; r < BITS; r++) {
        uint32_t bit = (uint32_t)1 << (BITS - 1 - r);
        uint32_t before = r ? ~(uint32_t)0 << (BITS - r) : 0;
        row[r] = ((uint32_t)krein__rng_bits(g, (uint64_t)dim, (uint64_t)(1 + r)) & before) | bit;
    }
    for (int k = 0; k < BITS; k++) {
        uint32_t out = 0;
        for (int r = 0; r < BITS; r++)
            out |= (uint32_t)__builtin_parity(row[r] & v[k]) << (BITS - 1 - r);
        v[k] = out;
    }
}

static krein_status begin_sobol(krein_ctx *ctx, krein_rng g, krein_sequence *s) {
    krein_status st = KREIN_OK;
    uint32_t p = 1;
    if (s->dims > KREIN_SOBOL_DIMS)
        return krein__fail(ctx, KREIN_ESPEC, "Sobol points have at most %d dimensions; use halton",
                           KREIN_SOBOL_DIMS);
    NEW(s->direction, s->dims * BITS);
    ZNEW(s->digits, s->dims);
    for (int64_t j = 0; j < s->dims; j++) {
        uint32_t *v = s->direction + j * BITS;
        if (j > 0) p = next_primitive(p);
        directions(j, p, v);
        if (!s->random) continue;
        scramble(g, j, v);
        s->digits[j] = (uint32_t)krein__rng_bits(g, (uint64_t)j, 0);
    }
done:
    return st;
}

/* ---- Halton ------------------------------------------------------------- */

static krein_status begin_halton(krein_ctx *ctx, krein_rng g, krein_sequence *s) {
    krein_status st = KREIN_OK;
    NEW(s->prime, s->dims);
    ZNEW(s->shift, s->dims);
    uint32_t candidate = 2;
    for (int64_t j = 0; j < s->dims; candidate++) {
        bool is = true;
        for (int64_t k = 0; k < j && is && s->prime[k] * s->prime[k] <= candidate; k++)
            is = candidate % s->prime[k] != 0;
        if (!is) continue;
        if (s->random) s->shift[j] = krein__rng_uniform(g, (uint64_t)j, 0);
        s->prime[j++] = candidate;
    }
done:
    return st;
}

static double radical_inverse(uint32_t base, uint64_t i) {
    double value = 0, factor = 1.0 / base;
    for (; i; i /= base, factor /= base) value += factor * (double)(i % base);
    return value;
}

/* ---- both --------------------------------------------------------------- */

krein_status krein__sequence_begin(krein_ctx *ctx, krein_sequence_kind kind, int64_t dims,
                                   bool random, krein_rng g, krein_sequence *s) {
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->random = random;
    s->dims = dims;
    krein_status st = kind == KREIN_SOBOL ? begin_sobol(ctx, g, s) : begin_halton(ctx, g, s);
    if (st != KREIN_OK) krein__sequence_end(ctx, s);
    return st;
}

void krein__sequence_end(krein_ctx *ctx, krein_sequence *s) {
    krein__free(ctx, s->prime);
    krein__free(ctx, s->shift);
    krein__free(ctx, s->direction);
    krein__free(ctx, s->digits);
    memset(s, 0, sizeof *s);
}

double krein__sequence_point(const krein_sequence *s, int64_t i, int64_t j) {
    uint64_t index = (uint64_t)i + (s->kind == KREIN_HALTON || !s->random);
    if (s->kind == KREIN_HALTON) {
        double u = radical_inverse(s->prime[j], index) + s->shift[j];
        u -= floor(u);
        return fmin(fmax(u, 0x1p-53), 1 - 0x1p-53);
    }
    uint32_t x = s->digits[j];
    const uint32_t *v = s->direction + j * BITS;
    for (; index; index &= index - 1) x ^= v[__builtin_ctzll(index)];
    return ((double)x + 0.5) * 0x1p-32;
}
