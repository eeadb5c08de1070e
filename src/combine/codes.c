/* codes.c -- targets that kernels are aligned with. */
#include "combine/codes.h"

double krein__bank_sign(const krein_bank *b, int64_t j) {
    return b->map->sign ? (double)b->map->sign[j] : 1;
}

krein_status krein__code_lengths(krein_ctx *ctx, bool classes, int64_t k, double weight,
                                 const double *ymean, const double *ysquare, double *length) {
    static const double NOTHING = 1e-12; /* of the squares: rounding of the difference */
    int64_t left = 0;
    for (int64_t q = 0; q < k; q++) {
        length[q] = ysquare[q] - weight * ymean[q] * ymean[q];
        if (!(length[q] > NOTHING * ysquare[q])) length[q] = 0;
        left += length[q] > 0;
    }
    if (classes && left == 0)
        return krein__fail(ctx, KREIN_EDATA,
                           "all rows are of one class: there is nothing to separate");
    if (!classes && left < k)
        return krein__fail(ctx, KREIN_EDATA,
                           "the targets are constant: there is nothing to align with");
    return KREIN_OK;
}
