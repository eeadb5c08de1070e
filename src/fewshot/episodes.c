/* episodes.c -- drawing of tasks: N classes of the pool, then K + Q rows of each, without repeats
 *
 * Every draw has the address (seed, stream EPISODES, substream use, row = number of the task,
 * column): the first N columns draw the classes, K + Q for each class follow. */
#include "fewshot/episodes.h"

void krein__images_clear(krein_images *im) {
    if (!im->ctx) return;
    for (int64_t c = 0; im->name && c < im->classes; c++) krein__free(im->ctx, im->name[c]);
    krein__free(im->ctx, im->name);
    krein__matrix_clear(im->ctx, &im->x);
    krein__free(im->ctx, im->start);
    krein__free(im->ctx, im->row);
    *im = (krein_images){0};
}

static int64_t rows_of(const krein_images *im, int64_t class) {
    return im->start[class + 1] - im->start[class];
}

int64_t krein__pool_most_rows(const krein_pool *pool) {
    int64_t most = 0;
    for (int64_t i = 0; i < pool->n; i++)
        most = krein__max(most, rows_of(pool->images, pool->class[i]));
    return most;
}

krein_status krein__pool_check(krein_ctx *ctx, const krein_pool *pool, krein_episode_size size,
                               const char *what) {
    int64_t need = size.shots + size.queries;
    if (pool->n < size.ways)
        return krein__fail(
            ctx, KREIN_EDATA,
            "%lld %s class%s: tasks of ways=%lld need as many; give fewer `ways`, or "
            "more classes",
            (long long)pool->n, what, pool->n == 1 ? "" : "es", (long long)size.ways);
    for (int64_t i = 0; i < pool->n; i++)
        if (rows_of(pool->images, pool->class[i]) < need)
            return krein__fail(ctx, KREIN_EDATA,
                               "class %s has %lld row%s, and a task takes %lld shots and %lld "
                               "queries of a class; give fewer `shots` or `queries`",
                               pool->images->name[pool->class[i]],
                               (long long)rows_of(pool->images, pool->class[i]),
                               rows_of(pool->images, pool->class[i]) == 1 ? "" : "s",
                               (long long)size.shots, (long long)size.queries);
    return KREIN_OK;
}

krein_status krein__episode_begin(krein_ctx *ctx, krein_episode_size size, int64_t classes,
                                  int64_t rows, krein_episode *e) {
    krein_status st = KREIN_OK;
    int64_t shots = size.ways * size.shots, queries = size.ways * size.queries;
    *e = (krein_episode){.ctx = ctx, .size = size};
    NEW(e->class, size.ways);
    NEW(e->support, shots);
    NEW(e->query, queries);
    NEW(e->support_label, shots);
    NEW(e->query_label, queries);
    NEW(e->order, krein__max(1, krein__max(classes, rows)));
    for (int64_t i = 0; i < shots; i++) e->support_label[i] = (int32_t)(i / size.shots);
done:
    if (st != KREIN_OK) krein__episode_end(e);
    return st;
}

void krein__episode_end(krein_episode *e) {
    if (!e->ctx) return;
    krein__free(e->ctx, e->class);
    krein__free(e->ctx, e->support);
    krein__free(e->ctx, e->query);
    krein__free(e->ctx, e->support_label);
    krein__free(e->ctx, e->query_label);
    krein__free(e->ctx, e->order);
    *e = (krein_episode){0};
}

/* The first k of a random order of 0 .. n - 1, to e->order. */
static void shuffle(const krein_episode *e, krein_rng g, int64_t which, int64_t column, int64_t n,
                    int64_t k) {
    for (int64_t i = 0; i < n; i++) e->order[i] = i;
    for (int64_t i = 0; i < k; i++) {
        int64_t j = i + (int64_t)krein__rng_below(g, (uint64_t)which, (uint64_t)(column + i),
                                                  (uint64_t)(n - i));
        int64_t other = e->order[i];
        e->order[i] = e->order[j];
        e->order[j] = other;
    }
}

void krein__episode_draw(krein_episode *e, const krein_pool *pool, uint64_t seed,
                         krein_episode_use use, int64_t which) {
    const krein_images *im = pool->images;
    krein_episode_size z = e->size;
    krein_rng g = krein__substream(seed, KREIN_STREAM_EPISODES, (int64_t)use);
    e->images = im;
    shuffle(e, g, which, 0, pool->n, z.ways);
    for (int64_t c = 0; c < z.ways; c++) e->class[c] = pool->class[e->order[c]];
    for (int64_t c = 0; c < z.ways; c++) {
        const int64_t *row = im->row + im->start[e->class[c]];
        shuffle(e, g, which, z.ways + c * (z.shots + z.queries), rows_of(im, e->class[c]),
                z.shots + z.queries);
        for (int64_t i = 0; i < z.shots; i++) e->support[c * z.shots + i] = row[e->order[i]];
        for (int64_t i = 0; i < z.queries; i++)
            e->query[c * z.queries + i] = row[e->order[z.shots + i]];
    }
    for (int64_t i = 0; i < z.ways * z.queries; i++) e->query_label[i] = (int32_t)(i / z.queries);
}
