/* ranks.c -- scores of two sides, and the area under the curve that they make. */
#include "model/ranks.h"

#include "stream/together.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

krein_status krein__ranks_add(krein_ctx *ctx, krein_ranks *c, double score, double weight) {
    if (c->n == c->room) {
        int64_t room = krein__max(1024, c->room + c->room / 2);
        krein_row_score *at = krein__resize(ctx, c->at, room, sizeof *at);
        if (!at) return ctx->status;
        c->at = at;
        c->room = room;
    }
    c->at[c->n++] = (krein_row_score){score, weight};
    return KREIN_OK;
}

static int ascending(const void *a, const void *b) {
    double x = ((const krein_row_score *)a)->score, y = ((const krein_row_score *)b)->score;
    return (x > y) - (x < y);
}

double krein__auc(int64_t n, krein_row_score *first, int64_t m, krein_row_score *second) {
    int64_t i = 0, j = 0;
    double below = 0, upto = 0; /* weight of the first class below a score, and up to it */
    double twice = 0, all = 0;  /* without weights whole numbers, exact up to 2^53 */
    if (n == 0 || m == 0) return NAN;
    qsort(first, (size_t)n, sizeof *first, ascending);
    qsort(second, (size_t)m, sizeof *second, ascending);
    for (int64_t r = 0; r < m; r++) {
        const krein_row_score *row = &second[r];
        for (; i < n && first[i].score < row->score; i++) below += first[i].weight;
        for (; j < n && first[j].score <= row->score; j++) upto += first[j].weight;
        twice += row->weight * (below + upto);
        all += row->weight;
    }
    for (; j < n; j++) upto += first[j].weight;
    return twice / 2 / upto / all;
}

double krein__ranks_area(krein_ranks *first, krein_ranks *second) {
    return krein__auc(first->n, first->at, second->n, second->at);
}

krein_status krein__ranks_join(krein_stream *rows, krein_ranks *c) {
    krein_ctx *ctx = krein__stream_data(rows)->ctx;
    krein_row_score *all = NULL;
    krein_status st = krein__stream_join(rows, c->at, c->n, sizeof *all, &all, &c->n);
    if (st != KREIN_OK) return st;
    krein__free(ctx, c->at);
    c->at = all;
    c->room = c->n;
    return KREIN_OK;
}

void krein__ranks_clear(krein_ctx *ctx, krein_ranks *r) {
    krein__free(ctx, r->at);
    memset(r, 0, sizeof *r);
}
