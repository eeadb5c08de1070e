/* group.c -- see group.h.
 *
 * Products wait in a pool of buffers, more than there are threads: a thread that was kept from its
 * work (by the one that reads the file, or by another program) does not hold up the others.
 */
#include "learn/group.h"

#include "num/blas.h"

#include <omp.h>
#include <pthread.h>
#include <string.h>

enum { FEATURES = 1024, EACH = 16, LEAST = 4 }; /* at most; blocks for each thread */
static const double BYTES = 16 << 20;           /* of the blocks, for each thread */

typedef struct taken {
    int64_t n;
    float *x;
    double *y, *weight;
    bool weighted;
    float *products; /* once they are made */
} taken;

struct krein_group {
    krein_ctx *ctx;
    krein_blocks *z;
    krein_ridge *ridge;
    int64_t most, n; /* blocks: room for, taken */
    taken *block;
    krein_blocks *own; /* of each thread */
    int64_t buffers;
    float **buffer;
    pthread_mutex_t mutex; /* of all below, and of taken.products */
    pthread_cond_t change;
    int64_t next, turn, spare; /* block to work on, block to add; buffers that are free */
    bool adding;
};

/* ---- how much ---------------------------------------------------------------------------- */

/* What it depends on. */
typedef struct shape {
    int64_t n, d, k, R, D; /* rows, columns, outputs, features and those behind the mix */
    bool mixed;
} shape;

static int64_t blocks_of(const krein_ctx *ctx, const shape *s) {
    int64_t rows = krein__block_rows(s->d), there = (s->n + rows - 1) / rows;
    double most = BYTES / ((double)rows * (4 * (double)s->d + 8 * (double)s->k + 8));
    if (ctx->threads == 1 || most < LEAST) return 1;
    return krein__min(there, (most < EACH ? (int64_t)most : EACH) * ctx->threads);
}

/* EXTRA: what the allocator adds to a handful of arrays. */
static double bytes_of(const krein_ctx *ctx, const shape *s) {
    enum { EXTRA = 512 };
    double rows = (double)krein__block_rows(s->d), c = (double)s->k + 1, R = (double)s->R;
    double block = rows * (4 * (double)s->d + 8 * c) + sizeof(taken) + EXTRA;
    double products = 4 * ((double)krein__syrk_room(s->R) + (R + rows) * c);
    double features = 4 * rows * (R + (s->mixed ? (double)s->D : 0)) + sizeof(krein_blocks) + EXTRA;
    return (double)blocks_of(ctx, s) * block + ctx->threads * (features + 2 * (products + EXTRA)) +
           sizeof(krein_group) + EXTRA;
}

/* Whether there are groups of more than one block. */
static bool pays(const krein_ctx *ctx, const shape *s) {
    return s->R <= FEATURES && blocks_of(ctx, s) > 1 &&
           bytes_of(ctx, s) <= (double)ctx->budget / 16;
}

double krein__group_bytes(const krein_map *map, int64_t n, int64_t k) {
    int64_t D = map->cls->features(map, n);
    shape s = {n, map->d, k, D, D, krein__map_traits(map) & KREIN_MAP_MIX};
    return pays(map->ctx, &s) ? bytes_of(map->ctx, &s) : 0;
}

/* ---- set-up ------------------------------------------------------------------------------- */

static krein_status block_begin(krein_ctx *ctx, const krein_blocks *z, int64_t k, taken *b) {
    krein_status st = KREIN_OK;
    NEW(b->x, z->rows * z->map->d);
    NEW(b->y, z->rows * k);
    NEW(b->weight, z->rows);
done:
    return st;
}

/* Features of a thread's own block, with its share of the scratch that all threads have. */
static krein_status own_begin(krein_ctx *ctx, const krein_blocks *z, int64_t thread,
                              krein_blocks *own) {
    krein_status st = KREIN_OK;
    const krein_map *map = z->map;
    *own = *z;
    own->raw = own->mixed = NULL;
    own->scratch = z->scratch + thread * (krein__map_scratch(map) / ctx->threads);
    NEW(own->raw, z->rows * map->R);
    if (!z->fused) NEW(own->mixed, z->rows * map->D);
done:
    return st;
}

