/* memory.c -- allocation through the context: counted, bounded by the budget, 64-byte aligned.
 *
 * A piece is FRONT bytes longer than asked for. The pointer that is given out is the first multiple
 * of 64 that leaves room for a header before it, which holds the size and where the piece begins,
 * so that release and resize need no size from the caller. The C library's aligned_alloc would take
 * about twice as much for a small piece, and a file has a name for each column. What is counted is
 * what malloc takes: eight bytes more, in steps of sixteen.
 */
#include "base/base.h"

#include <stdio.h>
#include <string.h>

enum { ALIGN = 64, FRONT = 64 };

typedef struct header {
    size_t bytes; /* as asked for */
    void *piece;
} header;

static header *header_of(void *p) { return (header *)((char *)p - sizeof(header)); }

static size_t taken(size_t bytes) { return (bytes + FRONT + 8 + 15) / 16 * 16; }

static void *refuse(krein_ctx *ctx, double bytes) {
    char want[32], have[32], held[32], space[32], way_out[200];
    const krein_ctx *account = ctx->beside ? ctx->parent : ctx;
    snprintf(way_out, sizeof way_out, "raise `max_memory`, or use fewer features or rows");
    if (account->space)
        snprintf(way_out, sizeof way_out,
                 "the address space is limited to %s (ulimit -v), which must hold the program and "
                 "the buffers of %d thread%s too: raise that limit%s",
                 krein__bytes_text((double)account->space, space), account->threads,
                 account->threads == 1 ? "" : "s",
                 account->threads == 1 ? "" : ", or use fewer `threads`");
    krein__fail(ctx, KREIN_EMEMORY,
                "out of memory: %s more are needed, %s of the %s budget are in use; %s",
                krein__bytes_text(bytes, want),
                krein__bytes_text((double)atomic_load(&account->held), held),
                krein__bytes_text((double)account->budget, have), way_out);
    return NULL;
}

static void raise_peak(krein_ctx *ctx, uint64_t held) {
    uint64_t peak = atomic_load(&ctx->peak);
    while (held > peak && !atomic_compare_exchange_weak(&ctx->peak, &peak, held)) {
    }
}

static void discharge(krein_ctx *ctx, size_t bytes) {
    if (ctx->beside) ctx = ctx->parent;
    for (; ctx; ctx = ctx->parent) atomic_fetch_sub(&ctx->held, bytes);
}

/* Counts the bytes in, or says no. */
static bool charge(krein_ctx *ctx, size_t bytes) {
    if (ctx->beside) ctx = ctx->parent;
    bool asked = true; /* of a parent only where the budgets of its children overlap */
    for (krein_ctx *at = ctx; at; asked = at->overlaps, at = at->parent) {
        uint64_t held = atomic_fetch_add(&at->held, bytes) + bytes;
        if (held <= at->budget || !asked) {
            raise_peak(at, held);
            continue;
        }
        for (krein_ctx *back = ctx; back != at->parent; back = back->parent)
            atomic_fetch_sub(&back->held, bytes);
        return false;
    }
    return true;
}

void *krein__alloc(krein_ctx *ctx, int64_t count, size_t size) {
    size_t bytes;
    if (count < 0 || __builtin_mul_overflow((size_t)count, size, &bytes) ||
        bytes > ((size_t)1 << 56))
        return refuse(ctx, (double)count * (double)size);
    if (!charge(ctx, taken(bytes))) return refuse(ctx, (double)taken(bytes));
    char *piece = ctx->memory.alloc(ctx->memory.user, bytes + FRONT);
    if (!piece) {
        discharge(ctx, taken(bytes));
        return refuse(ctx, (double)taken(bytes));
    }
    const size_t past = (uintptr_t)piece % ALIGN; /* 0, 16, 32 or 48 */
    char *p = piece + FRONT - past;
    *header_of(p) = (header){bytes, piece};
    return p;
}

void *krein__zalloc(krein_ctx *ctx, int64_t count, size_t size) {
    void *p = krein__alloc(ctx, count, size);
    if (p) memset(p, 0, (size_t)count * size);
    return p;
}

void *krein__resize(krein_ctx *ctx, void *p, int64_t count, size_t size) {
    void *q = krein__alloc(ctx, count, size);
    if (!q || !p) return q;
    size_t old = header_of(p)->bytes, now = (size_t)count * size;
    memcpy(q, p, old < now ? old : now);
    krein__free(ctx, p);
    return q;
}

void krein__free(krein_ctx *ctx, void *p) {
    if (!p) return;
    const header *h = header_of(p);
    discharge(ctx, taken(h->bytes));
    ctx->memory.release(ctx->memory.user, h->piece);
}

char *krein__strndup(krein_ctx *ctx, const char *text, size_t length) {
    char *copy = krein__alloc(ctx, (int64_t)length + 1, 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *krein__strdup(krein_ctx *ctx, const char *text) {
    return krein__strndup(ctx, text, strlen(text));
}

char *krein__format(krein_ctx *ctx, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = krein__alloc(ctx, (int64_t)length + 1, 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

krein_status krein__reserve_check(krein_ctx *ctx, double bytes, const char *what,
                                  const char *way_out) {
    double room = (double)ctx->budget - (double)atomic_load(&ctx->held);
    if (bytes <= room) return KREIN_OK;
    char want[32], have[32];
    return krein__fail(
        ctx, KREIN_EMEMORY, "%s needs %s, but only %s of the memory budget are left; %s", what,
        krein__bytes_text(bytes, want), krein__bytes_text(room > 0 ? room : 0, have), way_out);
}
