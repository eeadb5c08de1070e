/* layers.c -- scores of stacked layers (map/deep.h), in float or in codes
 *
 * Codes: the program does what num/codes.c does, in the same whole numbers. A layer's outputs are
 *     Q = sum_j w_j s_j,   u = top 16 bits of (a Q + column + row) modulo 1 turn,
 * and u has the codes of cosine and sine by a table (cosines.c). Scores are
 *     f_c = A_c (2 Q - M S) + B_c,   S the sum of the row's codes, M = 2^bits - 1,
 * exact up to the last step. Features of a layer are computed BLOCK outputs at a time, and stand as
 * so many cosines and then their sines. Rows of 2 and 1 bits are bit planes in words of 32, and
 * products of planes are counts of ones; the first layer, whose rows have 8 bits, takes those. */
#include "export/source.h"

#include "map/deep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rows of features are bit planes. */
static bool in_planes(const krein_model *m) {
    return krein__deep(m->map)->bits <= 2 && m->packed.unit && m->packed.codes.quant.bits <= 2;
}

static int64_t words(int64_t n) { return krein__plane_words(n); }

/* What layer l takes: codes of columns, or of the features of the layer before. */
static krein_row_order order_of(const krein_deep *deep, int64_t l, int64_t block) {
    return (krein_row_order){deep->layer[l].in, l > 0 ? block : 0};
}

/* uint32_t sum of the codes of a row. */
static void sum_of(krein_source *s, const krein_row_order *order) {
    krein__source_add(s, "    for (i = 0; i < %lld; i++) sum += (uint32_t)s[i];\n",
                      (long long)krein__row_room(order));
}

static void planes_sum_of(krein_source *s, int bits, int64_t n) {
    krein__source_add(s, "    sum = planes_sum(s, %d, %lld);\n", bits, (long long)words(n));
}

/* ---- layers in codes ---------------------------------------------------- */

static void row_of(krein_source *s, const krein_phases *p) {
    krein__source_add(s, "    row = (uint32_t)((UINT64_C(%llu) * sum) >> 32) + 0x8000;\n",
                      (unsigned long long)p->row);
}

/* u of product q and output i. */
static void turn_of(krein_source *s, const krein_phases *p, int64_t l, const char *q,
                    const char *i) {
    krein__source_add(s, "((uint32_t)((UINT64_C(%llu) * %s) >> 32) + column%lld[%s] + row) >> 16",
                      (unsigned long long)p->turn, q, (long long)l, i);
}

static void layer_codes(krein_source *s, const krein_deep *deep, int64_t l, int64_t block) {
    const krein_deep_layer *at = &deep->layer[l];
    krein_phases p = krein__product_phases(at->product);
    krein_row_order from = order_of(deep, l, block), to = {2 * at->F, block};
    int64_t end = krein__row_room(&to) / 2;
    krein__source_add(s,
                      "static void waves%lld(const int16_t *s, int16_t *to) {\n"
                      "    uint32_t q[BLOCK], sum = 0, row;\n"
                      "    uint16_t u[BLOCK];\n"
                      "    int i, k;\n",
                      (long long)l);
    sum_of(s, &from);
    row_of(s, &p);
    krein__source_add(s,
                      "    for (i = 0; i < %lld; i += BLOCK) {\n"
                      "        layer%lld_dots(i, s, q);\n"
                      "        for (k = 0; k < BLOCK; k++)\n"
                      "            u[k] = (uint16_t)(",
                      (long long)end, (long long)l);
    turn_of(s, &p, l, "q[k]", "i + k");
    krein__source_add(s, ");\n"
                         "        wave_codes(u, to + 2 * i);\n"
                         "    }\n");
    if (end > at->F)
        krein__source_add(s, "    for (i = %lld; i < %lld; i++) to[i] = to[i + BLOCK] = 0;\n",
                          (long long)krein__row_place(&to, 2 * (at->F - 1)) + 1,
                          (long long)(2 * end - block));
    krein__source_add(s, "}\n\n");
}

