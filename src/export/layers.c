/* layers.c -- scores of stacked layers (map/deep.h), in float or in codes
 *
 * Codes: the program does what num/codes.c does, in the same whole numbers. A layer's outputs are
 *     Q = sum_j w_j s_j,   u = top 16 bits of (a Q + column + row) modulo 1 turn,
 * and u has the codes of cosine and sine by a table of where they change. Scores are
 *     f_c = A_c (2 Q - M S) + B_c,   S the sum of the row's codes, M = 2^bits - 1,
 * exact up to the last step. Rows of 2 and 1 bits are bit planes in words of 32, and products of
 * planes are counts of ones; the first layer, whose rows have 8 bits, takes bytes. */
#include "export/source.h"

#include "map/deep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- codes of cosines and sines ----------------------------------------- */

enum { HALF = 32768, STEP = 64 };

/* edge[c]: where the code of cos(d / 65536 turns) falls below c, of c = 0 beyond all d; for 8 and 4
 * bits also the code at every STEP-th d, from which it falls so many times at most within a step.
 * As many comparisons are made, without branches: they would be guessed wrong. */
static krein_status wave_tables(krein_source *s, const krein_deep *deep) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    int top = (1 << deep->bits) - 1;
    float *turns = NULL;
    uint8_t *pairs = NULL, start[HALF / STEP + 1];
    int64_t edge[256];
    int most = 0;
    NEW(turns, HALF + 1);
    NEW(pairs, 2 * (HALF + 1));
    for (int d = 0; d <= HALF; d++) turns[d] = (float)d / 65536;
    krein__wave_codes_of(deep->table, HALF + 1, turns, pairs);
    edge[0] = UINT16_MAX;
    for (int k = 1; k <= top; k++) {
        int d = 0;
        while (d <= HALF && pairs[2 * d] >= k) d++;
        edge[k] = d;
    }
    for (int i = 0; i <= HALF / STEP; i++) start[i] = pairs[2 * i * STEP];
    for (int i = 0; i < HALF / STEP; i++)
        most = start[i] - start[i + 1] > most ? start[i] - start[i + 1] : most;
    krein__source_words(s, "uint16_t", 2, "edge", top + 1, edge);
    if (deep->bits >= 4) krein__source_bytes(s, "start", HALF / STEP + 1, start);
    krein__source_add(s,
                      "/* The code of the cosine of d / 65536 turns: it falls below c at edge c. "
                      "*/\n"
                      "static int cosine_code(uint32_t d) {\n");
    if (deep->bits >= 4) {
        krein__source_add(s, "    int c = start[d / %d];\n", STEP);
        for (int k = 0; k < most; k++) krein__source_add(s, "    c -= d >= edge[c];\n");
        krein__source_add(s, "    return c;\n}\n");
    } else {
        krein__source_add(s,
                          "    int c = 0, k;\n"
                          "    for (k = 1; k <= %d; k++) c += d < edge[k];\n"
                          "    return c;\n}\n",
                          top);
    }
    krein__source_add(s, "static uint32_t distance(uint32_t u) { return u > 32768 ? 65536 - u : u; "
                         "}\n");
done:
    krein__free(ctx, turns);
    krein__free(ctx, pairs);
    return st;
}

/* ---- products ----------------------------------------------------------- */

/* Rows of features are bit planes. */
static bool in_planes(const krein_model *m) {
    return krein__deep(m->map)->bits <= 2 && m->packed.unit && m->packed.codes.quant.bits <= 2;
}

static int64_t words(int64_t n) { return (n + 31) / 32; }

/* The codes of a layer or of the weights; planes: of each output the planes in words. */
static krein_status matrix(krein_source *s, const char *name, const krein_codes *w, bool planes) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    int bits = w->quant.bits;
    int64_t bytes = krein__packed_bytes(bits, w->inputs), W = words(w->inputs);
    uint8_t *code = NULL;
    int64_t *word = NULL;
    if (!planes) {
        krein__source_bytes(s, name, krein__codes_bytes(w), w->packed);
        return s->out.status;
    }
    NEW(code, w->inputs);
    ZNEW(word, w->outputs * bits * W);
    for (int64_t o = 0; o < w->outputs; o++) {
        krein__unpack(bits, w->inputs, w->packed + o * bytes, code);
        for (int p = 0; p < bits; p++)
            for (int64_t j = 0; j < w->inputs; j++)
                word[(o * bits + p) * W + j / 32] |= (int64_t)(code[j] >> p & 1) << j % 32;
    }
    krein__source_words(s, "uint32_t", 4, name, w->outputs * bits * W, word);
