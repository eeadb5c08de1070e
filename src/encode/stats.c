/* stats.c -- column statistics.
 *
 * A block of rows is collected, its means and squared deviations are computed in two passes
 * in double, then merged into the running ones (Chan, Golub, LeVeque 1979):
 *     delta = mean_b - mean;  mean += delta n_b / n;  m2 += m2_b + delta^2 n_a n_b / n
 * where n are sums of weights (of ones, where rows have none). Blocks are counted from the first
 * row, so memory, threads and batches do not matter. Sparse columns use plain sums (count is of the
 * stored entries; zeros are added at the end by the scaler, which knows the weight of all rows).
 */
#include "encode/stats.h"

#include <math.h>
#include <string.h>

/* Rows of a block: a function of the width alone. */
static int64_t block_rows(int64_t nnum) { return nnum > 16384 ? 16 : 256; }

krein_status krein__stats_begin(krein_ctx *ctx, krein_stats *s, int64_t nnum, int64_t ncat,
                                bool sparse) {
    krein_status st = KREIN_OK;
    memset(s, 0, sizeof *s);
    s->nnum = nnum;
    s->ncat = ncat;
    ZNEW(s->count, nnum);
    ZNEW(s->mean, nnum);
    ZNEW(s->m2, nnum);
    ZNEW(s->low, nnum);
    ZNEW(s->high, nnum);
    ZNEW(s->least, nnum);
    ZNEW(s->most, nnum);
    ZNEW(s->absent, nnum);
    ZNEW(s->code_count, ncat);
    ZNEW(s->codes, ncat);
    ZNEW(s->no_code, ncat);
    ZNEW(s->cells, ncat);
    if (!sparse) {
        NEW(s->pending, block_rows(nnum) * nnum);
        NEW(s->pending_weight, block_rows(nnum));
    }
    for (int64_t j = 0; j < nnum; j++) krein__stats_no_range(s, j);
done:
    if (st != KREIN_OK) krein__stats_clear(ctx, s);
    return st;
}

void krein__stats_no_range(krein_stats *s, int64_t j) {
    bool sparse = s->pending == NULL;
    s->low[j] = s->least[j] = sparse ? 0 : INFINITY;
    s->high[j] = s->most[j] = sparse ? 0 : -INFINITY;
}

static void widen_range(double v, double *low, double *high) {
    if (v < *low) *low = v;
    if (v > *high) *high = v;
}

static void merge_block(krein_stats *s) {
    for (int64_t j = 0; j < s->nnum; j++) {
        double n = 0, sum = 0, m2 = 0;
        for (int64_t i = 0; i < s->fill; i++) {
            double v = (double)s->pending[i * s->nnum + j], w = s->pending_weight[i];
            if (isnan(v)) s->absent[j] += w;
            if (isnan(v)) continue;
            widen_range(v, &s->least[j], &s->most[j]);
            if (w == 0) continue;
            widen_range(v, &s->low[j], &s->high[j]);
            n += w;
            sum += w * v;
        }
        if (n == 0) continue;
        double mean = sum / n;
        for (int64_t i = 0; i < s->fill; i++) {
            double v = (double)s->pending[i * s->nnum + j], w = s->pending_weight[i];
            if (!isnan(v)) m2 += w * ((v - mean) * (v - mean));
        }
        double total = s->count[j] + n, delta = mean - s->mean[j];
        s->m2[j] += m2 + delta * delta * s->count[j] * n / total;
        s->mean[j] += delta * n / total;
        s->count[j] = total;
    }
    s->fill = 0;
}

krein_status krein__stats_widen(krein_ctx *ctx, krein_stats *s, int64_t nnum) {
    double **all[] = {&s->count, &s->mean,  &s->m2,   &s->low,
                      &s->high,  &s->least, &s->most, &s->absent};
    for (int64_t k = 0; k < KREIN__COUNT(all) && nnum > s->nnum; k++) {
        double *bigger = krein__resize(ctx, *all[k], nnum, sizeof **all[k]);
        if (!bigger) return ctx->status;
        memset(bigger + s->nnum, 0, (size_t)(nnum - s->nnum) * sizeof *bigger);
        *all[k] = bigger;
    }
    s->nnum = krein__max(s->nnum, nnum);
    return KREIN_OK;
}

