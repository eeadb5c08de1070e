/* pool.h -- windows of layers that pool. */
#ifndef KREIN_NET_POOL_H
#define KREIN_NET_POOL_H

#include "net/layer.h"

/* Windows of size x size numbers of a channel beside each other; what is left at the right and at
 * the bottom is in none. Sets all of the layer that follows; size h x w is one window. */
krein_status krein__pool_shape(const struct krein_net *net, krein_layer *l, int64_t high,
                               int64_t wide);

/* The first channel of a window's output y, x in image i, and of its corner in the input. */
static inline int64_t krein__pool_out(const krein_layer *l, int64_t i, int64_t y, int64_t x) {
    return ((i * l->to.h + y) * l->to.w + x) * l->to.c;
}
static inline int64_t krein__pool_in(const krein_layer *l, int64_t i, int64_t y, int64_t x) {
    return ((i * l->from.h + y) * l->from.w + x) * l->from.c;
}

#endif