static void layer_planes(krein_source *s, const krein_deep *deep, int64_t l) {
    const krein_deep_layer *at = &deep->layer[l];
    krein_phases p = krein__product_phases(at->product);
    krein_row_order from = order_of(deep, l, 0);
    int64_t W = words(2 * at->F);
    char name[32];
    snprintf(name, sizeof name, "layer%lld", (long long)l);
    krein__source_add(s,
                      "static void waves%lld(const %s *s, uint32_t *to) {\n"
                      "    uint32_t %ssum = 0, row;\n"
                      "    int i%s;\n",
                      (long long)l, l ? "uint32_t" : "int16_t", l ? "" : "q[BLOCK], ",
                      deep->bits > 1 ? ", b" : "");
    l ? planes_sum_of(s, deep->bits, at->in) : sum_of(s, &from);
    row_of(s, &p);
    krein__source_add(s,
                      "    for (i = 0; i < %lld; i++) to[i] = 0;\n"
                      "    for (i = 0; i < %lld; i++) {\n"
                      "        uint32_t c, t, u;\n",
                      (long long)(deep->bits * W), (long long)at->F);
    if (l) {
        krein__source_add(s, "        u = ");
        krein__source_planes_dot(s, name, &at->codes, deep->bits);
        krein__source_add(s, ";\n");
    } else
        krein__source_add(s, "        if (i %% BLOCK == 0) layer0_dots(i, s, q);\n"
                             "        u = q[i %% BLOCK];\n");
    krein__source_add(s, "        u = ");
    turn_of(s, &p, l, "u", "i");
    krein__source_add(s, ";\n"
                         "        c = cosine_code(u);\n"
                         "        t = cosine_code(u + 49152);\n");
    if (deep->bits == 1)
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

krein_status krein__source_packed(krein_source *s, const krein_model *m,
                                  const krein_row_order *order) {
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
    TRY(order ? krein__source_dot(s, "weight", w, order) : krein__source_planes(s, "weight", w));
    krein__source_doubles(s, "slope", k, slope);
    krein__source_doubles(s, "shift", k, shift);
    krein__source_add(s,
                      "static void weigh(const %s *s, real *f) {\n"
                      "    uint32_t q, sum = 0;\n"
                      "    int i;\n",
                      order ? "int16_t" : "uint32_t");
    order ? sum_of(s, order) : planes_sum_of(s, rows.quant.bits, K);
    krein__source_add(s, "    for (i = 0; i < SCORES; i++) {\n"
                         "        q = ");
    if (order)
        krein__source_add(s, "weight_dot(i, s)");
    else
        krein__source_planes_dot(s, "weight", w, rows.quant.bits);
    krein__source_add(s,
                      ";\n"
                      "        f[i] = (real)(slope[i] * (double)(2 * (int64_t)q - %d * "
                      "(int64_t)sum) + shift[i]);\n"
                      "    }\n"
                      "}\n\n",
                      (1 << w->quant.bits) - 1);
    s->flops += 2 * (double)(K * k) / (order ? 1 : 8);
done:
    krein__free(ctx, slope);
    krein__free(ctx, shift);
    krein__free(ctx, code);
    return st;
}

krein_status krein__source_weights(krein_source *s, const krein_model *m,
                                   const krein_row_order *order) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    krein_map_codes rows = krein__map_codes(m->map);
    int64_t k = m->k, K = m->map->R, room = krein__row_room(order);
    double *weight = NULL, *shift = NULL;
    ZNEW(weight, room * k);
    NEW(shift, k);
    memcpy(shift, m->intercept, (size_t)k * sizeof *shift);
    for (int64_t e = 0; e < K * k; e++) {
        double w = m->w[e] * rows.factor * rows.quant.scale / 2;
        weight[krein__row_place(order, e / k) * k + e % k] = w;
        shift[e % k] += w * (2 * rows.quant.zero + (1 << rows.quant.bits) - 1);
    }
    krein__source_reals(s, "weight", room * k, weight);
    krein__source_reals(s, "shift", k, shift);
    krein__source_add(s,
                      "static void weigh(const int16_t *s, real *f) {\n"
                      "    int i, c;\n"
                      "    for (c = 0; c < SCORES; c++) f[c] = shift[c];\n"
                      "    for (i = 0; i < %lld; i++)\n"
                      "        for (c = 0; c < SCORES; c++) f[c] += weight[i * SCORES + c] * "
                      "(real)(2 * s[i] - %d);\n"
                      "}\n\n",
                      (long long)room, (1 << rows.quant.bits) - 1);
    s->flops += 3 * (double)(K * k);
done:
    krein__free(ctx, weight);
    krein__free(ctx, shift);
    return st;
}

void krein__source_row_codes(krein_source *s, const krein_quant *q, const krein_row_order *order,
                             const float *unit) {
    int64_t d = order->n, room = krein__row_room(order);
    if (unit) krein__source_floats(s, "unit", d, unit);
    krein__source_add(s,
                      "static void row_codes(const float *z, int16_t *s) {\n"
                      "    int j;\n"
                      "    for (j = 0; j < COLUMNS; j++) {\n"
                      "        float x = z[j]%s;\n"
                      "        s[j] = byte_code((double)x / %.17g - (%.17g));\n"
                      "    }\n",
                      unit ? " * unit[j]" : "", q->scale, q->zero);
    if (room > d)
        krein__source_add(s, "    for (j = COLUMNS; j < %lld; j++) s[j] = 0;\n", (long long)room);
    krein__source_add(s, "}\n\n");
    s->flops += 6 * (double)d;
}

/* Where the features of layer l lie. */
typedef struct rows_of {
    const char *type;
    size_t size;
    int64_t block; /* 0: bit planes, or in float */
} rows_of;

static int64_t room_of(const krein_model *m, const rows_of *rows, int64_t l) {
    const krein_deep *deep = krein__deep(m->map);
    krein_row_order order = {2 * deep->layer[l].F, rows->block};
    if (rows->block) return krein__row_room(&order);
    return in_planes(m) ? deep->bits * words(order.n) : order.n;
}