static krein_status add_sparse(krein_ctx *ctx, krein_stats *s, const krein_raw *raw, int64_t i,
                               double w) {
    int64_t from = raw->ptr[i], to = raw->ptr[i + 1];
    if (to > from) {
        int64_t d = (int64_t)raw->col[to - 1] + 1;
        krein_status st =
            d > s->nnum ? krein__stats_widen(ctx, s, krein__max(d, 2 * s->nnum)) : KREIN_OK;
        if (st != KREIN_OK) return st;
    }
    for (int64_t k = from; k < to; k++) {
        int64_t j = raw->col[k];
        double v = (double)raw->val[k];
        if (isnan(v)) continue; /* missing: as if it were not there */
        widen_range(v, &s->least[j], &s->most[j]);
        if (w == 0) continue;
        widen_range(v, &s->low[j], &s->high[j]);
        s->count[j] += w;
        s->mean[j] += w * v; /* sums here */
        s->m2[j] += w * (v * v);
    }
    return KREIN_OK;
}

krein_status krein__stats_codes(krein_ctx *ctx, krein_stats *s, int64_t k, int64_t codes) {
    if (codes <= s->codes[k]) return KREIN_OK;
    double *bigger = krein__resize(ctx, s->code_count[k], codes, sizeof *bigger);
    if (!bigger) return ctx->status;
    memset(bigger + s->codes[k], 0, (size_t)(codes - s->codes[k]) * sizeof *bigger);
    s->code_count[k] = bigger;
    s->codes[k] = codes;
    return KREIN_OK;
}

krein_status krein__stats_add(krein_ctx *ctx, krein_stats *s, const krein_raw *raw, int64_t ld,
                              int64_t i) {
    double w = raw->weight ? raw->weight[i] : 1;
    s->weight += w;
    if (raw->ptr) return add_sparse(ctx, s, raw, i, w);
    float *to = s->pending + s->fill * s->nnum;
    for (int64_t j = 0; raw->byte && j < s->nnum; j++) to[j] = (float)raw->byte[i * ld + j];
    if (raw->num) memcpy(to, raw->num + i * ld, (size_t)s->nnum * sizeof *to);
    s->pending_weight[s->fill] = w;
    if (++s->fill == block_rows(s->nnum)) merge_block(s);
    for (int64_t k = 0; k < s->ncat; k++) {
        int64_t code = raw->cat[i * s->ncat + k];
        if (code == -1) s->no_code[k] += w;
        if (code < 0) continue;
        s->cells[k]++;
        if (code >= s->codes[k]) {
            krein_status st = krein__stats_codes(ctx, s, k, krein__max(2 * code, 16));
            if (st != KREIN_OK) return st;
        }
        s->code_count[k][code] += w;
    }
    return KREIN_OK;
}

void krein__stats_end(krein_stats *s) {
    if (s->fill) merge_block(s);
}

void krein__stats_clear(krein_ctx *ctx, krein_stats *s) {
    krein__free(ctx, s->count);
    krein__free(ctx, s->mean);
    krein__free(ctx, s->m2);
    krein__free(ctx, s->low);
    krein__free(ctx, s->high);
    krein__free(ctx, s->least);
    krein__free(ctx, s->most);
    krein__free(ctx, s->absent);
    krein__free(ctx, s->no_code);
    krein__free(ctx, s->cells);
    krein__free(ctx, s->pending);
    krein__free(ctx, s->pending_weight);
    for (int64_t k = 0; s->code_count && k < s->ncat; k++) krein__free(ctx, s->code_count[k]);
    krein__free(ctx, s->code_count);
    krein__free(ctx, s->codes);
    memset(s, 0, sizeof *s);
}
