/* products.c -- rows of codes, and their products with matrices of codes
 *     Q_i = sum_j w_ij s_j
 * in loops that compilers make vector instructions of without being asked: gcc -O2 does so where a
 * loop has a fixed number of steps, a multiple of 16, and nothing that could overlap.
 *
 * A row is in words of 16 bits, with zeros behind it: a word times a byte, added up in 32 bits, is
 * one instruction (pmaddwd, SMLAD). Codes of 4, 2 and 1 bits are not packed as neighbours but as
 * parts of a row that lie far apart, so that parts of 16 bytes belong to 16 words in order. */
#include "export/source.h"

enum { ROW = 32, FEW = 64 };

static int64_t up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

int64_t krein__source_block(int64_t n, const int64_t *outputs) {
    int64_t more = 0, less = 0;
    for (int64_t l = 0; l < n; l++) {
        more += up(outputs[l], 64);
        less += up(outputs[l], 32);
    }
    return more > less ? 32 : 64;
}

int64_t krein__row_room(const krein_row_order *r) {
    return r->block ? 2 * up(r->n / 2, r->block) : up(r->n, ROW);
}

int64_t krein__row_place(const krein_row_order *r, int64_t j) {
    if (!r->block) return j;
    int64_t wave = j / 2;
    return wave / r->block * 2 * r->block + j % 2 * r->block + wave % r->block;
}

/* Code p of byte w[at], of 4, 2 or 1 bits. */
static void part(krein_source *s, int bits, int p, char at) {
    krein__source_add(s, "(w[%c]", at);
    if (p > 0) krein__source_add(s, " >> %d", p * bits);
    if ((p + 1) * bits < 8) krein__source_add(s, " & %d", (1 << bits) - 1);
    krein__source_add(s, ")");
}

/* Bytes are taken from both halves of the row at a time: one sum need not wait for the other. */
static void dot_function(krein_source *s, const char *name, int bits, long long bytes) {
    int sums = bits == 8 ? 2 : 8 / bits;
    long long steps = bits == 8 ? bytes / 2 : bytes;
    krein__source_add(s,
                      "static uint32_t %s_dot(int i, const int16_t *s) {\n"
                      "    const unsigned char *w = %s + i * %lld;\n"
                      "    int32_t sum[%d] = {0};\n"
                      "    int j;\n"
                      "    for (j = 0; j < %lld; j++) {\n",
                      name, name, bytes, sums, steps);
    for (int p = 0; p < sums; p++) {
        krein__source_add(s, "        sum[%d] += ", p);
        if (bits == 8)
            krein__source_add(s, "w[j + %lld]", p * steps);
        else
            part(s, bits, p, 'j');
        krein__source_add(s, " * s[j + %lld];\n", p * steps);
    }
    krein__source_add(s, "    }\n    return ");
    for (int p = 0; p < sums; p++) krein__source_add(s, "%s(uint32_t)sum[%d]", p ? " + " : "", p);
    krein__source_add(s, ";\n}\n");
}

/* Of each output its row of `bytes`: byte j has the codes of inputs j, j + bytes, ... */
krein_status krein__source_dot(krein_source *s, const char *name, const krein_codes *w,
                               const krein_row_order *order) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    int bits = w->quant.bits, parts = 8 / bits;
    int64_t bytes = krein__row_room(order) / parts, stride = krein__packed_bytes(bits, w->inputs);
    uint8_t *code = NULL, *all = NULL;
    NEW(code, w->inputs);
    ZNEW(all, w->outputs * bytes);
    for (int64_t o = 0; o < w->outputs; o++) {
        krein__unpack(bits, w->inputs, w->packed + o * stride, code);
        for (int64_t j = 0; j < w->inputs; j++) {
            int64_t at = krein__row_place(order, j);
            all[o * bytes + at % bytes] |= (uint8_t)(code[j] << (at / bytes * bits));
        }
    }
    krein__source_bytes(s, name, w->outputs * bytes, all);
    dot_function(s, name, bits, bytes);
done:
    krein__free(ctx, code);
    krein__free(ctx, all);
    return st;
}

/* Few inputs: of each block of outputs, for one input after the other, the codes of all of them. A
 * product of two bytes has 16 bits: it is added up in 32. */
static void few_bytes(krein_source *s, long long inputs, long long bytes) {
    krein__source_add(s,
                      "    for (k = 0; k < BLOCK; k++) q[k] = (uint16_t)(w[k] * (uint8_t)s[0]);\n"
                      "    for (j = 1; j < %lld; j++) {\n"
                      "        const uint8_t x = (uint8_t)s[j];\n"
                      "        w += %lld;\n"
                      "        for (k = 0; k < BLOCK; k++) q[k] += (uint16_t)(w[k] * x);\n"
                      "    }\n",
                      inputs, bytes);
}

