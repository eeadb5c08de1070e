/* scores.c -- encoded row to scores: kernel values at rows, or a linear function (waves.c has the
 * others). */
#include "export/source.h"

#include "map/coded.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void krein__source_intercept(krein_source *s, const krein_model *m) {
    krein__source_reals(s, "intercept", m->k, m->intercept);
}

/* ---- kernel values ------------------------------------------------------ */

bool krein__source_has_kernel(const krein_kernel *k) {
    krein_kernel_source leaf;
    if (k->node == KREIN_NODE_LEAF)
        return k->kernel->source && k->kernel->source(k->values.number, &leaf);
    if (!krein__source_has_kernel(k->left)) return false;
    return k->node == KREIN_NODE_SCALE || krein__source_has_kernel(k->right);
}

/* "s" becomes the name of the leaf's own sum: it stands alone between other signs. */
static void add_value(krein_source *s, const char *value, const char *name) {
    for (const char *c = value; *c; c++) {
        bool alone = *c == 's' && (c == value || !strchr("abcdefghijklmnopqrstuvwxyz_", c[-1])) &&
                     !(c[1] >= 'a' && c[1] <= 'z');
        if (alone)
            krein__source_add(s, "%s", name);
        else
            krein__source_add(s, "%c", *c);
    }
}

/* The sums of all base kernels, one loop; *leaves: how many there are. */
static void sums(krein_source *s, const krein_kernel *k, int *leaves, bool declare) {
    krein_kernel_source leaf;
    if (k->node != KREIN_NODE_LEAF) {
        sums(s, k->left, leaves, declare);
        if (k->node != KREIN_NODE_SCALE) sums(s, k->right, leaves, declare);
        return;
    }
    if (!k->kernel->source(k->values.number, &leaf)) return;
    if (declare)
        krein__source_add(s, "%s s%d = 0", *leaves ? "," : "    real", *leaves);
    else
        krein__source_add(s, "        s%d += %s;\n", *leaves, leaf.add);
    ++*leaves;
}

static bool is_square(const krein_kernel_source *leaf) {
    return strcmp(leaf->add, KREIN_SOURCE_SQUARE) == 0;
}

static bool has_square(const krein_kernel *k) {
    krein_kernel_source leaf;
    if (k->node == KREIN_NODE_LEAF)
        return k->kernel->source(k->values.number, &leaf) && is_square(&leaf);
    return has_square(k->left) || (k->node != KREIN_NODE_SCALE && has_square(k->right));
}

/* leaves: the number of the next sum; NULL: sums are squared distances and inner products, which
 * all share. */
static void expression(krein_source *s, const krein_kernel *k, int *leaves) {
    krein_kernel_source leaf;
    char name[24];
    if (k->node == KREIN_NODE_LEAF) {
        if (!k->kernel->source(k->values.number, &leaf)) return;
        if (leaves)
            snprintf(name, sizeof name, "s%d", (*leaves)++);
        else
            snprintf(name, sizeof name, is_square(&leaf) ? "square" : "dot");
        add_value(s, leaf.value, name);
    } else if (k->node == KREIN_NODE_SCALE) {
        krein__source_add(s, "R(%.17g) * (", k->number);
        expression(s, k->left, leaves);
        krein__source_add(s, ")");
    } else {
        krein__source_add(s, "(");
        expression(s, k->left, leaves);
        krein__source_add(s, k->node == KREIN_NODE_SUM ? ") + (" : ") * (");
        expression(s, k->right, leaves);
        krein__source_add(s, ")");
    }
}

