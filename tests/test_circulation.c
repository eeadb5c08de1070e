/* test_circulation.c -- flows made to balance: no more than before, nothing lost of cycles. */
#include "common.h"

#include "solve/circulation.h"

static void circulations(void) {
    krein_ctx *ctx = test_ctx(1);
    for (int t = 0; t < 200; t++) {
        int64_t k = 1 + test_random_below(12);
        double a[144], b[144], total = 0, left = 0;
        for (int64_t e = 0; e < k * k; e++) {
            bool edge = test_random_below(10) < t % 11 && e / k != e % k;
            total += b[e] = a[e] = edge ? fabs(test_random()) : 0;
        }
        CHECK(krein__circulation(ctx, k, b) == KREIN_OK);
        for (int64_t m = 0; m < k; m++) {
            double sum = 0;
            for (int64_t c = 0; c < k; c++) {
                sum += b[m * k + c] - b[c * k + m];
                left += b[m * k + c];
                CHECK(b[m * k + c] >= 0 && b[m * k + c] <= a[m * k + c]);
            }
            CHECK_ABS(sum, 0, 1e-12 * total);
        }
        if (t % 11 == 10 && k > 6) CHECK(left > total / 2); /* most of a dense flow stays */
        memcpy(a, b, sizeof a);
        CHECK(krein__circulation(ctx, k, b) == KREIN_OK); /* it balances already */
        for (int64_t e = 0; e < k * k; e++) CHECK_ABS(b[e], a[e], 1e-12 * total);
    }
    /* A chain has no cycle. */
    double chain[9] = {0, 1, 0, 0, 0, 2, 0, 0, 0};
    CHECK(krein__circulation(ctx, 3, chain) == KREIN_OK);
    for (int e = 0; e < 9; e++) CHECK(chain[e] == 0);
    krein_ctx_destroy(ctx);
}

int main(void) {
    RUN(circulations);
    return DONE();
}