/* Products of fewer bits: sums of `most` of them have 16 bits too. */
static void few_parts(krein_source *s, int bits, long long inputs, long long bytes) {
    int most = 65535 / (255 * ((1 << bits) - 1));
    bool once = inputs <= most;
    krein__source_add(s, "    uint16_t sum[BLOCK];\n");
    if (!once)
        krein__source_add(s,
                          "    int end;\n"
                          "    for (k = 0; k < BLOCK; k++) q[k] = 0;\n"
                          "    for (end = %d; end < %lld; end += %d) {\n",
                          most, inputs + most, most);
    krein__source_add(s, "    for (k = 0; k < BLOCK; k++) sum[k] = 0;\n");
    if (once)
        krein__source_add(s, "    for (j = 0; j < %lld; j++, w += %lld) {\n", inputs, bytes);
    else
        krein__source_add(s, "    for (j = end - %d; j < end && j < %lld; j++, w += %lld) {\n",
                          most, inputs, bytes);
    krein__source_add(s,
                      "        const uint8_t x = (uint8_t)s[j];\n"
                      "        for (k = 0; k < %lld; k++) {\n",
                      bytes);
    for (int p = 0; p < 8 / bits; p++) {
        krein__source_add(s, "            sum[k + %lld] = (uint16_t)(sum[k + %lld] + ", p * bytes,
                          p * bytes);
        part(s, bits, p, 'k');
        krein__source_add(s, " * x);\n");
    }
    krein__source_add(s,
                      "        }\n"
                      "    }\n"
                      "    for (k = 0; k < BLOCK; k++) q[k] %s sum[k];\n"
                      "%s",
                      once ? "=" : "+=", once ? "" : "    }\n");
}

static krein_status few(krein_source *s, const char *name, const krein_codes *w, int64_t block) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    int bits = w->quant.bits;
    int64_t bytes = block * bits / 8, n = up(w->outputs, block) * bits / 8 * w->inputs;
    int64_t stride = krein__packed_bytes(bits, w->inputs);
    uint8_t *code = NULL, *all = NULL;
    NEW(code, w->inputs);
    ZNEW(all, n);
    for (int64_t o = 0; o < w->outputs; o++) {
        int64_t in = o % block;
        krein__unpack(bits, w->inputs, w->packed + o * stride, code);
        for (int64_t j = 0; j < w->inputs; j++)
            all[(o / block * w->inputs + j) * bytes + in % bytes] |=
                (uint8_t)(code[j] << (in / bytes * bits));
    }
    krein__source_bytes(s, name, n, all);
    krein__source_add(s,
                      "static void %s_dots(int i, const int16_t *s, uint32_t *q) {\n"
                      "    const unsigned char *w = %s + i / BLOCK * %lld;\n"
                      "    int j, k;\n",
                      name, name, (long long)(w->inputs * bytes));
    bits == 8 ? few_bytes(s, w->inputs, bytes) : few_parts(s, bits, w->inputs, bytes);
    krein__source_add(s, "}\n");
done:
    krein__free(ctx, code);
    krein__free(ctx, all);
    return st;
}

krein_status krein__source_dots(krein_source *s, const char *name, const krein_codes *w,
                                const krein_row_order *order, int64_t block) {
    krein_status st = KREIN_OK;
    if (!order->block && w->inputs < FEW) return few(s, name, w, block);
    TRY(krein__source_dot(s, name, w, order));
    krein__source_add(
        s,
        "static void %s_dots(int i, const int16_t *s, uint32_t *q) {\n"
        "    int k;\n"
        "    for (k = 0; k < BLOCK; k++) q[k] = i + k < %lld ? %s_dot(i + k, s) : 0;\n"
        "}\n",
        name, (long long)w->outputs, name);
done:
    return st;
}

/* ---- bit planes --------------------------------------------------------- */

int64_t krein__plane_words(int64_t n) { return (n + 31) / 32; }

/* The codes of a layer or of the weights, of each output the planes in words. */
krein_status krein__source_planes(krein_source *s, const char *name, const krein_codes *w) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    int bits = w->quant.bits;
    int64_t bytes = krein__packed_bytes(bits, w->inputs), W = krein__plane_words(w->inputs);
    uint8_t *code = NULL;
    int64_t *word = NULL;
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

/* The expression of Q for output i of planes; the row has `rows` bits. */
void krein__source_planes_dot(krein_source *s, const char *name, const krein_codes *w, int rows) {
    int bits = w->quant.bits;
    krein__source_add(s, "planes_dot(%s + i * %lld, %d, s, %d, %lld)", name,
                      (long long)(bits * krein__plane_words(w->inputs)), bits, rows,
                      (long long)krein__plane_words(w->inputs));
}
