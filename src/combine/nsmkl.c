/* nsmkl -- alignment of tangent kernels of random depth and scale (NS-MKL)
 *
 *     k = sum_m mu_m ntk(depth=l_m),   mu by kernel target alignment (alignment.c)
 *
 * Where no kernels are given, `count` of them are drawn: depths 1 .. 5 without replacement as long
 * as there are others, scales 1e-5 .. 1e3, which only matter with normalize=no. */
#include "combine/align.h"
#include "base/rng.h"

#include <stdio.h>

enum { COUNT = KREIN_WEIGHING_OWN };

static krein_status draw(krein_ctx *ctx, const krein_values *v, uint64_t seed,
                         krein_kernel_list *out) {
    enum { DEPTHS = 5, SCALES = 9, LENGTH = 48 };
    krein_status st = KREIN_OK;
    char *text = NULL;
    int64_t order[DEPTHS], count = (int64_t)v->number[COUNT];
    size_t used = 0, size = (size_t)count * LENGTH + 1;
    NEW(text, (int64_t)size);
    for (int64_t i = 0; i < count; i++) {
        krein_rng depths = krein__substream(seed, KREIN_STREAM_KERNELS, i / DEPTHS + 1);
        krein_rng scales = {seed, KREIN_STREAM_KERNELS};
        if (i % DEPTHS == 0) krein__rng_permute(depths, DEPTHS, order);
        int scale = (int)krein__rng_below(scales, (uint64_t)i, 0, SCALES) - 5;
        int wrote = snprintf(text + used, size - used, "%s1e%d*ntk(depth=%d)", i ? "; " : "", scale,
                             (int)order[i % DEPTHS] + 1);
        used += (size_t)wrote;
    }
    TRY(krein__kernels_parse(ctx, text, out));
done:
    krein__free(ctx, text);
    return st;
}

static const krein_option options[] = {KREIN_WEIGHING_OPTIONS,
                                       {.name = "count",
                                        .type = KREIN_OPTION_INTEGER,
                                        .value = 2,
                                        .low = 1,
                                        .high = 200,
                                        .help = "tangent kernels drawn where `kernels` gives none"},
                                       {0}};

const krein_weighing_class krein__weigh_nsmkl = {
    .cls = {"nsmkl", "alignment of tangent kernels of random depth and scale", "wang2024", options,
            NULL},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES,
    .indefinite = true,
    .row_weights = true,
    .find = krein__align,
    .draw = draw};
