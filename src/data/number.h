/* number.h -- decimal text to double, correctly rounded, whatever the locale.
 *
 *   number := ['+'|'-'] ( digits ['.' [digits]] | '.' digits ) [('e'|'E') ['+'|'-'] digits]
 *
 * Eight digits at a time in one register (x is the word of digit values, first digit in
 * the lowest byte): pairs by x * 10 + (x >> 8), then fours, then eight. With mantissa m <= 2^53
 * and |e| <= 22 both m and 10^|e| are doubles, so one multiplication or division rounds once
 * and correctly (Clinger 1990). All else goes to number.c.
 *
 * The text need not be terminated by NUL, but by a character that cannot go on a number, and
 * KREIN__PAD more bytes must be readable behind it.
 */
#ifndef KREIN_NUMBER_H
#define KREIN_NUMBER_H

#include "base/base.h"

#include <string.h>

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

static inline uint64_t krein__eight(const char *p) {
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

/* The value of the first n digits, 1 <= n <= 8. */
static inline uint64_t krein__digit_value(uint64_t x, unsigned n) {
    x <<= 64 - 8 * n; /* leading zeros */
    x = x * 10 + (x >> 8);
    x = ((x & 0x000000FF000000FFu) * 0x000F424000000064u +
         ((x >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
        32;
    return x & 0xFFFFFFFFu;
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

/* The end of the number that starts at p, or NULL when none does. Overflow gives an infinite
 * value, underflow zero or a subnormal. */
static inline const char *krein__number(const char *p, double *value) {
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

#endif
