/* text.c -- numbers as text, fast: the shortest decimal that reads back as the same float32; names
 * without control characters, and how far they are from each other. */
#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* x * 10^k; two roundings at most for float32's range, where k <= 53. */
static double scale_ten(double x, int k) {
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    for (; k > 22; k -= 22) x *= 1e22;
    for (; k < -22; k += 22) x /= 1e22;
    return k < 0 ? x / ten[-k] : x * ten[k];
}

static char *put_digits(char *p, uint64_t m, int n) {
    for (int i = n; i-- > 0; m /= 10) p[i] = (char)('0' + m % 10);
    return p + n;
}

char *krein__put_integer(char *p, int64_t value) {
    int n = 1;
    if (value < 0) *p++ = '-', value = -value;
    for (int64_t v = value; v >= 10; v /= 10) n++;
    return put_digits(p, (uint64_t)value, n);
}

/* At most 16 characters. X = |f| 10^k has nine digits before the point, which always
 * identify a float32; digits are dropped from the end for as long as the rest lies less
 * than half a unit in the last place from f, with a margin for the rounding of X. Every
 * decimal of more digits is at least as near, so the first refusal ends the search. */
char *krein__put_float(char *p, float f) {
    if (signbit(f)) *p++ = '-', f = -f;
    if (f == 0) return *p++ = '0', p;
    if (!isfinite(f)) { /* no generator makes one; readers would name it */
        for (const char *c = isnan(f) ? "nan" : "inf"; *c; c++) *p++ = *c;
        return p;
    }
    int exponent;
    const double x = (double)f, mantissa = frexp(x, &exponent);
    int e = (int)floor((exponent - 1) * 0.30102999566398120), k = 8 - e;
    double X = scale_ten(x, k);
    if (X >= 1e9) X = scale_ten(x, --k), e++;
    /* Half the distance to the nearer neighbour; 2^-149 apart below the normal numbers. */
    const int ulp = exponent - 24 - (mantissa == 0.5);
    const double reach = scale_ten(ldexp(0.5, ulp > -149 ? ulp : -149), k) - 1e-6;
    uint64_t m = (uint64_t)(X + 0.5), unit = 1;
    int n = 9;
    while (n > 1) {
        const uint64_t next = unit * 10, shorter = ((uint64_t)X + next / 2) / next;
        if (!(fabs((double)(shorter * next) - X) < reach)) break;
        m = shorter, unit = next, n--;
    }
    if (m * unit >= 1000000000) e++, m = 1, n = 1; /* 9.99... rounded up to 10 */
    if (e >= 9 || e < -5) {                        /* d.ddde-XX */
        char digits[9];
        put_digits(digits, m, n);
        *p++ = digits[0];
        if (n > 1) *p++ = '.', memcpy(p, digits + 1, (size_t)n - 1), p += n - 1;
        *p++ = 'e';
        return krein__put_integer(p, e);
    }
    if (e < 0) {
        memset(p, '0', 6);
        p[1] = '.';
        return put_digits(p + 1 - e, m, n);
    }
    if (n <= e + 1) { /* a whole number */
        p = put_digits(p, m, n);
        for (; n <= e; n++) *p++ = '0';
        return p;
    }
    put_digits(p + 1, m, n);
    memmove(p, p + 1, (size_t)e + 1);
    p[e + 1] = '.';
    return p + n + 1;
}

/* ---- names -------------------------------------------------------------- */

int krein__utf8(const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    int n = p[0] < 0x80                   ? 1
            : p[0] >= 0xC2 && p[0] < 0xE0 ? 2
            : p[0] >= 0xE0 && p[0] < 0xF0 ? 3
            : p[0] >= 0xF0 && p[0] < 0xF5 ? 4
                                          : 0;
    for (int k = 1; k < n; k++)
        if ((p[k] & 0xC0) != 0x80) return 0;
    if (n == 3 && ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F))) return 0;
    if (n == 4 && ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))) return 0;
    return n;
}

/* Bytes of the UTF-8 character at p; 1 where there is none. */
static size_t character(const unsigned char *p) {
    const size_t n = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc2 ? 2 : 1;
    for (size_t k = 1; k < n; k++)
        if ((p[k] & 0xc0) != 0x80) return 1; /* also at the end of the text */
    return n;
}

/* 0 to 31, 127, and 128 to 159: alone, or as a character of two bytes. */
static bool is_control(const unsigned char *p, size_t n) {
    const unsigned char c = n == 2 && p[0] == 0xc2 ? p[1] : p[0];
    return n <= 2 && (c < 0x20 || (c >= 0x7f && c <= 0x9f));
}

size_t krein__escape(const char *text, char *out, size_t size) {
    static const char digit[] = "0123456789abcdef";
    const unsigned char *p = (const unsigned char *)text;
    size_t used = 0, end = 0;
    for (size_t n; *p; p += n) {
        char shown[8];
        size_t length = n = character(p);
        if (is_control(p, n)) {
            length = 0;
            for (size_t k = 0; k < n; k++) {
                const char byte[4] = {'\\', 'x', digit[p[k] >> 4], digit[p[k] & 15]};
                memcpy(shown + length, byte, sizeof byte);
                length += sizeof byte;
            }
        } else {
            memcpy(shown, p, n);
        }
        if (end == used && used + length < size) { /* nothing was cut before it */
            memcpy(out + used, shown, length);
            end += length;
        }
        used += length;
    }
    if (size) out[end] = 0;
    return used;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c; }

int64_t krein__edit_distance(const char *a, const char *b) {
    const size_t n = strnlen(a, KREIN_NAME_CUT), m = strnlen(b, KREIN_NAME_CUT);
    int64_t row[KREIN_NAME_CUT + 1];
    for (size_t j = 0; j <= m; j++) row[j] = (int64_t)j;
    for (size_t i = 1; i <= n; i++) {
        int64_t diagonal = row[0];
        row[0] = (int64_t)i;
        for (size_t j = 1; j <= m; j++) {
            int64_t best = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[m];
}
