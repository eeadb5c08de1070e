/* number.h -- decimal text to double, correctly rounded, whatever the locale.
 *
 *   number := ['+'|'-'] ( digits ['.' [digits]] | '.' digits ) [('e'|'E') ['+'|'-'] digits]
 *
 * Eight digits at a time in one register (x is the word of digit values, first digit in
 * the lowest byte): pairs by x * 10 + (x >> 8), then fours, then eight. With mantissa m <= 2^53
 * and |e| <= 22 both m and 10^|e| are doubles, so one multiplication or division rounds once
 * and correctly (Clinger 1990). All else goes to number.c.
 *
 * Most cells have fewer than 16 characters and no exponent. With SSE2 they are read without a
 * branch that depends on how many digits there are, which no CPU can guess: see krein__short.
 *
 * The text need not be terminated by NUL, but by a character that cannot go on a number, and
 * KREIN__PAD more bytes must be readable behind it.
 */
#ifndef KREIN_NUMBER_H
#define KREIN_NUMBER_H

#include "base/base.h"

#include <string.h>
#if defined(__x86_64__) && defined(__SSE2__)
#include <emmintrin.h>
#define KREIN__SHORT 1
#else
#define KREIN__SHORT 0
#endif

enum { KREIN__PAD = 64 };

static const double krein__ten[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
static const uint32_t krein__ten_int[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

/* m * 10^e where digits (of m, leading zeros too) may be so many that m overflowed: then, and
 * where the exponent is large, the text itself is read again. */
double krein__number_slow(const char *text, bool negative, uint64_t m, int64_t digits, int64_t e);

/* What a cell of a table can be. INFINITE: spelled out, or too large for a double. */
typedef enum krein_cell {
    KREIN_CELL_NUMBER = 0,
    KREIN_CELL_MISSING = 1, /* empty, "?", NaN spelled any way */
    KREIN_CELL_INFINITE = 2,
    KREIN_CELL_TEXT = 3
} krein_cell;

/* The cell without its surrounding blanks; value is set for NUMBER. */
krein_cell krein__cell(const char *text, size_t length, double *value);

/* May read past the number, see krein__short. */
__attribute__((no_sanitize("thread"))) static inline uint64_t krein__eight(const char *p) {
    uint64_t v;
    memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v ^ 0x3030303030303030u; /* digits become 0..9 */
}

/* How many of the eight bytes are digits before the first that is not. */
static inline unsigned krein__digit_run(uint64_t x) {
    uint64_t bad = ((x + 0x7676767676767676u) | x) & 0x8080808080808080u;
    return bad ? (unsigned)__builtin_ctzll(bad) >> 3 : 8;
}

static inline uint64_t krein__digit_sum(uint64_t x) {
    x = x * 10 + (x >> 8);
    x = ((x & 0x000000FF000000FFu) * 0x000F424000000064u +
         ((x >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
        32;
    return x & 0xFFFFFFFFu;
}

/* The value of the first n digits, 1 <= n <= 8. */
static inline uint64_t krein__digit_value(uint64_t x, unsigned n) {
    return krein__digit_sum(x << (64 - 8 * n)); /* leading zeros */
}

/* Reads digits into *m (which may wrap past 19 of them); the end. */
static inline const char *krein__digits(const char *p, uint64_t *m) {
    uint64_t x = krein__eight(p), v = *m;
    unsigned n = krein__digit_run(x);
    while (__builtin_expect(n == 8, 0)) {
        v = v * 100000000u + krein__digit_value(x, 8);
        p += 8;
        x = krein__eight(p);
        n = krein__digit_run(x);
    }
    if (n) v = v * krein__ten_int[n] + krein__digit_value(x, n);
    *m = v;
    return p + n;
}

#if KREIN__SHORT
__extension__ typedef unsigned __int128 krein__wide;

static const double krein__signed_ten[2][15] = {
    {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14},
    {-1e0, -1e1, -1e2, -1e3, -1e4, -1e5, -1e6, -1e7, -1e8, -1e9, -1e10, -1e11, -1e12, -1e13,
     -1e14}};

/* The value of 16 digits, the first in the lowest byte. */
static inline int64_t krein__sixteen(krein__wide x) {
    __m128i v = _mm_set_epi64x((int64_t)(x >> 64), (int64_t)x);
    __m128i even = _mm_and_si128(v, _mm_set1_epi16(0xFF)), odd = _mm_srli_epi16(v, 8);
    v = _mm_add_epi16(_mm_mullo_epi16(even, _mm_set1_epi16(10)), odd);
    v = _mm_madd_epi16(v, _mm_set1_epi32(1 << 16 | 100)); /* fours */
    v = _mm_madd_epi16(_mm_packs_epi32(v, v), _mm_set1_epi32(1 << 16 | 10000));
    uint64_t pair = (uint64_t)_mm_cvtsi128_si64(v);
    return (int64_t)((pair & 0xFFFFFFFFu) * 100000000u + (pair >> 32));
}

/* A number ['-'] digits ['.' digits] of at most 15 characters, at most 7 of them before the dot:
 * its end, or NULL when it has not that form. An exponent may follow: the caller looks. As
 * fifteen digits are below 2^53 the division rounds correctly.
 *
 * Masks have one bit per character. The sign becomes a leading zero, the digits before the dot
 * move up over it, and a shift brings the last digit to the top byte; what followed it drops
 * out. The next number depends on this one only by where it ends: that takes few steps.
 *
 * The sixteen bytes may reach into another thread's piece, where that one may just be taking the
 * doubled quotes out of a cell. What stands behind the number's end does not matter here, so the
 * thread sanitizer is told to look away. */
__attribute__((no_sanitize("thread"))) static inline const char *krein__short(const char *p,
                                                                              double *value) {
    __m128i text = _mm_loadu_si128((const __m128i *)(const void *)p);
    /* digits become 0x76..0x7F, all else has the top bit */
    __m128i kind = _mm_adds_epu8(_mm_xor_si128(text, _mm_set1_epi8('0')), _mm_set1_epi8(0x76));
    unsigned dots = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8('.')));
    unsigned others = (unsigned)_mm_movemask_epi8(kind) | 1u << 16, minus = *p == '-';
    others &= ~minus;
    unsigned dot = others & (0u - others) & dots, has_dot = dot != 0;
    unsigned whole = (unsigned)__builtin_ctz(others), end = (unsigned)__builtin_ctz(others ^ dot);
    if (__builtin_expect(whole > 7 || end > 15 || end == minus + has_dot, 0)) return NULL;
    uint64_t head = krein__eight(p) - minus * (uint64_t)('-' ^ '0'), tail = krein__eight(p + 8);
    uint64_t place = (uint64_t)has_dot << 8 * whole, before = head & (place - has_dot);
    head += (before << 8) - before - place * ('.' ^ '0');
    krein__wide all = ((krein__wide)tail << 64 | head) << 8 * (16 - end);
    *value = (double)krein__sixteen(all) / krein__signed_ten[minus][end - whole - has_dot];
    return p + end;
}
#else
static inline const char *krein__short(const char *p, double *value) {
    (void)p, (void)value;
    return NULL;
}
#endif

/* Any number; see krein__number. */
static inline const char *krein__number_any(const char *p, double *value) {
    const char *text = p;
    bool negative = *p == '-';
    uint64_t m = 0;
    int64_t e = 0, digits;
    p += (unsigned)negative | (unsigned)(*p == '+'); /* no branch: signs are random */
    const char *q = krein__digits(p, &m);
    digits = q - p;
    p = q;
    if (*p == '.') {
        q = krein__digits(p + 1, &m);
        e = -(q - p - 1);
        digits -= e;
        p = q;
    }
    if (digits == 0) return NULL;
    if ((*p | 0x20) == 'e') {
        uint64_t x = 0;
        const char *s = p + 1;
        bool minus = *s == '-';
        if (minus || *s == '+') s++;
        q = krein__digits(s, &x);
        if (q == s) return NULL;
        /* beyond every double with any mantissa that fits in memory: only the sign matters */
        int64_t big =
            q - s > 18 || x > INT64_C(100000000000000) ? INT64_C(100000000000000) : (int64_t)x;
        e += minus ? -big : big;
        p = q;
    }
    double v;
    if (__builtin_expect(digits <= 19 && m <= (UINT64_C(1) << 53) && e >= -22 && e <= 22, 1)) {
        v = (double)m;
        v = e < 0 ? v / krein__ten[-e] : v * krein__ten[e];
        uint64_t bits;
        memcpy(&bits, &v, 8);
        bits |= (uint64_t)negative << 63;
        memcpy(value, &bits, 8);
    } else {
        *value = krein__number_slow(text, negative, m, digits, e);
    }
    return p;
}

/* The end of the number that starts at p, or NULL when none does. Overflow gives an infinite
 * value, underflow zero or a subnormal. */
static inline const char *krein__number(const char *p, double *value) {
    const char *end = krein__short(p, value);
    return end && (*end | 0x20) != 'e' ? end : krein__number_any(p, value);
}

#endif
