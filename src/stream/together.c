/* together.c -- collectives of the processes that share a stream. */
#include "stream/together.h"

#include "dist/dist.h"

#include <string.h>

/* The context where there is somebody to meet, else NULL. */
static krein_ctx *others(const krein_stream *s) {
    return krein__stream_shared(s) ? krein__stream_data(s)->ctx : NULL;
}

int64_t krein__stream_turn(const krein_stream *s) {
    const krein_ctx *ctx = others(s);
    return ctx ? krein__comm_rank(ctx) : 0;
}

int64_t krein__stream_turns(const krein_stream *s) {
    const krein_ctx *ctx = others(s);
    return ctx ? krein__comm_size(ctx) : 1;
}

krein_status krein__stream_sum(krein_stream *s, int64_t n, double *x) {
    krein_ctx *ctx = others(s);
    return ctx ? krein__comm_sum(ctx, n, x) : KREIN_OK;
}

krein_status krein__stream_count(krein_stream *s, int64_t n, int64_t *x) {
    krein_ctx *ctx = others(s);
    return ctx ? krein__comm_fold(ctx, KREIN_FOLD_SUM, n, x) : KREIN_OK;
}

krein_status krein__stream_most(krein_stream *s, int64_t n, double *x) {
    krein_ctx *ctx = others(s);
    return ctx ? krein__comm_most(ctx, n, x) : KREIN_OK;
}

krein_status krein__stream_least(krein_stream *s, int64_t *x) {
    krein_ctx *ctx = others(s);
    return ctx ? krein__comm_fold(ctx, KREIN_FOLD_MIN, 1, x) : KREIN_OK;
}

krein_status krein__stream_any(krein_stream *s, int64_t n, bool *flag) {
    krein_ctx *ctx = others(s);
    krein_status st = KREIN_OK;
    int64_t *x = NULL;
    if (!ctx) return KREIN_OK;
    NEW(x, n);
    for (int64_t i = 0; i < n; i++) x[i] = flag[i];
    TRY(krein__comm_fold(ctx, KREIN_FOLD_MAX, n, x));
    for (int64_t i = 0; i < n; i++) flag[i] = x[i] != 0;
done:
    krein__free(ctx, x);
    return st;
}

krein_status krein__stream_before(krein_stream *s, int64_t *x, int64_t *before) {
    krein_ctx *ctx = others(s);
    *before = 0;
    return ctx ? krein__comm_before(ctx, 1, x, before) : KREIN_OK;
}

krein_status krein__stream_join(krein_stream *s, const void *mine, int64_t n, size_t size,
                                void *all, int64_t *count) {
    krein_ctx *ctx = krein__stream_data(s)->ctx;
    if (krein__stream_shared(s)) return krein__comm_join(ctx, mine, n, size, all, count);
    char *copy = krein__alloc(ctx, krein__max(1, n), size);
    if (copy && n > 0) memcpy(copy, mine, (size_t)n * size);
    memcpy(all, &copy, sizeof copy);
    *count = n;
    return copy ? KREIN_OK : ctx->status;
}

krein_status krein__stream_from_root(krein_stream *s, void *bytes, int64_t n) {
    krein_ctx *ctx = others(s);
    return ctx ? krein__comm_broadcast(ctx, krein__stream_root(s), bytes, n) : KREIN_OK;
}

krein_status krein__stream_from_first(krein_stream *s, bool mine, void *bytes, int64_t n) {
    krein_ctx *ctx = others(s);
    if (!ctx) return KREIN_OK;
    int64_t root = mine ? krein__comm_rank(ctx) : krein__comm_size(ctx) - 1;
    krein_status st = krein__comm_fold(ctx, KREIN_FOLD_MIN, 1, &root);
    return st == KREIN_OK ? krein__comm_broadcast(ctx, (int)root, bytes, n) : st;
}

/* ---- calls of the interface --------------------------------------------- */

int krein__processes(const krein_ctx *ctx) { return krein__comm_size(ctx); }

void krein__call_begin(krein_ctx *ctx) { krein__comm_clear(ctx); }

krein_status krein__call_end(krein_ctx *ctx, krein_status mine) {
    return krein__comm_agree(ctx, mine);
}