krein_status krein__source_values(krein_source *s, const krein_model *m) {
    krein_rows rows = krein__map_landmarks(m->map);
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    int64_t d = m->map->d, n = rows.n;
    float *at = NULL;
    int leaves = 0;
    NEW(at, n * d);
    for (int64_t i = 0; i < n; i++) krein__row_copy(&rows, i, at + i * d);
    krein__source_intercept(s, m);
    krein__source_floats(s, "row", n * d, at);
    krein__source_reals(s, "weight", n * m->k, m->w);
    krein__source_add(s, "static real kernel(const float *x, const float *y) {\n"
                         "    int j;\n");
    sums(s, m->map->kernel, &leaves, true);
    leaves = 0;
    krein__source_add(s, ";\n"
                         "    for (j = 0; j < COLUMNS; j++) {\n"
                         "        real a = x[j], b = y[j];\n");
    sums(s, m->map->kernel, &leaves, false);
    leaves = 0;
    krein__source_add(s, "    }\n"
                         "    return ");
    expression(s, m->map->kernel, &leaves);
    krein__source_add(s,
                      ";\n"
                      "}\n\n"
                      "static void score(const float *z, real *f) {\n"
                      "    int i, c;\n"
                      "    for (c = 0; c < SCORES; c++) f[c] = 0;\n"
                      "    for (i = 0; i < %lld; i++) {\n"
                      "        real value = kernel(z, row + i * COLUMNS);\n"
                      "        for (c = 0; c < SCORES; c++) f[c] += weight[i * SCORES + c] * "
                      "value;\n"
                      "    }\n"
                      "    for (c = 0; c < SCORES; c++) f[c] += intercept[c];\n"
                      "}\n\n",
                      (long long)n);
    s->flops += (double)n * (krein__gram_flops(m->map->kernel, d) + 2 * (double)m->k);
done:
    krein__free(ctx, at);
    return st;
}

/* ---- kernel values in codes --------------------------------------------- */

/* What map/coded.c does: inner products in whole numbers, kernel values in float, their codes. */
krein_status krein__source_coded(krein_source *s, const krein_model *m) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    const krein_coded *c = krein__coded(m->map);
    krein_rows rows = krein__map_landmarks(m->map);
    bool square = has_square(m->map->kernel);
    int64_t d = m->map->d, R = m->map->R, bytes = krein__packed_bytes(c->codes.quant.bits, d);
    int64_t block = krein__source_block(1, &R);
    krein_row_order from = {d, 0}, to = {R, 0};
    double factor = c->codes.quant.scale * c->input.scale;
    float *length = NULL, *column = NULL, *wide = NULL;
    uint8_t *code = NULL;
    NEW(length, R);
    NEW(column, R);
    NEW(wide, d);
    NEW(code, d);
    for (int64_t i = 0; i < R; i++) {
        double sum = 0, yy = 0;
        krein__row_copy(&rows, i, wide);
        krein__unpack(c->codes.quant.bits, d, c->codes.packed + i * bytes, code);
        for (int64_t j = 0; j < d; j++) sum += (double)code[j];
        for (int64_t j = 0; j < d; j++) yy += (double)wide[j] * (double)wide[j];
        column[i] = (float)(factor * c->input.zero * (sum + (double)d * c->codes.quant.zero));
        length[i] = (float)yy;
    }
    krein__source_add(s, "enum { BLOCK = %lld }; /* values at a time */\n", (long long)block);
    krein__source_row_codes(s, &c->input, &from, c->unit);
    TRY(krein__source_dots(s, "row", &c->codes, &from, block));
    krein__source_floats(s, "column", R, column);
    if (square) krein__source_floats(s, "length", R, length);
    TRY(m->packed.unit ? krein__source_packed(s, m, &to) : krein__source_weights(s, m, &to));
    krein__source_add(s,
                      "static void score(const float *z, real *f) {\n"
                      "    int16_t x[%lld], v[%lld];\n"
                      "    uint32_t q[BLOCK], sum = 0;\n"
                      "    int i;\n"
                      "    double add;\n",
                      (long long)krein__row_room(&from), (long long)krein__row_room(&to));
    if (square)
        krein__source_add(s, "    double xx = 0;\n"
                             "    int j;\n");
    krein__source_add(s,
                      "    row_codes(z, x);\n"
                      "    for (i = 0; i < COLUMNS; i++) sum += (uint32_t)x[i];\n"
                      "    add = %.17g * (double)sum;\n",
                      c->codes.quant.zero);
    if (square)
        krein__source_add(s,
                          "    for (j = 0; j < COLUMNS; j++) {\n"
                          "        double a = unit[j] > 0 ? %.17g * ((double)x[j] - %.17g) / "
                          "(double)unit[j] : 0;\n"
                          "        xx += a * a;\n"
                          "    }\n",
                          c->input.scale, -c->input.zero);
    krein__source_add(s,
                      "    for (i = 0; i < %lld; i++) {\n"
                      "        real dot;\n",
                      (long long)R);
    if (square) krein__source_add(s, "        real square;\n");
    krein__source_add(s,
                      "        if (i %% BLOCK == 0) row_dots(i, x, q);\n"
                      "        dot = (real)(%.17g * ((double)q[i %% BLOCK] + add) + "
                      "(double)column[i]);\n",
                      factor);
    if (square)
        krein__source_add(s, "        square = (real)xx + length[i] - 2 * dot;\n"
                             "        if (square < 0) square = 0;\n");
    krein__source_add(s, "        v[i] = byte_code((double)(");
    expression(s, m->map->kernel, NULL);
    krein__source_add(s,
                      ") * %.17g - (%.17g));\n"
                      "    }\n",
                      1 / c->value.scale, c->value.zero);
    if (krein__row_room(&to) > R)
        krein__source_add(s, "    for (i = %lld; i < %lld; i++) v[i] = 0;\n", (long long)R,
                          (long long)krein__row_room(&to));
    krein__source_add(s, "    weigh(v, f);\n"
                         "}\n\n");
    s->flops += (double)R * (krein__gram_flops(m->map->kernel, d) + 6);
    s->stack += 2 * (double)(krein__row_room(&from) + krein__row_room(&to)) + 6 * (double)block;
