/* limits.c -- the bounds of the options. */
#include "base/limits.h"

#include <math.h>
#include <string.h>

typedef struct limit {
    const char *option;
    double low, high;
    bool high_open;
} limit;

static const limit limits[] = {
#define LIMIT(option, low, high, high_open) {#option, low, high, high_open},
#include "base/limits.def"
#undef LIMIT
};

static const limit *find(const char *option) {
    for (int64_t i = 0; i < KREIN__COUNT(limits); i++)
        if (strcmp(limits[i].option, option) == 0) return &limits[i];
    return NULL;
}

int krein_limit(const char *option, double *low, double *high) {
    const limit *l = find(option);
    if (!l) return 0;
    *low = l->low;
    *high = l->high;
    return 1;
}

static bool within(const limit *l, double value) {
    return value >= l->low && (l->high_open ? value < l->high : value <= l->high);
}

krein_status krein__limit_check(krein_ctx *ctx, const char *option, double value) {
    const limit *l = find(option);
    char from[40], to[40];
    if (!l || within(l, value)) return KREIN_OK;
    krein__number_text(l->low, from);
    krein__number_text(l->high, to);
    if (isinf(l->high))
        return krein__fail(ctx, KREIN_EARG, "`%s` takes a finite number of at least %s", option,
                           from);
    return krein__fail(ctx, KREIN_EARG,
                       l->high_open ? "`%s` takes a number of at least %s that is less than %s"
                                    : "`%s` takes a number from %s to %s",
                       option, from, to);
}
