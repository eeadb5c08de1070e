/* points.c -- labelled and unlabelled rows as nodes of a graph, and the graph.
 *
 * Rows are compared by their encoded values, bit by bit: a table of their hashes finds the equal
 * one. Only distinct rows are kept. */
#include "learn/points.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

typedef struct builder {
    krein_ctx *ctx;
    krein_points *p;
    int64_t room, entries; /* nodes and, of CSR, entries that there is room for */
    int64_t rows;          /* that `node` and `weight` have room for */
    int64_t *slot, slots;  /* nodes by hash, -1: free */
    uint64_t *hash;        /* of each node */
} builder;

void krein__points_clear(krein_ctx *ctx, krein_points *p) {
    krein__matrix_clear(ctx, &p->own);
    krein__free(ctx, p->node);
    krein__free(ctx, p->weight);
    krein__free(ctx, p->count);
    memset(p, 0, sizeof *p);
}

double krein__points_bytes(int64_t n, int64_t d, bool sparse) {
    double row = sparse ? 8 * fmin((double)d, 1024) + 8 : 4 * (double)d;
    return 2 * (double)n * row + (double)n * (4 + 8 + 8 + 8 + 32);
}

static uint64_t hash_row(const krein_rows *x, int64_t i) {
    if (!krein__rows_sparse(x)) return XXH3_64bits(x->x + i * x->ld, (size_t)x->d * sizeof *x->x);
    int64_t from = x->ptr[i], m = x->ptr[i + 1] - from;
    uint64_t h = XXH3_64bits(x->col + from, (size_t)m * sizeof *x->col);
    return XXH3_64bits_withSeed(x->val + from, (size_t)m * sizeof *x->val, h);
}

static bool same_row(const krein_rows *x, int64_t i, const krein_matrix *y, int64_t j) {
    if (!krein__rows_sparse(x))
        return memcmp(x->x + i * x->ld, y->x + j * y->d, (size_t)x->d * sizeof *x->x) == 0;
    int64_t a = x->ptr[i], b = y->ptr[j], m = x->ptr[i + 1] - a;
    return m == y->ptr[j + 1] - b &&
           memcmp(x->col + a, y->col + b, (size_t)m * sizeof *x->col) == 0 &&
           memcmp(x->val + a, y->val + b, (size_t)m * sizeof *x->val) == 0;
}

#define GROW(pointer, count)                                                                       \
    do {                                                                                           \
        void *grown = krein__resize(ctx, (pointer), (count), sizeof *(pointer));                   \
        if (!grown) return ctx->status;                                                            \
        (pointer) = grown;                                                                         \
    } while (0)

/* Twice as many slots as nodes, at least. */
static krein_status rehash(builder *b) {
    krein_ctx *ctx = b->ctx;
    int64_t slots = krein__max(1024, 2 * b->slots);
    GROW(b->slot, slots);
    b->slots = slots;
    memset(b->slot, 0xff, (size_t)slots * sizeof *b->slot);
    for (int64_t i = 0; i < b->p->nodes; i++) {
        int64_t at = (int64_t)(b->hash[i] & (uint64_t)(slots - 1));
        while (b->slot[at] >= 0) at = (at + 1) & (slots - 1);
        b->slot[at] = i;
    }
    return KREIN_OK;
}

/* Room for one node more, of so many entries. */
static krein_status grow(builder *b, const krein_rows *x, int64_t entries) {
    krein_ctx *ctx = b->ctx;
    krein_points *p = b->p;
    krein_matrix *m = &p->own;
    if (p->nodes == b->room) {
        int64_t room = krein__max(1024, b->room + b->room / 2);
        if (!krein__rows_sparse(x)) GROW(m->x, room * x->d);
        if (krein__rows_sparse(x)) GROW(m->ptr, room + 1);
        GROW(p->count, room);
        GROW(b->hash, room);
        b->room = room;
    }
    if (krein__rows_sparse(x) && (!m->col || m->nnz + entries > b->entries)) {
        int64_t room = krein__max(m->nnz + entries + 1024, b->entries + b->entries / 2);
        GROW(m->col, room);
        GROW(m->val, room);
        b->entries = room;
    }
    return 2 * p->nodes >= b->slots ? rehash(b) : KREIN_OK;
}