done:
    krein__free(ctx, code);
    krein__free(ctx, word);
    return st;
}

/* The expression of Q for output i: rows of `rows` bits in planes, or bytes. */
static void product_of(krein_source *s, const char *name, const krein_codes *w, int rows,
                       bool planes) {
    int bits = w->quant.bits;
    if (planes)
        krein__source_add(s, "planes_dot(%s + i * %lld, %d, s, %d, %lld)", name,
                          (long long)(bits * words(w->inputs)), bits, rows,
                          (long long)words(w->inputs));
    else
        krein__source_add(s, "dot%d(%s + i * %lld, s, %lld)", bits, name,
                          (long long)krein__packed_bytes(bits, w->inputs), (long long)w->inputs);
}

static void sum_of(krein_source *s, int rows, int64_t n, bool planes) {
    if (planes)
        krein__source_add(s, "    uint32_t sum = planes_sum(s, %d, %lld);\n", rows,
                          (long long)words(n));
    else
        krein__source_add(s, "    uint32_t sum = sum_bytes(s, %lld);\n", (long long)n);
}

static void layer_codes(krein_source *s, const krein_model *m, int64_t l) {
    const krein_deep *deep = krein__deep(m->map);
    const krein_deep_layer *at = &deep->layer[l];
    krein_phases p = krein__product_phases(at->product);
    bool planes = in_planes(m), from = planes && l > 0;
    const char *type = planes ? "uint32_t" : "uint8_t";
    int64_t W = words(2 * at->F);
    char name[32], column[32];
    snprintf(name, sizeof name, "layer%lld", (long long)l);
    snprintf(column, sizeof column, "column%lld", (long long)l);
    krein__source_add(s,
                      "static void waves%lld(const %s *s, %s *to) {\n"
                      "    int i%s;\n",
                      (long long)l, from ? "uint32_t" : "uint8_t", type,
                      planes && deep->bits > 1 ? ", b" : "");
    sum_of(s, deep->bits, at->in, from);
    krein__source_add(s, "    uint32_t row = (uint32_t)((UINT64_C(%llu) * sum) >> 32);\n",
                      (unsigned long long)p.row);
    if (planes)
        krein__source_add(s, "    for (i = 0; i < %lld; i++) to[i] = 0;\n",
                          (long long)(deep->bits * W));
    krein__source_add(s,
                      "    for (i = 0; i < %lld; i++) {\n"
                      "        uint32_t c, t, u = ",
                      (long long)at->F);
    product_of(s, name, &at->codes, deep->bits, from);
    krein__source_add(s,
                      ";\n"
                      "        u = UINT32_C(%lu) * u + (uint32_t)((UINT64_C(%lu) * u) >> 32) + "
                      "%s[i] + row + 0x8000;\n"
                      "        u >>= 16;\n"
                      "        c = (uint32_t)cosine_code(distance(u));\n"
                      "        t = (uint32_t)cosine_code(distance((u + 49152) & 65535));\n",
                      (unsigned long)(p.turn >> 32), (unsigned long)(p.turn & 0xffffffffu), column);
    if (!planes)
        krein__source_add(s, "        to[2 * i] = (uint8_t)c;\n"
                             "        to[2 * i + 1] = (uint8_t)t;\n");
    else if (deep->bits == 1)
        krein__source_add(s, "        to[i / 16] |= (c | t << 1) << (2 * (i %% 16));\n");
    else
        krein__source_add(s,
                          "        for (b = 0; b < %d; b++)\n"
                          "            to[%lld * b + i / 16] |= ((c >> b & 1) | (t >> b & 1) << 1) "
                          "<< (2 * (i %% 16));\n",
                          deep->bits, (long long)W);
    krein__source_add(s, "    }\n}\n\n");
}

/* ---- scores ------------------------------------------------------------- */

