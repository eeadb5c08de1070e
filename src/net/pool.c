/* pool.c -- windows of layers that pool: see pool.h. */
#include "net/pool.h"

#include "net/net.h"

krein_status krein__pool_shape(const struct krein_net *net, krein_layer *l, int64_t high,
                               int64_t wide) {
    if (high > l->from.h || wide > l->from.w)
        return krein__fail(
            net->ctx, KREIN_ESPEC,
            "%s: windows of %lld x %lld do not fit into an image of %lld x %lld; use "
            "larger images, or fewer layers",
            l->cls->cls.name, (long long)high, (long long)wide, (long long)l->from.h,
            (long long)l->from.w);
    l->to = (krein_shape){l->from.h / high, l->from.w / wide, l->from.c};
    l->parts = 1;
    l->tile = krein__image_tile(l->in);
    l->flops = (double)l->in;
    return KREIN_OK;
}
