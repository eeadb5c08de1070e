/* number.c -- the decimals that one double operation cannot round correctly.
 *
 * Up to 19 digits m < 2^64, so for 0 <= e <= 19 the product m 10^e is exact in 128 bits and is
 * rounded once. For e = -k < 0 the operands are shifted to have their top bits set,
 *     q = floor(m 2^a 2^63 / (10^k 2^b))  in  [2^62, 2^64),
 * and a remainder sets the last bit of q: it lies at least nine bits below the last bit of a
 * double, so the conversion of q rounds as the true quotient would. The rest (more digits, larger
 * exponents: rare in data) is the C library's strtod in the C locale.
 */
#include "file/number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

static const uint64_t ten[20] = {1u,
                                 10u,
                                 100u,
                                 1000u,
                                 10000u,
                                 100000u,
                                 1000000u,
                                 10000000u,
                                 100000000u,
                                 1000000000u,
                                 10000000000u,
                                 100000000000u,
                                 1000000000000u,
                                 10000000000000u,
                                 100000000000000u,
                                 1000000000000000u,
                                 10000000000000000u,
                                 100000000000000000u,
                                 1000000000000000000u,
                                 10000000000000000000u};

__extension__ typedef unsigned __int128 wide;

/* The C library has the C locale built in: asking for it neither allocates nor reads files, and a
 * number in the caller's locale would mean another decimal point. */
static double by_library(const char *text) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c) return NAN;
    double v = strtod_l(text, NULL, c);
    freelocale(c);
    return v;
}

double krein__number_slow(const char *text, bool negative, uint64_t m, int64_t digits, int64_t e) {
    double v;
    if (digits > 19 || e > 19 || e < -19) return by_library(text);
    if (m == 0) {
        v = 0;
    } else if (e >= 0) {
        v = (double)((wide)m * ten[e]);
    } else {
        int a = __builtin_clzll(m), b = __builtin_clzll(ten[-e]);
        uint64_t divisor = ten[-e] << b;
        wide dividend = (wide)(m << a) << 63;
        uint64_t q = (uint64_t)(dividend / divisor);
        if ((wide)q * divisor != dividend) q |= 1;
        v = ldexp((double)q, b - a - 63);
    }
    return negative ? -v : v;
}

krein_cell krein__cell(const char *text, size_t length, double *value) {
    if (length == 0 || (length == 1 && *text == '?')) return KREIN_CELL_MISSING;
    const char *end = krein__number(text, value);
    if (end == text + length) return isinf(*value) ? KREIN_CELL_INFINITE : KREIN_CELL_NUMBER;
    if (*text == '-' || *text == '+') {
        text++;
        length--;
    }
    if (length == 3 && !strncasecmp(text, "nan", 3)) return KREIN_CELL_MISSING;
    if ((length == 3 && !strncasecmp(text, "inf", 3)) ||
        (length == 8 && !strncasecmp(text, "infinity", 8)))
        return KREIN_CELL_INFINITE;
    return KREIN_CELL_TEXT;
}