done:
    krein__free(ctx, length);
    krein__free(ctx, column);
    krein__free(ctx, wide);
    krein__free(ctx, code);
    return st;
}

/* ---- linear ------------------------------------------------------------- */

krein_status krein__source_try(krein_ctx *ctx, const krein_model *m, int64_t n, const float *x,
                               double *out) {
    krein_status st = KREIN_OK;
    int64_t d = m->map->d, *ptr = NULL;
    int32_t *col = NULL;
    krein_predictor p = {0};
    krein_rows rows = krein__rows_dense(n, d, x, d);
    TRY(krein__predictor_begin(ctx, m, &p));
    if (m->map->sparse) { /* all entries are there */
        NEW(ptr, n + 1);
        NEW(col, n * d);
        for (int64_t i = 0; i <= n; i++) ptr[i] = i * d;
        for (int64_t e = 0; e < n * d; e++) col[e] = (int32_t)(e % d);
        rows = (krein_rows){.n = n, .d = d, .ptr = ptr, .col = col, .val = x};
    }
    krein__predictor_run(&p, &rows, out);
done:
    krein__predictor_end(&p);
    krein__free(ctx, ptr);
    krein__free(ctx, col);
    return st;
}

/* The scores of zero and of unit vectors say all. */
krein_status krein__source_linear(krein_source *s, const krein_model *m) {
    krein_ctx *ctx = s->out.ctx;
    krein_status st = KREIN_OK;
    int64_t d = m->map->d, k = m->k;
    float *x = NULL;
    double *zero = NULL, *weight = NULL;
    ZNEW(x, d);
    NEW(zero, k);
    NEW(weight, d * k);
    TRY(krein__source_try(ctx, m, 1, x, zero));
    for (int64_t j = 0; j < d; j++) {
        x[j] = 1;
        TRY(krein__source_try(ctx, m, 1, x, weight + j * k));
        x[j] = 0;
        for (int64_t c = 0; c < k; c++) weight[j * k + c] -= zero[c];
    }
    krein__source_intercept(s, m);
    krein__source_reals(s, "weight", d * k, weight);
    krein__source_add(s, "static void score(const float *z, real *f) {\n"
                         "    int j, c;\n"
                         "    for (c = 0; c < SCORES; c++) f[c] = intercept[c];\n"
                         "    for (j = 0; j < COLUMNS; j++)\n"
                         "        for (c = 0; c < SCORES; c++) f[c] += weight[j * SCORES + c] * "
                         "(real)z[j];\n"
                         "}\n\n");
    s->flops += 2 * (double)(d * k);
done:
    krein__free(ctx, x);
    krein__free(ctx, zero);
    krein__free(ctx, weight);
    return st;
}