/* The largest row of features behind layers from, from + 2, ..., in elements of the rows' type. */
static int64_t room(const krein_model *m, const rows_of *rows, int64_t from) {
    int64_t most = 0;
    for (int64_t l = from; l < krein__deep(m->map)->layers; l += 2)
        most = krein__max(most, room_of(m, rows, l));
    return most;
}

/* Layer l writes into a or b by turns; the last one into `last`. */
static void score_function(krein_source *s, const krein_model *m, const rows_of *rows) {
    const krein_deep *deep = krein__deep(m->map);
    bool codes = deep->bits != KREIN_DEEP_FLOAT;
    krein_row_order first = {m->map->d, 0};
    int64_t L = deep->layers, a = room(m, rows, 0), b = room(m, rows, 1);
    krein__source_add(s, "static void score(const float *z, real *f) {\n");
    if (codes) krein__source_add(s, "    int16_t x[%lld];\n", (long long)krein__row_room(&first));
    krein__source_add(s, "    %s a[%lld];\n", rows->type, (long long)a);
    if (L > 1) krein__source_add(s, "    %s b[%lld];\n", rows->type, (long long)b);
    if (codes) krein__source_add(s, "    row_codes(z, x);\n");
    for (int64_t l = 0; l < L; l++)
        krein__source_add(s, "    waves%lld(%s, %s);\n", (long long)l,
                          l == 0  ? (codes ? "x" : "z")
                          : l % 2 ? "a"
                                  : "b",
                          l % 2 ? "b" : "a");
    krein__source_add(s, "    weigh(%s, f);\n}\n\n", L % 2 ? "a" : "b");
    s->stack +=
        (double)rows->size * (double)(a + b) + (codes ? 2 * (double)krein__row_room(&first) : 0);
}

/* What is added to the outputs, zero behind them. */
static krein_status column_of(krein_source *s, const krein_deep *deep, int64_t l, int64_t block) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    const krein_deep_layer *at = &deep->layer[l];
    krein_row_order order = {2 * at->F, block};
    int64_t n = block ? krein__row_room(&order) / 2 : at->F;
    uint32_t *column = NULL;
    char name[32];
    snprintf(name, sizeof name, "column%lld", (long long)l);
    ZNEW(column, n);
    memcpy(column, krein__product_phases(at->product).column, (size_t)at->F * sizeof *column);
    krein__source_uint32(s, name, n, column);
done:
    krein__free(ctx, column);
    return st;
}

static krein_status in_codes(krein_source *s, const krein_model *m) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    const krein_deep *deep = krein__deep(m->map);
    bool planes = in_planes(m);
    krein_row_order first = {m->map->d, 0}, last;
    rows_of rows = {planes ? "uint32_t" : "int16_t", planes ? 4 : 2, 0};
    int64_t *outputs = NULL, block;
    char name[32];
    NEW(outputs, deep->layers);
    for (int64_t l = 0; l < deep->layers; l++) outputs[l] = deep->layer[l].F;
    block = krein__source_block(planes ? 1 : deep->layers, outputs);
    krein__source_add(s, "enum { BLOCK = %lld }; /* outputs of a layer at a time */\n",
                      (long long)block);
    if (!planes) rows.block = block;
    last = (krein_row_order){2 * deep->layer[deep->layers - 1].F, rows.block};
    TRY(krein__source_wave_codes(s, deep->bits, deep->table, planes));
    krein__source_row_codes(s, &deep->input, &first, deep->unit);
    for (int64_t l = 0; l < deep->layers; l++) {
        const krein_deep_layer *at = &deep->layer[l];
        krein_row_order order = order_of(deep, l, rows.block);
        snprintf(name, sizeof name, "layer%lld", (long long)l);
        TRY(planes && l > 0 ? krein__source_planes(s, name, &at->codes)
                            : krein__source_dots(s, name, &at->codes, &order, block));
        TRY(column_of(s, deep, l, rows.block));
        planes ? layer_planes(s, deep, l) : layer_codes(s, deep, l, block);
        s->flops += (double)at->F * (2 * (double)at->in / (planes && l > 0 ? 8 : 1) + 30);
    }
    TRY(m->packed.unit ? krein__source_packed(s, m, planes ? NULL : &last)
                       : krein__source_weights(s, m, &last));
    score_function(s, m, &rows);
    s->stack += 16 * (double)block; /* of a layer */
done:
    krein__free(ctx, outputs);
    return st;
}

/* ---- in float ----------------------------------------------------------- */

static krein_status in_floats(krein_source *s, const krein_model *m) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    const krein_deep *deep = krein__deep(m->map);
    int64_t k = m->k, K = m->map->R;
    double factor = krein__deep_factor(m->map), *weight = NULL;
    rows_of rows = {"real", s->wide ? 8 : 4, 0};
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
    score_function(s, m, &rows);
done:
    krein__free(ctx, weight);
    krein__free(ctx, turned);
    return st;
}

krein_status krein__source_layers(krein_source *s, const krein_model *m) {
    return krein__deep(m->map)->bits == KREIN_DEEP_FLOAT ? in_floats(s, m) : in_codes(s, m);
}