krein_status krein__group_begin(krein_blocks *z, int64_t n, krein_ridge *ridge, krein_group **out) {
    krein_ctx *ctx = ridge->ctx;
    krein_status st = KREIN_OK;
    const krein_map *map = z->map;
    shape s = {n, map->d, ridge->k, map->R, map->D, !z->fused};
    krein_group *g = NULL;
    *out = NULL;
    ZNEW(g, 1);
    g->ctx = ctx;
    g->z = z;
    g->ridge = ridge;
    g->most = 1;
    pthread_mutex_init(&g->mutex, NULL);
    pthread_cond_init(&g->change, NULL);
    if (map->sparse || !pays(ctx, &s)) goto done;
    g->most = blocks_of(ctx, &s);
    ZNEW(g->block, g->most);
    for (int64_t i = 0; i < g->most; i++) TRY(block_begin(ctx, z, ridge->k, &g->block[i]));
    ZNEW(g->own, ctx->threads);
    for (int64_t t = 0; t < ctx->threads; t++) TRY(own_begin(ctx, z, t, &g->own[t]));
    g->spare = g->buffers = 2 * (int64_t)ctx->threads;
    ZNEW(g->buffer, g->buffers);
    for (int64_t i = 0; i < g->buffers; i++) NEW(g->buffer[i], krein__ridge_room(ridge));
done:
    if (st != KREIN_OK) {
        krein__group_end(g);
        g = NULL;
    }
    *out = g;
    return st;
}

void krein__group_end(krein_group *g) {
    if (!g) return;
    krein_ctx *ctx = g->ctx;
    for (int64_t i = 0; g->block && i < g->most; i++) {
        krein__free(ctx, g->block[i].x);
        krein__free(ctx, g->block[i].y);
        krein__free(ctx, g->block[i].weight);
    }
    for (int64_t t = 0; g->own && t < ctx->threads; t++) {
        krein__free(ctx, g->own[t].raw);
        krein__free(ctx, g->own[t].mixed);
    }
    for (int64_t i = 0; g->buffer && i < g->buffers; i++) krein__free(ctx, g->buffer[i]);
    krein__free(ctx, g->block);
    krein__free(ctx, g->own);
    krein__free(ctx, g->buffer);
    pthread_cond_destroy(&g->change);
    pthread_mutex_destroy(&g->mutex);
    krein__free(ctx, g);
}

/* ---- blocks ------------------------------------------------------------------------------- */

void krein__group_take(krein_group *g, const krein_rows *x, const double *y, const double *weight) {
    int64_t k = g->ridge->k;
    if (g->most == 1) {
        float *z = krein__blocks_features(g->z, x);
        krein__ridge_add(g->ridge, x->n, z, y, weight);
        return;
    }
    taken *b = &g->block[g->n++];
    b->n = x->n;
    b->weighted = weight != NULL;
    for (int64_t i = 0; i < x->n; i++)
        memcpy(b->x + i * x->d, x->x + i * x->ld, (size_t)x->d * sizeof *b->x);
    if (k) memcpy(b->y, y, (size_t)(x->n * k) * sizeof *y);
    if (weight) memcpy(b->weight, weight, (size_t)x->n * sizeof *weight);
}

bool krein__group_full(const krein_group *g) { return g->most == 1 || g->n == g->most; }

/* ---- the threads -------------------------------------------------------------------------- */

static void make(krein_group *g, krein_blocks *own, taken *b, float *products) {
    krein_rows x = krein__rows_dense(b->n, g->z->map->d, b->x, g->z->map->d);
    float *z = krein__blocks_features(own, &x);
    krein__ridge_products(g->ridge, b->n, z, b->y, b->weighted ? b->weight : NULL, products);
}

/* Adds what is ready, in order; one thread at a time, without the mutex meanwhile. */
static void add_ready(krein_group *g) {
    if (g->adding) return;
    g->adding = true;
    while (g->turn < g->n && g->block[g->turn].products) {
        taken *b = &g->block[g->turn];
        float *products = b->products;
        pthread_mutex_unlock(&g->mutex);
        krein__ridge_sum(g->ridge, b->n, b->y, b->weighted ? b->weight : NULL, products);
        pthread_mutex_lock(&g->mutex);
        b->products = NULL;
        g->buffer[g->spare++] = products;
        g->turn++;
        pthread_cond_broadcast(&g->change);
    }
    g->adding = false;
}

static void work(krein_group *g, krein_blocks *own) {
    pthread_mutex_lock(&g->mutex);
    for (;;) {
        while (g->next < g->n && g->spare == 0) pthread_cond_wait(&g->change, &g->mutex);
        if (g->next == g->n) break;
        taken *b = &g->block[g->next++];
        float *products = g->buffer[--g->spare];
        pthread_mutex_unlock(&g->mutex);
        make(g, own, b, products);
        pthread_mutex_lock(&g->mutex);
        b->products = products;
        add_ready(g);
    }
    pthread_mutex_unlock(&g->mutex);
}

void krein__group_add(krein_group *g) {
    if (g->n == 0) return;
    g->next = g->turn = 0;
    krein_compute c = krein__compute_begin();
#pragma omp parallel num_threads(g->ctx->threads)
    {
        krein__worker_begin();
        work(g, &g->own[omp_get_thread_num()]);
        krein__worker_end(c);
    }
    krein__compute_end(c);
    g->n = 0;
}
