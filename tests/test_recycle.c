/* test_recycle.c -- large pieces of memory are used again, within the budget, and given back. */
#include "common.h"

#include "base/recycle.h"

enum { MB = 1 << 20 };

static void pieces_are_used_again(void) {
    test_memory memory;
    krein_ctx *ctx = test_ctx_with(1, &memory);
    krein_recycler r;
    int64_t before = test_live(&memory);
    krein__recycle_begin(ctx, &r);
    char *a = krein__alloc(ctx, 8 * MB, 1), *b = krein__alloc(ctx, 8 * MB, 1);
    CHECK(a && b && a != b);
    memset(a, 1, 8 * MB);
    krein__free(ctx, a);
    CHECK(test_live(&memory) == before + 2); /* it is kept */
    char *small = krein__alloc(ctx, 7 * MB, 1);
    CHECK(small && small != a); /* too little of it */
    char *again = krein__alloc(ctx, 8 * MB - 900000, 1);
    CHECK(again == a);
    char *other = krein__alloc(ctx, 8 * MB, 1);
    CHECK(other && other != a && other != b); /* it is in use */
    CHECK(test_live(&memory) == before + 4);
    krein__free(ctx, b);
    char *larger = krein__alloc(ctx, 9 * MB, 1);
    CHECK(larger && larger != b);
    krein__free(ctx, krein__alloc(ctx, 100, 1)); /* small ones are not kept */
    CHECK(test_live(&memory) == before + 5);
    krein__free(ctx, larger);
    krein__free(ctx, other);
    krein__recycle_end(ctx, &r);
    /* What is in use stays, and is freed as any other. */
    CHECK(test_live(&memory) == before + 2);
    memset(again, 2, 7 * MB);
    krein__free(ctx, again);
    krein__free(ctx, small);
    CHECK(test_live(&memory) == before);
    krein_ctx_destroy(ctx);
}

/* What is kept makes room for what is asked for. */
static void within_the_budget(void) {
    krein_ctx *ctx = test_ctx_small(1, 20 * MB);
    krein_recycler r;
    krein__recycle_begin(ctx, &r);
    krein__free(ctx, krein__alloc(ctx, 6 * MB, 1));
    char *b = krein__alloc(ctx, 14 * MB, 1); /* 6 of them are kept: not both */
    CHECK(b != NULL && r.n == 1);
    CHECK(!krein__alloc(ctx, 8 * MB, 1) && ctx->status == KREIN_EMEMORY);
    krein__free(ctx, b);
    /* Many sizes, each too small for those before: never more than is known at a time. */
    for (int i = 0; i < 4 * KREIN_RECYCLE; i++)
        krein__free(ctx, krein__alloc(ctx, 2 * MB + i * 1000, 1));
    CHECK(r.n <= KREIN_RECYCLE);
    krein__recycle_end(ctx, &r);
    CHECK(atomic_load(&ctx->held) == 0);
    krein_ctx_destroy(ctx);
}

int main(void) {
    RUN(pieces_are_used_again);
    RUN(within_the_budget);
    return DONE();
}
