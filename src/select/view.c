/* view.c -- labels as columns, and what the two kinds of views share. */
#include "select/view.h"

#include "stream/together.h"
#include "num/blas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

krein_status krein__labels_begin(krein_ctx *ctx, int64_t n, int64_t k, int64_t classes,
                                 krein_labels *l) {
    krein_status st = KREIN_OK;
    memset(l, 0, sizeof *l);
    l->n = n;
    l->k = k;
    l->classes = classes;
    l->m = (classes ? classes : k) + 1;
    ZNEW(l->mean, l->m);
    ZNEW(l->target, krein__max(1, k));
done:
    if (st != KREIN_OK) krein__labels_end(ctx, l);
    return st;
}

void krein__labels_end(krein_ctx *ctx, krein_labels *l) {
    krein__free(ctx, l->mean);
    krein__free(ctx, l->target);
    memset(l, 0, sizeof *l);
}

void krein__labels_count(krein_labels *l, const krein_targets *rows) {
    for (int64_t i = 0; i < rows->n; i++) {
        double w = rows->weight ? rows->weight[i] : 1;
        l->weight += w;
        l->heavy += w > 0;
        for (int64_t c = 0; c < l->k; c++) l->target[c] += w * rows->y[i * l->k + c];
        if (l->classes) l->mean[rows->class[i]] += w;
    }
}

krein_status krein__labels_together(krein_labels *l, krein_stream *rows) {
    krein_status st = KREIN_OK;
    TRY(krein__stream_sum(rows, 1, &l->weight));
    TRY(krein__stream_count(rows, 1, &l->heavy));
    TRY(krein__stream_sum(rows, l->k, l->target));
    TRY(krein__stream_sum(rows, l->m - 1, l->mean));
done:
    return st;
}

krein_status krein__labels_counted(krein_ctx *ctx, krein_labels *l) {
    if (!(l->weight > 0)) return krein__fail(ctx, KREIN_EDATA, "all row weights are zero");
    for (int64_t c = 0; c < l->k; c++) l->target[c] /= l->weight;
    for (int64_t c = 0; c < l->m - 1; c++)
        l->mean[c] = l->classes ? l->mean[c] / l->weight : l->target[c];
    return KREIN_OK;
}

krein_status krein__labels_of(krein_ctx *ctx, const krein_probe *s, krein_labels *l) {
    krein_targets rows = {s->n, s->k, s->y, s->weight, s->class};
    krein_status st = krein__labels_begin(ctx, s->n, s->k, s->classes, l);
    if (st != KREIN_OK) return st;
    krein__labels_count(l, &rows);
    return krein__labels_counted(ctx, l);
}

void krein__labels_rows(const krein_labels *l, const krein_targets *rows, double *V) {
    int64_t m = l->m;
    for (int64_t i = 0; i < rows->n; i++, V += m) {
        double root = rows->weight ? sqrt(rows->weight[i]) : 1;
        for (int64_t c = 0; c < m - 1; c++) {
            double y = l->classes ? (double)(rows->class[i] == c) : rows->y[i * l->k + c];
            V[c] = root * (y - l->mean[c]);
        }
        V[m - 1] = root;
    }
}

static void spectrum_clear(krein_ctx *ctx, krein_spectrum *s) {
    krein__free(ctx, s->value);
    krein__free(ctx, s->part);
}

bool krein__is_refusal(krein_status st) {
    return st == KREIN_ESPEC || st == KREIN_EDATA || st == KREIN_ENUMERIC;
}

krein_status krein__trial_refused(const krein_ctx *ctx, krein_status st, krein_trial *t) {
    if (!krein__is_refusal(st)) return st;
    t->status = st;
    snprintf(t->message, sizeof t->message, "%.255s", ctx->message);
    return KREIN_OK;
}

void krein__view_clear(krein_view *v) {
    if (!v->ctx) return;
    krein__free(v->ctx, v->power);
    krein__free(v->ctx, v->inside);
    krein__free(v->ctx, v->top);
    spectrum_clear(v->ctx, &v->spectrum);
    spectrum_clear(v->ctx, &v->centred);
    memset(v, 0, sizeof *v);
}

double krein__view_power(const krein_view *v, int64_t r, const double *a, const double *b) {
    int64_t m = v->labels->m;
    const double *P = v->power + r * m * m;
    double sum = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) sum += a[i] * P[i * m + j] * b[j];
    return sum;
}

krein_status krein__view_decompose(krein_ctx *ctx, int64_t n, int64_t m, double *A, const double *C,
                                   krein_spectrum *out) {
    krein_status st = KREIN_OK;
    double *value = NULL, *part = NULL;
    NEW(value, n);
    NEW(part, n * m);
    NEW(out->value, n);
    NEW(out->part, n * m);
    TRY(krein__eigen(ctx, n, A, n, value));
    krein__pgemm(ctx, false, false, n, m, n, 1, A, n, C, m, 0, part, m);
    out->n = n;
    for (int64_t j = 0; j < n; j++) {
        out->value[j] = value[n - 1 - j];
        memcpy(out->part + j * m, part + (n - 1 - j) * m, (size_t)m * sizeof *part);
    }
done:
    krein__free(ctx, value);
    krein__free(ctx, part);
    return st;
}
