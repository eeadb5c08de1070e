/* nets.h -- nets in tests: the gradient of all parameters in one vector. */
#ifndef KREIN_TEST_NETS_H
#define KREIN_TEST_NETS_H

#include "net/fit.h"

/* For krein__net_gradient: a part goes to its place in a vector like the net's. */
static inline void store_part(void *user, int64_t layer, int64_t ranges, const krein_range *range,
                              float *g) {
    float *to = user;
    (void)layer;
    for (int64_t q = 0; q < ranges; q++)
        for (int64_t i = 0; i < range[q].rows; i++)
            for (int64_t j = 0; j < range[q].columns; j++)
                to[range[q].first + i * range[q].ld + j] = *g++;
}

#endif