krein_status krein__source_packed(krein_source *s, const krein_model *m, bool planes) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    const krein_codes *w = &m->packed.codes;
    krein_map_codes rows = krein__map_codes(m->map);
    int64_t k = m->k, K = w->inputs, bytes = krein__packed_bytes(w->quant.bits, K);
    double *slope = NULL, *shift = NULL;
    uint8_t *code = NULL;
    NEW(slope, k);
    NEW(shift, k);
    NEW(code, K);
    for (int64_t c = 0; c < k; c++) {
        double unit = rows.factor * m->packed.unit[c] * w->quant.scale * rows.quant.scale, sum = 0;
        krein__unpack(w->quant.bits, K, w->packed + c * bytes, code);
        for (int64_t i = 0; i < K; i++) sum += (double)code[i];
        slope[c] = unit / 2;
        shift[c] = unit * rows.quant.zero * (sum + (double)K * w->quant.zero) + m->intercept[c];
    }
    TRY(matrix(s, "weight", w, planes));
    krein__source_doubles(s, "slope", k, slope);
    krein__source_doubles(s, "shift", k, shift);
    krein__source_add(s, "static void weigh(const %s *s, real *f) {\n    int i;\n",
                      planes ? "uint32_t" : "uint8_t");
    sum_of(s, rows.quant.bits, K, planes);
    krein__source_add(s, "    for (i = 0; i < SCORES; i++) {\n"
                         "        uint32_t q = ");
    product_of(s, "weight", w, rows.quant.bits, planes);
    krein__source_add(s,
                      ";\n"
                      "        f[i] = (real)(slope[i] * (double)(2 * (int64_t)q - %d * "
                      "(int64_t)sum) + shift[i]);\n"
                      "    }\n"
                      "}\n\n",
                      (1 << w->quant.bits) - 1);
    s->flops += 2 * (double)(K * k) / (planes ? 8 : 1);
done:
    krein__free(ctx, slope);
    krein__free(ctx, shift);
    krein__free(ctx, code);
    return st;
}

krein_status krein__source_weights(krein_source *s, const krein_model *m) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    krein_map_codes rows = krein__map_codes(m->map);
    int64_t k = m->k, K = m->map->R;
    double *weight = NULL, *shift = NULL;
    NEW(weight, K * k);
    NEW(shift, k);
    memcpy(shift, m->intercept, (size_t)k * sizeof *shift);
    for (int64_t e = 0; e < K * k; e++) {
        weight[e] = m->w[e] * rows.factor * rows.quant.scale / 2;
        shift[e % k] += weight[e] * (2 * rows.quant.zero + (1 << rows.quant.bits) - 1);
    }
    krein__source_reals(s, "weight", K * k, weight);
    krein__source_reals(s, "shift", k, shift);
    krein__source_add(s,
                      "static void weigh(const uint8_t *s, real *f) {\n"
                      "    int i, c;\n"
                      "    for (c = 0; c < SCORES; c++) f[c] = shift[c];\n"
                      "    for (i = 0; i < %lld; i++)\n"
                      "        for (c = 0; c < SCORES; c++) f[c] += weight[i * SCORES + c] * "
                      "(real)(2 * s[i] - %d);\n"
                      "}\n\n",
                      (long long)K, (1 << rows.quant.bits) - 1);
    s->flops += 3 * (double)(K * k);
done:
    krein__free(ctx, weight);
    krein__free(ctx, shift);
    return st;
}

void krein__source_row_codes(krein_source *s, const krein_quant *q, int64_t d, const float *unit) {
    if (unit) krein__source_floats(s, "unit", d, unit);
    krein__source_add(s,
                      "static void row_codes(const float *z, uint8_t *s) {\n"
                      "    int j;\n"
                      "    for (j = 0; j < COLUMNS; j++) {\n"
                      "        float x = z[j]%s;\n"
                      "        s[j] = byte_code((double)x / %.17g - (%.17g));\n"
                      "    }\n"
                      "}\n\n",
                      unit ? " * unit[j]" : "", q->scale, q->zero);
    s->flops += 6 * (double)d;
}

/* The largest row of features behind layers from, from + 2, ..., in elements of the rows' type. */
static int64_t room(const krein_model *m, int64_t from) {
    const krein_deep *deep = krein__deep(m->map);
    int64_t most = 0;
    for (int64_t l = from; l < deep->layers; l += 2)
        most = krein__max(most, in_planes(m) ? deep->bits * words(2 * deep->layer[l].F)
                                             : 2 * deep->layer[l].F);
    return most;
}

