/* limits.c -- the bounds of the options. */
#include "pipe/limits.h"

#include <string.h>

static const struct {
    const char *option;
    double low, high;
    bool whole;
} limits[] = {
#define LIMIT(option, low, high, whole) {#option, low, high, whole},
#include "pipe/limits.def"
#undef LIMIT
};

int krein_limit(const char *option, double *low, double *high) {
    for (int64_t i = 0; i < KREIN__COUNT(limits); i++) {
        if (strcmp(limits[i].option, option) != 0) continue;
        *low = limits[i].low;
        *high = limits[i].high;
        return 1;
    }
    return 0;
}

krein_status krein__limit_check(krein_ctx *ctx, const char *option, double value) {
    double low = -INFINITY, high = INFINITY;
    char from[40], to[40];
    krein_limit(option, &low, &high);
    if (value >= low && value <= high) return KREIN_OK;
    krein__number_text(low, from);
    krein__number_text(high, to);
    if (isinf(high))
        return krein__fail(ctx, KREIN_EARG, "`%s` takes a number of at least %s", option, from);
    return krein__fail(ctx, KREIN_EARG, "`%s` takes a number from %s to %s", option, from, to);
}
