/* test_group.c -- sums of ridge regression by groups of blocks: the bits of block by block, for any
 * number of threads; where there is no room, one block at a time. */
#include "common.h"

#include "learn/group.h"

enum { DIM = 7, BLOCKS = 75, ROWS = 40, OUTPUTS = 2, MANY = 10000000 };

typedef struct problem {
    float *x;
    double *y, *weight;
} problem;

static problem make(void) {
    problem p = {test_dense(BLOCKS * ROWS, DIM, 0.2), test_new(BLOCKS * ROWS * OUTPUTS, 8),
                 test_new(BLOCKS * ROWS, 8)};
    for (int64_t i = 0; i < BLOCKS * ROWS; i++) {
        for (int64_t c = 0; c < OUTPUTS; c++) p.y[i * OUTPUTS + c] = det(i, c, 0.7);
        p.weight[i] = 1 + 0.5 * det(i, 3, 0.1);
    }
    return p;
}

static void drop(problem *p) { free(p->x), free(p->y), free(p->weight); }

static krein_map *make_map(krein_ctx *ctx, const char *spec, const krein_rows *all) {
    krein_kernel *kernel = NULL;
    krein_map *map = NULL;
    CHECK(krein__kernel_parse(ctx, "gaussian(sigma=2)", &kernel) == KREIN_OK);
    CHECK(krein__map_create(ctx, spec, kernel, 0, 1, &map) == KREIN_OK);
    krein__kernel_destroy(ctx, kernel);
    CHECK(krein__map_fit(map, DIM, false, NULL, all->n) == KREIN_OK);
    return map;
}

/* The sums of all rows, in blocks of unequal sizes. group NULL: block by block. */
static void add(krein_blocks *z, krein_ridge *ridge, krein_group *group, const problem *p,
                bool weighted, int64_t outputs) {
    int64_t row = 0;
    for (int64_t b = 0; b < BLOCKS; b++) {
        int64_t n = b % 3 == 1 ? ROWS / 3 : b == BLOCKS - 1 ? 1 : ROWS;
        krein_rows x = krein__rows_dense(n, DIM, p->x + row * DIM, DIM);
        const double *y = outputs ? p->y + row * outputs : NULL;
        const double *w = weighted ? p->weight + row : NULL;
        row += n;
        if (!group) {
            krein__ridge_add(ridge, n, krein__blocks_features(z, &x), y, w);
            continue;
        }
        krein__group_take(group, &x, y, w);
        if (krein__group_full(group) || b == BLOCKS - 1) krein__group_add(group);
    }
}

static void compare(const krein_ridge *a, const krein_ridge *b) {
    CHECK(a->n == b->n && a->weight == b->weight);
    CHECK(memcmp(a->G, b->G, (size_t)(a->R * a->R) * sizeof *a->G) == 0);
    CHECK(memcmp(a->B, b->B, (size_t)(a->R * (a->k + 1)) * sizeof *a->B) == 0);
    CHECK(memcmp(a->ysum, b->ysum, (size_t)a->k * sizeof *a->ysum) == 0);
}