/* Layer l writes into a or b by turns; the last one into `last`. */
static void score_function(krein_source *s, const krein_model *m, const char *type, size_t size) {
    const krein_deep *deep = krein__deep(m->map);
    bool codes = deep->bits != KREIN_DEEP_FLOAT;
    int64_t L = deep->layers, a = room(m, 0), b = room(m, 1);
    krein__source_add(s, "static void score(const float *z, real *f) {\n");
    if (codes) krein__source_add(s, "    uint8_t x[COLUMNS];\n");
    krein__source_add(s, "    %s a[%lld];\n", type, (long long)a);
    if (L > 1) krein__source_add(s, "    %s b[%lld];\n", type, (long long)b);
    if (codes) krein__source_add(s, "    row_codes(z, x);\n");
    for (int64_t l = 0; l < L; l++)
        krein__source_add(s, "    waves%lld(%s, %s);\n", (long long)l,
                          l == 0  ? (codes ? "x" : "z")
                          : l % 2 ? "a"
                                  : "b",
                          l % 2 ? "b" : "a");
    krein__source_add(s, "    weigh(%s, f);\n}\n\n", L % 2 ? "a" : "b");
    s->stack += (double)size * (double)(a + b) + (codes ? (double)m->map->d : 0);
}

static krein_status in_codes(krein_source *s, const krein_model *m) {
    krein_status st = KREIN_OK;
    const krein_deep *deep = krein__deep(m->map);
    bool planes = in_planes(m);
    char name[32];
    TRY(wave_tables(s, deep));
    krein__source_row_codes(s, &deep->input, m->map->d, deep->unit);
    for (int64_t l = 0; l < deep->layers; l++) {
        const krein_deep_layer *at = &deep->layer[l];
        snprintf(name, sizeof name, "layer%lld", (long long)l);
        TRY(matrix(s, name, &at->codes, planes && l > 0));
        snprintf(name, sizeof name, "column%lld", (long long)l);
        krein__source_uint32(s, name, at->F, krein__product_phases(at->product).column);
        layer_codes(s, m, l);
        s->flops += (double)at->F * (2 * (double)at->in / (planes && l > 0 ? 8 : 1) + 30);
    }
    TRY(m->packed.unit ? krein__source_packed(s, m, planes) : krein__source_weights(s, m));
    score_function(s, m, planes ? "uint32_t" : "uint8_t", planes ? 4 : 1);
done:
    return st;
}

/* ---- in float ----------------------------------------------------------- */

static krein_status in_floats(krein_source *s, const krein_model *m) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    const krein_deep *deep = krein__deep(m->map);
    int64_t k = m->k, K = m->map->R;
    double factor = krein__deep_factor(m->map), *weight = NULL;
    float *turned = NULL;
    char name[32];
    for (int64_t l = 0; l < deep->layers; l++) {
        const krein_deep_layer *at = &deep->layer[l];
        snprintf(name, sizeof name, "layer%lld", (long long)l);
        NEW(turned, at->in * at->F);
        for (int64_t e = 0; e < at->in * at->F; e++)
            turned[e] = at->W[e % at->in * at->F + e / at->in];
        krein__source_floats(s, name, at->in * at->F, turned);
        krein__free(ctx, turned);
        turned = NULL;
        krein__source_add(s,
                          "static void waves%lld(const %s *s, real *to) {\n"
                          "    int i, j;\n"
                          "    for (i = 0; i < %lld; i++) {\n"
                          "        const float *w = %s + i * %lld;\n"
                          "        real t = 0;\n"
                          "        for (j = 0; j < %lld; j++) t += (real)w[j] * (real)s[j];\n"
                          "        wave(t, to + 2 * i, to + 2 * i + 1);\n"
                          "    }\n"
                          "}\n\n",
                          (long long)l, l == 0 ? "float" : "real", (long long)at->F, name,
                          (long long)at->in, (long long)at->in);
        s->flops += (double)at->F * (2 * (double)at->in + 30);
    }
    NEW(weight, K * k);
    for (int64_t e = 0; e < K * k; e++) weight[e] = factor * m->w[e];
    krein__source_intercept(s, m);
    krein__source_reals(s, "weight", K * k, weight);
    krein__source_add(s,
                      "static void weigh(const real *s, real *f) {\n"
                      "    int i, c;\n"
                      "    for (c = 0; c < SCORES; c++) f[c] = intercept[c];\n"
                      "    for (i = 0; i < %lld; i++)\n"
                      "        for (c = 0; c < SCORES; c++) f[c] += weight[i * SCORES + c] * "
                      "s[i];\n"
                      "}\n\n",
                      (long long)K);
    s->flops += 2 * (double)(K * k);
    score_function(s, m, "real", s->wide ? 8 : 4);
done:
    krein__free(ctx, weight);
    krein__free(ctx, turned);
    return st;
}

krein_status krein__source_layers(krein_source *s, const krein_model *m) {
    return krein__deep(m->map)->bits == KREIN_DEEP_FLOAT ? in_floats(s, m) : in_codes(s, m);
}
