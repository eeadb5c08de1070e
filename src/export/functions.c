/* functions.c -- functions of numbers that an exported program needs: cosine and sine of turns,
 * whole powers, and, without math.h, exp, log, sqrt and tanh.
 *
 * Of t turns the nearest quarter is taken off; of the |u| <= 1/8 turn that is left polynomials give
 * sine and cosine to 2e-8, and the quarter says which is which. exp(v) = 2^n e^f with |f| <= 0.35
 * by its series; log by that of (m - 1) / (m + 1); square roots by Newton's steps. In float they
 * are 1e-6 off, in double 1e-11. */
#include "export/source.h"

#include <string.h>

/* A function is part of the program where its name is; later ones may use earlier ones. */
typedef struct function {
    const char *name; /* as it is called */
    bool libm;        /* math.h stands in for it */
    const char *text;
} function;

static const function functions[] = {
    {"two_to(", true,
     "/* x times 2 to the n. */\n"
     "static real two_to(real x, int n) {\n"
     "    real two = n < 0 ? R(0.5) : R(2);\n"
     "    int m = n < 0 ? -n : n;\n"
     "    for (; m; m >>= 1, two *= two)\n"
     "        if (m & 1) x *= two;\n"
     "    return x;\n"
     "}\n"},
    {"EXP(", true,
     "static real EXP(real v) {\n"
     "    real f, sum = 1, term = 1;\n"
     "    int n, i;\n"
     "    if (v < R(-80)) return 0;\n"
     "    if (v > R(80)) v = R(80);\n"
     "    n = (int)(v * R(1.4426950408889634) + (v < 0 ? R(-0.5) : R(0.5)));\n"
     "    f = v - (real)n * R(0.693145751953125) - (real)n * R(1.4286068203094172e-06);\n"
     "    for (i = 1; i <= 12; i++) {\n"
     "        term *= f / (real)i;\n"
     "        sum += term;\n"
     "    }\n"
     "    return two_to(sum, n);\n"
     "}\n"},
    {"LOG(", true,
     "static real LOG(real v) {\n"
     "    real t, square, sum = 0;\n"
     "    int n = 0, i;\n"
     "    if (!(v > 0)) return R(-80);\n"
     "    for (; v > R(1.4142135623730951); n++) v *= R(0.5);\n"
     "    for (; v < R(0.7071067811865476); n--) v *= 2;\n"
     "    t = (v - 1) / (v + 1);\n"
     "    square = t * t;\n"
     "    for (i = 15; i > 0; i -= 2) sum = sum * square + 1 / (real)i;\n"
     "    return 2 * t * sum + (real)n * R(0.6931471805599453);\n"
     "}\n"},
    {"SQRT(", true,
     "static real SQRT(real v) {\n"
     "    real root = v, scale = 1;\n"
     "    int i;\n"
     "    if (!(v > 0)) return 0;\n"
     "    for (; v > 2; scale *= 2) v *= R(0.25);\n"
     "    for (; v < R(0.5); scale *= R(0.5)) v *= 4;\n"
     "    for (root = R(0.5) * (1 + v), i = 0; i < 4; i++) root = R(0.5) * (root + v / root);\n"
     "    return scale * root;\n"
     "}\n"},
    {"TANH(", true,
     "static real TANH(real v) {\n"
     "    real e = EXP(-2 * (v < 0 ? -v : v)), value = (1 - e) / (1 + e);\n"
     "    return v < 0 ? -value : value;\n"
     "}\n"},
    {"FABS(", false, "#define FABS(v) ((v) < 0 ? -(v) : (v))\n"},
    {"wave(", false,
     "/* Cosine and sine of t turns. */\n"
     "static void wave(real t, real *cosine, real *sine) {\n"
     "    real u, w, c, s;\n"
     "    int q;\n"
     "    t -= (real)(long)t;\n"
     "    q = (int)(4 * t + (t < 0 ? R(-0.5) : R(0.5)));\n"
     "    u = (t - R(0.25) * (real)q) * R(6.283185307179586);\n"
     "    w = u * u;\n"
     "    s = u * (1 - w * (R(0.16666666666666666) - w * (R(0.008333333333333333) -\n"
     "        w * (R(0.0001984126984126984) - w * R(2.7557319223985893e-06)))));\n"
     "    c = 1 - w * (R(0.5) - w * (R(0.041666666666666664) - w * (R(0.001388888888888889) -\n"
     "        w * (R(2.48015873015873e-05) - w * R(2.755731922398589e-07)))));\n"
     "    if (q == 0)\n"
     "        *cosine = c, *sine = s;\n"
     "    else if (q == 1 || q == -3)\n"
     "        *cosine = -s, *sine = c;\n"
     "    else if (q == -1 || q == 3)\n"
     "        *cosine = s, *sine = -c;\n"
     "    else if (q == 2 || q == -2)\n"
     "        *cosine = -c, *sine = -s;\n"
     "    else\n"
     "        *cosine = c, *sine = s;\n"
     "}\n"},
    {"COS(", false,
     "static real COS(real t) {\n"
     "    real c, s;\n"
     "    wave(t, &c, &s);\n"
     "    return c;\n"
     "}\n"},
    {"dot1(", false,
     "/* Sums of products of codes: n of a few bits, packed, with n bytes. */\n"
     "static uint32_t dot1(const uint8_t *w, const uint8_t *s, int n) {\n"
     "    uint32_t sum = 0;\n"
     "    int j;\n"
     "    for (j = 0; j < n; j++) sum += (w[j >> 3] >> (j & 7) & 1u) * s[j];\n"
     "    return sum;\n"
     "}\n"},
    {"dot2(", false,
     "static uint32_t dot2(const uint8_t *w, const uint8_t *s, int n) {\n"
     "    return dot1(w, s, n) + 2 * dot1(w + (n + 7) / 8, s, n);\n"
     "}\n"},
    {"dot4(", false,
     "/* Sum of products of n codes, two a byte, with n bytes. */\n"
     "static uint32_t dot4(const uint8_t *w, const uint8_t *s, int n) {\n"
     "    uint32_t sum = 0;\n"
     "    int j;\n"
     "    for (j = 0; j < n / 2; j++)\n"
     "        sum += (w[j] & 15u) * s[2 * j] + (uint32_t)(w[j] >> 4) * s[2 * j + 1];\n"
     "    return n % 2 ? sum + (w[n / 2] & 15u) * s[n - 1] : sum;\n"
     "}\n"},
    {"dot8(", false,
     "/* Sum of products of n codes of a byte. */\n"
     "static uint32_t dot8(const uint8_t *w, const uint8_t *s, int n) {\n"
     "    uint32_t sum = 0;\n"
     "    int j;\n"
     "    for (j = 0; j < n; j++) sum += (uint32_t)w[j] * s[j];\n"
     "    return sum;\n"
     "}\n"},
    {"sum_bytes(", false,
     "static uint32_t sum_bytes(const uint8_t *s, int n) {\n"
     "    uint32_t sum = 0;\n"
     "    while (n > 0) sum += s[--n];\n"
     "    return sum;\n"
     "}\n"},
    {"ones(", false,
     "static uint32_t ones(uint32_t x) {\n"
     "    x -= x >> 1 & 0x55555555;\n"
     "    x = (x & 0x33333333) + (x >> 2 & 0x33333333);\n"
     "    x = (x + (x >> 4)) & 0x0f0f0f0f;\n"
     "    x += x >> 8;\n"
     "    return (x + (x >> 16)) & 63;\n"
     "}\n"},
    {"planes_sum(", false,
     "/* Sum of the codes in bit planes of n words each. */\n"
     "static uint32_t planes_sum(const uint32_t *s, int bits, int n) {\n"
     "    uint32_t sum = 0;\n"
     "    int b, i;\n"
     "    for (b = 0; b < bits; b++, s += n)\n"
     "        for (i = 0; i < n; i++) sum += ones(s[i]) << b;\n"
     "    return sum;\n"
     "}\n"},
    {"planes_dot(", false,
     "/* Sum of products of codes in planes of n words: ones in both, times 2^(a + b). */\n"
     "static uint32_t planes_dot(const uint32_t *w, int bits, const uint32_t *s, int row_bits, int "
     "n) "
     "{\n"
     "    uint32_t sum = 0;\n"
     "    int a, b, i;\n"
     "    for (a = 0; a < bits; a++, w += n)\n"
     "        for (b = 0; b < row_bits; b++)\n"
     "            for (i = 0; i < n; i++) sum += ones(w[i] & s[b * n + i]) << (a + b);\n"
     "    return sum;\n"
     "}\n"},
    {"power(", false,
     "static real power(real base, int n) {\n"
     "    real value = 1;\n"
     "    for (; n; n >>= 1, base *= base)\n"
     "        if (n & 1) value *= base;\n"
     "    return value;\n"
     "}\n"}};

/* math.h's names for float and double. */
static const struct {
    const char *name, *narrow, *wide;
} standard[] = {{"EXP", "expf", "exp"},
                {"LOG", "logf", "log"},
                {"SQRT", "sqrtf", "sqrt"},
                {"TANH", "tanhf", "tanh"}};

void krein__source_functions(krein_source *s, const char *body) {
    bool used[KREIN__COUNT(functions)] = {false};
    for (int64_t i = KREIN__COUNT(functions) - 1; i >= 0; i--) {
        used[i] = strstr(body, functions[i].name) != NULL;
        for (int64_t j = i + 1; !used[i] && j < KREIN__COUNT(functions); j++)
            used[i] = used[j] && !(s->libm && functions[j].libm) &&
                      strstr(functions[j].text, functions[i].name);
    }
    for (int64_t k = 0; s->libm && k < KREIN__COUNT(standard); k++)
        krein__source_add(s, "#define %s(v) %s(v)\n", standard[k].name,
                          s->wide ? standard[k].wide : standard[k].narrow);
    for (int64_t i = 0; i < KREIN__COUNT(functions); i++)
        if (used[i] && !(s->libm && functions[i].libm))
            krein__source_add(s, "%s\n", functions[i].text);
}
