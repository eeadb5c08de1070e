/* scores.c -- encoded row to scores: waves, kernel values at rows, or a linear function. */
#include "export/source.h"

#include "map/waves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void krein__source_intercept(krein_source *s, const krein_model *m) {
    krein__source_reals(s, "intercept", m->k, m->intercept);
}

/* ---- waves -------------------------------------------------------------- */

/* Weights of the cosines and sines: n x k. feature: the raw feature that each belongs to. */
static bool wave_weights(const krein_model *m, const krein_waves *w, const int64_t *feature,
                         double *out) {
    bool any = false;
    for (int64_t f = 0; f < w->F; f++)
        for (int64_t c = 0; c < m->k; c++) {
            out[f * m->k + c] =
                feature[f] < 0 ? 0 : (double)w->factor[f] * m->w[feature[f] * m->k + c];
            any = any || feature[f] >= 0;
        }
    return any;
}

krein_status krein__source_waves(krein_source *s, const krein_model *m) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    krein_waves w = {0};
    double *weight = NULL;
    bool phase = false, sine, cosine;
    int64_t d = m->map->d, k = m->k;
    TRY(krein__map_waves(ctx, m->map, &w));
    NEW(weight, w.F * k);
    for (int64_t f = 0; f < w.F; f++) phase = phase || w.phase[f] != 0;
    krein__source_intercept(s, m);
    krein__source_floats(s, "turns", w.F * d, w.turns);
    if (phase) krein__source_floats(s, "phase", w.F, w.phase);
    cosine = wave_weights(m, &w, w.cosine, weight);
    if (cosine) krein__source_reals(s, "weight_cosine", w.F * k, weight);
    sine = wave_weights(m, &w, w.sine, weight);
    if (sine) krein__source_reals(s, "weight_sine", w.F * k, weight);
    if (w.unit > 0) krein__source_floats(s, "wave_factor", w.F, w.factor);
    krein__source_add(s,
                      "static void score(const float *z, real *f) {\n"
                      "    int i, j, c;\n"
                      "    real cosine, sine%s;\n"
                      "    for (c = 0; c < SCORES; c++) f[c] = 0;\n"
                      "    for (i = 0; i < %lld; i++) {\n"
                      "        const float *w = turns + i * COLUMNS;\n"
                      "        real t = %s;\n"
                      "        for (j = 0; j < COLUMNS; j++) t += (real)w[j] * (real)z[j];\n"
                      "        wave(t, &cosine, &sine);\n"
                      "        for (c = 0; c < SCORES; c++)\n"
                      "            f[c] += %s%s%s;\n",
                      w.unit > 0 ? ", square = 0" : "", (long long)w.F, phase ? "phase[i]" : "0",
                      cosine ? "weight_cosine[i * SCORES + c] * cosine" : "",
                      cosine && sine ? " + " : "",
                      sine ? "weight_sine[i * SCORES + c] * sine" : "");
    if (w.unit > 0)
        krein__source_add(s,
                          "        square += (real)wave_factor[i] * (real)wave_factor[i] * %s;\n",
                          sine ? "(cosine * cosine + sine * sine)" : "cosine * cosine");
    krein__source_add(s, "    }\n");
    if (w.unit > 0)
        krein__source_add(s,
                          "    square = square > 0 ? SQRT(R(%.17g) / square) : 0;\n"
                          "    for (c = 0; c < SCORES; c++) f[c] *= square;\n",
                          w.unit);
    krein__source_add(s, "    for (c = 0; c < SCORES; c++) f[c] += intercept[c];\n"
                         "}\n\n");
    s->flops += (double)w.F * (2 * (double)d + 30 + 4 * (double)k);
done:
    krein__waves_clear(ctx, &w);
    krein__free(ctx, weight);
    return st;
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
static void add_value(krein_source *s, const char *value, int leaf) {
    for (const char *c = value; *c; c++) {
        bool alone = *c == 's' && (c == value || !strchr("abcdefghijklmnopqrstuvwxyz_", c[-1])) &&
                     !(c[1] >= 'a' && c[1] <= 'z');
        if (alone)
            krein__source_add(s, "s%d", leaf);
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

static void expression(krein_source *s, const krein_kernel *k, int *leaves) {
    krein_kernel_source leaf;
    if (k->node == KREIN_NODE_LEAF) {
        if (k->kernel->source(k->values.number, &leaf)) add_value(s, leaf.value, (*leaves)++);
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
    krein_ctx *ctx = s->ctx;
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
    krein_ctx *ctx = s->ctx;
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