static void keep(krein_points *p, const krein_rows *x, int64_t i) {
    krein_matrix *m = &p->own;
    if (!krein__rows_sparse(x)) {
        memcpy(m->x + p->nodes * x->d, x->x + i * x->ld, (size_t)x->d * sizeof *x->x);
        return;
    }
    int64_t from = x->ptr[i], e = x->ptr[i + 1] - from;
    if (p->nodes == 0) m->ptr[0] = 0;
    memcpy(m->col + m->nnz, x->col + from, (size_t)e * sizeof *x->col);
    memcpy(m->val + m->nnz, x->val + from, (size_t)e * sizeof *x->val);
    m->nnz += e;
    m->ptr[p->nodes + 1] = m->nnz;
}

/* The node of a row, a new one where it has none. */
static krein_status place(builder *b, const krein_rows *x, int64_t i, int64_t *node) {
    krein_points *p = b->p;
    krein_status st = grow(b, x, krein__rows_sparse(x) ? x->ptr[i + 1] - x->ptr[i] : 0);
    if (st != KREIN_OK) return st;
    uint64_t h = hash_row(x, i);
    int64_t at = (int64_t)(h & (uint64_t)(b->slots - 1));
    for (; b->slot[at] >= 0; at = (at + 1) & (b->slots - 1)) {
        *node = b->slot[at];
        if (b->hash[*node] == h && same_row(x, i, &p->own, *node)) return KREIN_OK;
    }
    keep(p, x, i);
    *node = b->slot[at] = p->nodes++;
    b->hash[*node] = h;
    p->count[*node] = 0;
    return KREIN_OK;
}

static krein_status take(builder *b, krein_stream *rows) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    krein_points *p = b->p;
    krein_block block;
    TRY(krein__stream_rewind(rows));
    for (;;) {
        TRY(krein__stream_next(rows, &block));
        if (block.x.n == 0) break;
        if (p->n + block.x.n > b->rows) {
            b->rows = krein__max(p->n + block.x.n, b->rows + b->rows / 2);
            GROW(p->node, b->rows);
            GROW(p->weight, b->rows);
        }
        p->own.d = block.x.d;
        for (int64_t i = 0; i < block.x.n; i++) {
            int64_t node;
            double weight = block.weight ? block.weight[i] : 1;
            TRY(place(b, &block.x, i, &node));
            p->count[node] += weight;
            p->weight[p->n] = weight;
            p->node[p->n++] = (int32_t)node;
        }
    }
done:
    return st;
}

krein_status krein__job_points(krein_job *job, krein_points *out) {
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    builder b = {.ctx = ctx, .p = out};
    memset(out, 0, sizeof *out);
    TRY(take(&b, job->rows));
    out->labelled = out->n;
    for (int64_t s = 0; s < job->unlabelled.streams; s++) TRY(take(&b, job->unlabelled.rows[s]));
    out->own.n = out->nodes;
    out->x = krein__matrix_rows(&out->own);
    if (out->nodes < out->n)
        krein__log(ctx, KREIN_LOG_INFO, "%lld of the %lld rows are distinct", (long long)out->nodes,
                   (long long)out->n);
done:
    krein__free(ctx, b.slot);
    krein__free(ctx, b.hash);
    if (st != KREIN_OK) krein__points_clear(ctx, out);
    return st;
}

krein_status krein__job_graph(krein_job *job, const krein_points *p, const krein_graph_options *o,
                              krein_graph *out) {
    static const char words[] = "auto|exact|tree|descent";
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    char how[16] = "", recall[64] = "";
    double start = krein__clock();
    krein_graph_options asked = *o;
    int64_t counted = 0;
    for (int64_t i = 0; i < p->nodes; i++) counted += p->count[i] > 0;
    if (o->fewer && o->k >= counted && counted > 1) {
        asked.k = counted - 1;
        krein__log(ctx, KREIN_LOG_WARNING,
                   "graph: %lld different rows: each has all others for neighbours",
                   (long long)counted);
    }
    TRY(krein__graph_get(ctx, job->graph_file, NULL, &p->x, p->count, &asked, out));
    krein__word(words, out->near, how, sizeof how);
    if (out->near == KREIN_NEAR_DESCENT)
        snprintf(recall, sizeof recall, ", recall %.3g (100 rows)", out->recall);
    krein__log(ctx, KREIN_LOG_INFO, "graph: %lld nodes, %lld edges, near=%s%s, %.3g s",
               (long long)out->n, (long long)out->ptr[out->n] / 2, how, recall,
               krein__clock() - start);
    if (out->recall < .9)
        krein__log(ctx, KREIN_LOG_WARNING,
                   "graph: only %.0f %% of the nearest neighbours were found; near=exact finds all",
                   100 * out->recall);
done:
    return st;
}
