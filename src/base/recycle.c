/* recycle.c -- large pieces of memory that are used again instead of being given back
 *
 * The C library returns a piece of many megabytes to the system at once, and the system clears its
 * pages before the next one has them. A search that fits hundreds of matrices of the same few sizes
 * spends a fifth of its time on that. Here an allocator stands in front of the context's own. It
 * keeps pieces of LARGE bytes and more, and gives one out again for a request that nearly fills it:
 * the rest, at most an eighth, is in nobody's account. What is in use and what is kept stay within
 * the budget together: kept pieces go before a new one is asked for.
 */
#include "base/recycle.h"

#include <string.h>

enum { LARGE = 1 << 20 };

/* The smallest kept piece that has room and is not too large; -1: none. */
static int fitting(const krein_recycler *r, size_t bytes) {
    int best = -1;
    for (int i = 0; i < r->n; i++) {
        size_t has = r->piece[i].bytes;
        if (r->piece[i].used || has < bytes || has - bytes > bytes / 8) continue;
        if (best < 0 || has < r->piece[best].bytes) best = i;
    }
    return best;
}

static void forget(krein_recycler *r, int i) { r->piece[i] = r->piece[--r->n]; }

/* Gives back kept pieces until there is a place for another and it fits into the budget. */
static void make_room(krein_recycler *r, size_t bytes) {
    uint64_t all = bytes;
    for (int i = 0; i < r->n; i++) all += r->piece[i].bytes;
    for (int i = r->n - 1; i >= 0 && (all > r->budget || r->n == KREIN_RECYCLE); i--) {
        if (r->piece[i].used) continue;
        all -= r->piece[i].bytes;
        r->inner.release(r->inner.user, r->piece[i].p);
        forget(r, i);
    }
}

static void *recycle_alloc(void *user, size_t bytes) {
    krein_recycler *r = user;
    void *p;
    if (bytes < LARGE) return r->inner.alloc(r->inner.user, bytes);
    pthread_mutex_lock(&r->lock);
    int i = fitting(r, bytes);
    if (i >= 0) {
        r->piece[i].used = true;
        p = r->piece[i].p;
    } else {
        make_room(r, bytes);
        p = r->inner.alloc(r->inner.user, bytes);
        if (p && r->n < KREIN_RECYCLE) {
            r->piece[r->n].p = p;
            r->piece[r->n].bytes = bytes;
            r->piece[r->n++].used = true;
        }
    }
    pthread_mutex_unlock(&r->lock);
    return p;
}

static void recycle_release(void *user, void *p) {
    krein_recycler *r = user;
    bool known = false;
    pthread_mutex_lock(&r->lock);
    for (int i = 0; i < r->n && !known; i++)
        if (r->piece[i].p == p) {
            r->piece[i].used = false;
            known = true;
        }
    pthread_mutex_unlock(&r->lock);
    if (!known) r->inner.release(r->inner.user, p);
}

void krein__recycle_begin(krein_ctx *ctx, krein_recycler *r) {
    memset(r, 0, sizeof *r);
    r->inner = ctx->memory;
    /* Where others have the same budget nothing is kept but for a next request that it fits. */
    r->budget = ctx->overlaps ? 0 : ctx->budget;
    pthread_mutex_init(&r->lock, NULL);
    ctx->memory = (krein_allocator){.alloc = recycle_alloc, .release = recycle_release, .user = r};
}

void krein__recycle_end(krein_ctx *ctx, krein_recycler *r) {
    ctx->memory = r->inner;
    for (int i = 0; i < r->n; i++)
        if (!r->piece[i].used) r->inner.release(r->inner.user, r->piece[i].p);
    pthread_mutex_destroy(&r->lock);
}
