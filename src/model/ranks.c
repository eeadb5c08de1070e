/* ranks.c -- scores of two sides, and the area under the curve that they make. */
#include "model/ranks.h"

#include "stream/together.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

krein_status krein__ranks_add(krein_ctx *ctx, krein_ranks *c, double score, double weight) {
    if (c->n == c->room) {
        int64_t room = krein__max(1024, c->room + c->room / 2);
        krein_ranked *at = krein__resize(ctx, c->at, room, sizeof *at);
        if (!at) return ctx->status;
        c->at = at;
        c->room = room;
    }
    c->at[c->n++] = (krein_ranked){score, weight};
    return KREIN_OK;
}

static int ascending(const void *a, const void *b) {
    double x = ((const krein_ranked *)a)->score, y = ((const krein_ranked *)b)->score;
    return (x > y) - (x < y);
}

double krein__ranks_area(krein_ranks *first, krein_ranks *second) {
    int64_t i = 0, j = 0;
    double below = 0, upto = 0; /* weight of the first side below a score, and up to it */
    double twice = 0, all = 0;  /* without weights whole numbers, exact up to 2^53 */
    if (first->n == 0 || second->n == 0) return NAN;
    qsort(first->at, (size_t)first->n, sizeof *first->at, ascending);
    qsort(second->at, (size_t)second->n, sizeof *second->at, ascending);
    for (int64_t r = 0; r < second->n; r++) {
        const krein_ranked *row = &second->at[r];
        for (; i < first->n && first->at[i].score < row->score; i++) below += first->at[i].weight;
        for (; j < first->n && first->at[j].score <= row->score; j++) upto += first->at[j].weight;
        twice += row->weight * (below + upto);
        all += row->weight;
    }
    for (; j < first->n; j++) upto += first->at[j].weight;
    return twice / 2 / upto / all;
}

krein_status krein__ranks_join(krein_stream *rows, krein_ranks *c) {
    krein_ctx *ctx = krein__stream_data(rows)->ctx;
    krein_ranked *all = NULL;
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
