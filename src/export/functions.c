/* functions.c -- functions of numbers that an exported program needs: cosine and sine of turns,
 * whole powers, and, without math.h, exp, log, sqrt and tanh.
 *
 * Of t turns the nearest quarter is taken off; of the |u| <= 1/8 turn that is left polynomials give
 * sine and cosine to 2e-8, and the quarter says which is which, by tables: a branch on it would be
 * guessed wrong as often as not. exp(v) = 2^n e^f with |f| <= 0.35
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
     "    for (i = 1; i <= (sizeof(real) == 4 ? 7 : 12); i++) {\n"
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
     "    static const real sign[4] = {1, 1, -1, -1};\n"
     "    real u, w, v[2];\n"
     "    int q;\n"
     "    t -= (real)(long)t;\n"
     "    q = (int)(4 * t + R(4.5));\n"
     "    u = (t - R(0.25) * (real)(q - 4)) * R(6.283185307179586);\n"
     "    w = u * u;\n"
     "    v[0] = 1 - w * (R(0.5) - w * (R(0.041666666666666664) - w * (R(0.001388888888888889) -\n"
     "        w * (R(2.48015873015873e-05) - w * R(2.755731922398589e-07)))));\n"
     "    v[1] = u * (1 - w * (R(0.16666666666666666) - w * (R(0.008333333333333333) -\n"
     "        w * (R(0.0001984126984126984) - w * R(2.7557319223985893e-06)))));\n"
     "    *cosine = sign[(q + 1) & 3] * v[q & 1];\n"
     "    *sine = sign[q & 3] * v[~q & 1];\n"
     "}\n"},
    {"COS(", false,
     "static real COS(real t) {\n"
     "    real c, s;\n"
     "    wave(t, &c, &s);\n"
     "    return c;\n"
     "}\n"},
    {"byte_code(", false,
     "/* The nearest whole number from 0 to 255, half to even; no branch, it would be guessed "
     "wrong. */\n"
     "static uint8_t byte_code(double v) {\n"
     "    double rest;\n"
     "    int n;\n"
     "    v = v > 0 ? v : 0;\n"
     "    v = v < 255 ? v : 255;\n"
     "    n = (int)v;\n"
     "    rest = v - (double)n;\n"
     "    return (uint8_t)(n + ((rest > 0.5) | ((rest == 0.5) & n)));\n"
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
    /* Draws by address, as base/rng.c makes them. */
    {"two_to64(", true, NULL},
    {"EXP64(", true, NULL},
    {"LOG64(", true, NULL},
    {"SQRT64(", true, NULL},
    {"wave64(", true, NULL},
    {"COS64(", true, NULL},
    {"philox(", false,
     "#ifdef __SIZEOF_INT128__\n"
     "__extension__ typedef unsigned __int128 twice;\n"
     "#define high(a, b) ((uint64_t)((twice)(a) * (b) >> 64))\n"
     "#else\n"
     "static uint64_t high(uint64_t a, uint64_t b) {\n"
     "    uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;\n"
     "    uint64_t m = a1 * b0 + (a0 * b0 >> 32), n = a0 * b1 + (m & 0xffffffff);\n"
     "    return a1 * b1 + (m >> 32) + (n >> 32);\n"
     "}\n"
     "#endif\n"
     "/* Philox4x64-10 (Salmon et al. 2011) at an address. */\n"
     "static void philox(uint64_t seed, uint64_t stream, int row, int column, int attempt,\n"
     "                   uint64_t *w) {\n"
     "    const uint64_t m0 = UINT64_C(0xD2E7470EE14C6C93), m1 = UINT64_C(0xCA5A826395121157);\n"
     "    uint64_t a = (uint64_t)column, b = (uint64_t)row, c = stream, d = (uint64_t)attempt;\n"
     "    uint64_t k = seed, l = 0;\n"
     "    int i;\n"
     "    for (i = 0; i < 10; i++) {\n"
     "        uint64_t x = high(m1, c) ^ b ^ k, y = high(m0, a) ^ d ^ l;\n"
     "        b = m1 * c;\n"
     "        d = m0 * a;\n"
     "        a = x;\n"
     "        c = y;\n"
     "        k += UINT64_C(0x9E3779B97F4A7C15);\n"
     "        l += UINT64_C(0xBB67AE8584CAA73B);\n"
     "    }\n"
     "    w[0] = a;\n"
     "    w[1] = b;\n"
     "    w[2] = c;\n"
     "    w[3] = d;\n"
     "}\n"},
    {"unit_of(", false,
     "static double unit_of(uint64_t w) {\n"
     "    return ((double)(w >> 12) + 0.5) / 4503599627370496.0;\n"
     "}\n"},
    {"normal_of(", false,
     "static double normal_of(const uint64_t *w) {\n"
     "    return SQRT64(-2 * LOG64(unit_of(w[0]))) * COS64(unit_of(w[1]));\n"
     "}\n"},
    {"uniform(", false,
     "static double uniform(uint64_t seed, uint64_t stream, int row, int column) {\n"
     "    uint64_t w[4];\n"
     "    philox(seed, stream, row, column, 0, w);\n"
     "    return unit_of(w[0]);\n"
     "}\n"},
    {"normal(", false,
     "static double normal(uint64_t seed, uint64_t stream, int row, int column) {\n"
     "    uint64_t w[4];\n"
     "    philox(seed, stream, row, column, 0, w);\n"
     "    return normal_of(w);\n"
     "}\n"},
    {"cauchy(", false,
     "static double cauchy(uint64_t seed, uint64_t stream, int row, int column) {\n"
     "    double t = (uniform(seed, stream, row, column) - 0.5) / 2;\n"
     "    return COS64(t - 0.25) / COS64(t);\n"
     "}\n"},
    {"laplace(", false,
     "static double laplace(uint64_t seed, uint64_t stream, int row, int column) {\n"
     "    uint64_t w[4];\n"
     "    double size;\n"
     "    philox(seed, stream, row, column, 0, w);\n"
     "    size = -LOG64(unit_of(w[0]));\n"
     "    return w[1] >> 63 ? -size : size;\n"
     "}\n"},
    {"gamma_of(", false,
     "/* A gamma number, shape at least 1 (Marsaglia and Tsang 2000). */\n"
     "static double gamma_of(uint64_t seed, uint64_t stream, int row, double shape) {\n"
     "    double b = shape - 1.0 / 3, z, v;\n"
     "    uint64_t w[4];\n"
     "    int attempt = 0;\n"
     "    do {\n"
     "        philox(seed, stream, row, 0, attempt++, w);\n"
     "        z = normal_of(w);\n"
     "        v = 1 + z / SQRT64(9 * b);\n"
     "        v = v * v * v;\n"
     "    } while (v <= 0 || LOG64(unit_of(w[2])) >= z * z / 2 + b - b * v + b * LOG64(v));\n"
     "    return b * v;\n"
     "}\n"},
    {"boost(", false,
     "/* What makes a gamma number of shape + 1 one of a shape below 1. */\n"
     "static double boost(uint64_t seed, uint64_t stream, int row, double power) {\n"
     "    uint64_t w[4];\n"
     "    philox(seed, stream, row, 0, 0, w);\n"
     "    return EXP64(LOG64(unit_of(w[3])) * power);\n"
     "}\n"},
    {"below(", false,
     "/* A whole number below `bound`. */\n"
     "static int below(uint64_t seed, uint64_t stream, int row, int column, int bound) {\n"
     "    uint64_t w[4];\n"
     "    philox(seed, stream, row, column, 0, w);\n"
     "    return (int)high(w[0], (uint64_t)bound);\n"
     "}\n"},
    {"orthogonal(", false,
     "/* q'z, q the n rows from `first` on of normal numbers, made orthonormal: reflections v "
     "turn\n"
     " * row k of the numbers to axis k, and z with them. */\n"
     "static double reflect(int n, const double *v, double *y) {\n"
     "    double sum = 0;\n"
     "    int j;\n"
     "    for (j = 0; j < n; j++) sum += v[j] * y[j];\n"
     "    for (j = 0; j < n; j++) y[j] -= sum * v[j];\n"
     "    return y[0];\n"
     "}\n"
     "static void orthogonal(uint64_t seed, uint64_t stream, int first, int n, const float *z,\n"
     "                       double *y) {\n"
     "    double all[COLUMNS * (COLUMNS + 1) / 2], row[COLUMNS], *v;\n"
     "    int i, j, k;\n"
     "    for (j = 0; j < COLUMNS; j++) y[j] = z[j];\n"
     "    for (k = 0; k < n; k++) {\n"
     "        double square = 0, length;\n"
     "        for (j = 0; j < COLUMNS; j++) row[j] = normal(seed, stream, first + k, j);\n"
     "        for (v = all, i = 0; i < k; v += COLUMNS - i, i++) reflect(COLUMNS - i, v, row + "
     "i);\n"
     "        for (j = k; j < COLUMNS; j++) square += row[j] * row[j];\n"
     "        length = row[k] < 0 ? SQRT64(square) : -SQRT64(square);\n"
     "        square = SQRT64(length * (length - row[k]));\n"
     "        row[k] -= length;\n"
     "        for (j = k; j < COLUMNS; j++) v[j - k] = row[j] / square;\n"
     "        y[k] = reflect(COLUMNS - k, v, y + k) * (length < 0 ? -1 : 1);\n"
     "    }\n"
     "}\n"},
    /* Structured frequencies. */
    {"hadamard(", false,
     "/* The Walsh-Hadamard transform of n numbers. */\n"
     "static void hadamard(int n, real *t) {\n"
     "    int h, i, j;\n"
     "    for (h = 1; h < n; h *= 2)\n"
     "        for (i = 0; i < n; i += 2 * h)\n"
     "            for (j = i; j < i + h; j++) {\n"
     "                real a = t[j], b = t[j + h];\n"
     "                t[j] = a + b;\n"
     "                t[j + h] = a - b;\n"
     "            }\n"
     "}\n"},
    {"give_signs(", false,
     "/* Signs from bits: those at `from` and behind it. */\n"
     "static void give_signs(const unsigned char *bits, int from, int n, real *t) {\n"
     "    int j;\n"
     "    for (j = 0; j < n; j++)\n"
     "        if (!(bits[(from + j) >> 3] >> ((from + j) & 7) & 1)) t[j] = -t[j];\n"
     "}\n"},
    {"draw_signs(", false,
     "/* Signs from a row of the generator, 64 at a time. */\n"
     "static void draw_signs(uint64_t seed, uint64_t stream, int row, int n, real *t) {\n"
     "    uint64_t w[4];\n"
     "    int i, j;\n"
     "    for (i = 0; i < n; i += 64) {\n"
     "        philox(seed, stream, row, i / 64, 0, w);\n"
     "        for (j = i; j < n && j < i + 64; j++, w[0] >>= 1)\n"
     "            if (!(w[0] & 1)) t[j] = -t[j];\n"
     "    }\n"
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
} standard[] = {{"EXP", "expf", "exp"},    {"LOG", "logf", "log"},  {"SQRT", "sqrtf", "sqrt"},
                {"TANH", "tanhf", "tanh"}, {"EXP64", "exp", "exp"}, {"LOG64", "log", "log"},
                {"SQRT64", "sqrt", "sqrt"}};

