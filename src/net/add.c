/* add -- a shortcut: out = x + s(z), z the output of a layer further down          (he2016)
 * back=K: z comes from K layers before the one below. s is the identity where the shapes agree.
 * Else z is larger by a whole factor in both directions, of which every so many-th pixel is taken,
 * and has no more channels, which zeros are put around in equal numbers (option A of he2016).
 * Linear: R{out} and R{gx} are the same maps of R{x}, R{z} and R{gout}. */
#include "net/net.h"

#include <math.h>
#include <string.h>

static krein_status shape(const krein_net *net, krein_layer *l) {
    if (!l->values.given[0])
        return krein__fail(net->ctx, KREIN_ESPEC, "add: back is missing: add(back=5)");
    int64_t at = net->layers - 1 - (int64_t)l->values.number[0];
    if (at < -1)
        return krein__fail(net->ctx, KREIN_ESPEC, "add: there are no %lld layers below it",
                           (long long)l->values.number[0] + 1);
    krein_shape z = at >= 0 ? net->layer[at].to : net->image, x = l->from;
    if (z.h % x.h || z.w % x.w || z.h / x.h != z.w / x.w || z.c > x.c || (x.c - z.c) % 2)
        return krein__fail(net->ctx, KREIN_ESPEC,
                           "add: %lld x %lld x %lld cannot be added to %lld x %lld x %lld",
                           (long long)z.h, (long long)z.w, (long long)z.c, (long long)x.h,
                           (long long)x.w, (long long)x.c);
    l->to = x;
    l->back = (int64_t)l->values.number[0];
    l->aside = z;
    l->parts = 1;
    l->tile = krein__image_tile(l->in);
    l->flops = (double)l->in;
    return KREIN_OK;
}

/* Where the pixel of z that belongs to y, x of image i begins, and of the output. */
static int64_t z_at(const krein_layer *l, int64_t i, int64_t y, int64_t x) {
    int64_t step = l->aside.h / l->to.h;
    return ((i * l->aside.h + y * step) * l->aside.w + x * step) * l->aside.c;
}
static int64_t out_at(const krein_layer *l, int64_t i, int64_t y, int64_t x) {
    return ((i * l->to.h + y) * l->to.w + x) * l->to.c + (l->to.c - l->aside.c) / 2;
}

static void sum(const krein_layer *l, int64_t row, int64_t n, const float *x, const float *z,
                float *out) {
    memcpy(out + row * l->in, x + row * l->in, (size_t)(n * l->in) * sizeof *out);
    for (int64_t i = row; i < row + n; i++)
        for (int64_t y = 0; y < l->to.h; y++)
            for (int64_t q = 0; q < l->to.w; q++) {
                const float *restrict from = z + z_at(l, i, y, q);
                float *restrict to = out + out_at(l, i, y, q);
                for (int64_t j = 0; j < l->aside.c; j++) to[j] += from[j];
            }
}

static void forward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                    int64_t n, int64_t part, float *scratch) {
    (void)p, (void)part, (void)scratch;
    sum(l, row, n, b->x, b->aside, b->out);
}

static void backward(const krein_layer *l, const float *p, const krein_pass *b, int64_t row,
                     int64_t n, float *scratch) {
    (void)p, (void)scratch;
    memcpy(b->gx + row * l->in, b->gout + row * l->in, (size_t)(n * l->in) * sizeof *b->gx);
}

static void back_aside(const krein_layer *l, const float *g, int64_t row, int64_t n, float *gz) {
    for (int64_t i = row; i < row + n; i++)
        for (int64_t y = 0; y < l->to.h; y++)
            for (int64_t q = 0; q < l->to.w; q++) {
                const float *restrict from = g + out_at(l, i, y, q);
                float *restrict to = gz + z_at(l, i, y, q);
                for (int64_t j = 0; j < l->aside.c; j++) to[j] += from[j];
            }
}

static void r_forward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                      int64_t row, int64_t n, int64_t part, float *scratch) {
    (void)p, (void)v, (void)part, (void)scratch;
    sum(l, row, n, b->rx, b->raside, b->rout);
}

static void r_backward(const krein_layer *l, const float *p, const float *v, const krein_pass *b,
                       int64_t row, int64_t n, float *scratch) {
    (void)p, (void)v, (void)scratch;
    memcpy(b->rgx + row * l->in, b->rgout + row * l->in, (size_t)(n * l->in) * sizeof *b->rgx);
}

static const krein_option options[] = {
    {.name = "back",
     .type = KREIN_OPTION_INTEGER,
     .value = NAN,
     .low = 1,
     .high = 1e4,
     .help = "layers between the one whose output is added and this one"},
    {0}};

const krein_layer_class krein__layer_add = {
    .cls = {"add", "a shortcut from a layer further down", "he2016", options, NULL},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .back_aside = back_aside,
    .r_forward = r_forward,
    .r_backward = r_backward};