static void same_bits(void) {
    static const char *const maps[] = {"rff(D=24)", "orf(D=300)", "orf(D=700)"};
    problem p = make();
    krein_rows first = krein__rows_dense(ROWS, DIM, p.x, DIM);
    for (int threads = 1; threads <= 5; threads += threads > 1 ? 2 : 1)
        for (int64_t m = 0; m < 3 * 4; m++) {
            bool weighted = m % 2;
            int64_t k = m / 2 % 2 ? OUTPUTS : 0;
            krein_ctx *ctx = test_ctx(threads);
            krein_map *map = make_map(ctx, maps[m / 4], &first);
            krein_blocks z = {0};
            krein_ridge one = {0}, many = {0};
            krein_group *group = NULL;
            CHECK(krein__blocks_begin_at(map, &first, false, &z) == KREIN_OK);
            CHECK(krein__ridge_begin(ctx, z.width, k, z.rows, &one) == KREIN_OK);
            CHECK(krein__ridge_begin(ctx, z.width, k, z.rows, &many) == KREIN_OK);
            CHECK(krein__group_begin(&z, MANY, &many, &group) == KREIN_OK);
            CHECK(krein__group_full(group) == (threads == 1));
            add(&z, &one, NULL, &p, weighted, k);
            add(&z, &many, group, &p, weighted, k);
            compare(&one, &many);
            krein__group_add(group); /* there is nothing */
            compare(&one, &many);
            krein__group_end(group);
            CHECK(krein__group_begin(&z, 100, &many, &group) == KREIN_OK);
            CHECK(krein__group_full(group)); /* there is no more than a block */
            krein__group_end(group);
            krein__ridge_clear(&one);
            krein__ridge_clear(&many);
            krein__blocks_end(&z);
            krein__map_destroy(map);
            krein_ctx_destroy(ctx);
        }
    drop(&p);
}

/* What it takes is what it says, and no more than a sixteenth of the budget. */
static void budget(void) {
    problem p = make();
    krein_rows first = krein__rows_dense(ROWS, DIM, p.x, DIM);
    for (int k = 0; k < 8; k++) {
        krein_ctx *ctx = test_ctx_small(3, (uint64_t)1 << (26 + k));
        krein_map *map = make_map(ctx, "orf(D=512)", &first);
        krein_blocks z = {0};
        krein_ridge ridge = {0};
        krein_group *group = NULL;
        CHECK(krein__blocks_begin_at(map, &first, false, &z) == KREIN_OK);
        CHECK(krein__ridge_begin(ctx, z.width, 1, z.rows, &ridge) == KREIN_OK);
        uint64_t before = atomic_load(&ctx->held);
        krein_status st = krein__group_begin(&z, MANY, &ridge, &group);
        CHECK(st == KREIN_OK);
        double took = (double)(atomic_load(&ctx->held) - before);
        double said = krein__group_bytes(map, MANY, 1);
        bool one = st == KREIN_OK && krein__group_full(group);
        CHECK(one == (said == 0));
        CHECK(one ? took < 1024 : took <= said && said < 1.1 * took);
        CHECK(one || took <= (double)ctx->budget / 16);
        if (k == 0) CHECK(one);
        if (k == 7) CHECK(!one);
        krein__group_end(group);
        CHECK(atomic_load(&ctx->held) == before);
        krein__ridge_clear(&ridge);
        krein__blocks_end(&z);
        krein__map_destroy(map);
        krein_ctx_destroy(ctx);
    }
    drop(&p);
}

static void failing_memory(void) {
    problem p = make();
    krein_rows first = krein__rows_dense(ROWS, DIM, p.x, DIM);
    test_memory memory;

    krein_ctx *ctx = test_ctx_with(2, &memory);
    krein_map *map = make_map(ctx, "rff(D=24)", &first);
    krein_blocks z = {0};
    krein_ridge ridge = {0};
    CHECK(krein__blocks_begin_at(map, &first, false, &z) == KREIN_OK);
    CHECK(krein__ridge_begin(ctx, z.width, 1, z.rows, &ridge) == KREIN_OK);
    TEST_EVERY_ALLOCATION(&memory, k) {
        krein_group *group = NULL;
        krein_status st = krein__group_begin(&z, MANY, &ridge, &group);
        CHECK(st == KREIN_OK ? group != NULL : st == KREIN_EMEMORY && !group);
        krein__group_end(group);
    }
    krein__ridge_clear(&ridge);
    krein__blocks_end(&z);
    krein__map_destroy(map);
    krein_ctx_destroy(ctx);
    drop(&p);
}

int main(int argc, char **argv) {
    (void)argc;
    test_start(argv);
    RUN(same_bits);
    RUN(budget);
    RUN(failing_memory);
    return DONE();
}