/* A text that calls the function; not one whose name ends the same. */
static bool calls(const char *text, const char *name) {
    for (const char *at = text; (at = strstr(at, name)); at++)
        if (at == text || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", at[-1]))
            return true;
    return false;
}

/* NAME64( is the function NAME( in double. */
static const char *text_of(int64_t i) {
    if (functions[i].text) return functions[i].text;
    size_t n = strlen(functions[i].name) - 3;
    for (int64_t j = 0; j < i; j++)
        if (strncmp(functions[j].name, functions[i].name, n) == 0 && functions[j].name[n] == '(')
            return functions[j].text;
    return "";
}

static void add_double(krein_source *s, const char *text) {
    static const char *const from[] = {"real", "R(",    "two_to(", "EXP(",
                                       "LOG(", "SQRT(", "wave(",   "COS("};
    static const char *const to[] = {"double", "(",       "two_to64(", "EXP64(",
                                     "LOG64(", "SQRT64(", "wave64(",   "COS64("};
    for (const char *c = text; *c;) {
        int64_t k = 0;
        while (k < KREIN__COUNT(from) && strncmp(c, from[k], strlen(from[k])) != 0) k++;
        if (k < KREIN__COUNT(from))
            krein__source_add(s, "%s", to[k]);
        else
            krein__source_add(s, "%c", *c);
        c += k < KREIN__COUNT(from) ? strlen(from[k]) : 1;
    }
}

/* Function j calls `name`; those in double call others in double. */
static bool uses(int64_t j, const char *name) {
    char narrow[32];
    size_t n = strlen(name) - 3;
    if (functions[j].text) return calls(functions[j].text, name);
    if (strcmp(name + n, "64(") != 0) return false;
    memcpy(narrow, name, n);
    strcpy(narrow + n, "(");
    return calls(text_of(j), narrow);
}

void krein__source_functions(krein_source *s, const char *body) {
    bool used[KREIN__COUNT(functions)] = {false};
    for (int64_t i = KREIN__COUNT(functions) - 1; i >= 0; i--) {
        used[i] = calls(body, functions[i].name);
        for (int64_t j = i + 1; !used[i] && j < KREIN__COUNT(functions); j++)
            used[i] = used[j] && !(s->libm && functions[j].libm) && uses(j, functions[i].name);
    }
    for (int64_t k = 0; s->libm && k < KREIN__COUNT(standard); k++)
        krein__source_add(s, "#define %s(v) %s(v)\n", standard[k].name,
                          s->wide ? standard[k].wide : standard[k].narrow);
    if (s->libm) krein__source_add(s, "#define COS64(t) cos(6.283185307179586 * (t))\n");
    for (int64_t i = 0; i < KREIN__COUNT(functions); i++)
        if (used[i] && !(s->libm && functions[i].libm))
            functions[i].text ? krein__source_add(s, "%s\n", functions[i].text)
                              : add_double(s, text_of(i));
}
